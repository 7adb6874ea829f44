package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/plan"
)

func (e *emitter) describe(f *jen.File, m *method) {
	field := func(name string, value *jen.Statement) jen.Code { return jen.Id(name).Op(":").Add(value) }
	fields := []jen.Code{field("Name", jen.Lit(m.where))}
	if len(m.symbols) > 0 {
		fields = append(fields, field("Symbols", jen.Index().String().Values(literals(m.symbols)...)))
	}
	p := m.fn.Plan
	switch p.Mode {
	case plan.Dynamic:
		var list []jen.Code
		for i, fn := range m.placed() {
			all := jen.Index(jen.Op(":"))
			values, ok := m.sizes(fn, m.placed()[:i])
			if !ok {
				values = []jen.Code{field("Bytes", jen.Id(fn.bytes))}
			}
			list = append(list, jen.Values(fieldsOf(append(values,
				field("First", jen.Id(fn.table("firstUse")).Add(all)),
				field("Last", jen.Id(fn.table("lastUse")).Add(all))))...))
		}
		fields = append(fields,
			field("Buffers", jen.Index().Qual(rtPath, "Buffers").Values(fieldsOf(list)...)),
			field("Layout", jen.Qual(rtPath, "Layout")))
	default:
		each := make([]jen.Code, len(m.symbols))
		scaled := false
		rest := p.Size
		for i, s := range m.symbols {
			each[i] = jen.Lit(0)
			if coef, other, ok := rest.Linear(s); ok && !coef.Equal(dim.Dim{}) {
				n, _ := coef.Int()
				each[i], rest, scaled = jen.Lit(n), other, true
			}
		}
		if n, ok := rest.Int(); !ok {
			ir.Fail("burngen bug: the arena of %s has %s bytes", m.spec.Method, p.Size)
		} else if n > 0 {
			fields = append(fields, field("Fixed", jen.Lit(n)))
		}
		if scaled {
			fields = append(fields, field("Each", jen.Index().Int64().Values(each...)))
		}
	}
	if !program.MayShare(m.fn.Func) {
		fields = append(fields, field("Serial", jen.True()))
	}
	if m.form == dynamic && m.isUnbound() {
		fields = append(fields, field("Unbound", jen.True()))
	}
	if m.host == e.trainer {
		fields = append(fields, e.pass(m)...)
	}
	note(f, m.descriptor+" describes "+m.host.typ+"."+m.spec.Method+" to the runtime.")
	f.Var().Id(m.descriptor).Op("=").Qual(rtPath, "Method").Values(fieldsOf(fields)...)
	if p.Mode == plan.Dynamic {
		for i, fn := range m.placed() {
			if _, ok := m.sizes(fn, m.placed()[:i]); !ok {
				m.bytesOf(f, fn, m.placed()[:i])
			}
		}
	}
}

// placed returns m's own function and the functions that it calls, but only those whose plan has the mode
// [plan.Dynamic]. Each call of such a function computes the offsets of its buffers anew. A function comes after the
// functions that it calls.
func (m *method) placed() []*function {
	var out []*function
	for _, fn := range append(slices.Clone(m.callees), m.fn) {
		if fn.Plan.Mode == plan.Dynamic {
			out = append(out, fn)
		}
	}
	return out
}

// sizes prints the sizes of the buffers of fn as fields of the method's description. Each size must be a constant
// plus constant multiples of symbols; otherwise ok is false. `earlier` are the functions whose buffers are placed
// before the buffers of fn.
func (m *method) sizes(fn *function, earlier []*function) (fields []jen.Code, ok bool) {
	symbols := slices.Clone(m.symbols)
	for _, c := range earlier {
		symbols = append(symbols, c.LinesSymbol())
	}
	buffers := fn.Plan.Buffers
	fixed, each := make([]int, len(buffers)), make([][]int, len(symbols))
	for i := range each {
		each[i] = make([]int, len(buffers))
	}
	for k, b := range buffers {
		rest := b.Bytes
		for i, s := range symbols {
			coef, other, ok := rest.Linear(s)
			if !ok {
				return nil, false
			}
			if each[i][k], ok = coef.Int(); !ok {
				return nil, false
			}
			rest = other
		}
		if fixed[k], ok = rest.Int(); !ok {
			return nil, false
		}
	}
	list := func(n []int) *jen.Statement {
		if slices.Max(n) == 0 {
			return jen.Nil()
		}
		return jen.Values(numbers(n)...)
	}
	if slices.Max(fixed) > 0 {
		fields = append(fields, jen.Id("Fixed").Op(":").Index().Int64().Add(list(fixed)))
	}
	lists := make([]jen.Code, len(each))
	for i, n := range each {
		lists[i] = list(n)
	}
	return append(fields, jen.Id("Each").Op(":").Index().Index().Int64().Values(fieldsOf(lists)...)), true
}

// bytesOf prints the function that computes the sizes of the buffers of fn. earlier are the functions
// whose buffers are placed before the buffers of fn.
func (m *method) bytesOf(f *jen.File, fn *function, earlier []*function) {
	used := map[string]bool{}
	var sizes []jen.Code
	for _, b := range fn.Plan.Buffers {
		for _, s := range b.Bytes.Symbols() {
			used[s] = true
		}
		sizes = append(sizes, jen.Id(fn.consts[b]).Op(":").Add(foldDim(b.Bytes, dim.Algebra[*jen.Statement](sized{f: m.fn, z: "z", wide: true}))))
	}
	var body []jen.Code
	extent := func(s string, i int) {
		if used[s] {
			body = append(body, jen.Id(m.fn.symbols[s]).Op(":=").Id("in").Index(jen.Lit(i)))
		}
	}
	for i, s := range m.symbols {
		extent(s, i)
	}
	for i, c := range earlier {
		extent(c.LinesSymbol(), len(m.symbols)+i)
	}
	body = append(body, jen.Copy(jen.Id("dst"), jen.Index().Int64().Values(fieldsOf(sizes)...)))
	note(f, fn.bytes+" computes the sizes of the buffers of "+fn.name+".")
	f.Func().Id(fn.bytes).Params(jen.Id("z").Op("*").Qual(rtPath, "Sizes"), jen.List(jen.Id("in"), jen.Id("dst")).Index().Int64()).Block(body...)
}

func (m *method) place(fn *function) int {
	for i, p := range m.placed() {
		if p.Func.Plan == fn.Func.Plan {
			return i
		}
	}
	ir.Fail("burngen bug: %s is not placed", fn.name)
	return 0
}
