package gen

import (
	"maps"
	"slices"
	"strings"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/runtime/rt"
)

// reserved lists the name prefixes of weights that passes create.
var reserved = []string{rt.ConstPrefix, rt.PreparedPrefix}

// unreserved renames weights whose names have a reserved prefix: "const/a" becomes "model/const/a".
// Weights files may use either name.
func (s *Source) unreserved() *Source {
	renamed, taken := map[string]string{}, s.Module.ByName()
	for _, w := range s.Module.Weights {
		begins := func(prefix string) bool { return strings.HasPrefix(w.Name, prefix) }
		if !slices.ContainsFunc(reserved, begins) {
			continue
		}
		name := "model/" + w.Name
		for taken[name] != nil {
			name = "model/" + name
		}
		renamed[w.Name] = name
	}
	if len(renamed) == 0 {
		return s
	}
	rename := func(name *string) {
		if now, ok := renamed[*name]; ok {
			*name = now
		}
	}
	out := *s
	out.Module = s.Module.Clone()
	for _, w := range out.Module.Weights {
		rename(&w.Name)
	}
	for _, f := range out.Module.Funcs {
		for n := range f.All() {
			if load, ok := n.Op.(ir.Load); ok {
				rename(&load.Name)
				n.Op = load
			}
		}
	}
	out.Params, out.Initial = slices.Clone(s.Params), slices.Clone(s.Initial)
	for i := range out.Params {
		rename(&out.Params[i])
	}
	for i := range out.Initial {
		rename(&out.Initial[i].Name)
	}
	if out.Aliases = maps.Clone(s.Aliases); out.Aliases == nil {
		out.Aliases = map[string][]string{}
	}
	for name, now := range renamed {
		out.Aliases[now] = append([]string{name}, out.Aliases[name]...)
		delete(out.Aliases, name)
	}
	return &out
}
