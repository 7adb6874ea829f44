package gpu_test

import (
	"context"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/gen/value"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
)

var updating = flag.Bool("update", false, "write the goldens anew")

// network is a model in which products follow each other at once, after a transposition, and after
// elementwise operators, one of which has another reader. A softmax and a product of weights are f32.
const network = `
weight first : f32[8,8]
weight second : f32[8,8]
weight bias : f32[8]

func @forward(%x: f32[6,8]) -> (y: f32[6,6]) {
  %w = load {name="first"} : f32[8,8]
  %v = load {name="second"} : f32[8,8]
  %b = load {name="bias"} : f32[8]
  %wv = mat_mul %w, %v : f32[8,8]
  %p = mat_mul %x, %wv : f32[6,8]
  %s = add %p, %b : f32[6,8]
  %r = relu %s : f32[6,8]
  %q = mat_mul %r, %v : f32[6,8]
  %z = add %q, %r : f32[6,8]
  %n = softmax %z {axis=1} : f32[6,8]
  %t = transpose %q {perm=[1,0]} : f32[8,6]
  %y = mat_mul %n, %t : f32[6,6]
  return %y
}
`

// TestPrecisionGoldens compares the lowered network and the kernels of its products with the goldens, and its
// results with the evaluator's. They differ by at most [gpu.Precision.Rounding].
func TestPrecisionGoldens(t *testing.T) {
	for i, name := range gpu.Precisions {
		t.Run(name, func(t *testing.T) {
			target := gpu.Target{Language: interpreted.Language, Precision: gpu.Precision(i), Device: writer{}}
			m := agreesRounded(t, target, network, draw(ir.F32, 6, 8))
			if got, want := target.Precision.Rounding(m, m.Func(pass.Forward)), 4*target.Precision.Unit()*math.Sqrt(3); got != want {
				t.Errorf("the tolerance of the lowered model is %g, want %g: %%wv is prepared", got, want)
			}
			text := m.String() + kernelsOf(t, target, m)
			file := filepath.Join("testdata", "precision_"+name+".txt")
			if *updating {
				if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if golden, err := os.ReadFile(file); err != nil || string(golden) != text {
				t.Errorf("%v; got\n%s", err, text)
			}
		})
	}
}

// TestMatrices computes a product of several tiles, whose last ones are not full, with matrices that warps
// multiply.
func TestMatrices(t *testing.T) {
	for _, p := range []gpu.Precision{gpu.TF32, gpu.F16, gpu.BF16} {
		target := gpu.Target{Language: interpreted.Language, Precision: p, Device: gpu.Interpreter{}}
		target.Matrices = true
		m := agreesRounded(t, target, `
weight w : f32[41,101]

func @forward(%x: f32[70,41]) -> (y: f32[70,101]) {
  %w = load {name="w"} : f32[41,101]
  %y = mat_mul %x, %w : f32[70,101]
  return %y
}
`, draw(ir.F32, 70, 41))
		if kernels := kernelsOf(t, target, m); !strings.Contains(kernels, " = mat_mul_add ") {
			t.Errorf("%s: the kernel multiplies no matrices:\n%s", p, kernels)
		}
	}
}

// agreesRounded compares the result of a model on a target with the evaluator's. They differ by at most
// [gpu.Precision.Rounding]. It returns the lowered module.
func agreesRounded(t *testing.T, target gpu.Target, text string, x *ir.Tensor) *ir.Module {
	t.Helper()
	before, err := ir.Parse(text, op.Set)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range before.Weights {
		shape, _ := w.Type.Static()
		w.Data = draw(ir.F32, shape...).Bytes()
	}
	want, err := (&ir.Evaluator{Module: before}).Run(before.Func(pass.Forward), []*ir.Tensor{x})
	if err != nil {
		t.Fatal(err)
	}
	m := before.Clone()
	if err := pass.All(&pass.Context{Target: target}, m, pass.Options{}); err != nil {
		t.Fatal(err)
	}
	machine, err := exec.Prepared(target, m, pass.Prepare, pass.Forward)
	if err != nil {
		t.Fatal(err)
	}
	out, shapes, err := machine.Run(context.Background(), []any{value.ToGo(x)}, [][]int{x.Shape})
	if err != nil {
		t.Fatal(err)
	}
	got, err := value.FromGo(want[0].Type(), shapes[0], out[0])
	if err != nil {
		t.Fatal(err)
	}
	near(t, got, want[0], max(target.Precision.Rounding(m, m.Func(pass.Forward)), 1e-6))
	return m
}

// near asserts that elements differ by at most a share of their size and of the root mean square, and, if
// products are rounded, by more than f32 explains.
func near(t *testing.T, got, want *ir.Tensor, share float64) {
	t.Helper()
	squares, off := 0.0, 0.0
	for i := range want.Len() {
		squares += want.Float(i) * want.Float(i)
	}
	rms := math.Sqrt(squares / float64(want.Len()))
	for i := range want.Len() {
		off = max(off, math.Abs(got.Float(i)-want.Float(i))/(rms+math.Abs(want.Float(i))))
	}
	if !(off <= share) {
		t.Errorf("an element is off by %g of its size and the root mean square, %g expected", off, share)
	}
	if share > 1e-4 && off < share/100 {
		t.Errorf("the elements are off by %g at most, far less than %g: are products rounded at all?", off, share)
	}
}

// kernelsOf returns the kernels of the products of @forward, each once.
func kernelsOf(t *testing.T, target gpu.Target, m *ir.Module) string {
	t.Helper()
	f, err := program.Compile(m, pass.Forward, target)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	seen := map[string]bool{}
	for _, s := range f.Steps {
		l, ok := s.(*gpu.Launch)
		if !ok {
			continue
		}
		if multiplies(l.Node) && !seen[l.Kernel.String()] {
			seen[l.Kernel.String()] = true
			texts = append(texts, "\n"+l.Kernel.String())
		}
	}
	return strings.Join(texts, "")
}

// multiplies reports whether a node is a product, or one is fused into it.
func multiplies(n *ir.Node) bool {
	if _, ok := n.Op.(op.Product); ok {
		return true
	}
	for _, b := range n.Blocks {
		if slices.ContainsFunc(b.Nodes, multiplies) {
			return true
		}
	}
	return false
}

// TestRounding asserts that the tolerance of a precision grows with the root of the number of products in a
// chain, through calls and around them.
func TestRounding(t *testing.T) {
	m, err := ir.Parse(network, op.Set)
	if err != nil {
		t.Fatal(err)
	}
	f := m.Func(pass.Forward)
	for p, want := range map[gpu.Precision]float64{
		gpu.F32: 0, gpu.TF32: 8 * 0x1p-11, gpu.F16: 8 * 0x1p-11, gpu.BF16: 8 * 0x1p-8, // %wv, %p, %q and %y are four
	} {
		if got := p.Rounding(m, f); got != want {
			t.Errorf("%s: %g, want %g", p, got, want)
		}
	}
}
