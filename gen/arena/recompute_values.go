package arena

import (
	"fmt"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/pass"
)

// RecomputeValues returns a pass for functions that train. The pass makes a function recompute values instead of
// keeping them, see [pass.Recompute]. It keeps a change only if the function's arena becomes smaller. If
// [pass.Context.Room] is not 0, the pass does not change a function whose arena has at most Room bytes. It then
// uses [pass.RematAll] for the other functions, even if the context asks for [pass.RematAuto].
func RecomputeValues(t program.Target) pass.Pass {
	return pass.Pass{Name: "recompute_values", Run: func(ctx *pass.Context, m *ir.Module) (bool, error) {
		return recomputeValues(t, ctx, m)
	}}
}

func recomputeValues(t program.Target, ctx *pass.Context, m *ir.Module) (changed bool, err error) {
	ctx.Recomputed = nil
	for _, name := range ctx.Trained {
		f := m.Func(name)
		if f == nil || ctx.Remat == pass.RematNone {
			continue
		}
		did, err := shrink(t, ctx, m, f)
		if err != nil {
			return changed, fmt.Errorf("@%s: %w", name, err)
		}
		ctx.Recomputed = append(ctx.Recomputed, did)
		changed = changed || did.Values > 0
	}
	return changed, nil
}

// shrink makes the function f of m recompute values if this makes its arena smaller. did has the
// number of recomputed values, and the size of the arena before and after in bytes.
func shrink(t program.Target, ctx *pass.Context, m *ir.Module, f *ir.Func) (did pass.Recomputed, err error) {
	did = pass.Recomputed{Func: f.Name, IsScaled: len(f.Symbols()) > 0}
	did.Before, err = size(t, m, f.Name)
	did.After = did.Before
	for _, mode := range []pass.Remat{pass.RematAuto, pass.RematAll} {
		fits := ctx.Room > 0 && did.After <= ctx.Room
		tight := ctx.Room > 0 && !fits
		if err != nil || fits || mode > ctx.Remat && !tight {
			break
		}
		kept := f.Clone()
		var values int
		if values, err = pass.Recompute(ctx, f, mode); err != nil || values == 0 {
			continue
		}
		var bytes int64
		if bytes, err = size(t, m, f.Name); bytes < did.After {
			did.After, did.Values = bytes, did.Values+values
		} else {
			f.Block = kept.Block
		}
	}
	return did, err
}
