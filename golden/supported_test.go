package golden

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/support"
	"github.com/burngen/burngen/gen/verify"
	"github.com/burngen/burngen/onnx"
)

// operatorsFile has a line for each official test, with tabs between the fields: its name and the
// operators of its model. If the model has nodes of one operator only and compiles, the line also
// has the element types, the IR operators it is imported as, and what computes these.
const operatorsFile = "conformance/operators.tsv"

// supportedFile is the page that lists the operators for users.
const supportedFile = "../SUPPORTED-OPS.md"

// TestSupportedOperators asserts that conformance/operators.tsv is up to date.
func TestSupportedOperators(t *testing.T) {
	cases := officialTests(t)
	known := map[string]string{}
	if !*update {
		for _, u := range readOperators(t) {
			known[u.test] = u.line()
		}
		if len(known) != len(cases) {
			t.Errorf("%d official tests, %s has %d", len(cases), operatorsFile, len(known))
		}
	}
	var lines strings.Builder
	for _, c := range cases {
		u := operatorsOf(t, c)
		lines.WriteString(u.line() + "\n")
		if !*update && known[u.test] != u.line() {
			t.Errorf("%q, want %q", known[u.test], u.line())
		}
	}
	if *update {
		write(t, operatorsFile, lines.String())
	}
}

// testUse is a line of the file of operators.
type testUse struct {
	test                 string
	operators, types, ir []string
	cpu                  support.CPU
}

func (u testUse) line() string {
	list := func(words []string) string { return strings.Join(words, " ") }
	return strings.Join([]string{u.test, list(u.operators), list(u.types), list(u.ir), string(u.cpu)}, "\t")
}

// operatorsOf returns the operators and types of an official test.
func operatorsOf(t *testing.T, c verify.Case) testUse {
	u := testUse{test: c.Name}
	path := filepath.Join(c.Dir, "model.onnx")
	nodes, err := onnx.Nodes(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		if !slices.Contains(u.operators, n.Operator) {
			u.operators = append(u.operators, n.Operator)
		}
	}
	slices.Sort(u.operators)
	if len(u.operators) != 1 {
		return u
	}
	m, err := gen.Load(path, gen.Options{})
	if err != nil {
		return u
	}
	use := support.Uses(nodes, m)[0]
	for _, d := range use.Types {
		u.types = append(u.types, d.String())
	}
	u.ir, u.cpu = use.IR, use.CPU
	return u
}

func readOperators(t *testing.T) []testUse {
	t.Helper()
	var out []testUse
	for line := range strings.Lines(readText(t, operatorsFile)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 5 {
			t.Fatalf("%s: line %q", operatorsFile, line)
		}
		out = append(out, testUse{f[0], strings.Fields(f[1]), strings.Fields(f[2]), strings.Fields(f[3]), support.CPU(f[4])})
	}
	return out
}

// TestSupportedPage asserts that SUPPORTED-OPS.md agrees with the table of operators and the files
// in conformance. -update writes it anew.
func TestSupportedPage(t *testing.T) {
	page := supportedPage(t)
	if *update {
		write(t, supportedFile, page)
		return
	}
	if got := readText(t, supportedFile); got != page {
		t.Errorf("SUPPORTED-OPS.md is out of date: go test ./golden -run Supported -update")
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// tested summarises the official tests of an operator.
type tested struct {
	passed, all int // tests with the operator in their model
	types, ir   []string
	cpu         support.CPU
	gradients   []string // yes and no, each once
}

// gradient returns the entry for gradients on the page.
func (x *tested) gradient() string {
	if len(x.gradients) > 1 {
		return "in part"
	}
	return strings.Join(x.gradients, "")
}

const pageHead = `# Supported operators

The ONNX operators that burngen compiles, and what is known of each.
` + "`burngen check MODEL`" + ` tells the same of the operators in a model.

- **Opsets** are those at which the definition changed: every version is read.
- **Types** are the element types of the official tests that pass: more may work,
  as no test has them. Floats of 16 bits and fewer are computed in f32, and rounded.
- **IR** is what the operator is imported as.
- **CPU** is what computes f32: assembly, where the machine has it, or plain Go, which
  computes everything else too. Neither: the operator only names memory or extents.
- **Tests** are the official tests whose model has the operator: those that pass, of
  all. A test is refused where it has other operators that are not supported, too.
- **Gradient** tells whether floats that depend on floats can be differentiated, in the
  official tests of this operator alone: yes, no, or in part: in those where what the
  derivative needs is known when the model is compiled.
`

// supportedPage returns the text of the page.
func supportedPage(t *testing.T) string {
	tests := testsOf(t)
	var b strings.Builder
	b.WriteString(pageHead)
	operators := support.Operators()
	for len(operators) > 0 {
		n := 1
		for n < len(operators) && operators[n].Domain == operators[0].Domain {
			n++
		}
		b.WriteString(domainTable(operators[:n], tests))
		operators = operators[n:]
	}
	b.WriteString(stopsTable(t))
	if len(tests) == 0 {
		return b.String()
	}
	b.WriteString("\n## Refused\n\nOperators of official tests that are not supported, with the number of these tests.\n\n| operator | tests |\n|---|---|\n")
	var refused []string
	for name := range tests {
		refused = append(refused, name)
	}
	slices.Sort(refused)
	for _, name := range refused {
		fmt.Fprintf(&b, "| %s | %d |\n", name, tests[name].all)
	}
	return b.String()
}

// stopsTable returns the section about operators of the IR that have no derivative.
func stopsTable(t *testing.T) string {
	count := map[string]int{}
	for _, verdict := range readGradients(t) {
		if verdict != withGradient && !strings.HasPrefix(verdict, "what") {
			for name := range strings.FieldsSeq(verdict) {
				count[name]++
			}
		}
	}
	var b strings.Builder
	b.WriteString("\n## Without gradient\n\nOperators of the IR that floats pass through and that have no derivative, with the number\nof the official tests and of the models of the corpus that they stop.\n\n| operator | stops |\n|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(count)) {
		fmt.Fprintf(&b, "| %s | %d |\n", name, count[name])
	}
	return b.String()
}

// domainTable returns the section about a domain's operators, and removes these from tests. If no
// test has an operator of the domain, only the opsets of the operators are known.
func domainTable(operators []support.Operator, tests map[string]*tested) string {
	var b, brief strings.Builder
	domain, known := operators[0].Domain, false
	for _, o := range operators {
		name := o.Name
		if domain != "ai.onnx" {
			name = domain + "." + o.Name
		}
		of, ok := tests[name]
		known = known || ok
		if !ok {
			of = &tested{}
		}
		delete(tests, name)
		count := ""
		if ok {
			count = fmt.Sprintf("%d of %d", of.passed, of.all)
		}
		versions := strings.Trim(fmt.Sprint(o.Versions), "[]")
		fmt.Fprintf(&brief, "| %s | %s |\n", o.Name, versions)
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", o.Name, versions, strings.Join(of.types, " "), strings.Join(of.ir, ", "), of.cpu, of.gradient(), count)
	}
	if !known {
		return fmt.Sprintf("\n## %s\n\nThere are no official tests.\n\n| operator | opsets |\n|---|---|\n%s", domain, &brief)
	}
	return fmt.Sprintf("\n## %s\n\n| operator | opsets | types | IR | CPU | gradient | tests |\n|---|---|---|---|---|---|---|\n%s", domain, &b)
}

// testsOf returns the summaries of the official tests, keyed by operator.
func testsOf(t *testing.T) map[string]*tested {
	outcomes, gradients := readConformance(t), readGradients(t)
	out := map[string]*tested{}
	for _, u := range readOperators(t) {
		outcome, ok := outcomes[u.test]
		if !ok {
			t.Errorf("%s: %s is not in %s", operatorsFile, u.test, conformanceFile)
		}
		passed := outcome == string(verify.Pass)
		for _, name := range u.operators {
			if out[name] == nil {
				out[name] = &tested{}
			}
			of := out[name]
			of.all++
			if !passed {
				continue
			}
			of.passed++
			if verdict, ok := gradients[u.test]; ok && len(u.operators) == 1 {
				word := "no"
				if verdict == withGradient {
					word = verdict
				}
				of.gradients = union(of.gradients, []string{word})
			}
			of.types = union(of.types, u.types)
			of.ir = union(of.ir, u.ir)
			if of.cpu != support.Assembly && u.cpu != support.None {
				of.cpu = u.cpu
			}
		}
	}
	return out
}

// union returns the words of both lists, sorted.
func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
