package pass

import (
	"slices"

	"github.com/burngen/burngen/ir"
)

// prune removes nodes whose results are not used. It also removes weights that no node loads.
func prune(_ *Context, m *ir.Module) (changed bool, err error) {
	loaded := map[string]bool{}
	for _, f := range m.Funcs {
		changed = f.Prune() || changed
		for n := range f.All() {
			if load, ok := n.Op.(ir.Load); ok {
				loaded[load.Name] = true
			}
		}
	}
	before := len(m.Weights)
	m.Weights = slices.DeleteFunc(m.Weights, func(w *ir.Weight) bool { return !loaded[w.Name] })
	return changed || len(m.Weights) < before, nil
}
