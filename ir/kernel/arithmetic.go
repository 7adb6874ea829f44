package kernel

import "github.com/burngen/burngen/ir"

// Arithmetic returns the type in which kernels compute with elements of type d: f32 for f16 and
// bf16, i32 or u32 for integers of less than 32 bits, and d itself for other types with arithmetic.
// It returns Invalid for types without arithmetic.
func Arithmetic(d ir.DType) ir.DType {
	switch {
	case IsArithmetic(d):
		return d
	case d == ir.F16, d == ir.BF16:
		return ir.F32
	case d.Class() == ir.Signed:
		return ir.I32
	case d.Class() == ir.Unsigned:
		return ir.U32
	}
	return ir.Invalid
}
