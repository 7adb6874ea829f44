package main

import (
	"cmp"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/burngen/burngen/bench/tensors"
	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/value"
	"github.com/burngen/burngen/gen/verify"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/onnx"
)

// arguments is the output of the command inputs.
type arguments struct {
	// Symbols are the values of the model's symbolic extents.
	Symbols map[string]int64 `json:"symbols"`
	// Reference is set if the values come from references beside the model.
	Reference bool `json:"reference"`
}

// inputs writes arguments of a model to a file, and returns a description of them. The arguments are the reference
// inputs beside the model, or else random tensors. args holds flags, then the path of the model and the path of the
// file to write.
func inputs(args []string) (*arguments, error) {
	flags := flag.NewFlagSet("inputs", flag.ExitOnError)
	batch := flags.Int("batch", 0, "extent of the first input's first dimension")
	draw := flags.Uint("draw", 0, "which of the draws of uniform arguments")
	dims := map[string]int64{}
	flags.Func("dim", "`NAME=N`, a symbol's value (repeatable)", func(text string) error {
		i := strings.LastIndexByte(text, '=')
		n, err := strconv.ParseInt(text[i+1:], 10, 32)
		if i < 1 || err != nil || n < 0 {
			return fmt.Errorf("want NAME=N")
		}
		dims[text[:i]] = n
		return nil
	})
	paths, err := files(flags, args, 2)
	if err != nil {
		return nil, err
	}
	m, err := onnx.Open(paths[0], onnx.Options{})
	if err != nil {
		return nil, err
	}
	params := m.Module.Func("forward").Params
	if *batch > 0 {
		name, err := batchSymbol(params)
		if err != nil {
			return nil, err
		}
		dims[name] = int64(*batch)
	}
	values, err := reference(paths[0], m)
	if err != nil {
		return nil, err
	}
	out := &arguments{Reference: values != nil}
	if out.Symbols, err = symbols(params, values, dims); err != nil {
		return nil, err
	}
	var list []tensors.Tensor
	for i, p := range params {
		if !p.Type.IsTensor() {
			return nil, fmt.Errorf("input %q is not a tensor", p.Name)
		}
		shape, ok := p.Type.Subst(func(s string) (dim.Dim, bool) { return dim.Const(int(out.Symbols[s])), true }).Static()
		if !ok {
			return nil, fmt.Errorf("input %q: %s has no extents for %v", p.Name, p.Type, out.Symbols)
		}
		var t *ir.Tensor
		if values != nil {
			t = repeated(values[i], shape)
		} else if t, err = drawn(p.Type.DType, shape, uint32(1+i+int(*draw)*len(params))); err != nil {
			return nil, fmt.Errorf("input %q: %w", p.Name, err)
		}
		e, err := encode(p.Name, t)
		if err != nil {
			return nil, fmt.Errorf("input %w", err)
		}
		list = append(list, e)
	}
	return out, tensors.Write(paths[1], list)
}

// reference returns the arguments of the test case that is in the same folder as the model. path is the model's file.
// The result is nil if the file's name is not model.onnx, or if the folder does not have exactly one case.
func reference(path string, m *onnx.Model) ([]*ir.Tensor, error) {
	if filepath.Base(path) != "model.onnx" {
		return nil, nil
	}
	cases, err := verify.Find([]string{filepath.Dir(path)})
	if err != nil || len(cases) != 1 {
		return nil, nil
	}
	return cases[0].Arguments(m)
}

// batchSymbol returns the symbol in the first extent of the first input. It returns an error if the extent has no
// symbol, or several.
func batchSymbol(params []*ir.Value) (string, error) {
	if len(params) > 0 && params[0].Type.IsTensor() && params[0].Type.Rank() > 0 {
		if s := params[0].Type.Shape[0].Symbols(); len(s) == 1 {
			return s[0], nil
		}
	}
	return "", fmt.Errorf("-batch: the first extent of the first input is not a symbol")
}

// symbols returns the value of each symbol in the shapes of params. dims sets some of the symbols. The shapes of the
// arguments `values` determine the others. If values is nil, the others are 1.
func symbols(params []*ir.Value, values []*ir.Tensor, dims map[string]int64) (map[string]int64, error) {
	all := map[string]int64{}
	if values != nil {
		shapes := make([][]int, len(values))
		for i, t := range values {
			shapes[i] = t.Shape
		}
		var err error
		if all, err = ir.BindShapes(params, shapes); err != nil {
			return nil, err
		}
	}
	for _, p := range params {
		for _, d := range p.Type.Shape {
			for _, s := range d.Symbols() {
				all[s] = cmp.Or(all[s], 1)
			}
		}
	}
	for name, n := range dims {
		if _, ok := all[name]; !ok {
			var known []string
			for s := range all {
				known = append(known, s)
			}
			slices.Sort(known)
			return nil, fmt.Errorf("-dim %s: the model's symbols are %q", name, known)
		}
		all[name] = n
	}
	return all, nil
}

// repeated returns t in another shape of the same rank, with its elements repeated cyclically along each dimension. A
// tensor without elements is returned unchanged.
func repeated(t *ir.Tensor, shape []int) *ir.Tensor {
	if slices.Equal(t.Shape, shape) || t.Len() == 0 {
		return t
	}
	out := ir.NewTensor(t.DType, shape...)
	index := make([]int, len(shape))
	for i := range out.Len() {
		from := 0
		for k, x := range index {
			from = from*t.Shape[k] + x%t.Shape[k]
		}
		out.Copy(i, t, from)
		for k := len(index) - 1; k >= 0; k-- {
			if index[k]++; index[k] < shape[k] {
				break
			}
			index[k] = 0
		}
	}
	return out
}

// drawn returns a random tensor. Floats are uniform between -1 and 1. Integers and booleans are 0 or 1 with equal
// probability. Strings are empty.
func drawn(d ir.DType, shape []int, seed uint32) (*ir.Tensor, error) {
	n, err := ir.CheckedLen(shape)
	if err != nil {
		return nil, err
	}
	low, high := -1.0, 1.0
	if !d.IsFloat() {
		low, high = 0, 2
	}
	data := exec.MakeSlice(d, n)
	exec.Draw(d, data, low, high, seed)
	return value.FromSlice(d, shape, data)
}
