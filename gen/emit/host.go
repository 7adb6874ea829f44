package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/plan"
)

// host is a type of the package that schedules are methods of: it holds the memory
// that they share.
type host struct {
	typ, recv string   // "Session", "s"
	names     *names   // of fields and methods
	locals    []string // names that variables of its schedules cannot have
	methods   []*method
	kept      map[string]string // the fields of states, by their names
}

// keeps returns the field of a state.
func (h *host) keeps(state string) string {
	if h.kept == nil {
		h.kept = map[string]string{}
	}
	if h.kept[state] == "" {
		h.kept[state] = h.names.unique(unexported(state))
	}
	return h.kept[state]
}

// states returns the ports of all states, each once.
func (h *host) states() []port {
	var out []port
	for _, m := range h.methods {
		for _, p := range m.states() {
			if !slices.ContainsFunc(out, func(o port) bool { return o.kept == p.kept }) {
				out = append(out, p)
			}
		}
	}
	return out
}

// self prints the receiver.
func (h *host) self() *jen.Statement { return jen.Id(h.recv) }

// method is a function of the API with those that it calls, before their callers.
type method struct {
	*api
	callees []*function
	// halves are the parts of the function before and after the caller gives gradients;
	// nil for a function without such.
	halves []*function
}

// all returns a method's function and those that it calls.
func (m *method) all() []*function { return append([]*function{m.fn}, m.callees...) }

// all returns the functions of all methods.
func (h *host) all() []*function {
	var out []*function
	for _, m := range h.methods {
		out = append(out, m.all()...)
	}
	return out
}

// symbols returns the symbols of all methods, each once.
func (h *host) symbols() []string {
	var out []string
	seen := map[string]bool{}
	for _, m := range h.methods {
		for _, s := range m.symbols {
			if !seen[s] {
				seen[s] = true
				out = append(out, s)
			}
		}
	}
	return out
}

// hasTail reports whether memory is allocated while a function runs.
func (h *host) hasTail() bool {
	for _, fn := range h.all() {
		if len(fn.Plan.Tails) > 0 {
			return true
		}
	}
	return false
}

// staticBytes returns the size of the arena that the methods need whatever they are
// called with; ok is false when there is none whose plan is static.
func (h *host) staticBytes() (bytes int, ok bool) {
	for _, m := range h.methods {
		if m.fn.Plan.Mode == plan.Static {
			n, _ := m.fn.Plan.Size.Int()
			bytes, ok = max(bytes, n), true
		}
	}
	return bytes, ok
}

// fields prints the fields that the schedules work with.
func (h *host) fields() []jen.Code {
	var fields []jen.Code
	if len(h.symbols()) > 0 {
		fields = append(fields, jen.Id("max").Qual(rtPath, "Max"))
	}
	for _, m := range h.methods {
		if m.form == dynamic {
			fields = append(fields, jen.Id(m.fn.table("symbols")).Qual(rtPath, "Symbols"))
		}
	}
	if h.hasTail() {
		fields = append(fields, jen.Id("tail").Qual(rtPath, "Tail"))
	}
	for _, fn := range h.all() {
		if n := len(fn.Plan.Tails); n > 0 {
			fields = append(fields, jen.Id(fn.table("tails")).Index(jen.Lit(n)).Index().Byte())
		}
	}
	for _, fn := range h.all() {
		for _, v := range fn.Plan.Variables {
			typ := heldType(v.Type)
			if v.Boxed {
				typ = "rt.Tensor[" + goType(v.Type.DType) + "]"
			}
			fields = append(fields, jen.Id(fn.held[v]).Id(typ).Comment(comment(v.Type.String())))
		}
	}
	for _, fn := range h.all() {
		for _, c := range fn.customCalls() {
			fields = append(fields, jen.Id(fn.customs[c]).Op("*").Qual(rtPath, "Call").Comment("of "+comment(c.Op.Func)))
		}
	}
	for _, m := range h.methods {
		for _, p := range slices.Concat(m.in, m.seeds) {
			if p.form == scalar {
				fields = append(fields, jen.Id(p.room).Add(p.elem()).Comment("of "+m.spec.Method))
			}
		}
	}
	for _, p := range h.states() {
		fields = append(fields, jen.Id(p.kept).Qual(rtPath, "Kept").Index(p.elem()).Comment(comment(p.value.Type.String())))
	}
	for _, m := range h.methods {
		if m.fn.Plan.Mode != plan.Dynamic {
			continue
		}
		fields = append(fields,
			jen.Id(m.fn.table("opened")).Bool(),
			jen.Id(m.fn.table("extents")).Index(jen.Lit(len(m.symbols))).Int().Comment("that offsets hold for"),
			jen.Id(m.fn.table("offsets")).Index(jen.Lit(len(m.fn.Plan.Buffers))).Int64())
		for _, c := range m.callees {
			if c.Plan.Mode == plan.Dynamic {
				fields = append(fields, jen.Id(c.table("offsets")).Index(jen.Lit(len(c.Plan.Buffers))).Int64())
			}
		}
	}
	return fields
}

// values prints those fields that are set when a host is made.
func (h *host) values() []jen.Code {
	var values []jen.Code
	for _, m := range h.methods {
		if m.form == dynamic {
			values = append(values, jen.Id(m.fn.table("symbols")).Op(":").Qual(rtPath, "NewSymbols").Call(literals(m.symbols)...))
		}
	}
	return values
}

// calls prints the making of what calls of the user's functions need.
func (h *host) calls() []jen.Code {
	var calls []jen.Code
	for _, fn := range h.all() {
		for _, c := range fn.customCalls() {
			calls = append(calls, h.self().Dot(fn.customs[c]).Op("=").Add(newCall(c)))
		}
	}
	return calls
}

// literals prints texts, quoted.
func literals(list []string) []jen.Code {
	out := make([]jen.Code, len(list))
	for i, s := range list {
		out[i] = jen.Lit(s)
	}
	return out
}

// opens returns the name of the method that makes the arena large enough for f.
func (f *function) opens() string {
	if f.name == "forward" {
		return "open"
	}
	return "open" + exported(f.name)
}

// open prints that method.
func (m *method) open(f *jen.File) {
	if m.fn.Plan.Mode == plan.Static {
		return
	}
	params := []jen.Code{}
	for _, s := range m.symbols {
		params = append(params, jen.Id(m.vars[s]).Int())
	}
	doc := " makes the arena large enough."
	if m.fn.name != "forward" {
		doc = " makes the arena large enough for " + m.fn.name + "."
	}
	note(f, m.fn.opens()+doc)
	f.Func().Params(m.host.self().Op("*").Id(m.host.typ)).Id(m.fn.opens()).Params(params...).Error().Block(m.openBody()...)
}

func (m *method) openBody() []jen.Code {
	p, fn := m.fn.Plan, m.fn
	self := func(field string) *jen.Statement { return m.host.self().Dot(field) }
	fail := jen.If(jen.Err().Op(":=").Id("z").Dot("Err").Call(jen.Lit(m.where)), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err()))
	grow := jen.If(jen.Int64().Call(jen.Len(self("arena"))).Op("<").Id("need")).Block(
		jen.List(jen.Id("arena"), jen.Err()).Op(":=").Qual(rtPath, "NewArena").Call(jen.Id("need")),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err())),
		self("arena").Op("=").Id("arena"))
	if p.Mode == plan.Scaled {
		alg := ir.Algebra[*jen.Statement](sized{fn, "z"})
		return []jen.Code{jen.Var().Id("z").Qual(rtPath, "Sizes"), jen.Id("need").Op(":=").Add(foldDim(p.Size, alg)), fn.entry, fail, grow, jen.Return(jen.Nil())}
	}
	array := jen.Index(jen.Lit(len(m.symbols))).Int().Values(m.extents()...)
	opened, extents := self(fn.table("opened")), self(fn.table("extents"))
	out := []jen.Code{
		jen.Id("extents").Op(":=").Add(array),
		jen.If(opened.Clone().Op("&&").Add(extents.Clone()).Op("==").Id("extents")).Block(jen.Return(jen.Nil())),
		jen.Var().Id("z").Qual(rtPath, "Sizes"),
	}
	out = append(out, opened.Clone().Op("=").False().Comment("until the offsets and the arena are those of these extents"))
	for _, c := range m.callees {
		if c.Plan.Mode == plan.Dynamic {
			out = append(out, m.sizes(c),
				jen.Id(fn.symbols[c.LinesSymbol()]).Op(":=").Add(layout(c)).Op("/").Lit(program.Line))
		}
	}
	return append(out,
		m.sizes(fn),
		fn.entry,
		fail,
		jen.Id("need").Op(":=").Add(layout(fn)),
		grow,
		jen.List(extents.Clone(), opened.Clone()).Op("=").List(jen.Id("extents"), jen.True()),
		jen.Return(jen.Nil()))
}

// sizes prints the table of the bytes that a function's buffers take.
func (m *method) sizes(fn *function) jen.Code {
	var sizes []jen.Code
	for _, b := range fn.Plan.Buffers {
		sizes = append(sizes, jen.Line().Id(fn.consts[b]).Op(":").Add(foldDim(b.Bytes, ir.Algebra[*jen.Statement](sized{m.fn, "z"}))))
	}
	return jen.Id(fn.table("sizes")).Op(":=").Index(jen.Op("...")).Int64().Values(append(sizes, jen.Line())...)
}

// layout prints the placing of a function's buffers.
func layout(fn *function) *jen.Statement {
	all := jen.Index(jen.Op(":"))
	return jen.Qual(rtPath, "Layout").Call(
		jen.Id(fn.table("sizes")).Add(all), jen.Id(fn.table("firstUse")).Add(all), jen.Id(fn.table("lastUse")).Add(all), fn.host.self().Dot(fn.table("offsets")).Add(all))
}
