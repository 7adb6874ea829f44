package kernel

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/burngen/burngen/ir"
)

// joiner replaces n loads of adjacent elements by one load, and n stores by one store. It does so only if the index
// of the first element is known to be a multiple of n.
type joiner struct {
	// counters has, for the counter of a loop, the largest power of two that is known to divide it.
	counters map[*Value]int
	numbers  map[*Value]int // the values in sums, numbered in the order in which they are met
}

// largestFactor bounds the powers of two that a joiner looks for.
const largestFactor = 1 << 20

// join joins the accesses of a kernel.
func (k *Kernel) join() {
	j := &joiner{counters: map[*Value]int{}, numbers: map[*Value]int{}}
	j.block(k.Body)
}

func (j *joiner) block(b *Block) {
	for _, in := range b.Instrs {
		if in.Op == For {
			j.counters[in.Blocks[0].Params[0]] = min(j.factor(in.Args[0]), j.factor(in.Args[2]))
		}
		for _, inner := range in.Blocks {
			j.block(inner)
		}
	}
	j.accesses(b, Load, func(in *Instr) bool { return in.isPure() })
	j.accesses(b, Store, func(in *Instr) bool { return in.Op == Store || in.isPure() && in.Op != Load && len(in.Blocks) == 0 })
}

// single is a load or a store of one element of an array. The index of the element is the constant n plus a sum of
// values.
type single struct {
	at     int // the index of the instruction in its block
	in     *Instr
	n      int64
	factor int // a power of two that divides the sum
}

// accesses joins the accesses of b whose operation is o. passes returns false for an instruction that separates
// accesses: those before it are not joined with those after it.
func (j *joiner) accesses(b *Block, o Op, passes func(in *Instr) bool) {
	type place struct {
		array *Value
		sum   string
	}
	groups := map[place][]single{}
	var order []place
	join := func() {
		for _, p := range order {
			joinGroup(b, o, groups[p])
		}
		clear(groups)
		order = order[:0]
	}
	for i, in := range b.Instrs {
		if in.Op != o {
			if !passes(in) {
				join()
			}
			continue
		}
		sum, n, factor := j.sum(in.Args[1])
		p := place{in.Args[0], sum}
		if o == Store && slices.ContainsFunc(order, func(q place) bool { return q.array == p.array && q.sum != p.sum }) {
			join() // stores to places whose distance is not known keep their order
		}
		switch {
		case o == Load && len(in.Results) == 1, o == Store && len(in.Args) == 3:
			if groups[p] == nil {
				order = append(order, p)
			}
			groups[p] = append(groups[p], single{i, in, n, factor})
		case o == Store: // of several elements, of which some may be among those to join
			join()
		}
	}
	join()
	b.Instrs = slices.DeleteFunc(b.Instrs, func(in *Instr) bool { return in.Op == NoOp })
}

// joinGroup joins accesses of one array, whose indices differ only by constants. The joined load is at the place of
// the first load, and the joined store at the place of the last store. The other accesses become NoOps.
func joinGroup(b *Block, o Op, list []single) {
	slices.SortStableFunc(list, func(x, y single) int { return cmp.Compare(x.n, y.n) })
	for i := 0; i < len(list); {
		n := adjacent(o, list[i:])
		if n == 1 {
			i++
			continue
		}
		run := list[i : i+n]
		joined := &Instr{Op: o, Args: slices.Clone(run[0].in.Args)}
		place := run[0].at
		for k, a := range run {
			if o == Load {
				joined.Results = append(joined.Results, a.in.Results[0])
				a.in.Results[0].Def = joined
			} else {
				place = max(place, a.at)
				if k > 0 {
					joined.Args = append(joined.Args, a.in.Args[2])
				}
			}
			b.Instrs[a.at] = &Instr{Op: NoOp}
		}
		b.Instrs[place] = joined
		i += n
	}
}

// adjacent returns the largest n for which the first n accesses in list can be joined to one access. n is at least
// 1.
func adjacent(o Op, list []single) int {
	most := 16 / list[0].in.Args[0].Type.DType.Size()
	for n := bits.Len(uint(min(most, len(list)))); n > 1; n-- {
		count := 1 << (n - 1)
		ok := list[0].factor >= count && list[0].n%int64(count) == 0
		for k := 1; k < count && ok; k++ {
			ok = list[k].n == list[0].n+int64(k) && (o != Load || list[k].at > list[0].at)
		}
		// A second access to the last element keeps its place after, or before, the first.
		if ok && (count == len(list) || o == Load || list[count].n != list[count-1].n) {
			return count
		}
	}
	return 1
}

// sum splits v into a sum of values and the constant n. text identifies the sum: equal sums have equal texts.
// factor is a power of two that divides the sum.
func (j *joiner) sum(v *Value) (text string, n int64, factor int) {
	counts := map[*Value]int64{}
	n = j.add(counts, v, 1)
	var terms []string
	factor = largestFactor
	for v, count := range counts {
		if count == 0 {
			continue
		}
		if j.numbers[v] == 0 {
			j.numbers[v] = len(j.numbers) + 1
		}
		terms = append(terms, fmt.Sprint(j.numbers[v], "*", count))
		factor = min(factor, times(j.factor(v), factorOf(count)))
	}
	slices.Sort(terms)
	return strings.Join(terms, "+"), n, factor
}

// add splits the product of v and `by` into a constant and terms n·value, such as 3·i. It adds each n to
// counts[value], and returns the constant.
func (j *joiner) add(counts map[*Value]int64, v *Value, by int64) int64 {
	if bits, ok := v.Const(); ok {
		return by * wholeOf(v.Type.DType, bits)
	}
	if v.Def != nil {
		args := v.Def.Args
		switch v.Def.Op {
		case Add:
			return j.add(counts, args[0], by) + j.add(counts, args[1], by)
		case Mul:
			for i, a := range args {
				if bits, ok := a.Const(); ok && v.Type.DType == ir.I32 {
					return j.add(counts, args[1-i], by*wholeOf(ir.I32, bits))
				}
			}
		}
	}
	counts[v] += by
	return 0
}

// factor returns a power of two that divides the integer v, whatever the thread.
func (j *joiner) factor(v *Value) int {
	if bits, ok := v.Const(); ok {
		return factorOf(wholeOf(v.Type.DType, bits))
	}
	if v.Def == nil {
		return max(1, j.counters[v])
	}
	args := v.Def.Args
	both := func() int { return min(j.factor(args[0]), j.factor(args[1])) }
	switch v.Def.Op {
	case Add, Sub, Min, Max, Rem:
		return both()
	case Mul:
		return times(j.factor(args[0]), j.factor(args[1]))
	case Convert:
		if args[0].Type.DType.IsInt() {
			return j.factor(args[0])
		}
	case Select:
		return min(j.factor(args[1]), j.factor(args[2]))
	}
	return 1
}

// factorOf returns the largest power of two, up to largestFactor, that divides n.
func factorOf(n int64) int {
	if n == 0 {
		return largestFactor
	}
	return min(largestFactor, 1<<min(bits.TrailingZeros64(uint64(n)), 20))
}

func times(x, y int) int { return min(largestFactor, x*y) }

// HasVectors reports whether some instruction of the kernel loads or stores several adjacent elements of global memory.
// If so, the addresses of global arrays must be multiples of 16 bytes.
func (k *Kernel) HasVectors() bool { return k.Body.hasVectors() }

func (b *Block) hasVectors() bool {
	for _, in := range b.Instrs {
		wide := in.Op == Load && len(in.Results) > 1 || in.Op == Store && len(in.Args) > 3
		if wide && in.Args[0].Type.Space == Global || slices.ContainsFunc(in.Blocks, (*Block).hasVectors) {
			return true
		}
	}
	return false
}
