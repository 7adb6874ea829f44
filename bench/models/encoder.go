package main

import (
	"fmt"
	"math"
)

// encoder is a stack of transformer encoder layers over embedded tokens, with the nodes that
// exporters write.
type encoder struct{ layers, tokens, width, heads, hidden int }

func (e encoder) graph() *graph {
	g := &graph{opset: 17}
	g.input("tokens", 1, e.tokens, e.width)
	g.ints("split", 1, e.tokens, e.heads, e.width/e.heads)
	g.ints("join", 1, e.tokens, e.width)
	g.scalar("scale", 1/math.Sqrt(float64(e.width/e.heads)))
	g.scalar("sqrt2", math.Sqrt2)
	g.scalar("one", 1)
	g.scalar("half", .5)
	x := "tokens"
	for i := range e.layers {
		x = e.layer(g, fmt.Sprintf("layer%d.", i), x)
	}
	g.output(x, 1, e.tokens, e.width)
	return g
}

// layer adds a transformer layer that reads x: attention, and then two dense layers. It returns the name of the
// result. The attention and the dense layers each end in a residual and a norm. The prefix of all names is `at`.
func (e encoder) layer(g *graph, at, x string) string {
	heads := func(name string, perm ...int) string {
		y := g.dense(at+name, x, e.width, e.width)
		y = g.node("Reshape", at+name+".split", []string{y, "split"})
		return g.node("Transpose", at+name+".heads", []string{y}, attr{"perm", perm})
	}
	q, k, v := heads("query", 0, 2, 1, 3), heads("key", 0, 2, 3, 1), heads("value", 0, 2, 1, 3)
	y := g.node("MatMul", at+"scores", []string{q, k})
	y = g.node("Mul", at+"scaled", []string{y, "scale"})
	y = g.node("Softmax", at+"attention", []string{y}, attr{"axis", -1})
	y = g.node("MatMul", at+"mixed", []string{y, v})
	y = g.node("Transpose", at+"tokens", []string{y}, attr{"perm", []int{0, 2, 1, 3}})
	y = g.node("Reshape", at+"joined", []string{y, "join"})
	y = g.dense(at+"out", y, e.width, e.width)
	x = g.norm(at+"norm1", g.node("Add", at+"residual1", []string{y, x}), e.width)

	y = g.dense(at+"up", x, e.width, e.hidden)
	z := g.node("Div", at+"gelu.div", []string{y, "sqrt2"})
	z = g.node("Erf", at+"gelu.erf", []string{z})
	z = g.node("Add", at+"gelu.add", []string{z, "one"})
	z = g.node("Mul", at+"gelu.mul", []string{y, z})
	z = g.node("Mul", at+"gelu", []string{z, "half"})
	y = g.dense(at+"down", z, e.hidden, e.width)
	return g.norm(at+"norm2", g.node("Add", at+"residual2", []string{y, x}), e.width)
}

func (g *graph) dense(name, x string, in, out int) string {
	b := spread(in)
	y := g.node("MatMul", name+".product", []string{x, g.weight(name+".weight", -b, b, in, out)})
	return g.node("Add", name, []string{g.weight(name+".bias", -.1, .1, out), y})
}

func (g *graph) norm(name, x string, width int) string {
	args := []string{x, g.weight(name+".scale", .8, 1.2, width), g.weight(name+".bias", -.1, .1, width)}
	return g.node("LayerNormalization", name, args, attr{"axis", -1}, attr{"epsilon", float32(1e-12)})
}

func (g *graph) scalar(name string, v float64) { g.weight(name, v, v) }
