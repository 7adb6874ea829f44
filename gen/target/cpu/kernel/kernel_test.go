package kernel

import (
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

func value(typ ir.Type) *ir.Value { return &ir.Value{Type: typ} }

func tensor(d ir.DType) *ir.Value { return value(ir.TensorOf(d, dim.Const(3))) }

// TestInstances asserts that the types of the arguments determine the instance of a call. It is an
// error if there is no instance for the types.
func TestInstances(t *testing.T) {
	sequence := func(d ir.DType) *ir.Value { return value(ir.SequenceOf(ir.TensorOf(d, dim.Const(3)))) }
	for name, c := range map[string]struct {
		call     Call
		instance string // the types of the instance
		err      string
	}{
		"one type":            {call: Exp(Result{tensor(ir.F64)}, Operand{tensor(ir.F64)}), instance: "float64"},
		"two types":           {call: Cast(Result{tensor(ir.F32)}, Operand{tensor(ir.I64)}), instance: "float32 int64"},
		"less than a byte":    {call: Copy(Result{tensor(ir.U4)}, Operand{tensor(ir.U4)}), instance: "uint8"},
		"a number":            {call: AddScalar(Result{tensor(ir.I32)}, Operand{tensor(ir.I32)}, Number{DType: ir.I32, Int: 7}), instance: "int32"},
		"a text":              {call: Fill(Result{tensor(ir.String)}, Text("")), instance: "string"},
		"an element":          {call: Range(Result{tensor(ir.F64)}, Element{tensor(ir.F64)}, F64(1)), instance: "float64"},
		"an absent operand":   {call: LayerNorm(Result{tensor(ir.F32)}, Operand{tensor(ir.F32)}, nil, nil, dim.Const(1), dim.Const(3), F32(0)), instance: "float32"},
		"more arguments":      {call: Elements(Result{tensor(ir.I64)}, dim.Const(1), dim.Const(2)), instance: "int64"},
		"containers":          {call: SequenceAt(Result{tensor(ir.F16)}, Operand{sequence(ir.F16)}, Operand{tensor(ir.I64)}, nil), instance: "rt.Float16 int64"},
		"a container written": {call: SequenceEmpty(Result{sequence(ir.Bool)}), instance: "bool"},
		"no such type":        {call: Exp(Result{tensor(ir.I8)}, Operand{tensor(ir.I8)}), err: "kernel Exp: dst is a []int8, []T of float32, float64 expected"},
		"different types":     {call: Exp(Result{tensor(ir.F32)}, Operand{tensor(ir.F64)}), err: "kernel Exp: x is a []float64, []T of float32 expected"},
		"a wrong number":      {call: AddScalar(Result{tensor(ir.F32)}, Operand{tensor(ir.F32)}, F64(1)), err: "kernel AddScalar: b is a float64, T of float32 expected"},
		"a fixed type":        {call: Conv(Result{tensor(ir.F64)}, nil, nil, nil, nil), err: "kernel Conv: dst is a []float64, []float32 expected"},
		"a tensor":            {call: SequenceLength(Result{tensor(ir.I64)}, Operand{tensor(ir.F32)}), err: "kernel SequenceLength: seq is a []float32, []rt.Tensor[T] of bool, float32, float64, int16, int32, int64, int8, rt.BFloat16, rt.Float16, rt.Float4E2M1, rt.Float8E4M3FN, rt.Float8E4M3FNUZ, rt.Float8E5M2, rt.Float8E5M2FNUZ, rt.Float8E8M0, string, uint16, uint32, uint64, uint8 expected"},
		"nothing to tell":     {call: Exp(nil, nil), err: "kernel Exp: no argument tells what T is"},
		"too few extents":     {call: PadBlocked(nil, nil, dim.Dim{}, dim.Dim{}, dim.Dim{}, dim.Dim{}, dim.Consts(1, 2), F32(0)), err: "kernel PadBlocked: pad: 2 extents, 4 expected"},
		"in a composite":      {call: Conv(nil, nil, nil, nil, &Epilogue{Bias: Operand{tensor(ir.F64)}}), err: "kernel Conv: ep: Bias: a []float64, []float32 expected"},
		"a further operand":   {call: Conv(nil, nil, nil, nil, &Epilogue{In: []Memory{nil, Operand{tensor(ir.I8)}}}), err: "kernel Conv: ep: In: a []int8, []float32 expected"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.err != "" {
				if c.call.Err == nil || c.call.Err.Error() != c.err {
					t.Errorf("error %v\nwant %s", c.call.Err, c.err)
				}
				return
			}
			if c.call.Err != nil {
				t.Fatal(c.call.Err)
			}
			got, rest := "", c.call.Instance
			for i := len(c.call.Kernel.Types) - 1; i >= 0; i-- {
				of := c.call.Kernel.Types[i].Of
				if got != "" {
					got = " " + got
				}
				got, rest = of[rest%len(of)]+got, rest/len(of)
			}
			if got != c.instance {
				t.Errorf("instance %s, want %s", got, c.instance)
			}
		})
	}
}

// Fields that are zero are omitted, except given strings and numbers.
func TestComposites(t *testing.T) {
	c := (&Epilogue{Clamp: true, Lo: F32(0), In: []Memory{nil, nil}}).composite().(*Composite)
	if len(c.Fields) != 2 || c.Fields[0].Name != "Clamp" || c.Fields[1].Name != "Lo" || c.Ctx {
		t.Errorf("fields %v, Clamp and Lo expected", c.Fields)
	}
	if c := (&ConvShape{KH: dim.Const(3)}).composite().(*Composite); len(c.Fields) != 1 || !c.Ctx {
		t.Errorf("fields %v and a context %t, KH and a context expected", c.Fields, c.Ctx)
	}
	if c := (*ConvShape)(nil).composite(); c != nil {
		t.Errorf("no composite is %v", c)
	}
}
