package nn

import (
	"fmt"
	"maps"
	"slices"

	"github.com/burngen/burngen/ir"
)

type body struct {
	params  []Value // parameters, as leaves
	results []Value
	// inside are the nodes that the block computes at each execution. Other nodes that its results
	// need stay outside.
	inside map[*node]bool
}

// newBody returns the body (a block with its nodes) that f builds. params are the parameters of the block, and f
// returns its results. If all is true, every node that f creates is inside the body. Otherwise a node is inside if
// it depends on a parameter or draws random numbers.
func newBody(params []Value, all bool, f func() []Value) *body {
	b := &body{params: params, inside: map[*node]bool{}}
	first := session.nodes.Load()
	b.results = f()
	depends := map[*node]bool{}
	for _, p := range params {
		depends[p.n] = true
	}
	var roots []*node
	for _, r := range b.results {
		r.typ()
		roots = append(roots, r.n)
	}
	made := reachable(roots, func(n *node) bool { return n.id > first })
	for _, n := range made {
		if all && n.data == nil || isRandom(n.op) || n.needs(func(m *node) bool { return depends[m] }) {
			depends[n], b.inside[n] = true, true
		}
	}
	for _, n := range slices.Backward(made) {
		for _, m := range n.before {
			b.inside[m] = b.inside[m] || b.inside[n] && m.id > first
		}
	}
	maps.DeleteFunc(b.inside, func(_ *node, in bool) bool { return !in })
	return b
}

func (n *node) needs(pred func(*node) bool) bool {
	return slices.ContainsFunc(n.before, pred) || slices.ContainsFunc(n.reads(), func(a Value) bool { return pred(a.n) })
}

func freeOf(bodies []*body) []Value {
	var free []Value
	seen := map[port]bool{}
	for _, b := range bodies {
		own := map[*node]bool{}
		for _, p := range b.params {
			own[p.n] = true
		}
		take := func(v Value) {
			if p := v.port(); !own[v.n] && !b.inside[v.n] && !seen[p] {
				seen[p] = true
				free = append(free, v)
			}
		}
		for _, n := range b.nodes() {
			for _, a := range n.reads() {
				take(a)
			}
		}
		for _, r := range b.results {
			take(r)
		}
	}
	return free
}

func (b *body) nodes() []*node {
	nodes := make([]*node, 0, len(b.inside))
	for n := range b.inside {
		nodes = append(nodes, n)
	}
	slices.SortFunc(nodes, inOrder)
	return nodes
}

func isRandom(op ir.Op) bool {
	_, ok := op.(interface{ IsRandom() })
	return ok
}

// port is one of the results of a node. It is a key of maps.
type port struct {
	n *node
	i int
}

func (v Value) port() port { return port{v.n, v.i} }

// emitter converts values to the nodes of a function of the IR, or of a block in it.
type emitter struct {
	b     *ir.Builder
	outer *emitter
	done  map[port]*ir.Value
	// leaf builds the IR value of a parameter or input.
	leaf func(b *ir.Builder, v Value) *ir.Value
	// first is the number of the first node that the function computes. Earlier nodes with data
	// become constants.
	first int64
}

func newEmitter(b *ir.Builder, leaf func(*ir.Builder, Value) *ir.Value) *emitter {
	return &emitter{b: b, done: map[port]*ir.Value{}, leaf: leaf}
}

func (e *emitter) find(v Value) *ir.Value {
	for ; e != nil; e = e.outer {
		if x := e.done[v.port()]; x != nil {
			return x
		}
	}
	return nil
}

func (e *emitter) values(list []Value) []*ir.Value {
	var roots []*node
	for _, v := range list {
		v.typ()
		roots = append(roots, v.n)
	}
	nodes := reachable(roots, func(n *node) bool { return !e.has(n) })
	for _, n := range nodes {
		for _, a := range n.reads() {
			e.reaches(a, n.pos)
		}
	}
	for _, v := range list {
		e.reaches(v, v.n.pos)
	}
	for _, n := range nodes {
		e.node(n)
	}
	out := make([]*ir.Value, len(list))
	for i, v := range list {
		out[i] = e.b.Now(e.find(v))
	}
	return out
}

// reaches panics with an [*Error] if v is an input of another method, or of a loop iteration that
// has ended. pos is the position where v is used.
func (e *emitter) reaches(v Value, pos string) {
	if n := v.n; n.op == nil && n.open && n.param == nil && !e.has(n) {
		panic(&Error{pos, fmt.Sprintf("the value depends on %s, and is used outside of it", n.name)})
	}
}

// there marks emitted nodes in emitter.done: port{n, there} is a key of this map once node n is emitted. Other keys
// have the index of a result of n in place of `there`.
const there = -1

func (e *emitter) has(n *node) bool { return e.find(Value{n: n, i: there}) != nil }

// bring makes v a parameter of the function or block under construction. The parameter is called `name`. A number
// is appended if another value has this name.
func (e *emitter) bring(v Value, name string) {
	e.done[port{v.n, there}] = &ir.Value{}
	e.done[v.port()] = e.b.Param(name, v.typ())
}

func (e *emitter) node(n *node) {
	e.b.At(n.pos)
	e.done[port{n, there}] = &ir.Value{}
	switch {
	case n.param == nil && (n.op == nil && n.data != nil || n.id < e.first && !n.open):
		for i := range n.types {
			e.done[port{n, i}] = e.b.Const(Value{n: n, i: i}.tensor())
		}
	case n.op == nil:
		e.done[port{n, 0}] = e.leaf(e.b, Value{n: n})
	default:
		args := make([]*ir.Value, len(n.args))
		for i, a := range n.args {
			if a.Valid() {
				args[i] = e.find(a)
			}
		}
		var blocks []*ir.Block
		for _, b := range n.bodies {
			blocks = append(blocks, e.block(b))
		}
		for i, v := range e.b.NodeBlocks(n.op, blocks, args...) {
			e.done[port{n, i}] = v
		}
	}
}

func (e *emitter) block(b *body) *ir.Block {
	return e.b.Block(func(inner *ir.Builder) {
		in := newEmitter(inner, e.leaf)
		in.outer, in.first = e, e.first
		for _, p := range b.params {
			in.bring(p, "x")
		}
		for _, n := range b.nodes() {
			in.node(n)
		}
		results := make([]*ir.Value, len(b.results))
		for i, r := range b.results {
			results[i] = in.find(r)
		}
		inner.Return(results...)
	})
}

func (n *node) run() ([]*ir.Tensor, error) {
	f := &ir.Func{Name: "run"}
	var args []*ir.Tensor
	e := newEmitter(ir.NewBuilder(f), nil)
	err := ir.Try(func() {
		for _, v := range n.reads() {
			if e.done[v.port()] == nil {
				e.bring(v, "x")
				args = append(args, v.n.data[v.i])
			}
		}
		e.node(n)
		var out []*ir.Value
		for i := range n.types {
			out = append(out, e.done[port{n, i}])
		}
		e.b.Return(out...)
	})
	if err != nil {
		return nil, err
	}
	return (&ir.Evaluator{}).Run(f, args)
}

// build runs f, which is written for an [ir.Builder], and applies what it builds to args. f gets parameters with
// the types of args, appends nodes, and returns results. build applies the operators of these nodes to args, and
// returns the values of the results.
func build(f func(b *ir.Builder, args []*ir.Value) []*ir.Value, args ...Value) []Value {
	fn := &ir.Func{Name: "build"}
	b := ir.NewBuilder(fn)
	env := map[*ir.Value]Value{}
	var results []*ir.Value
	err := ir.Try(func() {
		params := make([]*ir.Value, len(args))
		for i, a := range args {
			if a.Valid() {
				params[i] = b.Param("x", a.typ())
				env[params[i]] = a
			}
		}
		results = f(b, params)
		for i, r := range results {
			results[i] = b.Now(r)
		}
	})
	if err != nil {
		fail("%v", err)
	}
	take(fn.Nodes, env)
	out := make([]Value, len(results))
	for i, r := range results {
		out[i] = env[r]
	}
	return out
}

// take applies the operators of IR nodes to Values. env maps IR values to Values. take looks up operands in env,
// and adds the results to it.
func take(nodes []*ir.Node, env map[*ir.Value]Value) {
	value := func(v *ir.Value) Value {
		if v == nil {
			return Value{}
		}
		known, ok := env[v]
		if !ok {
			fail("%s is not known", v)
		}
		return known
	}
	var checks []*node
	for _, n := range nodes {
		if c, ok := n.Op.(ir.Constant); ok {
			env[n.Results[0]] = constant(c.Value)
			continue
		}
		args := make([]Value, len(n.Args))
		for i, a := range n.Args {
			args[i] = value(a)
		}
		var bodies []*body
		for _, block := range n.Blocks {
			params := make([]Value, len(block.Params))
			for i, p := range block.Params {
				params[i] = bodyParam(p.Type)
				env[p] = params[i]
			}
			bodies = append(bodies, newBody(params, len(params) == 0, func() []Value {
				take(block.Nodes, env)
				results := make([]Value, len(block.Results))
				for i, r := range block.Results {
					results[i] = value(r)
				}
				return results
			}))
		}
		made := apply(n.Op, bodies, args...)
		made.before = append(made.before, checks...)
		for i, r := range n.Results {
			env[r] = Value{n: made, i: i}
		}
		if len(n.Results) == 0 {
			checks = append(checks, made)
		}
	}
}

func bodyParam(t ir.Type) Value {
	return leaf(&node{types: []ir.Type{t}, name: "a turn of a loop", open: true})
}
