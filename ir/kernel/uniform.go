package kernel

// spread says which threads of a block may have different values.
type spread uint8

const (
	alike          spread = iota // all threads have the same value
	betweenGroups                // threads of different groups may differ
	betweenThreads               // any two threads may differ
)

// checkBarriers checks that no barrier or [MatMulAdd] is in control flow that depends on a thread's index or on
// memory. Operations that a group or a warp carries out together may be in control flow that differs between
// groups.
func (k *Kernel) checkBarriers() (err error) {
	defer k.explain(&err)
	defer catch(&err)
	spreads := k.spreads()
	k.Body.barriers(spreads, [betweenThreads + 1]*Instr{})
	return nil
}

// barriers panics, as [fail] does, if b holds an operation that the threads of a block, a group or a warp execute
// together, but that only some of them may reach. around[s] is the innermost instruction around b whose condition or
// bounds have the [spread] s or a higher one. It is nil if there is no such instruction.
func (b *Block) barriers(spreads map[*Value]spread, around [betweenThreads + 1]*Instr) {
	for _, in := range b.Instrs {
		if branch := around[betweenGroups]; branch != nil && (in.Op == Barrier || in.Op == MatMulAdd) {
			fail("%s is in %q, whose condition or bounds may differ between threads", described(in), branch.String())
		}
		if branch := around[betweenThreads]; branch != nil && byGroups(in.Op) {
			fail("%s is in %q, whose condition or bounds may differ between the threads of a group", described(in), branch.String())
		}
		if branch := around[betweenThreads]; branch != nil && in.Op == Shuffle {
			fail("%s is in %q, whose condition or bounds may differ between the threads of a warp", described(in), branch.String())
		}
		inner := around
		for _, x := range decides(in) {
			for s := betweenGroups; s <= spreads[x]; s++ {
				inner[s] = in
			}
		}
		for _, block := range in.Blocks {
			block.barriers(spreads, inner)
		}
	}
}

func described(in *Instr) string {
	if in.Op == Barrier {
		return "a barrier"
	}
	return in.Op.String()
}

func decides(in *Instr) []*Value {
	switch in.Op {
	case For:
		return in.Args[:3]
	case If:
		return in.Args
	case While:
		return in.Blocks[0].Yields
	}
	return nil
}

// spreads returns the values that may differ between the threads of a block, each with its [spread]. These are the
// indices of a thread and of its group, values read from memory, the results of [MatMulAdd] and [Shuffle], sums, and
// all values that depend on them.
func (k *Kernel) spreads() map[*Value]spread {
	f := flow{readers: map[*Value][]*Value{}, spreads: map[*Value]spread{}}
	f.block(k.Body)
	for len(f.todo) > 0 {
		x := f.todo[len(f.todo)-1]
		f.todo = f.todo[:len(f.todo)-1]
		for _, y := range f.readers[x] {
			f.mark(y, f.spreads[x])
		}
	}
	return f.spreads
}

// flow finds the values that differ between threads. From such a value it goes on to all values that are computed
// from it.
type flow struct {
	readers map[*Value][]*Value
	spreads map[*Value]spread
	todo    []*Value // marked values whose readers are not marked yet
}

func (f *flow) mark(x *Value, s spread) {
	if f.spreads[x] < s {
		f.spreads[x] = s
		f.todo = append(f.todo, x)
	}
}

// all records that each value in `to` depends on every value in `from`.
func (f *flow) all(from, to []*Value) {
	for _, x := range from {
		f.readers[x] = append(f.readers[x], to...)
	}
}

// each records that to[i] depends on from[i], for each i.
func (f *flow) each(from, to []*Value) {
	for i, x := range from {
		f.readers[x] = append(f.readers[x], to[i])
	}
}

func (f *flow) block(b *Block) {
	for _, in := range b.Instrs {
		for _, inner := range in.Blocks {
			f.block(inner)
		}
		f.all(decides(in), in.Results)
		switch in.Op {
		case GroupIdx:
			f.mark(in.Results[0], betweenGroups)
		case ThreadIdx, Load, Sum, MatMulAdd, Shuffle, AtomicAdd, AtomicMin, AtomicMax, AtomicAnd, AtomicOr, AtomicXchg, AtomicCAS:
			for _, r := range in.Results {
				f.mark(r, betweenThreads)
			}
		case For:
			body := in.Blocks[0]
			f.all(in.Args[:3], body.Params[:1])
			f.each(in.Args[3:], body.Params[1:])
			f.each(body.Yields, body.Params[1:])
			f.each(body.Params[1:], in.Results)
		case If:
			f.each(in.Blocks[0].Yields, in.Results)
			f.each(in.Blocks[1].Yields, in.Results)
		case While:
			test, body := in.Blocks[0], in.Blocks[1]
			f.each(in.Args, test.Params)
			f.each(body.Yields, test.Params)
			f.each(test.Params, body.Params)
			f.each(test.Params, in.Results)
		default:
			f.all(in.Args, in.Results)
		}
	}
}
