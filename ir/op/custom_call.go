package op

import (
	endian "encoding/binary"
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/runtime/rt"
)

// Local holds the parts of a custom operator that exist only in a program that describes a model: Go functions and
// a recorded gradient. The text form does not contain them, and [ir.Equal] ignores them.
type Local struct {
	// Call is the function Func, and Grad the function whose name is Func followed by "Grad". A nil
	// function is not known.
	Call, Grad func(*rt.Call) error
	// Gradient is the function that [Custom.Gradient] names.
	Gradient *ir.Func
}

// With returns the operator with the functions l. Without them, the operator cannot be evaluated or differentiated.
func (op Custom) With(l Local) Custom {
	op.local = &l
	return op
}

// Local returns the argument of [Custom.With], or a zero Local.
func (op Custom) Local() Local {
	if op.local == nil {
		return Local{}
	}
	return *op.local
}

// Eval calls the Go function as generated code does. It returns the error of [rt.Call.Run]. It also returns an
// error if the operator does not have the function, see [Custom.With].
func (op Custom) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	switch {
	case op.local == nil:
		return nil, op.Absent()
	case op.local.Call == nil:
		return nil, fmt.Errorf("custom operator %s: the description does not pass the function %s", op.Name, op.Func)
	}
	types := make([]ir.Type, len(in))
	for i, t := range in {
		types[i] = t.Type()
	}
	out, err := op.Infer(types)
	if err != nil {
		return nil, err
	}
	call := rt.NewCall(op.Name, len(in), len(out), op.Symbols(), op.attributes()...)
	for i, t := range in {
		if err := carriers[t.DType].pass(call, i, t); err != nil {
			return nil, err
		}
	}
	results := make([]func() (*ir.Tensor, error), len(out))
	for i, t := range out {
		if results[i], err = carriers[t.DType].receive(call, i, t.DType, op.shape(t)); err != nil {
			return nil, err
		}
	}
	if err := call.Run(op.local.Call); err != nil {
		return nil, err
	}
	tensors := make([]*ir.Tensor, len(out))
	for i, result := range results {
		if tensors[i], err = result(); err != nil {
			return nil, err
		}
	}
	return tensors, nil
}

// shape returns the shape of a result of type t in the form that [rt.CallOpen] takes. An extent that the function
// decides is [rt.Sym](k), where k is the index of the extent's symbol in op.Binds().
func (op Custom) shape(t ir.Type) []int {
	shape := make([]int, len(t.Shape))
	for i, d := range t.Shape {
		n, ok := d.Int()
		if !ok {
			n = rt.Sym(slices.Index(op.Binds(), d.String()))
		}
		shape[i] = n
	}
	return shape
}

func (op Custom) attributes() []rt.Attr {
	attrs := make([]rt.Attr, len(op.Attrs))
	for i, a := range op.Attrs {
		t := a.Value
		switch t.DType {
		case ir.String:
			attrs[i] = attributeOf(a, (*ir.Tensor).Text)
		case ir.F32:
			attrs[i] = attributeOf(a, func(t *ir.Tensor, k int) float32 { return float32(t.Float(k)) })
		default:
			attrs[i] = attributeOf(a, (*ir.Tensor).Int)
		}
	}
	return attrs
}

// attributeOf returns a as an attribute of the call. Its value is a T if the tensor of a has rank 0, and otherwise
// a list, []T. element(t, i) must return element i of t.
func attributeOf[T any](a ir.Attribute, element func(t *ir.Tensor, i int) T) rt.Attr {
	list := make([]T, a.Value.Len())
	for i := range list {
		list[i] = element(a.Value, i)
	}
	if a.Value.Rank() == 0 {
		return rt.Attr{Name: a.Name, Value: list[0]}
	}
	return rt.Attr{Name: a.Name, Value: list}
}

type carrier struct {
	pass func(c *rt.Call, i int, t *ir.Tensor) error
	// receive passes memory for result i. The function that it returns makes a tensor of the result.
	receive func(c *rt.Call, i int, d ir.DType, shape []int) (func() (*ir.Tensor, error), error)
}

var carriers = map[ir.DType]carrier{
	ir.F64: carry[float64](), ir.F32: carry[float32](), ir.F16: carry[rt.Float16](), ir.BF16: carry[rt.BFloat16](),
	ir.F8E4M3FN: carry[rt.Float8E4M3FN](), ir.F8E4M3FNUZ: carry[rt.Float8E4M3FNUZ](),
	ir.F8E5M2: carry[rt.Float8E5M2](), ir.F8E5M2FNUZ: carry[rt.Float8E5M2FNUZ](),
	ir.F8E8M0: carry[rt.Float8E8M0](), ir.F4E2M1: carry[rt.Float4E2M1](),
	ir.I64: carry[int64](), ir.I32: carry[int32](), ir.I16: carry[int16](), ir.I8: carry[int8](), ir.I4: carry[int8](), ir.I2: carry[int8](),
	ir.U64: carry[uint64](), ir.U32: carry[uint32](), ir.U16: carry[uint16](), ir.U8: carry[uint8](), ir.U4: carry[uint8](), ir.U2: carry[uint8](),
	ir.Bool: carry[bool](), ir.String: carry[string](),
}

func carry[T rt.Element]() carrier {
	return carrier{
		pass: func(c *rt.Call, i int, t *ir.Tensor) error {
			data := make([]T, t.Len())
			if texts, ok := any(data).([]string); ok {
				for k := range texts {
					texts[k] = t.Text(k)
				}
			} else if _, err := endian.Decode(t.Bytes(), endian.LittleEndian, data); err != nil {
				return err
			}
			rt.CallIn(c, i, data, t.Shape...)
			return nil
		},
		receive: func(c *rt.Call, i int, d ir.DType, shape []int) (func() (*ir.Tensor, error), error) {
			out := &rt.Tensor[T]{}
			if slices.ContainsFunc(shape, func(n int) bool { return n < 0 }) {
				rt.CallOpen(c, i, out, shape...)
			} else if err := out.Resize(fmt.Sprintf("result %d", i), shape...); err != nil {
				return nil, err
			} else {
				rt.CallOut(c, i, out.Data, shape...)
			}
			return func() (*ir.Tensor, error) { return carriedOf(d, out.Shape, out.Data) }, nil
		},
	}
}

func carriedOf[T rt.Element](d ir.DType, shape []int, data []T) (*ir.Tensor, error) {
	if texts, ok := any(data).([]string); ok {
		t := ir.NewTensor(d, shape...)
		for i, text := range texts {
			t.SetText(i, text)
		}
		return t, nil
	}
	bytes, err := endian.Append(nil, endian.LittleEndian, data)
	if err != nil {
		return nil, err
	}
	return ir.DecodeTensor(d, shape, bytes)
}
