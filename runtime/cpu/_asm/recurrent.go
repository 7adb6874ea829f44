package main

import (
	"fmt"
	"strings"
)

// cell describes the elementwise part of a step of a recurrent layer. This part updates the states
// from the results of the matrix products.
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

var cellRegisters = []string{"DI", "DX", "SI", "R8", "R9", "R10", "R11", "R12"}

// cells writes the kernels for steps of recurrent layers whose gates have the default activations.
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
			name: "lstmTraceCell",
			doc:  "lstmCell's results, and replaces each gate by σ of it and next by tanh(next)",
			operands: []string{
				"h", "c", "in", "out", "forget", "next",
			},
			body: func(c *cellBody) {
				added := c.operand(5)
				c.tanh(added)
				c.store(added, 5)
				in := c.sigmoid(2)
				c.store(in, 2)
				c.do("VMULPS", in, added, added)
				c.free(in)
				forget := c.sigmoid(4)
				c.store(forget, 4)
				state := c.operand(1)
				c.do("VMULPS", forget, state, state)
				c.free(forget)
				c.do("VADDPS", added, state, state)
				c.free(added)
				c.store(state, 1)
				c.tanh(state)
				out := c.sigmoid(3)
				c.store(out, 3)
				c.do("VMULPS", out, state, state)
				c.store(state, 0)
				c.free(out, state)
			},
		},
		{
			name: "lstmGradCell",
			doc: `the gradients of the gates, in their place, and of the cell state before a step, in dc,
from the gates after their functions, the cell states after and before the step, and the gradients dh and dc
of the states after it`,
			operands: []string{
				"in", "out", "forget", "next", "cell", "before", "dh", "dc",
			},
			body: func(c *cellBody) {
				t, out, dh := c.operand(4), c.operand(1), c.operand(6)
				c.tanh(t)
				c.do("VMULPS", out, dh, dh)
				c.store(c.slope(out, dh, t), 1)
				c.free(out)
				c.oneMinusSquare(t)
				c.do("VMULPS", t, dh, dh)
				dc := c.operand(7)
				c.do("VADDPS", dh, dc, dc)
				c.free(t, dh)
				in, next := c.operand(0), c.operand(3)
				added := c.duplicate(dc)
				c.do("VMULPS", in, added, added)
				c.store(c.slope(in, added, next), 0)
				c.free(in)
				c.oneMinusSquare(next)
				c.do("VMULPS", added, next, next)
				c.store(next, 3)
				c.free(added, next)
				forget, before := c.operand(2), c.operand(5)
				c.do("VMULPS", forget, dc, dc)
				c.store(dc, 7)
				c.store(c.slope(forget, dc, before), 2)
				c.free(forget, before, dc)
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
		{
			name: "gruGradCell",
			doc: `the gradients of the gate update and of next, in their place, from both after their functions, the
state before a step, and dh, the gradient of the state after it, which it multiplies by the gate`,
			operands: []string{"update", "next", "before", "dh"},
			body: func(c *cellBody) {
				c.store(c.mixGrad(0, 1, 2, 3), 1)
			},
		},
		{
			name: "gruLinearGradCell",
			doc: `what gruGradCell computes, and the gradients of the gate reset, after its function, and of the
product that it multiplies, in their place`,
			operands: []string{"update", "reset", "next", "before", "product", "dh"},
			body: func(c *cellBody) {
				d := c.mixGrad(0, 2, 3, 5)
				c.store(d, 2)
				reset, product := c.operand(1), c.operand(4)
				c.do("VMULPS", reset, d, d)
				c.store(d, 4)
				c.store(c.slope(reset, d, product), 1)
				c.free(d, reset, product)
			},
		},
		{
			name:     "gruResetGradCell",
			doc:      "dh[i] += gate[i]·grad[i] and gate[i] = (1 − gate[i])·gate[i]·grad[i]·before[i]",
			operands: []string{"gate", "before", "grad", "dh"},
			body: func(c *cellBody) {
				gate, d, dh, before := c.operand(0), c.operand(2), c.operand(3), c.operand(1)
				c.do("VMULPS", gate, d, d)
				c.do("VADDPS", d, dh, dh)
				c.store(dh, 3)
				c.store(c.slope(gate, d, before), 0)
				c.free(gate, d, dh, before)
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

// sigmoid returns a new value, the sigmoid of an operand.
func (c *cellBody) sigmoid(operand int) value {
	v := c.temp()
	c.do("VMOVUPS", c.c(1), v)
	c.gateOf(v, operand)
	return v
}

// slope computes gate = (1 − gate)·a·b in place, and returns it. gate is the result of a sigmoid.
// If a·b is gate times the upstream gradient, the result is the gradient of the sigmoid's input.
func (c *cellBody) slope(gate, a, b value) value {
	one := c.temp()
	c.do("VMOVUPS", c.c(1), one)
	c.do("VSUBPS", gate, one, gate)
	c.free(one)
	c.do("VMULPS", a, gate, gate)
	c.do("VMULPS", b, gate, gate)
	return gate
}

// oneMinusSquare replaces v by 1 − v².
func (c *cellBody) oneMinusSquare(v value) {
	one := c.temp()
	c.do("VMOVUPS", c.c(1), one)
	c.do("VMULPS", v, v, v)
	c.do("VSUBPS", v, one, v)
	c.free(one)
}

// mixGrad writes a part of the backward pass of a GRU's output h' = z·h + (1 − z)·n. The parameters
// are indices of operands: `gate` is z, `next` is n, `before` is h, and `dh` is the gradient of h'.
// mixGrad replaces operand `gate` by the gradient of the input of the sigmoid that computed z. It
// replaces operand `dh` by z·dh. It returns the gradient of the input of the tanh that computed n.
func (c *cellBody) mixGrad(gate, next, before, dh int) value {
	z, d, u := c.operand(gate), c.operand(dh), c.temp()
	c.do("VMULPS", z, d, u)
	c.do("VSUBPS", u, d, d)
	c.store(u, dh)
	n, h := c.operand(next), c.operand(before)
	c.do("VSUBPS", n, h, h)
	c.store(c.slope(z, u, h), gate)
	c.oneMinusSquare(n)
	c.do("VMULPS", n, d, d)
	c.free(z, u, n, h)
	return d
}

// mix computes h = s·h + (1 − s)·tanh(next), where h is operand 0. s is the sigmoid of operand
// number `weight`. mix frees the registers of `next`.
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

// dispatch writes the Go function that runs the kernel at the current level. The function divides
// its work into short calls, because the garbage collector may have to wait for the end of a call.
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
	for len(%s) > 0 {
		n := min(len(%[1]s), atOnce)
		%s
		%s = %s
	}
	return true
`, c.operands[0], f.atLevel(c.name, strings.Join(starts, ", ")+", n"), all, strings.Join(rests, ", ")), "return false")
}
