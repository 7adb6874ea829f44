package op

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op/internal/portable"
)

// Sin is sin x, in radians, of floats.
type Sin struct{ unary[floats] }

// Eval computes in float64.
func (Sin) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Sin) }

// Call is cpu.Sin.
func (Sin) Call(*ir.Node) (ir.Call, error) { return callUnary("Sin"), nil }

// Cos is cos x, in radians, of floats.
type Cos struct{ unary[floats] }

// Eval computes in float64.
func (Cos) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Cos) }

// Call is cpu.Cos.
func (Cos) Call(*ir.Node) (ir.Call, error) { return callUnary("Cos"), nil }

// Tan is tan x, in radians, of floats.
type Tan struct{ unary[floats] }

// Eval computes in float64.
func (Tan) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Tan) }

// Call is cpu.Tan.
func (Tan) Call(*ir.Node) (ir.Call, error) { return callUnary("Tan"), nil }

// Asin is the angle in radians whose sine is x, of floats; NaN outside −1…1.
type Asin struct{ unary[floats] }

// Eval computes in float64.
func (Asin) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Asin) }

// Call is cpu.Asin.
func (Asin) Call(*ir.Node) (ir.Call, error) { return callUnary("Asin"), nil }

// Acos is the angle in radians whose cosine is x, of floats; NaN outside −1…1.
type Acos struct{ unary[floats] }

// Eval computes in float64.
func (Acos) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Acos) }

// Call is cpu.Acos.
func (Acos) Call(*ir.Node) (ir.Call, error) { return callUnary("Acos"), nil }

// Atan is the angle in radians whose tangent is x, of floats.
type Atan struct{ unary[floats] }

// Eval computes in float64.
func (Atan) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Atan) }

// Call is cpu.Atan.
func (Atan) Call(*ir.Node) (ir.Call, error) { return callUnary("Atan"), nil }

// Sinh is the hyperbolic sine of x, of floats.
type Sinh struct{ unary[floats] }

// Eval computes in float64.
func (Sinh) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Sinh) }

// Call is cpu.Sinh.
func (Sinh) Call(*ir.Node) (ir.Call, error) { return callUnary("Sinh"), nil }

// Cosh is the hyperbolic cosine of x, of floats.
type Cosh struct{ unary[floats] }

// Eval computes in float64.
func (Cosh) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Cosh) }

// Call is cpu.Cosh.
func (Cosh) Call(*ir.Node) (ir.Call, error) { return callUnary("Cosh"), nil }

// Asinh is the inverse hyperbolic sine of x, of floats.
type Asinh struct{ unary[floats] }

// Eval computes in float64.
func (Asinh) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Asinh) }

// Call is cpu.Asinh.
func (Asinh) Call(*ir.Node) (ir.Call, error) { return callUnary("Asinh"), nil }

// Acosh is the inverse hyperbolic cosine of x, of floats; NaN below 1.
type Acosh struct{ unary[floats] }

// Eval computes in float64.
func (Acosh) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Acosh) }

// Call is cpu.Acosh.
func (Acosh) Call(*ir.Node) (ir.Call, error) { return callUnary("Acosh"), nil }

// Atanh is the inverse hyperbolic tangent of x, of floats; NaN outside −1…1.
type Atanh struct{ unary[floats] }

// Eval computes in float64.
func (Atanh) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, portable.Atanh) }

// Call is cpu.Atanh.
func (Atanh) Call(*ir.Node) (ir.Call, error) { return callUnary("Atanh"), nil }
