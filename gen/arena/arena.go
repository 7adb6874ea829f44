// Package arena has the passes whose rewrites depend on the size of a function's arena. A pass keeps a rewrite only
// if the arena becomes smaller, or not much larger. A pass plans the memory of the function, as the target does, to
// know the size. The rewrites themselves are in package pass.
package arena

import (
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/pass"
	"github.com/burngen/burngen/ir/plan"
	"github.com/burngen/burngen/runtime/rt"
)

// size returns the size in bytes of the arena of the function called name in m, a lowered module. Every
// symbolic extent counts as [pass.RematExtent].
func size(t program.Target, m *ir.Module, name string) (int64, error) {
	f, err := program.Compile(m, name, t)
	if err != nil {
		return 0, err
	}
	return Size(f.Plan), nil
}

// Size returns the size in bytes of a planned arena. Every symbolic extent counts as [pass.RematExtent].
func Size(p *plan.Plan) int64 {
	if p.Mode != plan.Dynamic {
		return pass.AtExtent(p.Size)
	}
	n := len(p.Buffers)
	bytes, offsets := make([]int64, n), make([]int64, n)
	first, last := make([]int32, n), make([]int32, n)
	for i, b := range p.Buffers {
		bytes[i], first[i], last[i] = pass.AtExtent(b.Bytes), int32(b.First), int32(b.Last)
	}
	return rt.Layout(bytes, first, last, offsets)
}
