package kernel

import "strconv"

// String returns the type as the text form has it: "f32", "global f32", "shared f32".
func (t Type) String() string {
	switch t.Space {
	case Global:
		return "global " + t.DType.String()
	case Shared:
		return "shared " + t.DType.String()
	case Mapped:
		return "map " + t.DType.String()
	case Phases:
		return "phases"
	case Sums:
		return "sums " + t.DType.String()
	}
	return t.DType.String()
}

// name gives each value of the kernel a unique name. A value without a name gets the next free number.
func (k *Kernel) name() {
	taken := map[string]bool{}
	next := 0
	unique := func(v *Value) {
		if v.Name == "" {
			v.Name = strconv.Itoa(next)
			next++
		}
		hint := v.Name
		for i := 2; taken[v.Name]; i++ {
			v.Name = hint + "_" + strconv.Itoa(i)
		}
		taken[v.Name] = true
	}
	for _, v := range k.Params {
		unique(v)
	}
	for _, v := range k.Shared {
		unique(v)
	}
	for _, v := range k.Sums {
		unique(v)
	}
	k.Body.each(unique)
}

// each calls `do` for the parameters of b. Then it goes through the instructions of b. For each, it calls `do` for
// all values in the blocks of the instruction, and for its results.
func (b *Block) each(do func(*Value)) {
	for _, p := range b.Params {
		do(p)
	}
	for _, in := range b.Instrs {
		for _, inner := range in.Blocks {
			inner.each(do)
		}
		for _, r := range in.Results {
			do(r)
		}
	}
}
