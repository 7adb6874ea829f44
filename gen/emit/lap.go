package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/program"
)

// lapName is the variable called after each step if [Model.Lap] is set.
const lapName = "Lap"

// lapFile prints the file that declares Lap, or returns nil if no step is timed.
func (e *emitter) lapFile() *jen.File {
	if e.Lap == nil {
		return nil
	}
	f := e.newFile()
	note(f, lapName+" is called after each step with its number.")
	f.Var().Id(lapName).Op("=").Func().Params(jen.Id("step").Int()).Block()
	return f
}

// laps prints the call of Lap after a step. Steps that contain other steps have no call of their
// own.
func (f *function) laps(s program.Step) []jen.Code {
	if f.lap == nil {
		return nil
	}
	if _, custom := s.(*program.Custom); custom || program.Computes(s) {
		return []jen.Code{jen.Id(lapName).Call(jen.Lit(f.lap(s)))}
	}
	return nil
}
