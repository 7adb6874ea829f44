package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/gotype"
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/plan"
)

// host is a type of the generated package that has schedules as methods, such as Session. A schedule is the Go
// function that executes the steps of a function of the model. A host holds the memory that its schedules share.
type host struct {
	typ, recv string   // name of the type and of its receivers: "Session" and "s"
	names     *names   // names of its fields and methods in use
	locals    []string // names that local variables of its schedules must not have
	methods   []*method
	kept      map[string]string // name of the field for each state
}

func (h *host) keeps(state string) string {
	if h.kept == nil {
		h.kept = map[string]string{}
	}
	if h.kept[state] == "" {
		h.kept[state] = h.names.unique(ir.Unexported(state))
	}
	return h.kept[state]
}

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

func (h *host) frame() string {
	if h.typ == "Trainer" {
		return "*rt.TrainingFrame[trained, changes]"
	}
	return "*rt.Frame[weights]"
}

func (h *host) self() *jen.Statement { return jen.Id(h.recv) }

func frame(field string) *jen.Statement { return jen.Id("call").Dot(field) }

// method is a method of the API.
type method struct {
	*api
	// callees are the functions that the method's function calls, directly or not, except functions
	// that it shares with an earlier method; see [host.shared]. A callee comes before the functions
	// that call it.
	callees []*function
	// halves are the parts of the function before and after the caller passes gradients. The list
	// is nil if the function is not split.
	halves []*function
	// descriptor is the variable that describes the method to the runtime.
	descriptor string
}

func (m *method) all() []*function { return append([]*function{m.fn}, m.callees...) }

func (h *host) all() []*function {
	var out []*function
	for _, m := range h.methods {
		out = append(out, m.all()...)
	}
	return out
}

// shared returns a function of an earlier method that computes c, so that both methods can call it. It returns nil if
// there is no such function, or if the function cannot be shared. A function cannot be shared in three cases: each
// call computes the offsets of its buffers anew; the host has fields for those of its values that are not in the
// arena; or the function calls custom operators.
func (h *host) shared(c *program.Func) *function {
	own := func(f *program.Func) bool {
		return f.Plan.Mode == plan.Dynamic || len(f.Plan.Tails)+len(f.Plan.Variables) > 0
	}
	for _, m := range h.methods {
		for _, fn := range m.callees {
			if fn.IR == c.IR && !own(c) && !own(fn.Func) && len(fn.customCalls()) == 0 {
				return fn
			}
		}
	}
	return nil
}

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

func (h *host) fields() []jen.Code {
	var fields []jen.Code
	for _, fn := range h.all() {
		if n := len(fn.Plan.Tails); n > 0 {
			fields = append(fields, jen.Id(fn.table("tails")).Index(jen.Lit(n)).Index().Byte())
		}
	}
	for _, fn := range h.all() {
		for _, v := range fn.Plan.Variables {
			typ := gotype.Of(v.Type)
			if v.Boxed {
				typ = "rt.Tensor[" + gotype.Elem(v.Type.DType) + "]"
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
	return fields
}

func (h *host) calls() []jen.Code {
	var calls []jen.Code
	for _, fn := range h.all() {
		for _, c := range fn.customCalls() {
			calls = append(calls, h.self().Dot(fn.customs[c]).Op("=").Add(newCall(c)))
		}
	}
	return calls
}

func literals(list []string) []jen.Code {
	out := make([]jen.Code, len(list))
	for i, s := range list {
		out[i] = jen.Lit(s)
	}
	return out
}
