package program

import (
	"math/big"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/plan"
)

// Backward tells which steps of a function may be left out if the caller does not want all gradients.
type Backward struct {
	// Only maps each step that serves a single gradient to the gradient's index among the results.
	// It has only steps for which [Computes] is true.
	Only map[Step]int
	// Needed[i] is true if result i is used by a step that Only does not map to i.
	Needed []bool
	// Exits has the steps after which the function may return, numbered from 1. After exit n, all
	// gradients whose End is at most n are complete.
	Exits map[Step]int
	// End maps each result that is a gradient to the exit after which it needs no further step. If it
	// needs the last step, End is len(Exits)+1.
	End map[int]int
}

// Backward returns the steps that may be left out if some gradients are not wanted. isGradient
// reports whether a result of the function is a gradient.
func (f *Func) Backward(isGradient func(result int) bool) *Backward {
	b := &Backward{Only: map[Step]int{}, Needed: make([]bool, len(f.IR.Results)), Exits: map[Step]int{}, End: map[int]int{}}
	serves := f.serves(isGradient)
	last := map[int]int{} // step by gradient
	always := -1
	for k, s := range f.Steps {
		set := serves(s)
		for i := range f.IR.Results {
			if set.Bit(1+i) == 1 {
				last[i] = k
			}
		}
		if set.Bit(0) == 1 {
			always = k
		}
		only := onlyBit(set) - 1
		if !Computes(s) {
			only = -1
		} else if only >= 0 {
			b.Only[s] = only
		}
		for _, r := range s.Refs() {
			if r.Place.Kind == plan.Result && r.Place.Index != only {
				b.Needed[r.Place.Index] = true
			}
		}
	}
	var places []int
	for i := range f.IR.Results {
		if isGradient(i) {
			last[i] = max(last[i], always)
			places = append(places, last[i])
		}
	}
	slices.Sort(places)
	places = slices.Compact(places)
	for n, k := range places {
		if k >= 0 && k+1 < len(f.Steps) {
			b.Exits[f.Steps[k]] = n + 1
		}
		for i, at := range last {
			if at == k && isGradient(i) {
				b.End[i] = n + 1
			}
		}
	}
	return b
}

// onlyBit returns the index of the only bit that is set, or −1 if there is not exactly one.
func onlyBit(set *big.Int) int {
	if set.Sign() == 0 {
		return -1
	}
	i := int(set.TrailingZeroBits())
	if set.BitLen() != i+1 {
		return -1
	}
	return i
}

// serves returns a function that maps a step to a set: the results that need the step. Bit 0 of the set stands for
// all results that are not gradients, and bit 1+i for result i if it is a gradient.
func (f *Func) serves(isGradient func(int) bool) func(Step) *big.Int {
	values, nodes := map[*ir.Value]*big.Int{}, map[*ir.Node]*big.Int{}
	bit := func(i int) int {
		if isGradient(i) {
			return 1 + i
		}
		return 0
	}
	of := func(v *ir.Value) *big.Int {
		if values[v] == nil {
			values[v] = new(big.Int)
		}
		return values[v]
	}
	for i, r := range f.IR.Results {
		of(r).SetBit(of(r), bit(i), 1)
	}
	for _, n := range slices.Backward(f.IR.Nodes) {
		set := new(big.Int)
		for _, r := range n.Results {
			set.Or(set, of(r))
		}
		nodes[n] = set
		use := func(list []*ir.Value) {
			for _, v := range list {
				if v != nil {
					of(v).Or(of(v), set)
				}
			}
		}
		use(n.Args)
		for _, block := range n.Blocks {
			use(block.Captured())
		}
	}
	return func(s Step) *big.Int {
		if n := s.At(); n != nil {
			return nodes[n]
		}
		set := new(big.Int)
		for _, r := range s.Refs() {
			if r.Place.Kind == plan.Result {
				set.SetBit(set, bit(r.Place.Index), 1)
			}
		}
		return set
	}
}

// Halve splits a function into two halves. The second half begins with the first step that depends on one of `late`,
// the last parameters of the function. The first half computes the results with an index below `results`. ok is false
// if a step that these results need must be in the second half.
func (f *Func) Halve(late []*ir.Value, results int) (first, second []Step, ok bool) {
	at := f.before(late)
	serves := f.serves(func(result int) bool { return result >= results })
	first = slices.Clone(f.Steps[:at])
	for _, s := range f.Steps[at:] {
		switch {
		case serves(s).Bit(0) == 0:
			second = append(second, s)
		case s.At() == nil: // the copy of a result, which may be made as soon as that is there
			first = append(first, s)
		default:
			return nil, nil, false
		}
	}
	return first, second, true
}

// before returns the number of steps before the first one that depends on one of the parameters.
func (f *Func) before(params []*ir.Value) int {
	depends := map[*ir.Value]bool{}
	for _, p := range params {
		depends[p] = true
	}
	reads := func(list []*ir.Value) bool {
		return slices.ContainsFunc(list, func(v *ir.Value) bool { return depends[v] })
	}
	late := map[*ir.Node]bool{}
	for _, n := range f.IR.Nodes {
		late[n] = reads(n.Args)
		for _, block := range n.Blocks {
			late[n] = late[n] || reads(block.Captured())
		}
		for _, r := range n.Results {
			depends[r] = late[n]
		}
	}
	i := slices.IndexFunc(f.Steps, func(s Step) bool { return s.At() != nil && late[s.At()] })
	if i < 0 {
		return len(f.Steps)
	}
	return i
}
