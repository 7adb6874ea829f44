package grad

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// branches passes gradients through an If: another one whose blocks compute what the
// taken block did again, and the gradients of what both capture.
func (t *tape) branches(n *ir.Node, of []*ir.Value) {
	wrt := t.captured(n.Blocks...)
	if len(wrt) == 0 {
		return
	}
	blocks := make([]*ir.Block, len(n.Blocks))
	for i, block := range n.Blocks {
		blocks[i] = t.b.Block(func(b *ir.Builder) {
			results := b.Inline(block, nil, "")
			b.Return(t.inside(b, wrt, results, of)...)
		})
	}
	for i, g := range t.b.NodeBlocks(op.If{}, blocks, n.Args[0]) {
		t.add(wrt[i], g)
	}
}

// inside returns the gradients, in a block, of wrt through what the block has so far, of
// those of its results.
func (t *tape) inside(b *ir.Builder, wrt, results, of []*ir.Value) []*ir.Value {
	inner := newTape(b, b.Here().Nodes, wrt)
	for i, r := range results {
		if of[i] == nil {
			continue
		}
		g := of[i]
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

// captured returns the floats on which gradients depend that blocks take from around
// them.
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

// trips passes gradients through a loop of a known number of trips, whose carried
// values it makes the loop keep: another loop goes through the trips from the last to
// the first, computes each again, and carries the gradients of the carried values and
// of what the body captures.
func (t *tape) trips(n *ir.Node, of []*ir.Value) {
	loop, body := n.Op.(op.Loop), n.Blocks[0]
	if !loop.Counted || len(loop.Extents) > 0 || len(loop.Varying) > 0 {
		t.errs = append(t.errs, &NoDerivative{n, "the number of its trips, or an extent, is known only when the model runs"})
		return
	}
	carried := body.Params[2:]
	for _, p := range carried {
		if !p.Type.IsTensor() {
			t.errs = append(t.errs, &NoDerivative{n, fmt.Sprintf("it carries %s", p.Type)})
			return
		}
	}
	kept := t.keep(n, &loop)
	captured := t.captured(body)
	var inits []*ir.Value
	var floats []int // carried values that have gradients
	for i, p := range carried {
		if isFloat(p) {
			floats = append(floats, i)
			g := of[i]
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
		last := b.Node(ir.Extents{Type: ir.TensorOf(ir.I64), Elems: []ir.Dim{loop.Trips.Sub(ir.Const(1))}})
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
			if g := of[len(carried)+i]; g != nil {
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
	grads := t.b.NodeBlocks(op.Loop{Counted: true, Trips: loop.Trips}, []*ir.Block{back}, inits...)
	for k, i := range floats {
		t.add(n.Arg(i), grads[k])
	}
	for i, v := range captured {
		t.add(v, grads[len(floats)+i])
	}
}

// keep makes a loop stack the values that its trips begin with, and returns these.
func (t *tape) keep(n *ir.Node, loop *op.Loop) []*ir.Value {
	body := n.Blocks[0]
	var kept []*ir.Value
	scans := append([]ir.Type(nil), loop.Scans...)
	for _, p := range body.Params[2:] {
		body.Results = append(body.Results, p)
		scans = append(scans, p.Type)
		v := &ir.Value{
			Name: t.b.Name(p.Name), Type: ir.TensorOf(p.Type.DType, append([]ir.Dim{loop.Trips}, p.Type.Shape...)...),
			Def: n, Index: len(n.Results),
		}
		n.Results = append(n.Results, v)
		kept = append(kept, v)
	}
	whole := *loop
	whole.Scans = scans
	n.Op = whole
	return kept
}
