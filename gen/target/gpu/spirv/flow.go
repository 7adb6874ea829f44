package spirv

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

func (f *function) label(id uint32) {
	f.do(opLabel, id)
	f.block = id
}

// phi appends a value that depends on the block from which control comes. pairs lists a value and a
// label for each of these blocks.
func (f *function) phi(t kernel.Type, pairs ...uint32) uint32 {
	return f.value(opPhi, f.scalar(t), pairs...)
}

func (f *function) scalar(t kernel.Type) uint32 {
	if t.Space != kernel.NoSpace {
		fail("control flow carries a %s", t)
	}
	return f.register(t.DType)
}

// loop holds the labels of a loop's blocks: the head, a test, the body, a last block that returns
// to the head, and the end.
type loop struct {
	test, body, last, end uint32
	head                  uint32
	holes                 []int // positions in the code for the carried values of the next iteration
}

// begin begins a loop. params are the carried values inside the loop, and carried are their initial values. control
// holds the operands of the loop control.
func (f *function) begin(params []*kernel.Value, carried []uint32, control ...uint32) *loop {
	l := &loop{head: f.id(), test: f.id(), body: f.id(), last: f.id(), end: f.id()}
	before := f.block
	f.do(opBranch, l.head)
	f.label(l.head)
	for i, p := range params {
		f.set(p, f.phi(p.Type, carried[i], before, 0, l.last))
		l.holes = append(l.holes, len(f.code)-2)
	}
	f.do(opLoopMerge, append([]uint32{l.end, l.last}, control...)...)
	f.do(opBranch, l.test)
	f.label(l.test)
	return l
}

func (f *function) next(l *loop, values []uint32) {
	for i, v := range values {
		f.code[l.holes[i]] = v
	}
	f.do(opBranch, l.head)
	f.label(l.end)
}

func (f *function) count(in *kernel.Instr) []uint32 {
	hi, step := f.of(in.Args[1]), f.of(in.Args[2])
	body := in.Blocks[0]
	carried := append([]uint32{f.of(in.Args[0])}, f.all(in.Args[3:])...)
	l := f.begin(body.Params, carried, unrolling(in)...)
	i := f.of(body.Params[0])
	f.do(opBranchConditional, f.value(opSLessThan, f.typ(opTypeBool), i, hi), l.body, l.end)
	f.label(l.body)
	f.instructions(body)
	values := f.all(body.Yields)
	f.do(opBranch, l.last)
	f.label(l.last)
	word := f.integer(32)
	next := f.value(opIAdd, word, i, step)
	if !isShort(in) { // i + step may be past the greatest i32: hi takes its place
		rest := f.value(opISub, word, hi, i)
		isLast := f.value(opULessThanEqual, f.typ(opTypeBool), rest, step)
		next = f.choose(ir.I32, isLast, hi, next)
	}
	f.next(l, append([]uint32{next}, values...))
	return f.all(body.Params[1:])
}

// isShort reports whether a loop certainly ends before its index wraps.
func isShort(in *kernel.Instr) bool {
	hi, hiKnown := in.Args[1].Const()
	step, stepKnown := in.Args[2].Const()
	return stepKnown && step == 1 || hiKnown && stepKnown && int64(int32(hi))+int64(int32(step)) < 1<<31
}

func unrolling(in *kernel.Instr) []uint32 {
	if in.Unroll < 2 {
		return []uint32{0}
	}
	lo, loKnown := in.Args[0].Const()
	hi, hiKnown := in.Args[1].Const()
	step, stepKnown := in.Args[2].Const()
	span := int64(int32(hi)) - int64(int32(lo))
	if loKnown && hiKnown && stepKnown && span <= int64(in.Unroll)*int64(int32(step)) {
		return []uint32{loopUnroll}
	}
	return []uint32{loopPartialCount, uint32(in.Unroll)}
}

func (f *function) while(in *kernel.Instr) []uint32 {
	cond, body := in.Blocks[0], in.Blocks[1]
	l := f.begin(cond.Params, f.all(in.Args), 0)
	results := f.all(cond.Params)
	for i, p := range body.Params {
		f.set(p, results[i])
	}
	f.instructions(cond)
	f.do(opBranchConditional, f.of(cond.Yields[0]), l.body, l.end)
	f.label(l.body)
	f.instructions(body)
	values := f.all(body.Yields)
	f.do(opBranch, l.last)
	f.label(l.last)
	f.next(l, values)
	return results
}

func (f *function) branch(in *kernel.Instr) []uint32 {
	cond := f.of(in.Args[0])
	then, otherwise, end := f.id(), f.id(), f.id()
	f.do(opSelectionMerge, end, 0)
	f.do(opBranchConditional, cond, then, otherwise)
	var values [2][]uint32
	var from [2]uint32
	for i, label := range []uint32{then, otherwise} {
		f.label(label)
		f.instructions(in.Blocks[i])
		values[i], from[i] = f.all(in.Blocks[i].Yields), f.block
		f.do(opBranch, end)
	}
	f.label(end)
	results := make([]uint32, len(in.Results))
	for i, r := range in.Results {
		results[i] = f.phi(r.Type, values[0][i], from[0], values[1][i], from[1])
	}
	return results
}
