package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/program"
)

// lapName is the name of the generated variable that holds a function. The code calls it after steps, see
// [Model.Lap].
const lapName = "Lap"

func (e *emitter) lapFile() *jen.File {
	if e.Lap == nil {
		return nil
	}
	f := e.newFile()
	note(f, lapName+" is called after each step with its number.")
	f.Var().Id(lapName).Op("=").Func().Params(jen.Id("step").Int()).Block()
	return f
}

// laps prints the call of Lap after a step that computes or copies elements, or calls a custom
// operator. It returns nil for other steps, and if the steps of f are not timed.
func (f *function) laps(s program.Step) []jen.Code {
	if f.lap == nil {
		return nil
	}
	if _, custom := s.(*program.Custom); custom || program.Computes(s) {
		return []jen.Code{jen.Id(lapName).Call(jen.Lit(f.lap(s)))}
	}
	return nil
}
