package kernel

import "github.com/burngen/burngen/ir"

// Arithmetic returns the type that kernels use to compute with elements of type d. It is f32 for f16 and bf16, and
// i32 or u32 for integers of less than 32 bits. It is d itself for other types that kernels can compute with, and
// Invalid for types that they cannot.
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
