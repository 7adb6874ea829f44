package ptx

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// multiply writes a [kernel.MatMulAdd]. Elements of 16 bits are packed in pairs. The operands of `in` have the
// elements in the order in which the instruction of PTX takes them.
func (w *writer) multiply(in *kernel.Instr) {
	d := in.Args[0].Type.DType
	a, b, terms, _ := kernel.FactorsOfMatrix(d)
	typ := map[ir.DType]string{ir.F16: "f16", ir.BF16: "bf16", ir.F32: "tf32"}[d]
	var sums, results []string
	for _, v := range in.Args[a+b:] {
		sums = append(sums, w.in(v))
	}
	factors := [][]string{w.factors(in.Args[:a]), w.factors(in.Args[a : a+b])}
	for _, r := range in.Results {
		results = append(results, w.define(r))
	}
	w.emit(fmt.Sprintf("mma.sync.aligned.m16n8k%d.row.col.f32.%s.%s.f32", terms, typ, typ),
		group(results), group(factors[0]), group(factors[1]), group(sums))
}

func (w *writer) factors(elements []*kernel.Value) []string {
	var registers, words []string
	for _, v := range elements {
		registers = append(registers, w.in(v))
	}
	d := elements[0].Type.DType
	if d == ir.F32 {
		for _, r := range registers {
			to := w.temp(".b32")
			w.emit("mov.b32", to, r)
			words = append(words, to)
		}
		return words
	}
	for i := 0; i < len(registers); i += 2 {
		words = append(words, w.pack(registers[i:i+2], d))
	}
	return words
}
