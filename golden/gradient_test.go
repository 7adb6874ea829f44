package golden

import (
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen/verify"
	"github.com/burngen/burngen/golden/corpus"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/grad"
	"github.com/burngen/burngen/onnx"
)

var everyGradient = flag.Bool("gradients", false, "compare the gradients of large models with differences, too")

// gradientsFile holds a line for each official test of one operator whose float results
// depend on float operands, and for each such model of the corpus, with a tab between: its
// name, and yes, or the operators of the IR that have no derivative.
const gradientsFile = "conformance/gradients.tsv"

// smallModel is how many operations the models take whose gradients are always
// compared.
const smallModel = 30_000_000

// withGradient is what gradientsFile says of a model that can be differentiated.
const withGradient = "yes"

// gradientOf returns what gradientsFile says of a model, "" where there is nothing to
// differentiate.
func gradientOf(m *onnx.Model) string {
	f := m.Module.Func("forward").Clone()
	var wrt []*ir.Value
	reached := map[*ir.Value]bool{}
	isFloat := func(v *ir.Value) bool { return v != nil && v.Type.IsTensor() && v.Type.DType.IsFloat() }
	from := func(v *ir.Value) {
		if isFloat(v) {
			wrt, reached[v] = append(wrt, v), true
		}
	}
	for _, p := range f.Params {
		from(p)
	}
	for _, n := range f.Nodes {
		if _, ok := n.Op.(ir.Load); ok {
			from(n.Results[0])
		}
		if slices.ContainsFunc(n.Args, func(a *ir.Value) bool { return reached[a] }) {
			for _, r := range n.Results {
				reached[r] = isFloat(r) || !r.Type.IsTensor()
			}
		}
	}
	var errs []error
	some := false
	b := ir.NewBuilder(f)
	for _, r := range f.Results {
		if reached[r] && isFloat(r) {
			some = true
			_, err := grad.Append(b, r, nil, wrt)
			errs = append(errs, err)
		}
	}
	err := errors.Join(errs...)
	switch {
	case !some:
		return ""
	case err == nil:
		return withGradient
	}
	if stops := grad.Stops(err); len(stops) > 0 {
		return strings.Join(stops, " ")
	}
	return "what is known only when the model runs"
}

// TestGradientsFile asserts that conformance/gradients.tsv tells what can be
// differentiated; -update writes it anew.
func TestGradientsFile(t *testing.T) {
	cases := officialTests(t)
	models, err := verify.Find([]string{corpus.Path(t, "models")})
	if err != nil {
		t.Fatal(err)
	}
	known := readGradients(t)
	var lines strings.Builder
	count := 0
	for _, c := range append(cases, models...) {
		path := filepath.Join(c.Dir, "model.onnx")
		nodes, err := onnx.Nodes(path)
		if err != nil || !strings.HasPrefix(c.Name, "models/") && slices.ContainsFunc(nodes, func(n onnx.Node) bool { return n.Operator != nodes[0].Operator }) {
			continue
		}
		m, err := onnx.Open(path, onnx.Options{})
		if err != nil {
			continue
		}
		verdict := gradientOf(m)
		if verdict == "" {
			continue
		}
		count++
		fmt.Fprintf(&lines, "%s\t%s\n", c.Name, verdict)
		if !*update && known[c.Name] != verdict {
			t.Errorf("%s: %q, want %q", c.Name, verdict, known[c.Name])
		}
	}
	if *update {
		write(t, gradientsFile, lines.String())
	} else if count != len(known) {
		t.Errorf("%d models, %s has %d", count, gradientsFile, len(known))
	}
}

func readGradients(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for line := range strings.Lines(readText(t, gradientsFile)) {
		name, verdict, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			t.Fatalf("%s: line %q", gradientsFile, line)
		}
		out[name] = verdict
	}
	return out
}

// TestModelGradients asserts that the gradients of whole models agree with differences.
func TestModelGradients(t *testing.T) {
	cases, err := verify.Find([]string{corpus.Path(t, "models")})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(strings.TrimPrefix(c.Name, "models/"), func(t *testing.T) {
			m, err := onnx.Open(filepath.Join(c.Dir, "model.onnx"), onnx.Options{})
			if err != nil {
				t.Skip(err)
			}
			args, err := c.Arguments(m)
			if err != nil {
				t.Skip(err)
			}
			s, err := verify.NewSlopes(m)
			var none *grad.NoDerivative
			if errors.Is(err, verify.ErrConstant) || errors.As(err, &none) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatalf("%.300v", err)
			}
			if n := s.Flops(args); n > smallModel && !*everyGradient {
				t.Skipf("%d operations: -gradients compares it", n)
			}
			if err := s.Check(args); err != nil {
				t.Error(err)
			}
		})
	}
}
