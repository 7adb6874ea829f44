package golden

import (
	"bufio"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen/verify"
	"github.com/burngen/burngen/golden/corpus"
)

var everyCase = flag.Bool("every", false, "compare the outcome of every official test, not of a tenth")

// conformanceFile holds a line for each official test: its suite and name, its outcome, and the
// reason if it is refused. Tabs separate the fields.
const conformanceFile = "conformance/expected.tsv"

// suites are the folders of the official tests.
var suites = []string{"onnx-node", "onnx-simple", "onnx-pytorch-converted", "onnx-pytorch-operator", "onnx-light"}

// officialTests returns the cases of all suites.
func officialTests(t *testing.T) []verify.Case {
	t.Helper()
	var dirs []string
	for _, suite := range suites {
		dirs = append(dirs, corpus.Path(t, suite))
	}
	cases, err := verify.Find(dirs)
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

// TestConformance generates, builds and runs official tests of operators. The result of each must
// be the one in conformance/expected.tsv, whether that is a pass or a refusal. -update writes the
// file anew; read the difference before you commit it. Without -every it runs a tenth of the tests,
// chosen by a hash of their names.
func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("builds generated code")
	}
	cases := officialTests(t)
	expected := map[string]string{}
	if !*update {
		expected = readConformance(t)
		if len(cases) != len(expected) {
			t.Errorf("%d official tests, %s has %d", len(cases), conformanceFile, len(expected))
		}
	}
	var chosen []verify.Case
	for _, c := range cases {
		if *everyCase || *update || tenth(c.Name) {
			chosen = append(chosen, c)
		}
	}
	var lines []string
	_, err := verify.Run(chosen, verify.Options{Report: func(r verify.Result) {
		name := r.Name
		outcome := outcomeOf(r)
		lines = append(lines, name+"\t"+outcome+"\n")
		switch want, known := expected[name]; {
		case r.Status == verify.Fail:
			t.Errorf("%s: %s", name, r.Why)
		case *update:
		case !known:
			t.Errorf("%s is not in %s", name, conformanceFile)
		case outcome != want:
			t.Errorf("%s: %q, want %q", name, outcome, want)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(conformanceFile, []byte(strings.Join(lines, "")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// outcomeOf returns the fields of a test's line in the file after its name.
func outcomeOf(r verify.Result) string {
	if r.Why == "" {
		return string(r.Status)
	}
	return fmt.Sprintf("%s\t%s", r.Status, strings.NewReplacer("\t", " ", "\n", " ").Replace(r.Why))
}

// tenth reports whether a test is in the tenth that is always run.
func tenth(name string) bool {
	h := fnv.New32a()
	h.Write([]byte(name))
	return h.Sum32()%10 == 0
}

func readConformance(t *testing.T) map[string]string {
	t.Helper()
	f, err := os.Open(conformanceFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, outcome, ok := strings.Cut(lines.Text(), "\t")
		if _, twice := out[name]; !ok || twice {
			t.Errorf("%s: line %q", conformanceFile, lines.Text())
		}
		out[name] = outcome
	}
	return out
}

// TestModelList checks the list of models that are verified as a whole, which .ci/run reads. It
// must name models of the corpora, each once.
func TestModelList(t *testing.T) {
	data, err := os.ReadFile("conformance/models.txt")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, name := range strings.Fields(string(data)) {
		if seen[name] {
			t.Errorf("%s is listed twice", name)
		}
		seen[name] = true
	}
	if len(seen) == 0 {
		t.Error("no model is listed")
	}
	dir := corpus.Path(t, "models")
	for name := range seen {
		if _, err := os.Stat(filepath.Join(dir, name, "ref", "manifest.json")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
