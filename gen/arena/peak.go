package arena

import (
	"cmp"
	"slices"

	"github.com/burngen/burngen/ir/pass"
	"github.com/burngen/burngen/ir/plan"
)

// Peak finds the step at which a planned arena uses the most bytes, and returns the buffers that are in use at that
// step. The largest buffer comes first. Every symbolic extent counts as [pass.RematExtent].
func Peak(p *plan.Plan) []*plan.Buffer {
	most, at := int64(-1), 0
	for _, b := range p.Buffers { // the most are in use where one begins
		live := int64(0)
		for _, o := range p.Buffers {
			if o.First <= b.First && b.First <= o.Last {
				live += pass.AtExtent(o.Bytes)
			}
		}
		if live > most {
			most, at = live, b.First
		}
	}
	var out []*plan.Buffer
	for _, b := range p.Buffers {
		if b.First <= at && at <= b.Last {
			out = append(out, b)
		}
	}
	slices.SortStableFunc(out, func(a, b *plan.Buffer) int { return cmp.Compare(pass.AtExtent(b.Bytes), pass.AtExtent(a.Bytes)) })
	return out
}
