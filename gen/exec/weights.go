package exec

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/runtime/rt"
)

// Weights returns a lookup of tensors of w, for [New].
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

// AddTo adds elements to w as a tensor.
func AddTo(w *rt.Weights, name string, d ir.DType, data any, shape []int) {
	elements[d].add(w, name, data, shape)
}
