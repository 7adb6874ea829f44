package main

import (
	"fmt"
	"slices"
	"strings"
)

// pointwise describes a kernel that computes the same function of every element. `body` writes the
// function for one vector. From it, loops over slices are made for every instruction set. A loop
// interleaves the instructions of several vectors.
type pointwise struct {
	name    string
	doc     string   // comment that says what happens to one element
	inputs  []string // slices besides dst
	scalars []string
	body    func(k *vectors) value // returns the result
	cost    int                    // nanoseconds for 64 elements, if computing takes longer than moving them
	fused   bool                   // whether the result needs fused multiply-adds
	sums    bool                   // whether vectors are folded; more partial sums have smaller errors
}

var sources = []string{"SI", "R8", "R9"}

func (p *pointwise) write(f *file, t *table) {
	params := strings.Join(append([]string{"dst"}, p.inputs...), ", ") + " *float32, n int"
	if len(p.scalars) > 0 {
		params += ", " + strings.Join(p.scalars, ", ") + " float32"
	}
	for _, s := range f.sets() {
		if p.fused && f.arch == "wasm" {
			break
		}
		f.fun(p.name+s.name+" computes dst[i] = "+p.doc+".", p.name+s.name, params, "")
		f.load("dst", "DI", "n", "CX")
		for i, in := range p.inputs {
			f.load(in, sources[i])
		}
		p.loops(f, s, t)
	}
	p.dispatch(f)
}

// begin returns a writer of the body for the given number of interleaved vectors. The first values
// of the writer are the inputs, and the last registers hold the scalars. pinned maps constants to
// registers.
func (p *pointwise) begin(f *file, s isa, t *table, interleaved int, pinned map[uint64]string) *vectors {
	k := &vectors{file: f, isa: s, interleaved: interleaved, table: t, pinned: pinned}
	for range p.inputs {
		k.in = append(k.in, k.temp())
	}
	for i := range p.scalars {
		k.scalars = append(k.scalars, s.reg(s.top()-i))
	}
	return k
}

// fit chooses how many vectors to interleave, and which constants to keep in registers. It
// interleaves 4 vectors if registers are left for all constants. Otherwise it interleaves 2 vectors if
// registers are left for the constants that must be in registers, or else 1 vector. It then keeps as
// many of the other constants as fit. For WebAssembly it
// interleaves only sums, because the module is downloaded.
func (p *pointwise) fit(f *file, s isa, t *table) (interleaved int, constants []uint64) {
	interleaved = 4
	if f.arch == "wasm" && !p.sums {
		interleaved = 1
	}
	for ; interleaved > 0; interleaved /= 2 {
		k := p.begin(&file{arch: f.arch}, s, t, interleaved, nil)
		p.body(k)
		must, all := k.wanted[0], slices.Clone(k.wanted[0])
		for _, w := range k.wanted[1] {
			if !slices.Contains(must, w) {
				all = append(all, w)
			}
		}
		left := s.top() + 1 - len(k.scalars) - len(k.inUse)*interleaved
		if left >= len(all) || left >= len(must) && interleaved <= 2 {
			return interleaved, all[:min(len(all), left)]
		}
	}
	panic(p.name + " needs too many registers")
}

// enter writes the code that loads the constants and the scalars into registers. Only scalars that
// are parameters of the function are loaded. enter returns two writers of the body: one for
// interleaved vectors and one for single vectors.
func (p *pointwise) enter(f *file, s isa, t *table) (many, one *vectors) {
	f.base(t)
	interleaved, constants := p.fit(f, s, t)
	pinned := map[uint64]string{}
	many = p.begin(f, s, t, interleaved, pinned)
	for i, name := range p.scalars {
		if a, ok := f.args[name]; ok {
			f.op("VBROADCASTSS", a, many.scalars[i])
		}
	}
	for i, w := range constants {
		pinned[w] = s.reg(s.top() - len(p.scalars) - i)
		f.op("VBROADCASTSD", t.row(w), pinned[w])
	}
	return many, p.begin(f, s, t, 1, pinned)
}

func (p *pointwise) loops(f *file, s isa, t *table) {
	k, one := p.enter(f, s, t)
	f.sweep(k, append([]string{"DI"}, sources[:len(p.inputs)]...), func() {
		for i, v := range k.in {
			k.fetch(v, sources[i])
		}
		k.store(p.body(k), "DI")
	}, nil, func() {
		for i, v := range one.in {
			f.loadTail(s, at(sources[i], 0), one.register(v, 0))
		}
		f.storeTail(s, one.register(p.body(one), 0), at("DI", 0))
	})
	f.ret()
}

// sweep writes two loops over CX elements, and advances the pointers. The first loop repeats the
// code of `many` while there are enough elements for k's interleaved vectors. The code of `between`
// follows if `between` is not nil. The second loop repeats the code of `few` for each vector that
// is left. The last vector may not be full, so the mask of [file.tail] is set before the code of
// `few`.
func (f *file) sweep(k *vectors, pointers []string, many, between, few func()) {
	top, rest, next, end := f.fresh("many"), f.fresh("few"), f.fresh("next"), f.fresh("end")
	advance := func(n int) {
		for _, p := range pointers {
			f.op("ADDQ", 4*n, p)
		}
		f.op("SUBQ", n, "CX")
	}
	step := k.interleaved * k.lanes()
	f.op("CMPQ", "CX", step)
	f.op("JLT", rest)
	f.op("PCALIGN", 32)
	f.mark(top)
	many()
	advance(step)
	f.op("CMPQ", "CX", step)
	f.op("JGE", top)
	if between != nil {
		between()
	}
	f.mark(rest)
	f.op("TESTQ", "CX", "CX")
	f.op("JLE", end)
	f.mark(next)
	f.tail(k.isa)
	few()
	advance(k.lanes())
	f.op("JGT", next)
	f.mark(end)
}

// tail writes the code that sets a mask of the first CX lanes, for CX < 256. The mask is K1 with
// AVX-512, and the register after [isa.top] with AVX2. NEON has no masks, and tail writes nothing.
func (f *file) tail(s isa) {
	switch {
	case s.wide():
		f.op("MOVL", 0xffff, "AX")
		f.op("BZHIL", "CX", "AX", "AX")
		f.op("KMOVW", "AX", "K1")
	case f.arch == "amd64":
		m := s.top() + 1
		f.op("VMOVD", "CX", x(m))
		f.op("VPBROADCASTD", x(m), y(m))
		f.op("VPCMPGTD", "indices<>(SB)", y(m), y(m))
	}
}

// loadTail loads the lanes in the mask of [file.tail], and sets the other lanes to zero.
func (f *file) loadTail(s isa, from, to string) {
	switch {
	case s.wide():
		f.op("VMOVUPS.Z", from, "K1", to)
	case f.arch == "amd64":
		f.op("VMASKMOVPS", from, s.reg(s.top()+1), to)
	default:
		f.tailOf(from, to)
	}
}

// loadTailOr loads the lanes in the mask of [file.tail]. It fills the other lanes from register
// `fill`.
func (f *file) loadTailOr(s isa, from, fill, to string) {
	switch {
	case s.wide():
		f.op("VMOVAPS", fill, to)
		f.op("VMOVUPS", from, "K1", to)
	case f.arch == "amd64":
		m := s.reg(s.top() + 1)
		f.op("VMASKMOVPS", from, m, to)
		f.op("VBLENDVPS", m, to, fill, to)
	default:
		f.tailOf(from, to)
		f.fillTail(fill, to)
	}
}

// storeTail stores the lanes in the mask of [file.tail].
func (f *file) storeTail(s isa, from, to string) {
	switch {
	case s.wide():
		f.op("VMOVUPS", from, "K1", to)
	case f.arch == "amd64":
		f.op("VMASKMOVPS", from, s.reg(s.top()+1), to)
	default:
		f.tailOf(from, to)
	}
}

// indices defines the table of lane numbers that [file.tail] uses.
func indices(f *file) { f.words("indices", 0, 1, 2, 3, 4, 5, 6, 7) }

// parameters returns the parameters of the Go function.
func (p *pointwise) parameters() string {
	params := strings.Join(append([]string{"dst"}, p.inputs...), ", ") + " []float32"
	if len(p.scalars) > 0 {
		params += ", " + strings.Join(p.scalars, ", ") + " float32"
	}
	return params
}

// dispatch writes the Go function that runs the kernel at the current level. The function divides a
// slice into short calls, because the garbage collector may have to wait for the end of a call. A
// long slice is divided among the pool's workers.
func (p *pointwise) dispatch(f *file) {
	if f.arch == "wasm" && p.fused {
		f.function(p.name+"Fast computes dst[i] = "+p.doc+" where there is assembly.", p.name+"Fast("+p.parameters()+") bool", "return false", "return false")
		return
	}
	slices := append([]string{"dst"}, p.inputs...)
	params, scalars := p.parameters(), ""
	if len(p.scalars) > 0 {
		scalars = ", " + strings.Join(p.scalars, ", ")
	}
	var starts, remains, fields, parts []string
	for i, s := range slices {
		starts = append(starts, "&"+s+"[0]")
		remains = append(remains, s+"[n:]")
		field := []string{"dst", "a", "b", "c"}[i]
		fields = append(fields, field+": onHeap("+s+")")
		parts = append(parts, "s."+field+"[from:to]")
	}
	for i, s := range p.scalars {
		field := []string{"u", "v"}[i]
		fields = append(fields, field+": "+s)
		parts = append(parts, "s."+field)
	}
	rest := strings.Join(slices, ", ") + " = " + strings.Join(remains, ", ")
	args := strings.Join(starts, ", ") + ", n" + scalars
	f.function(p.name+"Fast computes dst[i] = "+p.doc+" where there is assembly.", p.name+"Fast("+params+") bool", fmt.Sprintf(`
	if level == Generic {
		return false
	}
	if len(dst) >= sharedFrom && pointwises.run(&pointwise{%[4]s, do: %[1]sPart}, pointwiseParts(len(dst), %[5]d)) {
		return true
	}
	for len(dst) > 0 {
		n := min(len(dst), atOnce)
		%[2]s
		%[3]s
	}
	return true
`, p.name, f.atLevel(p.name, args), rest, strings.Join(fields, ", "), max(p.cost, 8)), "return false")
	fmt.Fprintf(&f.decls, `
// %[1]sPart computes the elements from…to of %[1]sFast.
func %[1]sPart(s *pointwise, from, to int) { %[1]sFast(%[2]s) }
`, p.name, strings.Join(parts, ", "))
}

// atLevel returns Go statements that call the variant of a function for the current level, which
// must not be Generic.
func (f *file) atLevel(name, args string) string {
	sets := f.sets()
	call := fmt.Sprintf("%s%s(%s)", name, sets[0].name, args)
	for _, s := range sets[1:] {
		call = fmt.Sprintf("if level == %s {\n%s%s(%s)\n} else {\n%s\n}", s.name, name, s.name, args, call)
	}
	return call
}
