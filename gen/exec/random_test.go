package exec_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/burngen/burngen/gen/target/cpu/storage"
	_ "github.com/burngen/burngen/internal/seeded"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/program"
	target "github.com/burngen/burngen/gen/target/cpu"
	"github.com/burngen/burngen/gen/value"
	_ "github.com/burngen/burngen/internal/seeded"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/rt"
)

// TestRandomFunctions asserts that random lowered functions give the same bits as the evaluator.
// Their operators are exact on the given numbers.
func TestRandomFunctions(t *testing.T) {
	n, m := dim.Sym("N"), dim.Sym("M")
	for name, shapes := range map[string][][]dim.Dim{
		"static":   {dim.Consts(2, 3, 5), dim.Consts(3, 1, 2, 7), dim.Consts(2, 1500), dim.Consts(4, 300), dim.Consts(3, 0), dim.Consts(700, 3), dim.Consts(20, 17), dim.Consts()},
		"symbolic": {{n, dim.Const(3), dim.Const(5)}, {dim.Const(2), n, m}, {n, m}, {m, dim.Const(270)}, {n, dim.Const(17)}, {n, dim.Const(1), m, dim.Const(2)}, {n}},
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				d := &drawer{t: t, full: rapid.SampledFrom(shapes).Draw(t, "shape")}
				f := d.function()
				sizes := map[string]int{"N": d.int(0, 5, "N"), "M": rapid.SampledFrom([]int{1, 2, 3, 260}).Draw(t, "M")}
				compare(t, f, sizes)
			})
		})
	}
}

// compare evaluates a lowered function and runs it at every level of the processor.
func compare(t *rapid.T, f *ir.Func, sizes map[string]int) {
	var args []*ir.Tensor
	var data []any
	var shapes [][]int
	for i, p := range f.Params {
		shape, _ := p.Type.Subst(func(s string) (dim.Dim, bool) { return dim.Const(sizes[s]), true }).Static()
		x := ir.NewTensor(p.Type.DType, shape...)
		for k := range x.Len() {
			v := int64(rt.Hash(uint32(i), uint32(k))>>8%9) - 4
			if x.DType.IsFloat() {
				x.SetFloat(k, float64(v)/2)
			} else {
				x.SetInt(k, v)
			}
		}
		args, shapes = append(args, x), append(shapes, shape)
	}
	module := &ir.Module{Funcs: []*ir.Func{f}}
	want, err := (&ir.Evaluator{Module: module}).Run(f, args)
	if err != nil {
		t.Fatalf("%v\n%s", err, f)
	}
	compiled, err := program.Compile(module, f.Name, target.Target{})
	if err != nil {
		t.Fatalf("%v\n%s", err, f)
	}
	for _, level := range []cpu.Level{cpu.Generic, cpu.AVX512} {
		restore := cpu.SetLevel(level)
		data = data[:0]
		for _, a := range args {
			data = append(data, value.Slice(a))
		}
		got, _, err := exec.New(compiled, target.Target{}, nil).Run(t.Context(), data, shapes)
		restore()
		if err != nil {
			t.Fatalf("%v\n%s", err, f)
		}
		for i, w := range want {
			y, err := value.FromSlice(w.DType, w.Shape, got[i])
			if err != nil || !y.Equal(w) {
				t.Fatalf("level %d, %v: result %d is %s, want %s: %v\n%s", level, sizes, i, y, w, err, f)
			}
		}
		for i, a := range args {
			if y, err := value.FromSlice(a.DType, a.Shape, data[i]); err != nil || !y.Equal(a) {
				t.Fatalf("argument %d is written\n%s", i, f)
			}
		}
	}
}

// drawer draws functions of values whose shapes broadcast to one.
type drawer struct {
	t      *rapid.T
	b      *ir.Builder
	full   []dim.Dim
	values []*ir.Value // that broadcast to the full shape
	others []*ir.Value
	// multiplied reports whether there is a product. The sums of a product are exact, but the sums
	// of a second product might not be.
	multiplied bool
}

func (d *drawer) int(lo, hi int, what string) int { return rapid.IntRange(lo, hi).Draw(d.t, what) }

func (d *drawer) function() *ir.Func {
	f := &ir.Func{Name: "forward"}
	d.b = ir.NewBuilder(f)
	if err := ir.Try(func() {
		d.values = []*ir.Value{d.b.Param("x", ir.TensorOf(d.dtype(), d.full...))}
		for range d.int(0, 3, "params") {
			d.values = append(d.values, d.b.Param("x", ir.TensorOf(d.dtype(), d.broadcast()...)))
		}
		for range d.int(1, 8, "nodes") {
			d.node()
		}
		all := append(slices.Clone(d.values), d.others...)
		var results []*ir.Value
		for i := range d.int(1, 4, "results") {
			results = append(results, all[len(all)-1-d.int(0, len(all)-1, "result")])
			f.ResultNames = append(f.ResultNames, fmt.Sprint("y", i))
		}
		d.b.Return(results...)
	}); err != nil {
		d.t.Fatal(err)
	}
	return f
}

func (d *drawer) dtype() ir.DType {
	return rapid.SampledFrom([]ir.DType{ir.F32, ir.F32, ir.F32, ir.F64, ir.I32, ir.I64, ir.U8}).Draw(d.t, "dtype")
}

// broadcast draws a shape that broadcasts to the full one.
func (d *drawer) broadcast() []dim.Dim {
	shape := slices.Clone(d.full)
	for i := range shape {
		if d.int(0, 1, "one") == 0 {
			shape[i] = dim.Const(1)
		}
	}
	return shape[d.int(0, len(shape), "lead"):]
}

func (d *drawer) value() *ir.Value {
	return d.values[len(d.values)-1-min(d.int(0, 4, "value"), len(d.values)-1)]
}

func (d *drawer) node() {
	x := d.value()
	switch d.int(0, 7, "kind") {
	case 0:
		flat := d.b.Node(op.Reshape{Shape: []dim.Dim{x.Type.Elems()}}, x)
		d.values = append(d.values, d.b.Node(op.Reshape{Shape: x.Type.Shape}, flat))
	case 1:
		d.others = append(d.others, d.concat(x))
	case 2:
		if y := d.product(x); y != nil {
			d.values = append(d.values, y)
		}
	default:
		args := []*ir.Value{x}
		for range d.int(0, 3, "more") {
			if y := d.value(); !slices.Contains(args, y) {
				args = append(args, y)
			}
		}
		region := d.b.Block(func(b *ir.Builder) {
			r := &region{drawer: d, b: b}
			for _, a := range args {
				r.values = append(r.values, b.Param("p", ir.TensorOf(a.Type.DType)))
			}
			for range d.int(0, 6, "operators") {
				r.values = append(r.values, r.node())
			}
			var results []*ir.Value
			for range d.int(1, 3, "results") {
				results = append(results, r.value("result", func(ir.DType) bool { return true }))
			}
			b.Return(results...)
		})
		d.values = append(d.values, d.b.NodeBlocks(op.Pointwise{}, []*ir.Block{region}, args...)...)
	}
}

// concat draws a concatenation of x with others of its type, and what overwrites it.
func (d *drawer) concat(x *ir.Value) *ir.Value {
	if x.Type.Rank() == 0 {
		x = d.b.Node(op.Reshape{Shape: dim.Consts(1)}, x)
	}
	parts := []*ir.Value{x}
	for range d.int(1, 2, "parts") {
		if y := d.value(); y.Type.Equal(x.Type) {
			parts = append(parts, y)
		}
	}
	whole := d.b.Node(op.Concat{Axis: d.int(0, x.Type.Rank()-1, "axis")}, parts...)
	if d.int(0, 1, "read") == 0 || whole.Type.DType == ir.Bool {
		return whole
	}
	region := d.b.Block(func(b *ir.Builder) {
		p := b.Param("p", ir.TensorOf(whole.Type.DType))
		b.Return(b.Node(op.Add{}, p, p))
	})
	return d.b.NodeBlocks(op.Pointwise{}, []*ir.Block{region}, whole)[0]
}

// product draws a product of a matrix with a chain of elementwise operators after it. It returns
// nil if x is not a matrix with few columns, or if there is a product already.
func (d *drawer) product(x *ir.Value) *ir.Value {
	s := x.Type.Shape
	if len(s) != 2 || x.Type.DType != ir.F32 || !s[1].IsConst() || d.multiplied {
		return nil
	}
	k, _ := s[1].Int()
	if k > 300 || k == 0 {
		return nil
	}
	d.multiplied = true
	like := func() *ir.Value {
		if y := d.value(); y.Type.Equal(x.Type) {
			return y
		}
		return x
	}
	panels := d.b.Param("panels", ir.StaticTensor(ir.F32, (k+15)/16, k, 16))
	args := []*ir.Value{x, panels, nil, like(), like(), like()}
	region := d.b.Block(func(b *ir.Builder) {
		at := b.Param("p", ir.TensorOf(ir.F32))
		more := []*ir.Value{b.Param("q", ir.TensorOf(ir.F32)), b.Param("r", ir.TensorOf(ir.F32))}
		for range d.int(0, 4, "chain") {
			switch d.int(0, 3, "link") {
			case 0:
				at = b.Node(op.Neg{}, at)
			case 1:
				at = b.Node(op.Sub{}, more[d.int(0, 1, "operand")], at)
			case 2:
				at = b.Node(op.Add{}, at, b.Scalar(ir.F32, 0.5))
			case 3:
				at = b.Node(op.Max{}, at, more[d.int(0, 1, "operand")])
			}
		}
		b.Return(at)
	})
	return d.b.NodeBlocks(storage.MatMulPanels{N: s[1]}, []*ir.Block{region}, args...)[0]
}

// region draws the nodes of a pointwise region.
type region struct {
	*drawer
	b      *ir.Builder
	values []*ir.Value
}

// value draws a value of an element type that fits; nil when there is none.
func (r *region) value(what string, fits func(ir.DType) bool) *ir.Value {
	var fitting []*ir.Value
	for _, v := range r.values {
		if fits(v.Type.DType) {
			fitting = append(fitting, v)
		}
	}
	if fitting == nil {
		return nil
	}
	return fitting[len(fitting)-1-min(r.int(0, 4, what), len(fitting)-1)]
}

func (r *region) node() *ir.Value {
	isNumber := func(d ir.DType) bool { return d != ir.Bool }
	x := r.value("operand", isNumber)
	if x == nil {
		return r.b.Node(op.Cast{To: ir.F32}, r.values[0])
	}
	same := func(d ir.DType) bool { return d == x.Type.DType }
	choice := r.value("choice", func(d ir.DType) bool { return d == ir.Bool })
	switch r.int(0, 6, "operator") {
	case 0:
		if x.Type.DType == ir.U8 {
			return r.b.Node(op.Cast{To: ir.I32}, x)
		}
		return r.b.Node(rapid.SampledFrom([]ir.Op{op.Neg{}, op.Abs{}, op.Relu{}}).Draw(r.t, "unary"), x)
	case 1:
		return r.b.Node(op.Cast{To: r.dtype()}, x)
	case 2:
		return r.b.Node(rapid.SampledFrom([]ir.Op{op.Less{}, op.Equal{}}).Draw(r.t, "comparison"), x, r.value("right", same))
	case 3:
		if choice != nil {
			return r.b.Node(op.Where{}, choice, x, r.value("right", same))
		}
		fallthrough
	case 4:
		s := r.b.Scalar(x.Type.DType, 2)
		args := [][]*ir.Value{{x, s}, {s, x}}[r.int(0, 1, "side")]
		return r.b.Node(rapid.SampledFrom([]ir.Op{op.Add{}, op.Sub{}, op.Min{}}).Draw(r.t, "scalar"), args...)
	}
	return r.b.Node(rapid.SampledFrom([]ir.Op{op.Add{}, op.Sub{}, op.Max{}, op.Min{}}).Draw(r.t, "binary"), x, r.value("right", same))
}
