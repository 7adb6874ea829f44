package exec

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/runtime/rt"
)

// Weights returns a function that looks up tensors of w, for [New].
func Weights(w *rt.Weights) func(name string) (any, error) {
	cache := map[string]any{}
	return func(name string) (any, error) {
		if v, ok := cache[name]; ok {
			return v, nil
		}
		info, ok := w.Info(name)
		if !ok {
			return nil, fmt.Errorf("weights: %q is missing", name)
		}
		d, err := ir.ParseDType(info.DType)
		if err != nil {
			return nil, err
		}
		from := w.Fork()
		v := elements[d].weights(from, name, info.Shape)
		if err := from.Err(); err != nil {
			return nil, err
		}
		cache[name] = v
		return v, nil
	}
}

// AddWeight adds a weight of a module to w.
func AddWeight(w *rt.Weights, weight *ir.Weight) {
	shape, _ := weight.Type.Static()
	d, data := weight.Type.DType, weight.Data
	if bits := d.Bits(); bits > 0 && bits < 8 { // a byte each, but packed in w
		packed := make([]byte, (len(data)*bits+7)/8)
		for i, code := range data {
			packed[i*bits/8] |= code & (1<<bits - 1) << (i * bits % 8)
		}
		data = packed
	}
	w.AddRaw(weight.Name, d.String(), shape, data)
}

// SetWeight gives a weight the elements that [AddWeight] stored in w under the weight's name. The weight may then
// share the memory of w. If w cannot read the tensor, w.Err returns the error.
func SetWeight(weight *ir.Weight, w *rt.Weights) {
	raw := w.Raw(weight.Name)
	bits := weight.Type.DType.Bits()
	if bits == 0 || bits >= 8 {
		weight.Data = raw
		return
	}
	n, _ := weight.Type.Elems().Int()
	weight.Data = make([]byte, n)
	for i := range weight.Data[:min(n, len(raw)*8/bits)] {
		code := raw[i*bits/8] >> (i * bits % 8) & (1<<bits - 1)
		if weight.Type.DType.IsInt() && weight.Type.DType.String()[0] == 'i' {
			code = byte(int8(code<<(8-bits)) >> (8 - bits))
		}
		weight.Data[i] = code
	}
}

// AddTo adds a tensor to w. data is a Go slice of its elements, of type d.
func AddTo(w *rt.Weights, name string, d ir.DType, data any, shape []int) {
	elements[d].add(w, name, data, shape)
}

// CanAddMade reports whether [AddMade] accepts elements of type d.
func CanAddMade(d ir.DType) bool { return elements[d].made != nil }

// AddMade adds a tensor to w. The function `make` computes the elements each time they are used, as with
// [rt.AddMade]. It must set all elements of dst, because their initial values are undefined. shape is the shape of
// the tensor.
func AddMade(w *rt.Weights, name string, d ir.DType, make func(dst any) error, shape []int) {
	elements[d].made(w, name, make, shape)
}
