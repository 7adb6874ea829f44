package kernels

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// FaultWords is the number of i32 words in the record of a fault. The first word is 1; the other
// two are the low and the high half of the number that [Emitter.SetFault] gets. All words are 0
// if there is no fault.
const FaultWords = 3

// SetFault emits code that reports a fault. number says what is wrong; it is an i32 or an i64.
// At most one thread of the launch may report a fault. SetFault adds an argument to the launch:
// the memory for the record of the fault.
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
