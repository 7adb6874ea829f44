package kernels

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// FaultWords is the number of i32 in the record of a fault: 1, then the low and the high half of
// the number that [Emitter.SetFault] gets. All are 0 without a fault.
const FaultWords = 3

// SetFault reports a fault with a number that tells what is wrong, an i32 or i64. At most one
// thread of the launch may report one. The launch gets the record of the fault as an argument.
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
