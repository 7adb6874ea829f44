package pass_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/burngen/burngen/gen/target/cpu/storage"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/gen/target/cpu"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
	"github.com/burngen/burngen/runtime/rt"
)

// TestRandomModules runs all passes on random modules and evaluates them before
// and after.
func TestRandomModules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModule(t)
		if err := ir.Verify(m); err != nil {
			t.Fatal(err)
		}
		after, twin := m.Clone(), m.Clone()
		strict := rapid.Bool().Draw(t, "strict")
		for _, m := range []*ir.Module{after, twin} {
			if err := pass.All(&pass.Context{Target: cpu.Target{}, Strict: strict}, m, pass.Options{Outline: true}); err != nil {
				t.Fatalf("%v\n%s", err, m)
			}
		}
		if after.String() != twin.String() {
			t.Fatalf("not the same twice:\n%s\n%s", after, twin)
		}
		if again, err := ir.Parse(after.String(), storage.Set); err != nil || again.String() != after.String() {
			t.Fatalf("does not read as it prints: %v\n%s", err, after)
		}
		batch := rapid.IntRange(1, 3).Draw(t, "batch")
		prepare(t, after, after)
		compare(t, m, after, batch, near)
	})
}

// drawModule returns a module of a few random operators on a batch of images and
// a batch of rows.
func drawModule(t *rapid.T) *ir.Module {
	f := &ir.Func{Name: pass.Forward}
	m := &ir.Module{Funcs: []*ir.Func{f}}
	b := ir.NewBuilder(f)
	if err := ir.Try(func() {
		n := dim.Sym("N")
		d := &drawer{t: t, m: m, b: b}
		d.values = []*ir.Value{
			b.Param("x", ir.TensorOf(ir.F32, n, dim.Const(3), dim.Const(4), dim.Const(4))),
			b.Param("rows", ir.TensorOf(ir.F32, n, dim.Const(5))),
		}
		for range rapid.IntRange(1, 24).Draw(t, "nodes") {
			d.node()
		}
		results := d.values[max(2, len(d.values)-3):]
		b.Return(results...)
		for _, r := range results {
			f.ResultNames = append(f.ResultNames, r.Name)
		}
	}); err != nil {
		t.Fatal(err)
	}
	return m
}

type drawer struct {
	t      *rapid.T
	m      *ir.Module
	b      *ir.Builder
	values []*ir.Value
}

// value draws one of the values so far, more often a late one.
func (d *drawer) value(fits func(ir.Type) bool) *ir.Value {
	var fitting []*ir.Value
	for _, v := range d.values {
		if fits(v.Type) {
			fitting = append(fitting, v)
		}
	}
	back := min(rapid.IntRange(0, 3).Draw(d.t, "back"), len(fitting)-1)
	return fitting[len(fitting)-1-back]
}

func ofRank(rank int) func(ir.Type) bool {
	return func(t ir.Type) bool { return t.Rank() == rank }
}

// weight returns a weight or a constant of a shape.
func (d *drawer) weight(shape ...dim.Dim) *ir.Value {
	t := ir.TensorOf(ir.F32, shape...)
	static, _ := t.Static()
	if rapid.IntRange(0, 3).Draw(d.t, "kind") == 0 {
		values := []float64{1, 0, math.Copysign(0, -1), 2, 0.5, -1.25}
		v := rapid.SampledFrom(values).Draw(d.t, "constant")
		return d.b.Const(pass.Repeated(ir.Scalar(ir.F32, v), static))
	}
	name := fmt.Sprintf("w%d", len(d.m.Weights))
	w := drawTensor(static, uint32(len(d.m.Weights)), 0.25, 1.25)
	d.m.Weights = append(d.m.Weights, &ir.Weight{Name: name, Type: t, Data: w.Bytes()})
	return d.b.Node(ir.Load{Name: name, Type: t})
}

func (d *drawer) node() {
	unary := []ir.Op{
		op.Relu{}, op.Neg{}, op.Abs{}, op.Sigmoid{}, op.Tanh{}, op.Exp{}, op.Clip{Lo: -1, Hi: 1}, op.Clip{Lo: math.Inf(-1), Hi: 2},
		op.LeakyRelu{Alpha: 0.1}, op.Cast{To: ir.F64},
	}
	binary := []ir.Op{op.Add{}, op.Sub{}, op.Mul{}, op.Max{}, op.Min{}, op.Div{}}
	all := func(ir.Type) bool { return true }
	v := func() *ir.Value {
		switch kind := rapid.IntRange(0, 9).Draw(d.t, "operator"); kind {
		case 0, 1:
			o := rapid.SampledFrom(unary).Draw(d.t, "unary")
			v := d.b.Node(o, d.value(all))
			if v.Type.DType == ir.F64 {
				v = d.b.Node(op.Cast{To: ir.F32}, v)
			}
			return v
		case 2:
			x := d.value(all)
			y := d.value(func(t ir.Type) bool { return t.Equal(x.Type) })
			return d.b.Node(rapid.SampledFrom(binary[:5]).Draw(d.t, "binary"), x, y)
		case 3, 4:
			x := d.value(all)
			w := d.weight(d.broadcast(x.Type)...)
			o := rapid.SampledFrom(binary).Draw(d.t, "affine")
			if c, ok := w.ConstValue(); ok && c.Number(0) == 0 {
				o = op.Add{} // and no quotient, which would be infinite
			}
			return d.b.Node(o, x, w)
		case 5:
			x := d.value(all)
			perm := rapid.Permutation(pass.Seq(x.Type.Rank())).Draw(d.t, "perm")
			return d.b.Node(op.Transpose{Perm: perm}, x)
		case 6, 7:
			return d.conv(d.value(ofRank(4)))
		case 8:
			x := d.value(ofRank(2))
			k := x.Type.Shape[1]
			if !k.IsConst() {
				return d.b.Node(op.Transpose{Perm: []int{1, 0}}, x)
			}
			columns := dim.Const(rapid.SampledFrom([]int{5, 16, 17}).Draw(d.t, "columns"))
			return d.b.Node(op.MatMul{}, x, d.weight(k, columns))
		default:
			x := d.value(all)
			flat := d.b.Node(op.Reshape{Shape: []dim.Dim{x.Type.Elems()}}, x)
			return d.b.Node(op.Reshape{Shape: x.Type.Shape}, flat)
		}
	}()
	d.values = append(d.values, v)
}

// conv convolves x, and normalises the result at times.
func (d *drawer) conv(x *ir.Value) *ir.Value {
	c, ok := x.Type.Shape[1].Int()
	h, okH := x.Type.Shape[2].Int()
	w, okW := x.Type.Shape[3].Int()
	if !ok || !okH || !okW || h > 8 || w > 8 {
		return d.b.Node(op.Relu{}, x)
	}
	kernel := rapid.SampledFrom([]int{1, 3}).Draw(d.t, "kernel")
	channels := rapid.SampledFrom([]int{3, 16, 20}).Draw(d.t, "channels")
	window := op.Window{Kernel: []int{kernel, kernel}, Pads: slices.Repeat([]int{kernel / 2}, 4)}
	weights := d.weight(dim.Const(channels), dim.Const(c), dim.Const(kernel), dim.Const(kernel))
	var bias *ir.Value
	if rapid.Bool().Draw(d.t, "bias") {
		bias = d.weight(dim.Const(channels))
	}
	y := d.b.Node(op.Conv{Window: window, Group: 1}, x, weights, bias)
	if rapid.Bool().Draw(d.t, "normalised") {
		stat := func() *ir.Value {
			return d.b.Node(op.Abs{}, d.weight(dim.Const(channels)))
		}
		y = d.b.Node(op.BatchNormalization{Epsilon: 0.25}, y, stat(), stat(), stat(), stat())
	}
	return y
}

// broadcast draws a shape that broadcasts to t's.
func (d *drawer) broadcast(t ir.Type) []dim.Dim {
	shape := slices.Clone(t.Shape)
	for i, e := range shape {
		if !e.IsConst() || rapid.IntRange(0, 2).Draw(d.t, "one") > 0 {
			shape[i] = dim.Const(1)
		}
	}
	return shape[rapid.IntRange(0, len(shape)).Draw(d.t, "lead"):]
}

func drawTensor(shape []int, seed uint32, lo, hi float64) *ir.Tensor {
	t := ir.NewTensor(ir.F32, shape...)
	for i := range t.Len() {
		t.SetFloat(i, lo+(hi-lo)*float64(rt.Hash(seed, uint32(i))>>8)/(1<<24))
	}
	return t
}

// prepare evaluates the function that prepares weights in source, if there is one, and gives its
// results to all modules in to.
func prepare(t *rapid.T, source *ir.Module, to ...*ir.Module) {
	f := source.Func(pass.Prepare)
	if f == nil {
		return
	}
	out, err := (&ir.Evaluator{Module: source}).Run(f, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, source)
	}
	for i, w := range out {
		for _, m := range to {
			m.Weight(f.ResultNames[i]).Data = w.Bytes()
		}
	}
}

// compare evaluates two modules on the same arguments and compares the results. Symbolic extents
// are batch.
func compare(t *rapid.T, before, after *ir.Module, batch int, equal func(got, want *ir.Tensor) bool) {
	var args []*ir.Tensor
	for i, p := range before.Func(pass.Forward).Params {
		shape, _ := p.Type.Subst(func(string) (dim.Dim, bool) { return dim.Const(batch), true }).Static()
		args = append(args, drawTensor(shape, uint32(100+i), -2, 2))
	}
	want, err := (&ir.Evaluator{Module: before}).Run(before.Func(pass.Forward), args)
	if err != nil {
		t.Fatalf("%v\n%s", err, before)
	}
	got, err := (&ir.Evaluator{Module: after}).Run(after.Func(pass.Forward), args)
	if err != nil {
		t.Fatalf("%v\nbefore\n%s\nafter\n%s", err, before, after)
	}
	for i, w := range want {
		if !equal(got[i], w) {
			t.Fatalf("result %d is %s, before %s\nbefore\n%s\nafter\n%s", i, got[i], w, before, after)
		}
	}
}

// near compares floats relative to the largest element of the tensor. If an element of b is 1e12 or
// larger, near compares only the types.
func near(a, b *ir.Tensor) bool {
	if !a.Type().Equal(b.Type()) {
		return false
	}
	scale := 1.0
	for i := range b.Len() {
		scale = max(scale, math.Abs(b.Float(i)))
	}
	for i := range b.Len() {
		if scale < 1e12 && !(math.Abs(a.Float(i)-b.Float(i)) <= 1e-4*scale) {
			return false
		}
	}
	return true
}
