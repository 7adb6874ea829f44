// Package gotype names the Go types of tensors and containers in generated code. It does not know
// what else generated code contains.
package gotype

import "github.com/burngen/burngen/ir"

var elements = map[ir.DType]string{
	ir.F64:        "float64",
	ir.F32:        "float32",
	ir.F16:        "rt.Float16",
	ir.BF16:       "rt.BFloat16",
	ir.F8E4M3FN:   "rt.Float8E4M3FN",
	ir.F8E4M3FNUZ: "rt.Float8E4M3FNUZ",
	ir.F8E5M2:     "rt.Float8E5M2",
	ir.F8E5M2FNUZ: "rt.Float8E5M2FNUZ",
	ir.F8E8M0:     "rt.Float8E8M0",
	ir.F4E2M1:     "rt.Float4E2M1",
	ir.I64:        "int64",
	ir.I32:        "int32",
	ir.I16:        "int16",
	ir.I8:         "int8",
	ir.I4:         "int8",
	ir.I2:         "int8",
	ir.U64:        "uint64",
	ir.U32:        "uint32",
	ir.U16:        "uint16",
	ir.U8:         "uint8",
	ir.U4:         "uint8",
	ir.U2:         "uint8",
	ir.Bool:       "bool",
	ir.String:     "string",
}

// Elem returns the Go type of an element.
func Elem(d ir.DType) string { return elements[d] }

// Of returns the Go type of a tensor's elements, or of a container: a slice for a sequence, a
// pointer for an optional, a map of scalars for a map.
func Of(t ir.Type) string {
	switch t.Kind {
	case ir.SequenceKind:
		return "[]" + item(*t.Elem)
	case ir.OptionalKind:
		return "*" + item(*t.Elem)
	case ir.MapKind:
		return "map[" + Elem(t.DType) + "]" + Elem(t.Elem.DType)
	}
	return "[]" + Elem(t.DType)
}

func item(t ir.Type) string {
	if t.IsTensor() {
		return "rt.Tensor[" + Elem(t.DType) + "]"
	}
	return Of(t)
}
