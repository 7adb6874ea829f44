package emit

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/plan"
)

func (e *emitter) planFile() *jen.File {
	f := e.newFile()
	if len(e.shapes.decls) > 0 {
		note(f, "Shapes of kernel calls.")
		f.Var().Defs(e.shapes.decls...)
	}
	for _, m := range e.session.methods {
		e.planOf(f, m)
	}
	if size, ok := e.session.staticBytes(); ok {
		note(f, "arenaLen is the arena's size.")
		f.Const().Id("arenaLen").Op("=").Lit(size)
	}
	if e.trainer != nil {
		for _, m := range e.trainer.methods {
			e.planOf(f, m)
		}
		if size, ok := e.trainer.staticBytes(); ok {
			note(f, "trainerArenaLen is the size of a trainer's arena.")
			f.Const().Id("trainerArenaLen").Op("=").Lit(size)
		}
	}
	if len(e.Prepare.Plan.Buffers) > 0 {
		note(f, "Offsets of the buffers that prepare uses.")
		e.offsets(f, e.prepare, plan.Static)
	}
	return f
}

// planOf prints the plans of a method and of the functions that it calls.
func (e *emitter) planOf(f *jen.File, m *method) {
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
		doc += ". Buffers share memory only when no step needs both; their sizes and\noffsets follow from the extents of the arguments."
	}
	note(f, doc+"\n\n"+indent(p.Picture()))
	e.offsets(f, m.fn, p.Mode)
	for _, c := range m.callees {
		note(f, "The plan of "+c.name+", from where its arena begins.\n\n"+indent(c.Plan.Picture()))
		e.offsets(f, c, c.Plan.Mode)
	}
}

// indent makes a picture a preformatted part of a comment.
func indent(picture string) string {
	lines := strings.Split(strings.TrimRight(picture, "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight("\t"+l, " \t")
	}
	return strings.Join(lines, "\n")
}

// offsets declares the constants that buffers are found by.
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
			at := b.Offset
			if coef, rest, ok := at.Linear(fn.Plan.Symbol); ok && mode == plan.Scaled && !at.IsConst() && rest.Equal(ir.Dim{}) {
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
