package profile

import (
	"fmt"

	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/value"
	"github.com/burngen/burngen/gen/verify/harness"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/onnx"
)

// maxInput is the maximum number of elements of a synthetic input.
const maxInput = 1 << 28

// Inputs returns the arguments of a function and their shapes. Arguments that are not in `given` are synthetic:
// floats in [0, 1], integers 0 and 1. The value of a symbol is from `given`, else from `extents`, else 1. Inputs
// returns an error if `extents` names an unknown symbol, or if an argument to draw is too large or not a tensor.
func Inputs(f *ir.Func, given map[string]*ir.Tensor, extents map[string]int) (args []harness.Value, shapes [][]int, err error) {
	symbols := map[string]int{}
	for _, s := range f.Symbols() {
		symbols[s] = 1
	}
	for s, n := range extents {
		name, err := onnx.Named("dimension", s, f.Symbols())
		if err != nil {
			return nil, nil, fmt.Errorf("-extent %s: %w", s, err)
		}
		symbols[name] = n
	}
	for _, p := range f.Params {
		t, ok := given[p.Name]
		if !ok {
			continue
		}
		for i, d := range p.Type.Shape {
			if names := d.Symbols(); len(names) == 1 && i < len(t.Shape) && d.Equal(dim.Sym(names[0])) {
				symbols[names[0]] = t.Shape[i]
			}
		}
	}
	for i, p := range f.Params {
		t, ok := given[p.Name]
		if !ok {
			if t, err = draw(p.Type, symbols, uint32(i+1)); err != nil {
				return nil, nil, fmt.Errorf("%s: %w", p, err)
			}
		}
		args, shapes = append(args, value.Encode(t)), append(shapes, t.Shape)
	}
	return args, shapes, nil
}

func draw(t ir.Type, symbols map[string]int, seed uint32) (*ir.Tensor, error) {
	if !t.IsTensor() {
		return nil, fmt.Errorf("no random %s: only tensors can be random", t)
	}
	shape, ok := t.Subst(func(s string) (dim.Dim, bool) { n, ok := symbols[s]; return dim.Const(n), ok }).Static()
	if !ok {
		return nil, fmt.Errorf("%s has an extent without a value", t)
	}
	n, err := ir.CheckedLen(shape)
	if err != nil {
		return nil, err
	}
	if n > maxInput {
		return nil, fmt.Errorf("%d elements are too many for a random input", n)
	}
	data := exec.MakeSlice(t.DType, n)
	hi := 2.0
	if t.DType.IsFloat() {
		hi = 1
	}
	exec.Draw(t.DType, data, 0, hi, seed)
	return value.FromSlice(t.DType, shape, data)
}
