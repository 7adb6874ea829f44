package main

import (
	"fmt"
	"strings"
)

// cell is the elementwise part of a recurrent layer's step: it updates the states from the
// products.
type cell struct {
	name, doc string
	operands  []string // slices; the states come first
	body      func(c *cellBody)
}

type cellBody struct {
	*vectors
	load  func(v value, operand int)
	store func(v value, operand int)
}

var cellRegisters = []string{"DI", "DX", "SI", "R8", "R9", "R10"}

// cells writes the steps of recurrent layers whose gates have the default activations.
func cells(f *file) {
	t := &table{name: "cellConstants"}
	indices(f)
	for _, c := range []cell{
		{
			name: "lstmCell",
			doc:  "c[i] = σ(forget[i])·c[i] + σ(in[i])·tanh(next[i]) and h[i] = σ(out[i])·tanh(c[i])",
			operands: []string{
				"h", "c", "in", "out", "forget", "next",
			},
			body: func(c *cellBody) {
				added := c.operand(5)
				c.tanh(added)
				c.gateOf(added, 2)
				state := c.operand(1)
				c.gateOf(state, 4)
				c.do("VADDPS", added, state, state)
				c.free(added)
				c.store(state, 1)
				c.tanh(state)
				c.gateOf(state, 3)
				c.store(state, 0)
				c.free(state)
			},
		},
		{
			name:     "gruCell",
			doc:      "h[i] = n + σ(update[i])·(h[i] − n), n being tanh(next[i])",
			operands: []string{"h", "update", "next"},
			body: func(c *cellBody) {
				next := c.operand(2)
				c.mix(next, 1)
			},
		},
		{
			name:     "gruLinearCell",
			doc:      "h[i] = n + σ(update[i])·(h[i] − n), n being tanh(next[i] + σ(reset[i])·product[i])",
			operands: []string{"h", "update", "reset", "next", "product"},
			body: func(c *cellBody) {
				next := c.operand(4)
				c.gateOf(next, 2)
				x := c.operand(3)
				c.do("VADDPS", x, next, next)
				c.free(x)
				c.mix(next, 1)
			},
		},
	} {
		for _, s := range f.sets() {
			c.write(f, s, t)
		}
		c.dispatch(f)
	}
	t.write(f)
}

// operand returns a new value, loaded from operand i.
func (c *cellBody) operand(i int) value {
	v := c.temp()
	c.load(v, i)
	return v
}

// gateOf multiplies v by the sigmoid of operand number `operand`.
func (c *cellBody) gateOf(v value, operand int) {
	u := c.operand(operand)
	c.gate(v, u)
	c.free(u)
}

// mix sets operand 0 to s·h + (1 − s)·tanh(next), where h is operand 0 and s the sigmoid of operand number `weight`. It
// frees next.
func (c *cellBody) mix(next value, weight int) {
	c.tanh(next)
	h := c.operand(0)
	c.do("VSUBPS", next, h, h)
	c.gateOf(h, weight)
	c.do("VADDPS", next, h, h)
	c.store(h, 0)
	c.free(next, h)
}

func (c *cell) write(f *file, s isa, t *table) {
	f.fun(c.name+s.name+" computes "+c.doc+", for i < n.", c.name+s.name, strings.Join(c.operands, ", ")+" *float32, n int", "")
	pointers := cellRegisters[:len(c.operands)]
	for i, name := range c.operands {
		f.load(name, pointers[i])
	}
	f.load("n", "CX")
	whole := func(k *vectors) value {
		c.body(&cellBody{k, func(v value, i int) { k.fetch(v, pointers[i]) }, func(v value, i int) { k.store(v, pointers[i]) }})
		return 0
	}
	p := pointwise{name: c.name, body: whole}
	many, one := p.enter(f, s, t)
	f.sweep(many, pointers, func() { whole(many) }, nil, func() {
		c.body(&cellBody{
			one,
			func(v value, i int) { f.loadTail(s, at(pointers[i], 0), one.register(v, 0)) },
			func(v value, i int) { f.storeTail(s, one.register(v, 0), at(pointers[i], 0)) },
		})
	})
	f.ret()
}

// dispatch writes the Go function that runs the kernel at the current level, in calls that are
// short enough for the garbage collector.
func (c *cell) dispatch(f *file) {
	var starts, rests []string
	for _, o := range c.operands {
		starts, rests = append(starts, "&"+o+"[0]"), append(rests, o+"[n:]")
	}
	all := strings.Join(c.operands, ", ")
	f.function(c.name+"Fast computes "+c.doc+", where there is assembly. The slices have one length.", c.name+"Fast("+all+" []float32) bool", fmt.Sprintf(`
	if level == Generic {
		return false
	}
	for len(h) > 0 {
		n := min(len(h), atOnce)
		%s
		%s = %s
	}
	return true
`, f.atLevel(c.name, strings.Join(starts, ", ")+", n"), all, strings.Join(rests, ", ")), "return false")
}
