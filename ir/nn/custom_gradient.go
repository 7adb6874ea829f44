package nn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// recordGradient records f, the gradient of c, as a function of the type [op.Custom.GradientType]. Equal recordings
// give the same function.
func recordGradient(c op.Custom, f func(operands, results, gradients []Value) []Value) *ir.Func {
	typ, err := c.GradientType()
	if err != nil {
		fail("%v", err)
	}
	binders := session.binders
	session.binders = nil // symbols of the gradient are not those of the method that uses it
	defer func() { session.binders = binders }()
	first := session.nodes.Load() + 1
	params := make([]Value, len(typ.Params))
	for i, t := range typ.Params {
		params[i] = leaf(&node{types: []ir.Type{t}, name: "a gradient", open: true})
	}
	operands, results, gradients := split(c, params)
	out := f(slices.Clone(operands), results, gradients)
	out = checkGradients(operands, out)

	fn := &ir.Func{}
	e := newEmitter(ir.NewBuilder(fn), func(_ *ir.Builder, v Value) *ir.Value {
		fail("the gradient uses parameter %s: make it an operand", v.n.param)
		return nil
	})
	e.first = first
	err = ir.Try(func() {
		for i, p := range params {
			name := "dy"
			switch {
			case i < len(operands):
				name = "operand"
			case i < len(operands)+len(results):
				name = "result"
			}
			e.bring(p, name)
		}
		e.b.Return(e.values(out)...)
		fn.Prune()
	})
	if err != nil {
		fail("the gradient: %v", err)
	}
	for i := range fn.Results {
		fn.ResultNames = append(fn.ResultNames, fmt.Sprint("dx", i))
	}
	checkRecorded(fn)
	return kept(c, fn)
}

// split splits the parameters of a function that computes gradients; see [op.Custom.GradientType]. It returns the
// operands of c, its results, and the gradients of its results. The gradient is the zero Value if the result is not
// a float.
func split(c op.Custom, params []Value) (operands, results, gradients []Value) {
	s, err := ir.ParseSignature(c.Type)
	if err != nil {
		fail("%v", err)
	}
	n, m := len(s.Params), len(s.Params)+len(s.Results)
	operands, results, params = params[:n:n], params[n:m:m], params[m:]
	for _, r := range results {
		g := Value{}
		if r.DType().IsFloat() {
			g, params = params[0], params[1:]
		}
		gradients = append(gradients, g)
	}
	return operands, results, gradients
}

// checkGradients returns the gradients of the operands that are floats. `out` are the gradients that the user's
// function returned, one for each operand. checkGradients panics with an [*Error] if one does not fit its operand.
func checkGradients(operands, out []Value) []Value {
	if len(out) != len(operands) {
		fail("the gradient returns %d values for %d operands", len(out), len(operands))
	}
	var floats []Value
	for i, x := range operands {
		g := out[i]
		switch {
		case !x.DType().IsFloat():
			if g.Valid() {
				fail("operand %d is %s and has no gradient: return the zero nn.Value", i, x.typ())
			}
			continue
		case !g.Valid():
			g = ZerosLike(x)
		case !sameType(g.typ(), x.typ()):
			fail("the gradient of operand %d is %s, the operand is %s", i, g.typ(), x.typ())
		}
		floats = append(floats, g)
	}
	return floats
}

func checkRecorded(fn *ir.Func) {
	for n := range fn.All() {
		_, differs := n.Op.(ir.Trainable)
		if _, ok := n.Op.(op.Attention); ok {
			differs = false // its training form has the same result
		}
		if differs || isRandom(n.Op) {
			fail("the gradient has a %s, which draws random numbers or differs in training", ir.OpName(n.Op))
		}
	}
	if len(fn.BoundSymbols()) > 0 {
		fail("the gradient has extents that are known only when the model runs")
	}
}

// kept returns the function of the session that equals fn, the gradient of c. If the session has no such function,
// kept names fn, adds it and returns it.
func kept(c op.Custom, fn *ir.Func) *ir.Func {
	_, function := c.Package()
	taken := 0
	for _, k := range session.gradients {
		if name, _, _ := strings.Cut(strings.TrimPrefix(k.Name, gradientPrefix), "."); name == function {
			taken++
			fn.Name = k.Name
			if k.String() == fn.String() {
				return k
			}
		}
	}
	fn.Name = gradientPrefix + function
	if taken > 0 {
		fn.Name += fmt.Sprint(".", taken)
	}
	session.gradients = append(session.gradients, fn)
	return fn
}

// gradientPrefix is the prefix of the names of functions that compute gradients. It has a dot, which names of
// methods do not have.
const gradientPrefix = "gradient."

func withGradients(m *ir.Module) {
	for i := 0; i < len(m.Funcs); i++ { // which grows
		for n := range m.Funcs[i].All() {
			c, ok := n.Op.(op.Custom)
			if !ok || c.Gradient == "" || m.Func(c.Gradient) != nil {
				continue
			}
			f := c.Local().Gradient.Clone()
			for n := range f.All() {
				n.Pos = shortPos(n.Pos)
			}
			m.Funcs = append(m.Funcs, f)
		}
	}
}
