package gpu_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/gen/target/targettest"
	"github.com/burngen/burngen/gen/value"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
)

// counter is an interpreter that counts launches.
type counter struct {
	gpu.Interpreter
	launches int
}

func (c *counter) Launch(k *kernel.Kernel, grid [3]int, args []gpu.Arg) error {
	c.launches++
	return c.Interpreter.Launch(k, grid, args)
}

// agrees compares the results of an operator on interpreted kernels with its definition. The greatest
// difference is at most near times the greatest number of the result.
func agrees(t *testing.T, name string, near float64, o ir.Op, args ...*ir.Tensor) {
	t.Helper()
	want, err := o.Eval(args)
	if err != nil {
		t.Fatal(err)
	}
	var types []ir.Type
	var data []any
	for _, a := range args {
		types, data = append(types, a.Type()), append(data, value.ToGo(a))
	}
	device := &counter{}
	out, err := run(t, gpu.Target{Language: interpreted.Language, Device: device}, o, types, data...)
	if err != nil || device.launches == 0 {
		t.Fatalf("%s: %d launches, %v", name, device.launches, err)
	}
	for k, y := range want {
		got, err := value.FromGo(y.Type(), y.Shape, out[k])
		if err != nil {
			t.Fatal(err)
		}
		most, off := 0.0, 0.0
		for i := range y.Len() {
			most, off = max(most, math.Abs(y.Number(i))), max(off, math.Abs(got.Number(i)-y.Number(i)))
		}
		if !(off <= near*most) {
			t.Errorf("%s: result %d is off by %g of %g", name, k, off, most)
		}
	}
}

// draw returns a tensor of numbers from −1 to 1.
func draw(d ir.DType, shape ...int) *ir.Tensor {
	r := rand.New(rand.NewPCG(1, 2))
	x := ir.NewTensor(d, shape...)
	for i := range x.Len() {
		x.SetFloat(i, 2*r.Float64()-1)
	}
	return x
}

// TestFourier transforms lines of lengths with one and several radices, and with large prime factors.
func TestFourier(t *testing.T) {
	for _, length := range []int{1, 2, 31, 32, 33, 60, 64, 67, 134, 211, 400, 1024} {
		for _, o := range []op.DFT{{}, {Inverse: true}, {OneSided: true}, {Inverse: true, OneSided: true}} {
			o.Axis, o.Length = 1, dim.Const(length)
			parts := 2
			if o.OneSided && !o.Inverse {
				parts = 1
			}
			agrees(t, fmt.Sprintf("%+v", o), 1e-14, o, draw(ir.F64, 2, length, 1, parts))
		}
	}
}

// TestElimination inverts matrices. The largest fill the shared memory.
func TestElimination(t *testing.T) {
	for _, n := range []int{1, 2, 9, 39} {
		x := draw(ir.F64, 3, n, n)
		agrees(t, fmt.Sprint("inverse of ", n), 1e-11, op.Inverse{}, x)
		agrees(t, fmt.Sprint("determinant of ", n), 1e-11, op.Det{}, x)
	}
	singular := ir.FloatTensor(ir.F64, 1, 2, 3, 2, 4, 6, 0, 0, 1).Reshape(1, 3, 3)
	agrees(t, "determinant of a singular matrix", 0, op.Det{}, singular)
}

// TestLargeRegions pools regions that are much larger than the images, and have as many samples.
func TestLargeRegions(t *testing.T) {
	regions := ir.FloatTensor(ir.F64, -1e9, -2e9, 1e9, 3e9, 1, -1e5, 3, 1e5, -1e12, 0, 1e12, 4).Reshape(3, 4)
	for _, mode := range []string{"avg", "max"} {
		o := op.RoiAlign{Mode: mode, Height: 3, Width: 1, Scale: 1}
		agrees(t, mode, 1e-12, o, draw(ir.F64, 1, 2, 5, 4), regions, ir.NewTensor(ir.I64, 3))
	}
}

// TestWideFilters makes tables of filters that are widened for scales below 1.
func TestWideFilters(t *testing.T) {
	for mode, taps := range map[string]int{"linear": 6, "cubic": 10} {
		for _, exclude := range []bool{false, true} {
			o := op.ResizeTable{
				Mode: mode, Coordinates: "half_pixel", In: dim.Const(17), Out: dim.Const(7), Taps: dim.Const(taps),
				CubicA: -0.5, ExcludeOutside: exclude, AntiAlias: true,
			}
			agrees(t, mode, 1e-7, o)
		}
	}
}

// TestExtentErrors asserts that extents that a kernel cannot compute with are errors.
func TestExtentErrors(t *testing.T) {
	extent, two, three := dim.Sym("N"), dim.Const(2), dim.Const(3)
	table := op.ResizeTable{Mode: "nearest", Coordinates: "half_pixel", Rounding: "floor", In: extent, Out: two, Taps: dim.Const(1)}
	linear := table
	linear.Mode, linear.Taps = "linear", two
	for _, c := range []struct {
		op    ir.Op
		types []ir.Type
		wrong int // the extent that is an error; 2 is not
	}{
		{op.PadIndex{Mode: "edge", Extent: extent, Before: two}, nil, 0},
		{op.PadIndex{Mode: "wrap", Extent: extent, After: two}, nil, 0},
		{table, nil, 0},
		{linear, nil, 0},
		{op.ResizeOutside{Table: table}, nil, 0},
		{op.Col2Im{Image: []dim.Dim{three}, Block: []dim.Dim{extent}}, []ir.Type{ir.StaticTensor(ir.F32, 1, 4, 2)}, 1},
		{op.Col2Im{Image: []dim.Dim{three}, Block: []dim.Dim{two}}, []ir.Type{ir.TensorOf(ir.F32, two, dim.Const(2), extent)}, 3},
		{op.Col2Im{Image: []dim.Dim{three}, Block: []dim.Dim{two}}, []ir.Type{ir.TensorOf(ir.F32, two, extent, two)}, 3},
	} {
		for _, n := range []int{2, c.wrong} {
			f := &ir.Func{Name: pass.Forward}
			b := ir.NewBuilder(f)
			args, shapes := []any{make([]bool, n)}, [][]int{{n}}
			b.Param("extent", ir.TensorOf(ir.Bool, extent))
			var operands []*ir.Value
			for _, typ := range c.types {
				operands = append(operands, b.Param("x", typ))
				shape, _ := dim.Ints(typ.Subst(func(string) (dim.Dim, bool) { return dim.Const(n), true }).Shape)
				args, shapes = append(args, make([]float32, targettest.Product(shape...))), append(shapes, shape)
			}
			b.Return(b.Nodes(c.op, operands...)...)
			_, err := runFunc(t, interpreted, f, args, shapes)
			if (err != nil) != (n == c.wrong) {
				t.Errorf("%+v with %d: %v", c.op, n, err)
			}
		}
	}
}

// TestWideExtents computes with extents that exceed 32 bits.
func TestWideExtents(t *testing.T) {
	const n = 70000
	extent := dim.Sym("N")
	square := extent.Mul(extent)
	for _, c := range []struct {
		op   ir.Op
		args []*ir.Tensor
		want int64
	}{
		{ir.Extents{Type: ir.StaticTensor(ir.I64, 1), Elems: []dim.Dim{square}}, nil, n * n},
		{op.CheckIndex{Count: square}, []*ir.Tensor{ir.IntTensor(ir.I64, n*n-1)}, n*n - 1},
		{op.CheckIndex{Count: square}, []*ir.Tensor{ir.IntTensor(ir.I32, 1<<31-1)}, 1<<31 - 1},
		{op.CheckIndex{Count: square, FromEnd: true}, []*ir.Tensor{ir.IntTensor(ir.I64, -1)}, n*n - 1},
		{op.PadIndex{Mode: "wrap", Extent: square, Before: dim.Const(1), After: square.Neg()}, nil, n*n - 1},
	} {
		f := &ir.Func{Name: pass.Forward}
		b := ir.NewBuilder(f)
		b.Param("extent", ir.TensorOf(ir.Bool, extent))
		args, shapes := []any{make([]bool, n)}, [][]int{{n}}
		var operands []*ir.Value
		for _, x := range c.args {
			operands = append(operands, b.Param("x", x.Type()))
			args, shapes = append(args, value.ToGo(x)), append(shapes, x.Shape)
		}
		b.Return(b.Nodes(c.op, operands...)...)
		out, err := runFunc(t, interpreted, f, args, shapes)
		if err != nil {
			t.Errorf("%+v: %v", c.op, err)
			continue
		}
		if got := reflect.ValueOf(out[0]).Index(0).Int(); got != c.want {
			t.Errorf("%+v: %d, want %d", c.op, got, c.want)
		}
	}
}
