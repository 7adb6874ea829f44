package arena

import (
	"slices"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/pass"
)

// maxParts is the maximum number of computations that the pass tries to share among the functions of one Go type.
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
			fits, err := fits(t, ctx, m, trial, ctx.Hosts(m)[host])
			switch {
			case err != nil:
				return changed, err
			case !fits:
				refused++
				continue
			}
			m.Funcs, changed, refused = trial.Funcs, true, 0
			ctx.Count(pass.OutlinedBlocks, runs)
		}
	}
	return changed, nil
}

// fits compares the arenas of funcs in `before` with their arenas in `after`, the same module with a part outlined.
// It reports whether each arena grows by at most 1/2 of its earlier size, or by at most 1/32 for a function that
// trains.
func fits(t program.Target, ctx *pass.Context, before, after *ir.Module, funcs []*ir.Func) (bool, error) {
	for _, f := range funcs {
		was, err := size(t, before, f.Name)
		if err != nil {
			return false, err
		}
		is, err := size(t, after, f.Name)
		if err != nil {
			return false, err
		}
		room := was / 2
		if slices.Contains(ctx.Trained, f.Name) {
			room = was / 32
		}
		if is-was > room {
			return false, nil
		}
	}
	return true, nil
}
