package emit

import (
	"fmt"
	"go/token"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/plan"
)

// valueName returns the Go identifier for the name of a value. It is the name itself if that is an
// identifier, not exported and not too long.
func valueName(name string) string {
	if len(name) <= 2*ir.MaxIdentifier && ir.IsIdentifier(name) && !token.IsExported(name) {
		return name
	}
	return ir.Unexported(name)
}

func (e *emitter) nameBuffers(f *function, local *names) {
	for _, p := range f.IR.Params {
		local.take(p.Name)
	}
	f.local, f.own = local, map[any]string{}
	for _, b := range slices.Concat(f.Plan.Buffers, f.Plan.Tails) {
		f.buffers[b] = local.unique(valueName(b.Name))
		f.consts[b] = e.global.unique(f.table(f.buffers[b] + "Off"))
	}
	f.turns, f.rows = map[*program.Repeat][]turn{}, map[*program.Repeat][]string{}
	for _, s := range f.Steps {
		r, ok := s.(*program.Repeat)
		if !ok {
			continue
		}
		for range r.Carried {
			f.turns[r] = append(f.turns[r], turn{local.unique("now"), local.unique("next"), local.unique("other")})
		}
		for range r.Scans {
			f.rows[r] = append(f.rows[r], local.unique("row"))
		}
	}
	if f.host != nil {
		f.nameMembers()
	}
	f.nameValues()
}

func (f *function) nameMembers() {
	members := f.host.names
	f.customs = map[*program.Custom]string{}
	for _, c := range f.customCalls() {
		_, name := c.Op.Domain()
		f.customs[c] = members.unique(f.table(ir.Unexported(name)))
	}
	f.held = map[*plan.Variable]string{}
	for _, v := range f.Plan.Variables {
		f.held[v] = members.unique(f.table(valueName(v.Name)))
	}
}

// nameValues renames the values of the IR to their names in the code. If several values share
// memory, the first one gets the memory's name. The others keep their names, with a number if the
// name is taken.
func (f *function) nameValues() {
	taken, named := map[string]bool{}, map[*ir.Value]bool{}
	give := func(v *ir.Value, name string) {
		if v == nil || v.Def == nil || named[v] {
			return
		}
		free := name
		for i := 2; taken[free]; i++ {
			free = fmt.Sprintf("%s_%d", name, i)
		}
		v.Name, named[v], taken[free] = free, true, true
	}
	for _, p := range f.IR.Params {
		taken[p.Name] = true
	}
	for i, r := range f.IR.Results {
		if p := f.Plan.Places[r]; p.Kind == plan.Result && p.Index == i {
			give(r, f.results[i])
		}
	}
	for _, b := range slices.Concat(f.Plan.Buffers, f.Plan.Tails) {
		give(b.Value, f.buffers[b])
	}
	for _, v := range f.Plan.Variables {
		give(v.Value, f.member(v))
	}
	for _, n := range f.IR.Nodes {
		if l, ok := n.Op.(ir.Load); ok {
			give(n.Results[0], f.weights[l.Name].GoString())
		}
	}
	for n := range f.IR.All() {
		for _, b := range n.Blocks {
			for _, p := range b.Params {
				taken[p.Name] = true
			}
		}
		for _, r := range n.Results {
			give(r, r.Name)
		}
	}
}

// variableFor returns the name of a variable that is not a value: hint, or hint with a number. Calls with the same
// key return the same name.
func (f *function) variableFor(key any, hint string) string {
	if f.own[key] == "" {
		f.own[key] = f.local.unique(hint)
	}
	return f.own[key]
}

func (f *function) member(v *plan.Variable) string { return f.host.recv + "." + f.held[v] }

// memory returns the name of the variable with the memory of v: a result, a buffer, or a field of the
// host. It is "" if v is not in such a variable.
func (f *function) memory(v *ir.Value) string {
	switch p := f.Plan.Places[v]; p.Kind {
	case plan.Result:
		return f.results[p.Index]
	case plan.Arena, plan.Tail:
		return f.buffers[p.Buffer]
	case plan.Held:
		return f.member(p.Variable)
	}
	return ""
}

// Limits of the comment above a step, and of a node's name in this comment.
const (
	maxDescription = 120
	maxNodeName    = 80
)

// describes prints the comment above a step: the values that it computes, the model's name for the
// node, and the types of the values. For a value that is not the first in its memory, it also names
// the memory. It leaves out names and types for which the line has no room.
func (f *function) describes(s program.Step) jen.Code {
	n := s.At()
	if n == nil {
		return f.describesCopy(s)
	}
	line := clip(nodeName(n), maxNodeName)
	if len(n.Results) == 0 {
		return jen.Comment("// " + comment(line))
	}
	names, types := make([]string, len(n.Results)), make([]string, len(n.Results))
	for i, r := range n.Results {
		names[i], types[i] = r.Name, r.Type.String()
		if in := f.memory(r); in != "" && in != r.Name {
			names[i] += " in " + in
		}
	}
	for len(names) > 3 && len(strings.Join(names, ", ")) > maxDescription-len(line) {
		names = append(names[:len(names)-2], "...")
	}
	line = strings.Join(names, ", ") + " = " + line
	if whole := line + ": " + strings.Join(types, ", "); len(whole) <= maxDescription || len(types) == 1 {
		line = whole
	}
	return jen.Comment("// " + comment(line))
}

func (f *function) describesCopy(s program.Step) jen.Code {
	var i int
	switch s := s.(type) {
	case *program.Resize:
		i = s.Index
	case *program.Copy:
		i = s.To.Place.Index
	}
	r := f.IR.Results[i]
	return jen.Comment("// " + comment(fmt.Sprintf("%s = %s: %s", f.results[i], r.Name, r.Type)))
}
