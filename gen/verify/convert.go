package verify

import (
	"fmt"

	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/value"
	"github.com/burngen/burngen/gen/verify/harness"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx"
)

func send(v *onnx.Value, t ir.Type) harness.Value {
	if v.Tensor != nil {
		return value.Encode(v.Tensor)
	}
	out := harness.Value{Kind: kinds[t.Kind]}
	for _, item := range v.Items {
		elem := ir.Type{}
		if t.Elem != nil {
			elem = *t.Elem
		}
		out.Items = append(out.Items, send(item, elem))
	}
	if v.Keys != nil {
		for i := range v.Keys.Len() {
			key := ir.NewTensor(v.Keys.DType)
			key.Copy(0, v.Keys, i)
			out.Keys = append(out.Keys, value.Encode(key))
		}
	}
	return out
}

var kinds = map[ir.Kind]harness.Kind{
	ir.TensorKind:   harness.Tensor,
	ir.SequenceKind: harness.Sequence,
	ir.OptionalKind: harness.Optional,
	ir.MapKind:      harness.Map,
}

func receive(v harness.Value, t ir.Type) (*onnx.Value, error) {
	if v.Kind != kinds[t.Kind] {
		return nil, fmt.Errorf("a %s expected", t)
	}
	if v.Kind == harness.Tensor {
		tensor, err := receiveTensor(v, t.DType)
		return &onnx.Value{Tensor: tensor}, err
	}
	out := &onnx.Value{Items: []*onnx.Value{}}
	for _, item := range v.Items {
		e, err := receive(item, *t.Elem)
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, e)
	}
	if v.Kind != harness.Map {
		return out, nil
	}
	return sortedMap(out, v.Keys, t.DType)
}

func receiveTensor(v harness.Value, d ir.DType) (*ir.Tensor, error) {
	if want := exec.GoType(d).String(); v.Elem != want {
		return nil, fmt.Errorf("elements of type %s, want %s", v.Elem, want)
	}
	if d != ir.String {
		return ir.DecodeTensor(d, v.Shape, v.Data)
	}
	t := ir.NewTensor(d, v.Shape...)
	if t.Len() != len(v.Texts) {
		return nil, fmt.Errorf("%d strings for the shape %v", len(v.Texts), v.Shape)
	}
	for i, s := range v.Texts {
		t.SetText(i, s)
	}
	return t, nil
}

// sortedMap sets the keys of m, where keys[i] belongs to m.Items[i], and sorts the entries by key. The harness sends
// the entries in the order of a Go map, and this order varies.
func sortedMap(m *onnx.Value, keys []harness.Value, d ir.DType) (*onnx.Value, error) {
	m.Keys = ir.NewTensor(d, len(keys))
	for i, k := range keys {
		t, err := receiveTensor(k, d)
		if err != nil {
			return nil, err
		}
		m.Keys.Copy(i, t, 0)
	}
	return sortMap(m), nil
}

func sortMap(m *onnx.Value) *onnx.Value {
	n := m.Keys.Len()
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	less := func(a, b int) bool {
		if m.Keys.DType == ir.String {
			return m.Keys.Text(a) < m.Keys.Text(b)
		}
		return m.Keys.Int(a) < m.Keys.Int(b)
	}
	for i := range order {
		for k := i; k > 0 && less(order[k], order[k-1]); k-- {
			order[k], order[k-1] = order[k-1], order[k]
		}
	}
	out := &onnx.Value{Keys: ir.NewTensor(m.Keys.DType, n)}
	for i, from := range order {
		out.Keys.Copy(i, m.Keys, from)
		out.Items = append(out.Items, m.Items[from])
	}
	return out
}

func toIR(v *onnx.Value, t ir.Type) *ir.Tensor {
	if v.Tensor != nil {
		return v.Tensor
	}
	var items []*ir.Tensor
	for _, item := range v.Items {
		items = append(items, toIR(item, *t.Elem))
	}
	return &ir.Tensor{Kind: t.Kind, DType: t.DType, Elem: *t.Elem, Items: items, Keys: v.Keys}
}

func fromIR(t *ir.Tensor) *onnx.Value {
	if t.Kind == ir.TensorKind {
		return &onnx.Value{Tensor: t}
	}
	v := &onnx.Value{Items: []*onnx.Value{}, Keys: t.Keys}
	for _, item := range t.Items {
		v.Items = append(v.Items, fromIR(item))
	}
	return v
}

func toGo(v *onnx.Value, t ir.Type) (arg any, shape []int, err error) {
	if v.Tensor != nil {
		return value.Slice(v.Tensor), v.Tensor.Shape, nil
	}
	x, err := harness.Decode(send(v, t), exec.HeldType(t))
	if err != nil {
		return nil, nil, err
	}
	return x.Interface(), nil, nil
}

func fromGo(t ir.Type, shape []int, data any) (*onnx.Value, error) {
	out, err := value.FromGo(t, shape, data)
	if err != nil {
		return nil, err
	}
	return fromIR(out), nil
}
