package kernels

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// RoundTF32 returns x, an f32, rounded to tf32, which has 11 significant bits. Ties are rounded
// away from 0. Numbers that round to more than the largest tf32 become infinite.
func (e *Emitter) RoundTF32(x *kernel.Value) *kernel.Value {
	const half, kept = 1 << 12, 0xffffe000
	bits := e.Bitcast(ir.U32, x)
	rounded := e.And(e.Add(bits, e.Whole(ir.U32, half)), e.Whole(ir.U32, kept))
	return e.Select(e.Eq(x, x), e.Bitcast(ir.F32, rounded), x) // the sum of NaN's bits may be a number
}
