package call

import (
	"math"

	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

var attention = []entry{computes(attend), computes(linearAttention)}

func attend(o op.Attend, n node) kernel.Call {
	row := o.Heads.Mul(o.Width)
	shape := &kernel.AttentionShape{
		Batch: o.Batch, Heads: o.Heads, Shared: o.Shared, Queries: o.Queries, Keys: o.Keys, Depth: o.Depth, Width: o.Width,
		Q: o.Q, K: o.K, V: o.V, Y: []dim.Dim{{}, o.Queries.Mul(row), o.Width, row},
		Scale: kernel.Number{DType: ir.F32, Float: o.Scale}, Softcap: kernel.Number{DType: ir.F32, Float: o.Softcap},
		Past: o.Past, Before: dim.Const(o.Before), After: dim.Const(o.After),
	}
	mask := &kernel.AttentionMask{Lengths: n.in(4), Starts: n.in(5), Sinks: n.in(6)}
	if m := n.Arg(3); m != nil {
		shape.Mask = maskStrides(o, m.Type)
		if m.Type.DType == ir.Bool {
			mask.Allow = n.in(3)
		} else {
			mask.Add = n.in(3)
		}
	}
	return kernel.Attention(n.out(0), n.in(0), n.in(1), n.in(2), attendScratch(o), shape, mask)
}

// maskStrides returns the strides of a mask along batch, heads, queries and keys. The stride of a
// broadcast axis is 0.
func maskStrides(o op.Attend, mask ir.Type) []dim.Dim {
	out, dense := make([]dim.Dim, 4), op.RowMajor(mask.Shape)
	lead := 4 - len(dense)
	for i, d := range dense {
		to := []dim.Dim{o.Batch, o.Heads, o.Queries, o.Keys}[lead+i]
		switch m := mask.Shape[i]; {
		case m.Equal(to):
			out[lead+i] = d
		case !m.Equal(dim.Const(1)):
			out[lead+i] = d.Mul(m.Sub(dim.Const(1)).Max(dim.Dim{}).Min(dim.Const(1)))
		}
	}
	return out
}

const (
	// attendQueries is the maximum number of queries in a part of an attention. A part has queries of one head.
	attendQueries = 128
	// attendParts is the maximum number of parts of an attention that are computed concurrently,
	// each with its own scratch memory.
	attendParts = 16
)

// attendScratch returns the scratch memory of the parts of an attention that are computed
// concurrently.
func attendScratch(o op.Attend) kernel.Scratch {
	keys := o.Keys
	if !keys.IsConst() {
		keys = dim.Const(math.MaxInt32) // beyond a block of keys, more keys take no more memory
	}
	each := kernel.AttentionScratch(keys, o.Depth, o.Width)
	parts := dim.Const(attendParts)
	if o.Queries.IsConst() {
		parts = parts.Min(o.Heads.Mul(o.Queries.CeilDiv(dim.Const(attendQueries))).Max(dim.Const(1)))
	}
	return kernel.Scratch{DType: ir.F32, Len: each.Mul(parts)}
}

func linearAttention(_ op.LinearAttention, n node) kernel.Call {
	q, k, v := n.shape(0), n.shape(1), n.shape(2)
	return kernel.LinearAttention(n.out(0), n.out(1), n.in(0), n.in(1), n.in(2), n.in(3), n.in(4), n.in(5),
		q[0], q[1], q[2], k[2], q[3], v[3])
}
