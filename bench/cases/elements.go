package main

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/bench/tensors"
	"github.com/burngen/burngen/ir"
)

// elements maps element types to their names in files of tensors.
var elements = map[ir.DType]string{
	ir.F64: "float64", ir.F32: "float32", ir.F16: "float16", ir.BF16: "bfloat16",
	ir.I64: "int64", ir.I32: "int32", ir.I16: "int16", ir.I8: "int8",
	ir.U64: "uint64", ir.U32: "uint32", ir.U16: "uint16", ir.U8: "uint8",
	ir.Bool: "bool",
}

func encode(name string, t *ir.Tensor) (tensors.Tensor, error) {
	typ, ok := elements[t.DType]
	if !ok {
		return tensors.Tensor{}, fmt.Errorf("%q: elements of type %s are not supported", name, t.DType)
	}
	return tensors.Tensor{Name: name, Type: typ, Shape: t.Shape, Data: t.Bytes()}, nil
}

// read reads a file and returns the tensors with the given names. An element of the result is nil if the type of its
// tensor is [tensors.Other]. read returns an error if the file lacks one of the names.
func read(path string, names []string) ([]*ir.Tensor, error) {
	list, err := tensors.Read(path)
	if err != nil {
		return nil, err
	}
	out := make([]*ir.Tensor, len(names))
	for i, name := range names {
		k := slices.IndexFunc(list, func(t tensors.Tensor) bool { return t.Name == name })
		if k < 0 {
			return nil, fmt.Errorf("%s: no %q", path, name)
		}
		if list[k].Type == tensors.Other {
			continue
		}
		for d, typ := range elements {
			if typ == list[k].Type {
				if out[i], err = ir.DecodeTensor(d, list[k].Shape, list[k].Data); err != nil {
					return nil, fmt.Errorf("%s: %q: %w", path, name, err)
				}
			}
		}
	}
	return out, nil
}
