package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"
)

// savedField returns the field that holds an argument until the second half.
func (a *api) savedField(p port) string { return a.fn.name + exported(p.id) }

// outerMethods prints the methods of a trainer for a loss that the caller computes: the
// first half, which gives results, and the second, which takes their gradients.
func (a *method) outerMethods() []jen.Code {
	self := func() *jen.Statement { return jen.Id("t").Op("*").Id("Trainer") }
	field := func(name string) *jen.Statement { return jen.Id("t").Dot(name) }
	dst := func() *jen.Statement { return field("dst" + a.spec.Method) }
	name, backward := a.spec.Method, "Backward"
	where := jen.Lit(a.where)

	body := append(a.enter(), field("pending").Op("=").False())
	for _, p := range a.out {
		if p.form == batched {
			body = append(body, a.room(a.kept(p), jen.Id("dst")))
		}
	}
	target := dst()
	if a.isPointer() {
		target = jen.Op("&").Add(target)
	}
	body = append(body, jen.Err().Op("=").Add(field(runner(a.spec))).Call(append([]jen.Code{target}, a.passed()...)...))
	for _, p := range a.in {
		body = append(body, field(a.savedField(p)).Op("=").Add(a.given(p)))
	}
	body = append(body,
		field("pending").Op("=").Err().Op("==").Nil(),
		jen.Return(dst(), jen.Err()))

	work := []jen.Code{jen.Defer().Qual(rtPath, "Recover").Call(where, jen.Op("&").Err())}
	work = append(work, a.checks(field("max").Dot("Limit").Call(jen.Lit(a.symbol)))...)
	work = append(work, a.begin()...)
	work = append(work,
		field(a.fn.pass).Dot("Begin").Call(),
		field("changes").Op("=").Add(field("direct")),
		jen.Return(field(a.fn.pass).Dot("Check").Call(a.run())))

	second := *a.api
	second.in = slices.Clone(a.in)
	for i := range second.in {
		second.in[i].saved = true
	}
	second.spec = &Function{Func: a.spec.Func, Method: backward, Direct: true}
	var params []jen.Code
	for _, p := range a.seeds {
		params = append(params, jen.Id(p.id).Add(a.argument(p)))
	}
	result := jen.Id("t").Dot("dst" + a.spec.Method)
	if a.isPointer() {
		result = jen.Op("&").Add(result)
	}
	enter := []jen.Code{
		checked(field("enter").Call()),
		jen.Defer().Add(field("guard")).Dot("Leave").Call(),
		jen.Defer().Qual(rtPath, "Recover").Call(jen.Lit(a.title()+": "+backward), jen.Op("&").Err()),
		jen.If(jen.Op("!").Add(field("pending"))).Block(jen.Return(jen.Qual(rtPath, "NotPending").Call(jen.Lit(a.title()+": "+backward), jen.Lit(name)))),
		jen.Id("dst").Op(":=").Add(result),
	}
	enter = append(enter, a.seedChecks(&second)...)
	enter = append(enter, field("pending").Op("=").False())
	enter = append(enter, a.begin()...)
	enter = append(enter,
		field("changes").Op("=").Add(field("into")).Call(field(a.fn.pass).Dot("Begin").Call()),
		jen.Return(field(a.fn.pass).Dot("End").Call(second.schedule(a.halves[1].names[0], a.seeds))))

	return []jen.Code{
		jen.Comment(lines(name + " computes " + a.spec.Like.Method + " as training does, for a loss that the caller computes: Backward\ntakes its gradients. Arguments and results must stay as they are until then.")),
		jen.Func().Params(self()).Id(name).Params(a.inputs()...).Params(jen.Id("dst").Add(a.outputs()), jen.Err().Error()).Block(body...),
		jen.Line(),
		jen.Comment(lines(runner(a.spec) + " is " + name + " into dst.")),
		jen.Func().Params(self()).Id(runner(a.spec)).Params(append([]jen.Code{jen.Id("dst").Add(a.dst())}, a.inputs()...)...).Params(jen.Err().Error()).Block(work...),
		jen.Line(),
		jen.Comment(lines(backward + " takes the gradients of a loss with respect to the results of the last call, which\nwas of " + name + ", and adds those with respect to the parameters to those of Params.\nStatistics are updated once.")),
		jen.Func().Params(self()).Id(backward).Params(params...).Params(jen.Err().Error()).Block(enter...),
		jen.Line(),
	}
}

// seedChecks prints the variables of the symbols and the checks of gradients: each has
// the shape of its result.
func (a *method) seedChecks(second *api) []jen.Code {
	where := jen.Lit(a.title() + ": Backward")
	var out []jen.Code
	switch a.form {
	case batched:
		out = append(out, jen.Id(a.vars[a.symbol]).Op(":=").Add(second.batch()))
	case dynamic:
		for i, s := range a.symbols {
			out = append(out, jen.Id(a.vars[s]).Op(":=").Id("t").Dot(a.fn.table("symbols")).Dot("Value").Call(jen.Lit(i)))
		}
	}
	for i, p := range a.seeds {
		switch p.form {
		case static:
			out = append(out, checked(jen.Qual(rtPath, "CheckNil").Call(where, text(p.id), jen.Id(p.id))))
		case batched:
			out = append(out, checked(jen.Qual(rtPath, "CheckLen").Call(where, text(p.id), jen.Len(jen.Id(p.id)), jen.Id(a.vars[a.symbol]))))
		case scalar:
			out = append(out, jen.Id("t").Dot(p.room).Op("=").Id(p.id))
		case dynamic:
			out = append(out,
				checked(jen.Qual(rtPath, "CheckTensor").Call(where, text(p.id), jen.Id(p.id))),
				checked(jen.Qual(rtPath, "CheckSame").Call(where, text(p.said), jen.Id(p.id).Dot("Shape"), second.given(a.out[a.spec.Seeds[i]]).Dot("Shape"))))
		}
		if p.form != scalar {
			o := a.out[a.spec.Seeds[i]]
			out = append(out, checked(checkOverlap(where, "result", []jen.Code{spanOf(second.flat(o))}, []jen.Code{spanOf(second.flat(p))})))
		}
	}
	return out
}

// title returns what the model is called in messages.
func (a *api) title() string { return a.where[:len(a.where)-len(": "+a.spec.Method)] }
