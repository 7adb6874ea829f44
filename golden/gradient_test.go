package golden

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen/target/cuda"
	"github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/gen/target/gpu/gputest"
	"github.com/burngen/burngen/gen/target/vulkan"
	"github.com/burngen/burngen/gen/verify"
	"github.com/burngen/burngen/golden/corpus"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/grad"
	"github.com/burngen/burngen/onnx"
	drivercuda "github.com/burngen/burngen/runtime/cuda"
	runtime "github.com/burngen/burngen/runtime/gpu"
	drivervulkan "github.com/burngen/burngen/runtime/vulkan"
)

var everyGradient = flag.Bool("gradients", false, "compare the gradients of large models with differences, and all gradients on devices")

// gradientsFile has a line for each official test of one operator whose float results depend on
// float operands, and for each such model of the corpus: its name, a tab, and "yes" or the IR
// operators without a derivative.
const gradientsFile = "conformance/gradients.tsv"

// smallModel is the number of operations below which the gradients of a model are always compared.
const smallModel = 30_000_000

// withGradient is the entry of a model that can be differentiated.
const withGradient = "yes"

// gradientOf returns the entry of a model in gradientsFile, or "" if there is nothing to
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

// TestGradientsFile asserts that conformance/gradients.tsv lists the models that can be
// differentiated. -update writes the file anew.
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

// wrongModels are models of the corpus that are not valid, and what is wrong with them.
var wrongModels = map[string]string{
	"bert-squad-fp16":       "operand 2 has rank 0, operand 0 has 1",
	"style-starry-fp16":     "224 and 32 do not broadcast",
	"synapse-spike-decoder": "decoder.onnx.data",
	"unity-recurrent-v1":    "no node, input or initializer gives it",
	"unity-soccer-twos":     "no node, input or initializer gives it",
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
			if wrong := wrongModels[filepath.Base(c.Dir)]; wrong != "" {
				if err == nil || !strings.Contains(err.Error(), wrong) {
					t.Fatalf("error %v, want one with %q", err, wrong)
				}
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			args, err := c.Arguments(m)
			if errors.Is(err, verify.ErrNoReferences) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
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

// TestGradientsOnDevice compares the gradients of the models in conformance/gradients.tsv, as a device computes
// them, with the evaluator's. Without -gradients it compares a few of them.
func TestGradientsOnDevice(t *testing.T) {
	all := readGradients(t)
	maps.DeleteFunc(all, func(_, verdict string) bool { return verdict != withGradient })
	names := slices.Sorted(maps.Keys(all))
	for _, on := range []struct {
		target gpu.Target
		driver runtime.Driver
	}{{vulkan.Target(), drivervulkan.Driver()}, {cuda.Target(), drivercuda.Driver()}} {
		t.Run(on.target.Name(), func(t *testing.T) {
			target := gputest.Open(t, on.target, on.driver)
			for i, name := range names {
				if *everyGradient || i%100 == 0 {
					t.Run(name, func(t *testing.T) { gradientOnDevice(t, target, name) })
				}
			}
		})
	}
}

// gradientOnDevice compares the gradient of a model of the corpus.
func gradientOnDevice(t *testing.T, target gpu.Target, name string) {
	t.Parallel() // the evaluator takes most of the time
	cases, err := verify.Find([]string{corpus.Path(t, name)})
	if err != nil {
		t.Fatal(err)
	}
	m, err := onnx.Open(filepath.Join(cases[0].Dir, "model.onnx"), onnx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	args, err := cases[0].Arguments(m)
	if errors.Is(err, verify.ErrNoReferences) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	s, err := verify.NewSlopes(m)
	if err != nil {
		t.Skip(err) // not in f64
	}
	if n := s.Flops(args); n > smallModel {
		t.Skipf("%d operations", n)
	}
	if err := s.AgreeOn(target, args); err != nil {
		t.Errorf("%.1000v", err)
	}
}
