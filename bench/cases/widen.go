package main

import (
	"reflect"

	"github.com/burngen/burngen/gen/verify"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx"
)

// exact evaluates a model with all floats widened to float64. It changes m.
func exact(m *onnx.Model, args []*ir.Tensor) ([]*ir.Tensor, error) {
	for _, w := range m.Module.Weights {
		t, err := w.Tensor()
		if err != nil {
			return nil, err
		}
		w.Type, w.Data = widenType(w.Type), widenTensor(t).Bytes()
	}
	for _, f := range m.Module.Funcs {
		widenBlock(&f.Block)
	}
	wide := make([]*ir.Tensor, len(args))
	for i, a := range args {
		wide[i] = widenTensor(a)
	}
	return verify.Evaluate(m, wide)
}

func widenBlock(b *ir.Block) {
	for _, p := range b.Params {
		p.Type = widenType(p.Type)
	}
	for _, n := range b.Nodes {
		n.Op = widenOp(n.Op)
		for _, r := range n.Results {
			r.Type = widenType(r.Type)
		}
		for _, inner := range n.Blocks {
			widenBlock(inner)
		}
	}
}

// widenOp returns op with every float type in its attributes replaced by float64: element types, types and tensors.
func widenOp(op ir.Op) ir.Op {
	v := reflect.New(reflect.TypeOf(op)).Elem()
	v.Set(reflect.ValueOf(op))
	if v.Kind() != reflect.Struct {
		return op
	}
	for i := range v.NumField() {
		f := v.Field(i)
		if !f.CanSet() {
			continue
		}
		switch x := f.Interface().(type) {
		case ir.DType:
			f.Set(reflect.ValueOf(widenElement(x)))
		case ir.Type:
			f.Set(reflect.ValueOf(widenType(x)))
		case []ir.Type:
			wide := make([]ir.Type, len(x))
			for k := range x {
				wide[k] = widenType(x[k])
			}
			f.Set(reflect.ValueOf(wide))
		case *ir.Tensor:
			f.Set(reflect.ValueOf(widenTensor(x)))
		}
	}
	return v.Interface().(ir.Op)
}

func widenElement(d ir.DType) ir.DType {
	switch d {
	case ir.F32, ir.F16, ir.BF16:
		return ir.F64
	}
	return d
}

func widenType(t ir.Type) ir.Type {
	t.DType = widenElement(t.DType)
	if t.Elem != nil {
		elem := widenType(*t.Elem)
		t.Elem = &elem
	}
	return t
}

func widenTensor(t *ir.Tensor) *ir.Tensor {
	if t == nil || t.Kind != ir.TensorKind || widenElement(t.DType) == t.DType {
		return t
	}
	wide := ir.NewTensor(ir.F64, t.Shape...)
	for i := range t.Len() {
		wide.SetFloat(i, t.Float(i))
	}
	return wide
}
