package pass

import (
	"strings"

	"github.com/burngen/burngen/ir"
)

// mergeFunctions merges functions that other functions call and that differ only in names. All
// callers then call the first of these functions. Functions that only blocks of control flow call
// are not merged.
func mergeFunctions(_ *Context, m *ir.Module) (changed bool, err error) {
	outlined := map[string]bool{}
	for _, f := range m.Funcs {
		for _, n := range f.Nodes {
			if o, ok := n.Op.(ir.Invoke); ok {
				outlined[o.Func] = true
			}
		}
	}
	for {
		first, same := map[string]string{}, map[string]string{}
		var kept []*ir.Func
		for _, f := range m.Funcs {
			text := ""
			if outlined[f.Name] {
				text = anonymous(f)
			}
			if other, ok := first[text]; ok && text != "" {
				same[f.Name] = other
				continue
			}
			first[text] = f.Name
			kept = append(kept, f)
		}
		if len(same) == 0 {
			return changed, nil
		}
		m.Funcs, changed = kept, true
		for _, f := range m.Funcs { // which may make callers the same
			for n := range f.All() {
				if o, ok := n.Op.(ir.Invoke); ok && same[o.Func] != "" {
					o.Func = same[o.Func]
					n.Op = o
				}
			}
		}
	}
}

// anonymous returns a text that describes f. Two functions have the same text if they differ only
// in their own names and in the names of values.
func anonymous(f *ir.Func) string {
	var s strings.Builder
	for _, name := range f.Scope {
		s.WriteString(name + " ")
	}
	block := numbered(&f.Block)
	for _, p := range block.Params {
		s.WriteString(p.Type.String() + " ")
	}
	writeBlock(&s, block)
	for n := range f.All() {
		s.WriteString("\n" + n.Pos)
	}
	return s.String()
}

// calledFuncs returns a set of names of functions: @prepare, and all functions that other functions
// call.
func calledFuncs(m *ir.Module) map[string]bool {
	called := map[string]bool{Prepare: true}
	for _, f := range m.Funcs {
		for n := range f.All() {
			if o, ok := n.Op.(ir.Invoke); ok {
				called[o.Func] = true
			}
		}
	}
	return called
}
