package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/ir"
)

// savedField returns the name of the trainer's field that keeps the argument p until the second half
// of a training step.
func (a *api) savedField(p port) string { return a.fn.name + ir.Exported(p.id) }

func (a *api) saves() []jen.Code {
	var out []jen.Code
	for _, p := range a.in {
		out = append(out, a.host.self().Dot(a.savedField(p)).Op("=").Add(a.given(p)))
	}
	return out
}

// backwardMethod prints the second half of a trainer's method for a loss that the caller computes.
// This half takes the gradients of the results.
func (a *method) backwardMethod() jen.Code {
	second := *a.api
	second.in = slices.Clone(a.in)
	for i := range second.in {
		second.in[i].saved = true
	}
	var seeds []jen.Code
	for _, p := range a.seeds {
		switch p.form {
		case static:
			seeds = append(seeds, passed("InArray", p.id, jen.Id(p.id)))
		case batched:
			seeds = append(seeds, passed("In", p.id, jen.Id(p.id)))
		case dynamic:
			seeds = append(seeds, passed("InAny", p.id, jen.Id(p.id)))
		}
	}
	return from("Trainer.Backward", fill{"Method_": name(a.spec.Method), "Param_": a.seedParams(), "method_": jen.Op("&").Id(a.descriptor), "passed_": seeds,
		"checks_": second.seedChecks(), "schedule_": name(a.halves[1].names[0]), "param_": second.arguments(a.seeds)})
}

func (a *api) seedParams() []jen.Code {
	var params []jen.Code
	for _, p := range a.seeds {
		params = append(params, jen.Id(p.id).Add(a.argument(p)))
	}
	return params
}

// seedChecks prints the statements that Backward runs before its schedule. They declare the variables
// of symbols, store scalar gradients in fields, and compare the shapes of dynamic gradients with the
// shapes of their results. They also check the memory of the results, see [rt.Memory.Results].
func (a *api) seedChecks() []jen.Code {
	var out, results []jen.Code
	if a.form == dynamic {
		out = a.symbolVars()
	}
	for i, p := range a.seeds {
		o := a.out[a.spec.Seeds[i]]
		switch p.form {
		case static:
			results = append(results, passed("OutArray", "result", a.given(o)))
		case batched:
			results = append(results, passed("Out", "result", a.given(o)))
		case scalar:
			out = append(out, a.host.self().Dot(p.room).Op("=").Id(p.id))
		case dynamic:
			out = append(out, checked(frame("CheckLike").Call(Text(p.said), jen.Id(p.id).Dot("Shape"), a.given(o).Dot("Shape"))))
			results = append(results, passed("OutLate", "result", jen.Op("&").Add(a.given(o))))
		}
	}
	if len(results) > 0 {
		out = append(out, checked(frame("Results").Call(results...)))
	}
	return out
}
