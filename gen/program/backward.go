package program

import (
	"math/big"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/plan"
)

// Backward says what of a function may be left out where some of its results, the
// gradients, are not wanted.
type Backward struct {
	// Only holds the steps that serve one gradient, by its number among the results,
	// and nothing else.
	Only map[Step]int
	// Needed tells of each result whether steps write it, or read it, that serve more
	// than it.
	Needed []bool
	// Exits are the steps after which the function may end, with their numbers,
	// counted from 1: those that End of some gradient does not exceed are done.
	Exits map[Step]int
	// End is, for each result that is a gradient, the number of the exit from which on
	// nothing is done for it: one more than there are exits where that is the end.
	End map[int]int
}

// Backward finds what may be left out; isGradient tells which results are gradients.
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
		switch s.(type) {
		case *Call, *Loop:
			if only >= 0 {
				b.Only[s] = only
			}
		default:
			only = -1
		}
		for _, r := range Refs(s) {
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

// onlyBit returns the number of the only bit of a set, -1 where there is another
// number of them.
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

// serves returns the results that a step is for: bit 0 stands for all that are no
// gradients, bit 1+i for the gradient i.
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
		for _, r := range Refs(s) {
			if r.Place.Kind == plan.Result {
				set.SetBit(set, bit(r.Place.Index), 1)
			}
		}
		return set
	}
}

// Halve divides a function whose last parameters are known only when its first results
// are: the second half begins with the first step that depends on one of these
// parameters. ok is false where something of the results, the first ones of the
// function, would be made in the second half.
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

// before returns the number of steps before the first one that depends on some of the
// parameters.
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

// Refs returns the memory that a step works on.
func Refs(s Step) []*Ref {
	var out []*Ref
	var add func(a any)
	add = func(a any) {
		switch a := a.(type) {
		case *Ref:
			if a != nil {
				out = append(out, a)
			}
		case Scalar:
			add(a.Ref)
		case Pointer:
			add(a.Ref)
		case *Struct:
			for _, f := range a.Fields {
				add(f.Value)
			}
		case []any:
			for _, item := range a {
				add(item)
			}
		case []*Ref:
			for _, item := range a {
				add(item)
			}
		}
	}
	invoke := func(i *Invoke) {
		add(i.Results)
		add(i.Args)
	}
	switch s := s.(type) {
	case *Call:
		add(s.Args)
	case *Loop:
		for _, o := range s.Operands {
			add(o.Ref)
		}
		add(s.Results)
	case *Bind:
		for _, c := range s.Calls {
			add(c.Args)
		}
	case *Invoke:
		invoke(s)
	case *Branch:
		add(s.Condition)
		invoke(s.Then)
		invoke(s.Otherwise)
	case *Repeat:
		add(s.Limit)
		add(s.Condition)
		for _, c := range s.Carried {
			add(c.First)
			add(c.Result)
		}
		for _, r := range s.Scans {
			add(r.Result)
		}
		add(s.Captured)
	case *Custom:
		add(s.Results)
		add(s.Args)
	}
	return out
}
