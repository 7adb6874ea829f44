package arena

import (
	"slices"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/pass"
)

// maxParts is the maximum number of computations that the pass tries to share among the functions that become methods
// of one Go type.
const maxParts = 32

// Outlining returns three passes in the order in which they run: two move repeated nodes into new functions, and the
// last merges functions.
func Outlining(t program.Target) []pass.Pass {
	return []pass.Pass{OutlineParts(t), pass.OutlineBlocks, pass.MergeFunctions}
}

// OutlineParts returns a pass for computations that several functions repeat. The pass moves such a computation into
// a new function that they call, see [pass.OutlinePart]. Only functions that become methods of the same type share a
// computation. A computation stays where it is if sharing it makes an arena much larger.
func OutlineParts(t program.Target) pass.Pass {
	return pass.Pass{Name: "outline_parts", Run: func(ctx *pass.Context, m *ir.Module) (bool, error) {
		return outlineParts(t, ctx, m)
	}}
}

func outlineParts(t program.Target, ctx *pass.Context, m *ir.Module) (changed bool, err error) {
	for host, funcs := range ctx.Hosts(m) {
		if len(funcs) < 2 {
			continue
		}
		var was []int64 // the sizes of the arenas of funcs in m
		refused := 0
		for range maxParts {
			trial := m.Clone()
			runs, err := pass.OutlinePart(ctx, trial, ctx.Hosts(trial)[host], refused)
			if err != nil {
				return changed, err
			}
			if runs == 0 {
				break
			}
			if was == nil {
				if was, err = sizes(t, m, funcs, nil); err != nil {
					return changed, err
				}
			}
			is, err := sizes(t, trial, funcs, func(i int, size int64) bool { return fits(ctx, funcs[i], was[i], size) })
			switch {
			case err != nil:
				return changed, err
			case is == nil:
				refused++
				continue
			}
			m.Funcs, was, changed, refused = trial.Funcs, is, true, 0
			ctx.Count(pass.OutlinedBlocks, runs)
		}
	}
	return changed, nil
}

// sizes returns the sizes of the arenas that functions with the names of funcs have in m. It returns nil if a size is
// refused: `accepts`, which may be nil, returns false for the index and the size of a function.
func sizes(t program.Target, m *ir.Module, funcs []*ir.Func, accepts func(i int, size int64) bool) ([]int64, error) {
	out := make([]int64, len(funcs))
	for i, f := range funcs {
		bytes, err := size(t, m, f.Name)
		if err != nil {
			return nil, err
		}
		if accepts != nil && !accepts(i, bytes) {
			return nil, nil
		}
		out[i] = bytes
	}
	return out, nil
}

// fits reports whether the arena of f, which grows from was to is bytes when a part is outlined, grows by at most 1/2
// of its earlier size, or by at most 1/32 if f trains.
func fits(ctx *pass.Context, f *ir.Func, was, is int64) bool {
	room := was / 2
	if slices.Contains(ctx.Trained, f.Name) {
		room = was / 32
	}
	return is-was <= room
}
