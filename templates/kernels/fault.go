package kernels

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// FaultWords is the number of i32 in the record of a fault: 1 if there is a fault, then the low and the high
// half of a number that says more. Without a fault they are 0.
const FaultWords = 3

// SetFault reports a fault with a number, an i32 or i64. One thread of the launch may do so. The launch gets
// the record as an argument.
func (e *Emitter) SetFault(number *kernel.Value) {
	if e.fault == nil {
		e.fault = e.Pointer("fault", ir.I32)
		e.args = append(e.args, Arg{Fault: true})
	}
	number = e.Convert(ir.I64, number)
	e.Store(e.fault, e.Int(0), e.Int(1))
	e.Store(e.fault, e.Int(1), e.Convert(ir.I32, number))
	e.Store(e.fault, e.Int(2), e.Convert(ir.I32, e.Binary(kernel.Shr, number, e.Whole(ir.I64, 32))))
}
