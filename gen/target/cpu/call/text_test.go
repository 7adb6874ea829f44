package call_test

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/burngen/burngen/internal/seeded"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/rt"
)

// texts returns a tensor of rank 1.
func texts(list []string) *ir.Tensor {
	t := ir.NewTensor(ir.String, len(list))
	for i, s := range list {
		t.SetText(i, s)
	}
	return t
}

// evaluate returns the result of an operator with one.
func evaluate(t *rapid.T, o ir.Op, args ...*ir.Tensor) *ir.Tensor {
	t.Helper()
	out, err := o.Eval(args)
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

func TestTextCastsComputeWhatIsEvaluated(t *testing.T) {
	same := func(t *rapid.T, d ir.DType, x *ir.Tensor, got []string) {
		t.Helper()
		if want := evaluate(t, op.Cast{To: ir.String}, x); !texts(got).Equal(want) {
			t.Fatalf("%s of %s: %q, want %s", d, x, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.Uint64().Draw(t, "bits")
		got := make([]string, 1)
		f64 := math.Float64frombits(bits)
		cpu.CastToText(got, []float64{f64})
		same(t, ir.F64, ir.FloatTensor(ir.F64, f64), got)
		f32 := math.Float32frombits(uint32(bits))
		cpu.CastToText(got, []float32{f32})
		same(t, ir.F32, ir.FloatTensor(ir.F32, float64(f32)), got)
		f16 := rt.Float16(bits)
		cpu.CastToText(got, []rt.Float16{f16})
		same(t, ir.F16, ir.FloatTensor(ir.F16, float64(f16.Float32())), got)
		e8 := rt.Float8E8M0(bits)
		cpu.CastToText(got, []rt.Float8E8M0{e8})
		same(t, ir.F8E8M0, ir.FloatTensor(ir.F8E8M0, float64(e8.Float32())), got)

		word := rapid.OneOf(rapid.StringMatching(`[-+]?[0-9]{1,22}(\.[0-9]{0,3})?(e-?[0-9]{1,3})?`), rapid.SampledFrom([]string{"", "NaN", "-INF", "x", " 7 "})).Draw(t, "word")
		readsAsEvaluated(t, ir.I8, word, func(x []string) (any, error) { y := make([]int8, 1); err := cpu.CastFromText(y, x); return y[0], err })
		readsAsEvaluated(t, ir.U64, word, func(x []string) (any, error) { y := make([]uint64, 1); err := cpu.CastFromText(y, x); return y[0], err })
		readsAsEvaluated(t, ir.F32, word, func(x []string) (any, error) {
			y := make([]float32, 1)
			err := cpu.CastFromText(y, x)
			return y[0], err
		})
		readsAsEvaluated(t, ir.Bool, word, func(x []string) (any, error) { y := make([]bool, 1); err := cpu.CastTextToBool(y, x); return y[0], err })
	})
}

// readsAsEvaluated compares the number that a kernel parses from a text with the result of Cast.
func readsAsEvaluated(t *rapid.T, d ir.DType, text string, read func([]string) (any, error)) {
	t.Helper()
	got, err := read([]string{text})
	out, wantErr := op.Cast{To: d}.Eval([]*ir.Tensor{texts([]string{text})})
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%q to %s: error %v, want %v", text, d, err, wantErr)
	}
	if err != nil {
		return
	}
	var want any
	switch d {
	case ir.I8:
		want = int8(out[0].Int(0))
	case ir.U64:
		want = uint64(out[0].Int(0))
	case ir.F32:
		want = float32(out[0].Float(0))
	case ir.Bool:
		want = out[0].Bool(0)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%q to %s: %v, want %v", text, d, got, want)
	}
}

// itemsOf returns the elements of a sequence of i64 in the form that the kernels use.
func itemsOf(seq *ir.Tensor) []rt.Tensor[int64] {
	items := make([]rt.Tensor[int64], len(seq.Items))
	for i, x := range seq.Items {
		items[i] = rt.Tensor[int64]{Shape: x.Shape, Data: make([]int64, x.Len())}
		for k := range items[i].Data {
			items[i].Data[k] = x.Int(k)
		}
	}
	return items
}

// Splitting and joining again, by kernels and by Eval, gives the same.
func TestSequenceKernelsComputeWhatIsEvaluated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(0, 3), 1, 3).Draw(t, "shape")
		axis := rapid.IntRange(0, len(shape)-1).Draw(t, "axis")
		x := ir.NewTensor(ir.I64, shape...)
		for i := range x.Len() {
			x.SetInt(i, int64(i))
		}
		data := itemsOf(ir.SequenceTensor(x.Type(), x))[0].Data
		o, in := op.SplitToSequence{Axis: axis}, []*ir.Tensor{x}
		var seq []rt.Tensor[int64]
		var err error
		switch rapid.IntRange(0, 2).Draw(t, "lengths") {
		case 0:
			o.KeepDims = rapid.Bool().Draw(t, "keep")
			err = cpu.SplitToSlices(&seq, data, shape, axis, o.KeepDims)
		case 1:
			n := rapid.Int64Range(0, 4).Draw(t, "length")
			in = append(in, ir.IntTensor(ir.I64, n).Reshape())
			err = cpu.SplitToParts(&seq, data, shape, axis, []int64{n})
		default:
			n := rapid.SliceOfN(rapid.Int64Range(-1, 3), 0, 3).Draw(t, "lengths")
			in = append(in, ir.IntTensor(ir.I64, n...))
			err = cpu.SplitToSequence(&seq, data, shape, axis, n)
		}
		want, wantErr := o.Eval(in)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("error %v, want %v", err, wantErr)
		}
		if err != nil {
			return
		}
		if got, want := fmt.Sprint(seq), fmt.Sprint(itemsOf(want[0])); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
		newAxis := rapid.Bool().Draw(t, "new axis")
		rank := len(shape)
		if len(in) == 1 && !o.KeepDims {
			rank--
		}
		if newAxis {
			rank++
		}
		if rank == 0 {
			return
		}
		at := rapid.IntRange(0, rank-1).Draw(t, "joined axis")
		joined, wantErr := op.ConcatFromSequence{Axis: at, NewAxis: newAxis, Extents: make([]string, rank)}.Eval(want)
		got, err := concatenated(seq, at, newAxis, rank)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("error %v, want %v", err, wantErr)
		}
		if err == nil && fmt.Sprint(got) != fmt.Sprint(itemsOf(ir.SequenceTensor(joined[0].Type(), joined...))[0]) {
			t.Fatalf("%v, want %s", got, joined[0])
		}
	})
}

// concatenated returns the result of the ConcatFromSequence kernels on seq.
func concatenated(seq []rt.Tensor[int64], axis int, newAxis bool, rank int) (rt.Tensor[int64], error) {
	y := rt.Tensor[int64]{Shape: make([]int, rank)}
	n := 1
	for i := range rank {
		var err error
		if y.Shape[i], err = cpu.ConcatExtent(seq, axis, newAxis, rank, i); err != nil {
			return y, err
		}
		n *= y.Shape[i]
	}
	y.Data = make([]int64, n)
	return y, cpu.ConcatFromSequence(y.Data, seq, y.Shape, axis, newAxis)
}
