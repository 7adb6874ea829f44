package exec_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/gen/value"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
	"github.com/burngen/burngen/runtime/rt"
)

// extents are what the symbols of the cases stand for.
var extents = map[string]int{"N": 3, "M": 2, "H": 5, "W": 4, "P": 7, "Q": 3}

// operand is a parameter of a case: its type, and the bound of its elements when
// they are indices, which also count from the end.
type operand struct {
	dtype ir.DType
	shape []string
	bound int
}

// A kernel computes what the operator that calls it evaluates to, for every
// element type and with extents that are known only then.
func TestKernelsComputeWhatOperatorsEvaluate(t *testing.T) {
	for _, c := range agreements() {
		t.Run(c.name, func(t *testing.T) {
			f := &ir.Func{Name: pass.Forward}
			b := ir.NewBuilder(f)
			err := ir.Try(func() {
				var params []*ir.Value
				for _, o := range c.operands {
					params = append(params, b.Param("x", o.typ()))
				}
				b.Return(b.Nodes(c.op, params[c.skip:]...)...)
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range f.Results {
				f.ResultNames = append(f.ResultNames, r.Name)
			}
			args := make([]*ir.Tensor, len(c.operands))
			for i, o := range c.operands {
				args[i] = o.draw(uint32(i))
			}
			want, err := (&ir.Evaluator{}).Run(f, args)
			if err != nil {
				t.Fatal(err)
			}
			got := execute(t, f, args)
			for i, y := range want {
				if y = stored(t, y.DType, y.Shape, value.Slice(y)); !agree(got[i], y, c.near) {
					t.Errorf("got  %s\nwant %s", got[i], y)
				}
			}
		})
	}
}

// agreement is an operator, and the parameters of a function that applies it to
// all of them but the first ones.
type agreement struct {
	name     string
	op       ir.Op
	operands []operand
	skip     int
	near     float64 // the relative error of floats
}

func agreements() []agreement {
	var all []agreement
	add := func(name string, near float64, o ir.Op, operands ...operand) {
		all = append(all, agreement{name: name, op: o, operands: operands, near: near})
	}
	n, m := ir.Sym("N"), ir.Sym("M")
	for _, d := range ir.DTypes() {
		of := func(shape string) operand { return operand{dtype: d, shape: strings.Fields(shape)} }
		index := func(i ir.DType, bound int, shape string) operand {
			return operand{dtype: i, shape: strings.Fields(shape), bound: bound}
		}
		move := func(name string, o ir.Op, operands ...operand) { add(name+" of "+d.String(), 0, o, operands...) }

		move("gather", op.Gather{Axis: 1}, of("2 N W"), index(ir.I32, 3, "M"))
		move("gather elements on the last axis", op.GatherElements{Axis: 1}, of("N W"), index(ir.I64, 4, "M 5"))
		move("gather elements on the first axis", op.GatherElements{Axis: 0}, of("N W"), index(ir.I32, 3, "5 M"))
		move("gather slices", op.GatherND{BatchDims: 1}, of("N W 5 2"), index(ir.I64, 4, "N M 2"))
		move("scatter elements", op.ScatterElements{Axis: 1}, of("N W"), index(ir.I64, 4, "M 3"), of("M 3"))
		move("scatter slices", op.ScatterND{}, of("N W"), index(ir.I32, 3, "M 1"), of("M W"))
		move("pad", op.Pad{Mode: "constant", Before: []ir.Dim{n, ir.Const(1)}, After: []ir.Dim{ir.Const(0), m}}, of("N M"))
		move("pad with a value", op.Pad{Mode: "constant", Before: []ir.Dim{n}, After: []ir.Dim{ir.Const(2)}}, of("N"), of("1"))
		move("one hot", op.OneHot{Axis: 1, Depth: n}, index(ir.I64, 5, "M N"), of("2"))
		move("upper triangle", op.Trilu{Upper: true}, of("2 N W"))
		move("lower triangle", op.Trilu{}, of("N W"), index(ir.I64, 2, ""))
		move("transpose", op.Transpose{Perm: []int{2, 0, 1}}, of("N M W"))
		move("where", op.Where{}, operand{dtype: ir.Bool, shape: []string{"N", "W"}}, of("N W"), of("N W"))
		if d != ir.String {
			all = append(all, agreement{
				name: "eye of " + d.String(), op: op.Eye{DType: d, Rows: n, Cols: m.Add(n), K: 1},
				operands: []operand{of("N M")}, skip: 1,
			})
		}
		if !d.IsFloat() && !d.IsInt() {
			continue
		}
		near := map[ir.DType]float64{ir.F64: 1e-12, ir.F32: 1e-5, ir.F16: 2e-3, ir.BF16: 2e-2}[d]
		if d.IsFloat() && near == 0 {
			continue // too coarse for sums
		}
		for _, r := range []string{"add", "mul", "max", "min"} {
			add("scatter elements of "+d.String()+", "+r, near, op.ScatterElements{Axis: 0, Reduction: r}, of("N W"), index(ir.I32, 3, "5 M"), of("5 M"))
			add("scatter slices of "+d.String()+", "+r, near, op.ScatterND{Reduction: r}, of("N W"), index(ir.I64, 3, "M 1"), of("M W"))
		}
		add("running sum of "+d.String(), near, op.CumSum{Axis: 1, Exclusive: true}, of("N W"))
		add("running product of "+d.String(), near, op.CumProd{Axis: 1, Reverse: true}, of("N W"))
	}
	for _, from := range ir.DTypes() {
		for _, to := range ir.DTypes() {
			if from != ir.String && to != ir.String {
				add(fmt.Sprintf("%s to %s", from, to), 0, op.Cast{To: to}, operand{dtype: from, shape: []string{"N", "W"}})
			}
		}
	}
	for _, coordinates := range []string{
		"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn",
	} {
		for _, o := range []op.Resize{
			{Mode: "nearest", Rounding: "round_prefer_floor"}, {Mode: "nearest", Rounding: "round_prefer_ceil"},
			{Mode: "nearest", Rounding: "floor"}, {Mode: "nearest", Rounding: "ceil"}, {Mode: "nearest", Rounding: "simple"},
			{Mode: "linear"}, {Mode: "linear", ExcludeOutside: true},
			{Mode: "cubic", CubicA: -0.75}, {Mode: "cubic", CubicA: -0.5, ExcludeOutside: true},
		} {
			o.Coordinates = coordinates
			o.Shape, o.Scales = []ir.Dim{m, ir.Const(1), ir.Sym("P"), ir.Sym("Q")}, make([]float64, 4)
			name := fmt.Sprintf("resize %s %s %s %v", coordinates, o.Mode, o.Rounding, o.ExcludeOutside)
			all = append(all, agreement{
				name: name, op: o, near: 1e-5, skip: 1,
				operands: []operand{{dtype: ir.Bool, shape: []string{"P", "Q"}}, {dtype: ir.F32, shape: []string{"M", "1", "H", "W"}}},
			})
		}
	}
	return all
}

func (o operand) typ() ir.Type {
	dims := make([]ir.Dim, len(o.shape))
	for i, s := range o.shape {
		var k int
		if _, err := fmt.Sscan(s, &k); err == nil {
			dims[i] = ir.Const(k)
		} else {
			dims[i] = ir.Sym(s)
		}
	}
	return ir.TensorOf(o.dtype, dims...)
}

func (o operand) draw(seed uint32) *ir.Tensor {
	shape, _ := o.typ().Subst(func(s string) (ir.Dim, bool) { return ir.Const(extents[s]), true }).Static()
	x := ir.NewTensor(o.dtype, shape...)
	for i := range x.Len() {
		h := int(rt.Hash(seed, uint32(i)) >> 8)
		switch {
		case o.bound > 0:
			x.SetInt(i, int64(h%(2*o.bound)-o.bound))
		case o.dtype == ir.String:
			x.SetText(i, fmt.Sprint(h%100))
		case o.dtype == ir.Bool:
			x.SetBool(i, h&1 != 0)
		case o.dtype == ir.F8E8M0:
			x.SetFloat(i, math.Ldexp(1, h%9-4))
		case o.dtype.IsFloat():
			x.SetFloat(i, float64(h%97)/8-6)
		default:
			x.SetInt(i, int64(h%251)-100)
		}
	}
	return x
}

// execute compiles a function and runs it on the kernels.
func execute(t *testing.T, f *ir.Func, args []*ir.Tensor) []*ir.Tensor {
	t.Helper()
	m := &ir.Module{Funcs: []*ir.Func{f.Clone()}}
	if err := pass.All(&pass.Context{}, m, pass.Options{}); err != nil {
		t.Fatal(err)
	}
	if m.Func(pass.Prepare) != nil && len(m.Func(pass.Prepare).Results) > 0 {
		t.Fatalf("a constant is prepared:\n%s", m)
	}
	weights := rt.NewWeights()
	for _, w := range m.Weights {
		shape, _ := w.Type.Static()
		weights.AddRaw(w.Name, w.Type.DType.String(), shape, w.Data)
	}
	lowered, err := program.Compile(m, pass.Forward)
	if err != nil {
		t.Fatal(err)
	}
	var slices []any
	var shapes [][]int
	for _, a := range args {
		slices, shapes = append(slices, value.Slice(a)), append(shapes, a.Shape)
	}
	results, outShapes, err := exec.New(lowered, exec.Weights(weights)).Run(context.Background(), slices, shapes)
	if err != nil {
		t.Fatalf("%v\n%s", err, m)
	}
	out := make([]*ir.Tensor, len(results))
	for i, r := range results {
		out[i] = stored(t, lowered.IR.Results[i].Type.DType, outShapes[i], r)
	}
	return out
}

// stored returns the tensor of elements in memory. (There is no zero among the
// powers of two.)
func stored(t *testing.T, d ir.DType, shape []int, slice any) *ir.Tensor {
	t.Helper()
	x, err := value.FromSlice(d, shape, slice)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// agree compares tensors: floats to a relative error.
func agree(x, y *ir.Tensor, near float64) bool {
	if x.Type().String() != y.Type().String() {
		return false
	}
	for i := range x.Len() {
		switch {
		case x.DType == ir.String:
			if x.Text(i) != y.Text(i) {
				return false
			}
		case x.DType.IsFloat():
			a, b := x.Float(i), y.Float(i)
			if a != b && !(a != a && b != b) && !(math.Abs(a-b) <= near*max(1, math.Abs(b))) {
				return false
			}
		case x.Int(i) != y.Int(i):
			return false
		}
	}
	return true
}
