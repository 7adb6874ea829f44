package kernel

// checkBarriers checks that no barrier or [MatMulAdd] is in control flow that depends on a thread's
// index or on memory.
func (k *Kernel) checkBarriers() (err error) {
	defer k.explain(&err)
	defer catch(&err)
	varies := k.varying()
	k.Body.barriers(varies, nil)
	return nil
}

// barriers panics, as [fail] does, if only some threads may reach a barrier or [MatMulAdd] in b. branch is the
// innermost instruction around b whose blocks do not run alike in all threads, or nil. varies marks the values that
// differ between threads.
func (b *Block) barriers(varies map[*Value]bool, branch *Instr) {
	for _, in := range b.Instrs {
		if (in.Op == Barrier || in.Op == MatMulAdd) && branch != nil {
			what := "a barrier"
			if in.Op != Barrier {
				what = in.Op.String()
			}
			fail("%s is in %q, whose condition or bounds may differ between threads", what, branch.String())
		}
		inner := branch
		for _, x := range decides(in) {
			if varies[x] {
				inner = in
			}
		}
		for _, block := range in.Blocks {
			block.barriers(varies, inner)
		}
	}
}

// decides returns the values that determine which blocks of an instruction run, and how often.
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

// varying returns the values that may differ between the threads of a block: the index of a thread,
// what is read from memory, the results of [MatMulAdd], and what depends on them.
func (k *Kernel) varying() map[*Value]bool {
	f := flow{readers: map[*Value][]*Value{}, varies: map[*Value]bool{}}
	f.block(k.Body)
	for len(f.todo) > 0 {
		x := f.todo[len(f.todo)-1]
		f.todo = f.todo[:len(f.todo)-1]
		for _, y := range f.readers[x] {
			f.mark(y)
		}
	}
	return f.varies
}

// flow finds the values that differ between threads. It follows each value to the values that are
// computed from it.
type flow struct {
	readers map[*Value][]*Value
	varies  map[*Value]bool
	todo    []*Value // varying values whose readers are not marked yet
}

func (f *flow) mark(x *Value) {
	if !f.varies[x] {
		f.varies[x] = true
		f.todo = append(f.todo, x)
	}
}

// all records that each value of `to` depends on each value of `from`.
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
		case ThreadIdx, Load, MatMulAdd, AtomicAdd, AtomicMin, AtomicMax, AtomicAnd, AtomicOr, AtomicXchg, AtomicCAS:
			for _, r := range in.Results {
				f.mark(r)
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
