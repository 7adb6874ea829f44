package emit

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/plan"
)

func (e *emitter) planFile() *jen.File {
	f := e.newFile()
	if doc, defs := e.Printer.Vars(); len(defs) > 0 {
		note(f, doc)
		f.Var().Defs(defs...)
	}
	for _, m := range e.session.methods {
		e.planOf(f, m)
	}
	if e.trainer != nil {
		for _, m := range e.trainer.methods {
			e.planOf(f, m)
		}
	}
	if len(e.Prepare.Plan.Buffers) > 0 {
		note(f, "Offsets of the buffers that prepare uses.")
		e.offsets(f, e.prepare, plan.Static)
	}
	return f
}

func (e *emitter) planOf(f *jen.File, m *method) {
	e.describe(f, m)
	p := m.fn.Plan
	doc := "The arena's plan"
	if m != e.session.methods[0] {
		doc += " for " + m.fn.name
	}
	switch p.Mode {
	case plan.Static:
		doc += ", in bytes. Buffers share memory only when no step needs both."
	case plan.Scaled:
		doc += fmt.Sprintf(", in bytes for %s = 1. Buffers share memory only when no step needs\nboth.", comment(p.Symbol))
	case plan.Dynamic:
		doc += ". Buffers share memory only when no step needs both. Their sizes and\noffsets depend on the extents of the arguments."
	}
	note(f, doc+"\n\n"+indent(m.fn.picture()))
	e.offsets(f, m.fn, p.Mode)
	for _, c := range m.callees {
		note(f, "The plan of "+c.name+", with offsets from the start of its arena.\n\n"+indent(c.picture()))
		e.offsets(f, c, c.Plan.Mode)
	}
}

func (f *function) picture() string {
	return f.Plan.Picture(func(b *plan.Buffer) string { return f.buffers[b] })
}

func indent(picture string) string {
	lines := strings.Split(strings.TrimRight(picture, "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight("\t"+l, " \t")
	}
	return strings.Join(lines, "\n")
}

// offsets declares constants for the offsets of fn's buffers in the arena. If an offset is proportional to the plan's
// symbol, the constant is the offset for symbol = 1. Other offsets that are not constant are left out. If mode is
// [plan.Dynamic], the constants are the buffers' indices instead, and offsets also declares two lists. One has the
// step at which each buffer is first written, and the other the step at which it is last read.
func (e *emitter) offsets(f *jen.File, fn *function, mode plan.Mode) {
	var defs, first, last []jen.Code
	for i, b := range fn.Plan.Buffers {
		id := jen.Id(fn.consts[b])
		note := fmt.Sprintf("%s[%s]", b.DType, b.Elems)
		switch mode {
		case plan.Dynamic:
			defs = append(defs, id.Op("=").Lit(i).Comment(comment(note)))
			first, last = append(first, jen.Lit(b.First)), append(last, jen.Lit(b.Last))
		default:
			at := fn.start(b)
			if coef, rest, ok := at.Linear(fn.Plan.Symbol); ok && mode == plan.Scaled && !at.IsConst() && rest.Equal(dim.Dim{}) {
				at = coef
			}
			if n, ok := at.Int(); ok {
				defs = append(defs, id.Op("=").Lit(n).Comment(comment(note)))
			}
		}
	}
	if len(defs) > 0 {
		f.Const().Defs(defs...)
	}
	if mode == plan.Dynamic && len(defs) > 0 {
		note(f, "The steps at which each buffer is first written and last read.")
		f.Var().Defs(
			jen.Id(fn.table("firstUse")).Op("=").Index(jen.Op("...")).Int32().Values(first...),
			jen.Id(fn.table("lastUse")).Op("=").Index(jen.Op("...")).Int32().Values(last...))
	}
}
