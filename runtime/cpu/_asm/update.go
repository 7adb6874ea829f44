package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// learning describes a kernel that computes one step of an optimizer. The kernel passes once over
// the parameters, their gradients and the optimizer's state. No operations are fused, so that all
// instruction sets round in the same way and compute the same bits.
type learning struct {
	name   string
	doc    string
	slices []string // w, the parameters; grad, the gradients; then the optimizer's state, in order
	rates  string   // type of the struct of coefficients, which are the same for all elements
	body   func(u *updater)
}

func updateFamily(f *file) {
	indices(f)
	t := &table{name: "updateConstants"}
	for _, p := range updates {
		p.write(f, t)
	}
	t.write(f)
}

var updates = []learning{
	{
		"sgd", "stochastic gradient descent", []string{"w", "grad"}, "SGDRates",
		func(u *updater) {
			u.decay()
			u.descend(u.at("grad"))
		},
	},
	{
		"momentum", "stochastic gradient descent with momentum", []string{"w", "grad", "m"}, "SGDRates",
		func(u *updater) {
			g, m, t := u.at("grad"), u.at("m"), u.temp()
			u.decay()
			u.blend(m, "Momentum", g, "Keep", t)
			u.mul(g, g, u.rate("Direct"))
			u.mul(t, m, u.rate("Heavy"))
			u.add(t, t, g)
			u.free(t)
			u.store("m")
			u.descend(t)
		},
	},
	{"adam", "Adam", []string{"w", "grad", "m", "v"}, "AdamRates", func(u *updater) { u.adam(false) }},
	{"amsgrad", "Adam with the largest second moments", []string{"w", "grad", "m", "v", "most"}, "AdamRates", func(u *updater) { u.adam(true) }},
	{
		"adaGrad", "AdaGrad", []string{"w", "grad", "v"}, "AdaGradRates",
		func(u *updater) {
			g, v, t := u.at("grad"), u.at("v"), u.temp()
			u.decay()
			u.mul(t, g, g)
			u.add(v, v, t)
			u.store("v")
			u.root(t, v)
			u.div(g, g, t)
			u.free(t)
			u.descend(g)
		},
	},
	{"rmsProp", "RMSProp", []string{"w", "grad", "v"}, "RMSPropRates", func(u *updater) { u.rmsProp(false, false) }},
	{"rmsPropMomentum", "RMSProp with momentum", []string{"w", "grad", "v", "m"}, "RMSPropRates", func(u *updater) { u.rmsProp(false, true) }},
	{"rmsPropCentered", "centred RMSProp", []string{"w", "grad", "v", "mean"}, "RMSPropRates", func(u *updater) { u.rmsProp(true, false) }},
	{"rmsPropCenteredMomentum", "centred RMSProp with momentum", []string{"w", "grad", "v", "mean", "m"}, "RMSPropRates", func(u *updater) { u.rmsProp(true, true) }},
	{
		"adan", "Adan", []string{"w", "grad", "last", "m", "d", "v"}, "AdanRates",
		func(u *updater) {
			w, g, last, m, d, v := u.at("w"), u.at("grad"), u.at("last"), u.at("m"), u.at("d"), u.at("v")
			t := u.temp()
			u.sub(last, g, last) // the change of the gradient
			u.blend(m, "Beta1", g, "Rest1", t)
			u.store("m")
			u.blend(d, "Beta2", last, "Rest2", t)
			u.store("d")
			u.mul(last, last, u.rate("Beta2"))
			u.add(last, g, last)
			u.keep(g, "last")
			u.square(v, "Beta3", last, "Rest3", t)
			u.store("v")
			u.scaledRoot(t, v)
			u.mul(w, w, u.rate("Before"))
			u.mul(m, m, u.rate("Rate"))
			u.div(m, m, t)
			u.sub(w, w, m)
			u.mul(d, d, u.rate("DifferenceRate"))
			u.div(d, d, t)
			u.sub(w, w, d)
			u.mul(w, w, u.rate("After"))
			u.free(t)
			u.store("w")
		},
	},
	{
		"lion", "Lion", []string{"w", "grad", "m"}, "LionRates",
		func(u *updater) {
			w, g, m, s, t := u.at("w"), u.at("grad"), u.at("m"), u.temp(), u.temp()
			u.mul(w, w, u.rate("Shrink"))
			u.do("VMOVAPS", m, s)
			u.blend(s, "Beta1", g, "Rest1", t)
			u.blend(m, "Beta2", g, "Rest2", t)
			u.store("m")
			// The rate with the sign of s, or s where s is 0 or NaN.
			u.do("VANDPS", u.word(signBit), s, t)
			u.do("VXORPS", u.rate("Rate"), t, t)
			u.choose(u.compare(unequal, s, u.c(0)), t, s, t)
			u.choose(u.compare(unordered, s, s), s, t, s)
			u.free(s, t)
			u.sub(w, w, s)
			u.store("w")
		},
	},
}

// adam writes a step of Adam. The step divides by the root of the second moment. If largest is
// true, it uses the largest second moment so far instead of the newest (AMSGrad).
func (u *updater) adam(largest bool) {
	w, g, m, v, t := u.at("w"), u.at("grad"), u.at("m"), u.at("v"), u.temp()
	u.decay()
	u.blend(m, "Beta1", g, "Rest1", t)
	u.store("m")
	against := u.temp()
	u.mul(t, w, m)
	u.mul(against, w, u.rate("Against"))
	u.mul(w, w, u.rate("Shrink"))
	u.choose(u.compare(less, t, u.c(0)), against, w, w)
	u.free(against)
	u.square(v, "Beta2", g, "Rest2", t)
	u.store("v")
	if largest {
		most := u.at("most")
		u.do("VMAXPS", v, most, most)
		u.store("most")
		v = most
	}
	u.scaledRoot(t, v)
	u.mul(m, m, u.rate("Rate"))
	u.div(m, m, t)
	u.free(t)
	u.sub(w, w, m)
	u.store("w")
}

// rmsProp writes a step of RMSProp. If centered is true, the square of the mean gradient is
// subtracted before the root is taken. If momentum is true, the parameters move by an accumulated
// step.
func (u *updater) rmsProp(centered, momentum bool) {
	g, v, t := u.at("grad"), u.at("v"), u.temp()
	u.decay()
	u.square(v, "Alpha", g, "Rest", t)
	u.store("v")
	if centered {
		mean := u.at("mean")
		u.blend(mean, "Alpha", g, "Rest", t)
		u.store("mean")
		u.mul(t, mean, mean)
		u.sub(t, v, t)
		u.do("VMAXPS", u.c(0), t, t)
		u.root(t, t)
	} else {
		u.root(t, v)
	}
	u.div(g, g, t)
	u.free(t)
	if !momentum {
		u.descend(g)
		return
	}
	m := u.at("m")
	u.mul(m, m, u.rate("Momentum"))
	u.add(m, m, g)
	u.store("m")
	u.descend(m)
}

// decay adds the weight decay to the gradients.
func (u *updater) decay() {
	t := u.temp()
	u.mul(t, u.at("w"), u.rate("Decay"))
	u.add(u.at("grad"), u.at("grad"), t)
	u.free(t)
}

// descend subtracts the rate times v from the parameters. It overwrites v.
func (u *updater) descend(v value) {
	u.mul(v, v, u.rate("Rate"))
	u.sub(u.at("w"), u.at("w"), v)
	u.store("w")
}

// blend computes m = m·a + g·b. a and b are the names of coefficients. t is scratch.
func (u *updater) blend(m value, a string, g value, b string, t value) {
	u.mul(m, m, u.rate(a))
	u.mul(t, g, u.rate(b))
	u.add(m, m, t)
}

// square computes v = v·a + g·b·g. a and b are the names of coefficients. t is scratch.
func (u *updater) square(v value, a string, g value, b string, t value) {
	u.mul(v, v, u.rate(a))
	u.mul(t, g, u.rate(b))
	u.mul(t, t, g)
	u.add(v, v, t)
}

// root computes t = √v + epsilon. scaledRoot computes t = √v·scale + epsilon.
func (u *updater) root(t, v value) {
	u.do("VSQRTPS", v, t)
	u.add(t, t, u.rate("Epsilon"))
}

func (u *updater) scaledRoot(t, v value) {
	u.do("VSQRTPS", v, t)
	u.mul(t, t, u.rate("Scale"))
	u.add(t, t, u.rate("Epsilon"))
}

type updater struct {
	*vectors
	slices  []string
	tail    bool              // whether only the lanes in the tail's mask are processed
	pinned  map[string]string // coefficients in registers
	used    []string          // coefficients, in the order of their use
	scratch []value           // registers for the current coefficient, if some are not pinned
	typ     string            // type of the coefficients
}

// rateBase is the register that points to the coefficients. slicePointers are the registers that
// point to the slices.
const rateBase = "R12"

var slicePointers = []string{"DI", "SI", "R8", "R9", "R10", "R11"}

// at returns the value for the slice called `name`. The value holds the slice's current elements.
func (u *updater) at(name string) value { return u.in[slices.Index(u.slices, name)] }

// store writes the value for the slice called `name` back to the slice. keep writes v to the slice
// instead.
func (u *updater) store(name string) { u.keep(u.at(name), name) }

func (u *updater) keep(v value, name string) {
	to := slicePointers[slices.Index(u.slices, name)]
	if u.tail {
		u.storeTail(u.isa, u.register(v, 0), at(to, 0))
	} else {
		u.vectors.store(v, to)
	}
}

// rate returns a register that holds the coefficient called `field`. The register is valid until the next call of the
// method rate.
func (u *updater) rate(field string) string {
	if !slices.Contains(u.used, field) {
		u.used = append(u.used, field)
	}
	if r, ok := u.pinned[field]; ok {
		return r
	}
	if u.scratch == nil {
		u.scratch = []value{u.temp()}
	}
	r := u.register(u.scratch[0], 0)
	u.op("VBROADCASTSS", u.place(field), r)
	return r
}

func (u *updater) place(field string) string {
	return fmt.Sprintf("%s_%s(%s)", u.typ, field, rateBase)
}

// add, sub, mul and div write dst = a op b.
func (u *updater) add(dst, a value, b any) { u.do("VADDPS", b, a, dst) }
func (u *updater) sub(dst, a value, b any) { u.do("VSUBPS", b, a, dst) }
func (u *updater) mul(dst, a value, b any) { u.do("VMULPS", b, a, dst) }
func (u *updater) div(dst, a value, b any) { u.do("VDIVPS", b, a, dst) }

// begin returns a writer of the body for one vector. pinned maps coefficients to registers. If tail
// is true, the code processes only the lanes in the mask of [file.tail].
func (p *learning) begin(f *file, s isa, t *table, pinned map[string]string, tail bool) *updater {
	u := &updater{
		vectors: &vectors{file: f, isa: s, interleaved: 1, table: t},
		slices:  p.slices, tail: tail, pinned: pinned, typ: p.rates,
	}
	for range p.slices {
		u.in = append(u.in, u.temp())
	}
	return u
}

// pin assigns free registers to coefficients, as long as there are any. It returns the registers,
// keyed by the coefficients' names.
func (p *learning) pin(f *file, s isa, t *table) map[string]string {
	u := p.begin(&file{arch: f.arch}, s, t, nil, false)
	p.body(u)
	left := s.top() + 1 - len(u.inUse)
	if left+1 >= len(u.used) { // the last coefficient needs no scratch register
		left = len(u.used)
	}
	pinned := map[string]string{}
	for i, field := range u.used[:left] {
		pinned[field] = s.reg(s.top() - i)
	}
	return pinned
}

func (p *learning) write(f *file, t *table) {
	params := strings.Join(p.slices, ", ") + " *float32, n int, rates *" + p.rates
	for _, s := range f.sets() {
		name := p.name + s.name
		f.fun(name+" does a step of "+p.doc+", see "+p.name+"Ref.", name, params, "")
		for i, slice := range p.slices {
			f.load(slice, slicePointers[i])
		}
		f.load("n", "CX", "rates", rateBase)
		f.base(t)
		pinned := p.pin(f, s, t)
		k, one := p.begin(f, s, t, pinned, false), p.begin(f, s, t, pinned, true)
		for _, field := range slices.Sorted(maps.Keys(pinned)) {
			f.op("VBROADCASTSS", k.place(field), pinned[field])
		}
		pointers := slicePointers[:len(p.slices)]
		f.sweep(k.vectors, pointers, func() {
			for i, v := range k.in {
				k.fetch(v, pointers[i])
			}
			p.body(k)
		}, nil, func() {
			for i, v := range one.in {
				f.loadTail(s, at(pointers[i], 0), one.register(v, 0))
			}
			p.body(one)
		})
		f.ret()
	}
	var starts, remains []string
	for _, slice := range p.slices {
		starts = append(starts, "&"+slice+"[0]")
		remains = append(remains, slice+"[n:]")
	}
	list := strings.Join(p.slices, ", ")
	f.function(p.name+"Fast does a step of "+p.doc+" where there is assembly.", p.name+"Fast("+list+" []float32, rates *"+p.rates+") bool", fmt.Sprintf(`
	if level == Generic {
		return false
	}
	for len(w) > 0 {
		n := min(len(w), atOnce)
		%s
		%s = %s
	}
	return true
`, f.atLevel(p.name, strings.Join(starts, ", ")+", n, rates"), list, strings.Join(remains, ", ")), "return false")
}
