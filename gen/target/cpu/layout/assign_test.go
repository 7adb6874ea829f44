package layout_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen/target/cpu"
	"github.com/burngen/burngen/gen/target/cpu/cost"
	"github.com/burngen/burngen/gen/target/cpu/layout"
	"github.com/burngen/burngen/gen/target/cpu/storage"
	_ "github.com/burngen/burngen/internal/seeded"

	"pgregory.net/rapid"

	_ "github.com/burngen/burngen/internal/seeded"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
)

// net builds a random function. The bytes of a description choose its nodes.
type net struct {
	b      *ir.Builder
	module *ir.Module
	seed   uint32
}

// newNet returns the module that build describes.
func newNet(build func(n *net) []*ir.Value) (*ir.Module, error) {
	m := &ir.Module{Funcs: []*ir.Func{{Name: pass.Forward}}}
	f := m.Funcs[0]
	n := &net{b: ir.NewBuilder(f), module: m}
	err := ir.Try(func() { n.b.Return(build(n)...) })
	for i := range f.Results {
		f.ResultNames = append(f.ResultNames, fmt.Sprint("y", i))
	}
	return m, err
}

// weight appends a weight of small numbers.
func (n *net) weight(shape ...int) *ir.Value {
	t := ir.NewTensor(ir.F32, shape...)
	for i, v := range n.values(t.Len()) {
		t.SetFloat(i, v)
	}
	w := &ir.Weight{Name: fmt.Sprint("w", len(n.module.Weights)), Type: t.Type(), Data: t.Bytes()}
	n.module.Weights = append(n.module.Weights, w)
	return n.b.Node(ir.Load{Name: w.Name, Type: w.Type})
}

// values returns small numbers.
func (n *net) values(count int) []float64 {
	v := make([]float64, count)
	for i := range v {
		n.seed = n.seed*1664525 + 1013904223
		v[i] = float64(int32(n.seed)>>24) / 256
	}
	return v
}

func (n *net) conv(x *ir.Value, out, group int, bias bool, w op.Window) *ir.Value {
	c, _ := x.Type.Shape[1].Int()
	args := []*ir.Value{x, n.weight(append([]int{out, c / group}, w.Kernel...)...)}
	if bias {
		args = append(args, n.weight(out))
	}
	return n.b.Node(op.Conv{Window: w, Group: group}, args...)
}

// slice appends a slice of the channels.
func (n *net) slice(x *ir.Value, first, count int) *ir.Value {
	rank := x.Type.Rank()
	s := op.Slice{Starts: make([]dim.Dim, rank), Shape: slices.Clone(x.Type.Shape), Steps: slices.Repeat([]int{1}, rank)}
	s.Starts[1], s.Shape[1] = dim.Const(first), dim.Const(count)
	return n.b.Node(s, x)
}

// random returns inputs for f with small extents for its symbols.
func (n *net) random(f *ir.Func, extent int) []*ir.Tensor {
	var args []*ir.Tensor
	for _, p := range f.Params {
		t := p.Type.Subst(func(string) (dim.Dim, bool) { return dim.Const(extent), true })
		shape, _ := t.Static()
		x := ir.NewTensor(t.DType, shape...)
		for i, v := range n.values(x.Len()) {
			x.SetFloat(i, v)
		}
		args = append(args, x)
	}
	return args
}

// checkPasses runs passes on a module, verifies it and its text form, and compares
// what its function computes before and after.
func checkPasses(t rapid.TB, m *ir.Module, tolerance float64, extent int, passes ...pass.Pass) {
	t.Helper()
	before := m.Clone()
	for _, p := range passes {
		if _, err := p.Run(&pass.Context{Target: cpu.Target{}, Strict: true}, m); err != nil {
			t.Fatalf("%v\n%s", err, before)
		}
		if err := ir.Verify(m); err != nil {
			t.Fatalf("%v\n%s\nfrom\n%s", err, m, before)
		}
	}
	text := m.String()
	if back, err := ir.Parse(text, storage.Set); err != nil || back.String() != text {
		t.Fatalf("text form reads back otherwise: %v\n%s", err, text)
	}
	args := (&net{seed: 7}).random(m.Funcs[0], extent)
	finite := true
	note := func(_ *ir.Value, x *ir.Tensor) {
		for i := range x.Len() {
			finite = finite && (!x.DType.IsFloat() || !math.IsInf(x.Float(i), 0) && !math.IsNaN(x.Float(i)))
		}
	}
	want, err := (&ir.Evaluator{Module: before, Watch: note}).Run(before.Funcs[0], args)
	if err != nil {
		t.Fatalf("%v\n%s", err, before)
	}
	if !finite {
		return // the lanes of a blocked value may make NaN of an infinity
	}
	got, err := (&ir.Evaluator{Module: m}).Run(m.Funcs[0], args)
	if err != nil {
		t.Fatalf("%v\n%s", err, m)
	}
	for i := range want {
		if !slices.Equal(got[i].Shape, want[i].Shape) {
			t.Fatalf("result %d has shape %v, not %v\n%s", i, got[i].Shape, want[i].Shape, m)
		}
		for j := range want[i].Len() {
			x, y := got[i].Number(j), want[i].Number(j)
			near := math.Abs(x-y) <= tolerance*max(1, math.Abs(y))
			if !near && x != y && (x == x || y == y) {
				t.Fatalf("element %d of result %d is %v, not %v\nfrom\n%s\nto\n%s", j, i, x, y, before, m)
			}
		}
	}
}

// countOps returns how often operators stand in the first function, as "conv×2 relu".
func countOps(m *ir.Module) string {
	counts := map[string]int{}
	for n := range m.Funcs[0].All() {
		switch n.Op.(type) {
		case ir.Load, ir.Constant, op.Reshape, storage.PackConv, storage.PackWinograd:
		default:
			counts[ir.OpName(n.Op)]++
		}
	}
	var parts []string
	for name, k := range counts {
		if k > 1 {
			name = fmt.Sprint(name, "×", k)
		}
		parts = append(parts, name)
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

func TestAssignLayout(t *testing.T) {
	batch, side := dim.Sym("N"), dim.Sym("S")
	image := func(n *net, c int) *ir.Value {
		return n.b.Param("x", ir.TensorOf(ir.F32, batch, dim.Const(c), side, side))
	}
	same3 := op.Window{Kernel: []int{3, 3}, Pads: []int{1, 1, 1, 1}}
	one := op.Window{Kernel: []int{1, 1}}
	for name, c := range map[string]struct {
		build func(n *net) []*ir.Value
		want  string // the operators
	}{
		"a chain stays blocked": {func(n *net) []*ir.Value {
			x := n.conv(image(n, 3), 16, 1, true, same3)
			x = n.b.Node(op.MaxPool{Window: op.Window{Kernel: []int{2, 2}}}, n.b.Node(op.Relu{}, x))
			x = n.conv(x, 20, 1, true, same3)
			return []*ir.Value{n.b.Node(op.GlobalAveragePool{}, x)}
		}, "block conv_blocked×2 global_average_pool max_pool relu unblock"},
		"a depthwise convolution": {func(n *net) []*ir.Value {
			x := n.conv(image(n, 24), 24, 24, true, same3)
			return []*ir.Value{n.conv(x, 8, 1, false, one)}
		}, "block×3 conv_blocked depthwise_blocked unblock"},
		"a residual sum": {func(n *net) []*ir.Value {
			x := n.conv(image(n, 16), 16, 1, false, one)
			y := n.b.Node(op.Relu{}, n.conv(x, 16, 1, false, same3))
			return []*ir.Value{n.b.Node(op.Add{}, x, y)}
		}, "add block conv_blocked×2 relu unblock"},
		"one dimension": {func(n *net) []*ir.Value {
			x := n.b.Param("x", ir.TensorOf(ir.F32, batch, dim.Const(5), side))
			x = n.conv(x, 16, 1, true, op.Window{Kernel: []int{3}, Same: "upper"})
			return []*ir.Value{n.conv(n.b.Node(op.Relu{}, x), 16, 1, true, op.Window{Kernel: []int{2}, Strides: []int{2}})}
		}, "conv_blocked×2 relu unblock"},
		"a scale for each channel": {func(n *net) []*ir.Value {
			x := n.conv(image(n, 16), 20, 1, true, one)
			x = n.b.Node(op.Mul{}, x, n.weight(20, 1, 1))
			x = n.b.Node(op.Add{}, x, n.weight(1, 20, 1, 1))
			return []*ir.Value{n.conv(x, 16, 1, false, one)}
		}, "add block×4 conv_blocked×2 depthwise_blocked unblock"},
		"an attention for each channel": {func(n *net) []*ir.Value {
			x := n.conv(image(n, 16), 20, 1, true, one)
			s := n.b.Node(op.Sigmoid{}, n.conv(n.b.Node(op.GlobalAveragePool{}, x), 20, 1, true, one))
			return []*ir.Value{n.b.Node(op.Mul{}, x, s)}
		}, "block×3 conv_blocked×2 global_average_pool mul sigmoid unblock"},
		"a mask for each pixel": {func(n *net) []*ir.Value {
			x := n.conv(image(n, 16), 32, 1, true, one)
			mask := n.b.Param("m", ir.TensorOf(ir.F32, batch, dim.Const(1), side, side))
			return []*ir.Value{n.b.Node(op.Mul{}, x, mask)}
		}, "block conv_blocked mul unblock"},
		"a quotient in lanes without channels stays planar": {func(n *net) []*ir.Value {
			x := n.conv(image(n, 16), 20, 1, true, one)
			return []*ir.Value{n.conv(n.b.Node(op.Div{}, n.b.Scalar(ir.F32, 1), x), 16, 1, false, one)}
		}, "block×2 conv_blocked×2 div unblock×2"},
		"a quotient of whole blocks": {func(n *net) []*ir.Value {
			x := n.conv(image(n, 16), 32, 1, true, one)
			return []*ir.Value{n.conv(n.b.Node(op.Div{}, n.b.Scalar(ir.F32, 1), x), 16, 1, false, one)}
		}, "block conv_blocked×2 div unblock"},
		"what becomes infinite later stays planar": {func(n *net) []*ir.Value {
			x := n.b.Node(op.Exp{}, n.conv(image(n, 16), 20, 1, true, one))
			x = n.b.Node(op.Div{}, x, n.b.Node(op.Sub{}, x, n.b.Scalar(ir.F32, 1)))
			return []*ir.Value{n.conv(x, 16, 1, false, one)}
		}, "block×2 conv_blocked×2 div exp sub unblock×3"},
		"a mean needs zero lanes": {func(n *net) []*ir.Value {
			x := n.b.Node(op.Sigmoid{}, n.conv(image(n, 16), 20, 1, true, one))
			return []*ir.Value{n.b.Node(op.GlobalAveragePool{}, x)}
		}, "block×2 conv_blocked global_average_pool sigmoid unblock"},
		"parts of whole blocks": {func(n *net) []*ir.Value {
			x := n.conv(image(n, 16), 52, 1, true, one)
			x = n.b.Node(op.Concat{Axis: 1}, n.slice(x, 16, 32), n.slice(x, 32, 20))
			return []*ir.Value{n.conv(x, 16, 1, false, one)}
		}, "block×2 concat conv_blocked×2 strided_copy×2 unblock"},
		"parts of broken blocks": {func(n *net) []*ir.Value {
			x := n.conv(image(n, 16), 52, 1, true, one)
			x = n.b.Node(op.Concat{Axis: 1}, n.slice(x, 16, 20), n.slice(x, 20, 32))
			return []*ir.Value{n.conv(x, 16, 1, false, one)}
		}, "block×2 conv_blocked×2 gather_channels unblock"},
		"enlarged images": {func(n *net) []*ir.Value {
			x := n.conv(n.b.Param("x", ir.StaticTensor(ir.F32, 1, 16, 3, 4)), 20, 1, true, one)
			for _, r := range []op.Resize{
				{Mode: "nearest", Coordinates: "asymmetric", Rounding: "floor", Shape: dim.Consts(1, 20, 6, 8)},
				{Mode: "linear", Coordinates: "half_pixel", Shape: dim.Consts(1, 20, 7, 9)},
				{Mode: "cubic", Coordinates: "align_corners", Shape: dim.Consts(1, 20, 7, 5), CubicA: -0.75},
			} {
				r.Scales = make([]float64, 4)
				x = n.b.Node(r, x)
			}
			return []*ir.Value{n.conv(x, 16, 1, false, one)}
		}, "block×2 conv_blocked×2 resize_axis resize_linear resize_nearest unblock"},
		"channels last": {func(n *net) []*ir.Value {
			x := image(n, 16)
			y := n.b.Node(op.Transpose{Perm: []int{0, 2, 3, 1}}, n.conv(x, 32, 1, true, one))
			z := n.b.Node(op.Transpose{Perm: []int{0, 2, 3, 1}}, n.conv(x, 5, 1, true, one))
			return []*ir.Value{y, z}
		}, "block×2 conv_blocked×2 strided_copy×2"},
		"channels last of broken blocks": {func(n *net) []*ir.Value {
			return []*ir.Value{n.b.Node(op.Transpose{Perm: []int{1, 0, 3, 2}}, n.conv(image(n, 16), 20, 1, true, one))}
		}, "block×2 conv_blocked strided_copy unblock"},
		"means over the pixels": {func(n *net) []*ir.Value {
			x := n.conv(image(n, 16), 20, 1, true, one)
			mean := op.Reduce{Kind: op.ReduceMean, Axes: []int{2, 3}}
			y := n.b.Node(mean, x)
			mean.KeepDims = true
			return []*ir.Value{y, n.conv(n.b.Node(mean, x), 16, 1, true, one)}
		}, "block×2 conv_blocked×2 global_average_pool×2 unblock"},
		"three dimensions": {func(n *net) []*ir.Value {
			x := n.b.Param("x", ir.TensorOf(ir.F32, batch, dim.Const(16), dim.Const(4), side, side))
			return []*ir.Value{n.conv(x, 16, 1, true, op.Window{Kernel: []int{2, 3, 3}, Strides: []int{2, 1, 1}})}
		}, "add block×2 conv_blocked×2 strided_copy×6 unblock"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := newNet(c.build)
			if err != nil {
				t.Fatal(err)
			}
			checkPasses(t, m, 1e-4, 5, pass.DecomposeOps, layout.Assign(cost.Default()), pass.LowerOps)
			if got := countOps(m); got != c.want {
				t.Errorf("operators %s\nwant      %s\n%s", got, c.want, m)
			}
		})
	}
}

// unlowered is an operator that no kernel computes.
type unlowered struct{}

func (unlowered) Infer(in []ir.Type) ([]ir.Type, error)      { return in, nil }
func (unlowered) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return in, nil }

func TestLoweringReportsWhatIsLeft(t *testing.T) {
	m, err := newNet(func(n *net) []*ir.Value {
		n.b.At("/enc/pool")
		x := n.b.Param("x", ir.StaticTensor(ir.F64, 1, 2, 5))
		y := n.b.Node(unlowered{}, x)
		n.b.At("/enc/act")
		return []*ir.Value{y, n.b.Node(unlowered{}, n.b.Param("w", ir.StaticTensor(ir.I4, 3)))}
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = pass.LowerOps.Run(&pass.Context{Target: cpu.Target{}}, m)
	want := `unlowered "/enc/pool": no kernel computes it for [f64[1,2,5]]
unlowered "/enc/act": no kernel computes it for [i4[3]]`
	if err == nil || err.Error() != want {
		t.Errorf("error %v\nwant  %s", err, want)
	}
}

// TestAssignLayoutKeepsWhatNetsCompute draws networks of convolutions with other operators between
// them.
func TestAssignLayoutKeepsWhatNetsCompute(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		spatial := rapid.IntRange(1, 2).Draw(r, "spatial axes")
		m, err := newNet(func(n *net) []*ir.Value {
			shape := []dim.Dim{dim.Const(2), dim.Const(rapid.SampledFrom([]int{1, 3, 16, 20}).Draw(r, "channels"))}
			for range spatial {
				shape = append(shape, dim.Sym("S"))
			}
			values := []*ir.Value{n.b.Param("x", ir.TensorOf(ir.F32, shape...))}
			for range rapid.IntRange(1, 8).Draw(r, "nodes") {
				x := rapid.SampledFrom(values).Draw(r, "operand")
				values = append(values, n.draw(r, x, values, spatial))
			}
			return []*ir.Value{values[len(values)-1], rapid.SampledFrom(values[1:]).Draw(r, "result")}
		})
		if err != nil {
			r.Fatal(err)
		}
		checkPasses(r, m, 1e-3, 4, pass.DecomposeOps, layout.Assign(cost.Default()), pass.LowerOps)
	})
}

// draw appends a node that keeps the spatial extents.
func (n *net) draw(r *rapid.T, x *ir.Value, values []*ir.Value, spatial int) *ir.Value {
	kernel := slices.Repeat([]int{rapid.IntRange(1, 3).Draw(r, "kernel")}, spatial)
	window := op.Window{Kernel: kernel, Same: rapid.SampledFrom([]string{"upper", "lower"}).Draw(r, "padding")}
	c, _ := x.Type.Shape[1].Int()
	switch kind := rapid.IntRange(0, 11).Draw(r, "kind"); kind {
	case 0, 1, 2:
		out := rapid.SampledFrom([]int{1, 4, 16, 20, 32}).Draw(r, "out")
		return n.conv(x, out, 1, kind == 0, window)
	case 3:
		return n.conv(x, c, c, true, window)
	case 4:
		if c%4 == 0 {
			return n.conv(x, 8, 4, true, window)
		}
		return n.b.Node(op.MaxPool{Window: window}, x)
	case 5:
		return n.b.Node(rapid.SampledFrom([]ir.Op{op.Relu{}, op.Sigmoid{}, op.Exp{}, op.Reciprocal{}, op.Sqrt{}}).Draw(r, "function"), x)
	case 6:
		return n.b.Node(op.AveragePool{Window: window}, x)
	case 7:
		return n.b.Node(op.LRN{Size: 3, Alpha: 0.5, Beta: 0.5, Bias: 1}, x)
	case 8:
		scale := n.weight(c)
		return n.b.Node(op.BatchNormalization{Epsilon: 1}, x, scale, n.weight(c), n.weight(c), n.b.Const(ir.Splat(ir.Scalar(ir.F32, 2), c)))
	case 9:
		if c > 16 {
			return n.slice(x, 16, c-16)
		}
	case 10:
		return n.b.Node(op.Reduce{Kind: op.ReduceMean, Axes: []int{2, 3}[:spatial], KeepDims: true}, x)
	}
	for _, y := range values {
		if y != x && y.Type.Equal(x.Type) {
			return n.b.Node(op.Add{}, x, y)
		}
	}
	if y := values[len(values)-1]; slices.EqualFunc(x.Type.Shape[2:], y.Type.Shape[2:], dim.Dim.Equal) {
		return n.b.Node(op.Concat{Axis: 1}, x, y)
	}
	return n.b.Node(op.Mul{}, x, x)
}
