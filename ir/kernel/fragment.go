package kernel

import (
	"slices"

	"github.com/burngen/burngen/ir"
)

// Warp is the number of threads of a warp, which multiply matrices together, see [MatMulAdd].
const Warp = 32

// sumsOfMatrix is the number of elements of the matrix c that a thread holds in [MatMulAdd]. It holds as many
// elements of the result.
const sumsOfMatrix = 4

// FactorsOfMatrix returns how many elements of the matrices a and b each thread holds in [MatMulAdd], for matrices
// of type d. terms is K, the number of columns of a and of rows of b. ok is false if matrices of d cannot be
// multiplied.
func FactorsOfMatrix(d ir.DType) (a, b, terms int, ok bool) {
	switch d {
	case ir.F16, ir.BF16:
		return 8, 4, 16, true
	case ir.F32:
		return 4, 2, 8, true
	}
	return 0, 0, 0, false
}

// MatMulAdd returns a thread's elements of the matrix a·m + c. The parameters hold the thread's
// elements of a, m and c; see the operation [MatMulAdd].
func (b *Builder) MatMulAdd(a, m, c []*Value) []*Value {
	in := &Instr{Op: MatMulAdd}
	for _, list := range [][]*Value{a, m, c} {
		in.Args = append(in.Args, list...)
	}
	for range sumsOfMatrix {
		in.Results = append(in.Results, &Value{Type: Type{DType: ir.F32}, Def: in})
	}
	signature(in)
	b.add(in)
	return slices.Clone(in.Results)
}

// placesOfMatrix returns the row and the column of each element that a thread of a warp holds in [MatMulAdd]: of the
// matrices a and b, which are of type d, and of the result (sums).
func placesOfMatrix(d ir.DType, thread int) (a, b, sums [][2]int) {
	g, i := thread/4, thread%4
	for j := range sumsOfMatrix {
		sums = append(sums, [2]int{g + j/2*8, 2*i + j%2})
	}
	if d == ir.F32 {
		for _, k := range []int{i, i + 4} {
			a = append(a, [2]int{g, k}, [2]int{g + 8, k})
			b = append(b, [2]int{k, g})
		}
		return a, b, sums
	}
	for _, k := range []int{2 * i, 2*i + 8} {
		a = append(a, [2]int{g, k}, [2]int{g, k + 1}, [2]int{g + 8, k}, [2]int{g + 8, k + 1})
		b = append(b, [2]int{k, g}, [2]int{k + 1, g})
	}
	return a, b, sums
}

// collective emits code for `in`, a [MatMulAdd]: each thread waits until all threads of its block
// have reached the instruction. The machine then executes it for all of them.
func (c *compiler) collective(in *Instr) {
	next := &code{}
	args, results := c.slotsOf(in.Args), c.slotsOf(in.Results)
	c.jump(in, next, func(t *thread) *code { t.waiting = in; return next })
	if c.machine.collectives == nil {
		c.machine.collectives = map[*Instr]func(){}
	}
	c.machine.collectives[in] = func() {
		for first := 0; first < len(c.machine.threads); first += Warp {
			multiply(in.Args[0].Type.DType, c.machine.threads[first:first+Warp], args, results)
		}
	}
}

// multiply executes a [MatMulAdd] for a warp. args and results are the registers of its operands and results. The
// terms of a sum are added in order.
func multiply(d ir.DType, warp []thread, args, results []int) {
	countA, countB, terms, _ := FactorsOfMatrix(d)
	number := func(bits uint64) float64 { return float64(decode[float32](bits &^ 0x1fff)) }
	if d != ir.F32 {
		number = widening(d)
	}
	a, b := make([]float64, 16*terms), make([]float64, terms*8)
	for t := range warp {
		placesA, placesB, _ := placesOfMatrix(d, t)
		for j, at := range placesA {
			a[at[0]*terms+at[1]] = number(warp[t].regs[args[j]])
		}
		for j, at := range placesB {
			b[at[0]*8+at[1]] = number(warp[t].regs[args[countA+j]])
		}
	}
	for t := range warp {
		_, _, sums := placesOfMatrix(d, t)
		for j, at := range sums {
			sum := decode[float32](warp[t].regs[args[countA+countB+j]])
			for k := range terms {
				sum = float32(float64(sum) + a[at[0]*terms+k]*b[k*8+at[1]])
			}
			warp[t].regs[results[j]] = encode(sum)
		}
	}
}
