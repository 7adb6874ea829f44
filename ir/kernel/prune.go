package kernel

import "slices"

// prune removes the instructions of b that have no effects and whose results are not read. used holds the values
// that are read after b; prune adds the values that are read in b.
func (b *Block) prune(used map[*Value]bool) {
	for _, v := range b.Yields {
		used[v] = true
	}
	kept := make([]*Instr, 0, len(b.Instrs))
	for i := len(b.Instrs) - 1; i >= 0; i-- {
		in := b.Instrs[i]
		if in.isPure() && !anyUsed(in.Results, used) {
			continue
		}
		for _, inner := range slices.Backward(in.Blocks) {
			inner.prune(used)
		}
		for _, a := range in.Args {
			used[a] = true
		}
		kept = append(kept, in)
	}
	for i := range kept {
		b.Instrs[len(kept)-1-i] = kept[i]
	}
	b.Instrs = b.Instrs[:len(kept)]
}

// isPure reports whether an instruction has no effect but its results. A [While] is not pure, because it may never
// end. [MatMulAdd] and [Shuffle] are not pure, because threads wait for each other at them.
func (in *Instr) isPure() bool {
	switch {
	case in.Op == Load, in.Op == Sum:
		return true
	case in.Op == Store, in.Op == Barrier, in.Op == MatMulAdd, in.Op == Shuffle, ops[in.Op].kind == atomic, in.Op == While, pipelined(in.Op):
		return false
	}
	for _, b := range in.Blocks {
		for _, inner := range b.Instrs {
			if !inner.isPure() {
				return false
			}
		}
	}
	return true
}

func anyUsed(values []*Value, used map[*Value]bool) bool {
	for _, v := range values {
		if used[v] {
			return true
		}
	}
	return false
}
