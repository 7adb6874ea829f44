package launch

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

// pipelinedAttend returns the launch of a pipelined attention kernel, or nil if no such kernel supports the
// attention. Queries, keys and values must be f16 or bf16, all extents constant, and the width of values equal to the
// depth of keys.
func pipelinedAttend(o op.Attend, n *ir.Node, put store, sums storeScore, by Options) *kernels.Launch {
	a, ok := attentionOf(o, n, by)
	if !ok {
		return nil
	}
	a.Sink, a.StoreSum = sinkOf(n), sums
	a.Store = func(e *kernels.Emitter, at kernels.Attending, column, x *kernel.Value) {
		i := e.Add(e.Mul(at.Batch, e.Int(a.Queries)), at.Query)
		i = e.Add(e.Mul(i, e.Int(a.Heads)), at.Head)
		put(e, e.Add(e.Mul(i, e.Int(a.Width)), column), nil, x)
	}
	l, err := kernels.PipelinedAttention("attend", a, kernels.AttentionTilesOf(a))
	if err != nil {
		return nil
	}
	return &l
}

// attentionOf describes an attention to pipelined kernels. ok is false if they do not support it.
func attentionOf(o op.Attend, n *ir.Node, by Options) (a kernels.Attention, ok bool) {
	extents, ok := dim.Ints([]dim.Dim{o.Batch, o.Heads, o.Shared, o.Queries, o.Keys, o.Depth, o.Width, o.Past})
	if !by.Pipelined || !ok || !o.Depth.Equal(o.Width) {
		return a, false
	}
	a = kernels.Attention{
		Batch: extents[0], Heads: extents[1], KeyHeads: extents[2], Queries: extents[3], Keys: extents[4], Width: extents[6], Past: extents[7],
		Matrix: n.Args[0].Type.DType, Scale: o.Scale,
	}
	for i, r := range []*kernels.HeadRows{&a.Q, &a.K, &a.V} {
		heads, rows := a.KeyHeads, a.Keys
		if i == 0 {
			heads, rows = a.Heads, a.Queries
		}
		if *r, ok = headRows(n.Args[i], [][]dim.Dim{o.Q, o.K, o.V}[i], a.Batch, heads, rows, a.Width); !ok {
			return a, false
		}
	}
	a.Score, a.Before, a.After = scoring(o, n, by)
	return a, true
}

// headRows describes where an operand v has the rows of each head in memory. layout holds the operand's offset and
// its strides along batch, heads and rows. ok is false if a [kernels.HeadRows] cannot describe this layout.
func headRows(v *ir.Value, layout []dim.Dim, batch, heads, rows, width int) (r kernels.HeadRows, ok bool) {
	shape, isStatic := v.Type.Static()
	at, isConst := dim.Ints(layout)
	if !isStatic || !isConst {
		return r, false
	}
	total, stride := op.LenOf(shape), at[3]
	if stride < max(width, 1) || total%stride != 0 {
		return r, false
	}
	r = kernels.HeadRows{Value: v, Outer: 1, Rows: total / stride, Columns: stride, Row: at[0] / stride, Column: at[0] % stride}
	split := func(distance int) bool { // the rows into matrices
		if distance < 1 || distance%stride != 0 || total%distance != 0 {
			return false
		}
		r.Outer, r.Rows = total/distance, distance/stride
		return true
	}
	lastColumn := r.Column + width
	switch {
	case heads > 1 && at[2] >= stride:
		if !split(at[2]) || batch > 1 && at[1]%at[2] != 0 {
			return r, false
		}
		r.HeadOuter, r.BatchOuter = 1, at[1]/at[2]
	default:
		if batch > 1 && !split(at[1]) {
			return r, false
		}
		r.HeadColumns, r.BatchOuter = at[2], 1
		lastColumn += (heads - 1) * at[2]
	}
	if batch == 1 {
		r.BatchOuter = 0
	}
	last := (batch-1)*r.BatchOuter + (heads-1)*r.HeadOuter
	return r, last < r.Outer && r.Row+rows <= r.Rows && lastColumn <= r.Columns
}
