package grad

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// branches differentiates n, an If. It adds a second If. Each block of the second If recomputes a block of n and
// returns the gradients of the values that the blocks of n capture.
func (t *tape) branches(n *ir.Node, dy []*ir.Value) {
	wrt := t.captured(n.Blocks...)
	if len(wrt) == 0 {
		return
	}
	blocks := make([]*ir.Block, len(n.Blocks))
	for i, block := range n.Blocks {
		blocks[i] = t.b.Block(func(b *ir.Builder) {
			results := b.Inline(block, nil, "")
			b.Return(t.inside(b, wrt, results, dy)...)
		})
	}
	for i, g := range t.b.NodeBlocks(op.If{}, blocks, n.Args[0]) {
		t.add(wrt[i], g)
	}
}

// inside returns the gradients of wrt in the block that b builds. results are the results of the block, and dy are
// their gradients. A nil dy[i] is zero.
func (t *tape) inside(b *ir.Builder, wrt, results, dy []*ir.Value) []*ir.Value {
	inner := newTape(b, b.Here().Nodes, wrt)
	for i, r := range results {
		if dy[i] == nil {
			continue
		}
		g := dy[i]
		if !g.Type.Equal(r.Type) {
			g = b.Assume(g, r.Type.Shape...)
		}
		inner.add(r, g)
	}
	inner.backward()
	t.errs = append(t.errs, inner.errs...)
	grads := make([]*ir.Value, len(wrt))
	for i, w := range wrt {
		grads[i] = inner.total(w)
	}
	return grads
}

// captured returns the float values that blocks capture and that depend on a differentiated value of t, each once.
func (t *tape) captured(blocks ...*ir.Block) []*ir.Value {
	var out []*ir.Value
	seen := map[*ir.Value]bool{}
	for _, block := range blocks {
		for _, v := range block.Captured() {
			if t.active[v] && isFloat(v) && !seen[v] {
				seen[v] = true
				out = append(out, v)
			}
		}
	}
	return out
}

func isFloat(v *ir.Value) bool { return v.Type.IsTensor() && v.Type.DType.IsFloat() }

// trips differentiates n, a loop. It makes n stack its carried values at the start of each trip (iteration). It
// adds a second loop, which runs the trips from last to first. Each trip of the second loop recomputes a trip of n.
// The second loop carries the gradients of the carried values of n and of the values that the body of n captures.
// If the number of trips is known only after n has run, it is read from the height of the stacks.
func (t *tape) trips(n *ir.Node, dy []*ir.Value) {
	loop, body := n.Op.(op.Loop), n.Blocks[0]
	carried := body.Params[2:]
	isHeight := func(e ir.ResultExtent) bool { return e.Axis == 0 && e.Result >= len(carried) }
	if len(loop.Varying) > 0 || slices.ContainsFunc(loop.Extents, func(e ir.ResultExtent) bool { return !isHeight(e) }) {
		t.errs = append(t.errs, &NoDerivative{n, "extents of its values are known only when the model runs"})
		return
	}
	first := 0 // operand that is a carried value
	if !loop.Counted {
		first = 2
	}
	for _, p := range carried {
		if !p.Type.IsTensor() {
			t.errs = append(t.errs, &NoDerivative{n, fmt.Sprintf("it carries %s", p.Type)})
			return
		}
	}
	kept, trips := t.keep(n, &loop)
	captured := t.captured(body)
	var inits []*ir.Value
	var floats []int // carried values with gradients
	for i, p := range carried {
		if isFloat(p) {
			floats = append(floats, i)
			g := dy[i]
			if g == nil {
				g = op.Full(t.b, p.Type, 0)
			}
			inits = append(inits, g)
		}
	}
	for _, v := range captured {
		inits = append(inits, op.Full(t.b, v.Type, 0))
	}
	if len(inits) == 0 {
		return
	}
	back := t.b.Block(func(b *ir.Builder) {
		trip := b.Param("trip", ir.TensorOf(ir.I64))
		condition := b.Param("condition", ir.TensorOf(ir.Bool))
		grads := make([]*ir.Value, len(inits))
		for i, v := range inits {
			grads[i] = b.Param("gradient", v.Type)
		}
		last := b.Node(ir.Extents{Type: ir.TensorOf(ir.I64), Elems: []dim.Dim{trips.Sub(dim.Const(1))}})
		at := b.Node(op.Sub{}, last, trip)
		args := []*ir.Value{at, condition}
		for _, rows := range kept {
			args = append(args, b.Node(op.Gather{}, rows, at))
		}
		results := b.Inline(body, args, "")
		seeds := make([]*ir.Value, len(results))
		for k, i := range floats {
			seeds[1+i] = grads[k]
		}
		for i := range loop.Scans {
			if g := dy[len(carried)+i]; g != nil {
				seeds[1+len(carried)+i] = b.Node(op.Gather{}, g, at)
			}
		}
		var wrt []*ir.Value
		for _, i := range floats {
			wrt = append(wrt, args[2+i])
		}
		next := t.inside(b, append(wrt, captured...), results, seeds)
		for i := range captured {
			k := len(floats) + i
			next[k] = b.Node(op.Add{}, grads[k], next[k])
		}
		b.Return(append([]*ir.Value{condition}, next...)...)
	})
	grads := t.b.NodeBlocks(op.Loop{Counted: true, Trips: trips}, []*ir.Block{back}, inits...)
	for k, i := range floats {
		t.add(n.Arg(first+i), grads[k])
	}
	for i, v := range captured {
		t.add(v, grads[len(floats)+i])
	}
}

// keep makes n stack its carried values at the start of each trip. `loop` is the operator of n. keep returns the
// stacks, which are new results of n. It also returns the height of the stacks, which is the number of trips.
func (t *tape) keep(n *ir.Node, loop *op.Loop) (kept []*ir.Value, trips dim.Dim) {
	body := n.Blocks[0]
	trips = loop.Trips
	for _, e := range loop.Extents { // of stacks that n has already
		trips = dim.Sym(e.Symbol)
	}
	extents := slices.Clone(loop.Extents)
	scans := append([]ir.Type(nil), loop.Scans...)
	for _, p := range body.Params[2:] {
		body.Results = append(body.Results, p)
		scans = append(scans, p.Type)
		if !loop.Counted {
			s := t.b.Symbol("trips")
			trips = dim.Sym(s)
			extents = append(extents, ir.ResultExtent{Symbol: s, Result: len(n.Results)})
		}
		v := &ir.Value{
			Name: t.b.Name(p.Name), Type: ir.TensorOf(p.Type.DType, append([]dim.Dim{trips}, p.Type.Shape...)...),
			Def: n, Index: len(n.Results),
		}
		n.Results = append(n.Results, v)
		kept = append(kept, v)
	}
	whole := *loop
	whole.Scans, whole.Extents = scans, extents
	n.Op = whole
	return kept, trips
}
