package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/program"
)

// lapName is the variable that is called after each step, if the model asks for it.
const lapName = "Lap"

// lapFile prints the file that declares it; nil where no step is timed.
func (e *emitter) lapFile() *jen.File {
	if e.Lap == nil {
		return nil
	}
	f := e.newFile()
	note(f, lapName+" is called after each step with its number.")
	f.Var().Id(lapName).Op("=").Func().Params(jen.Id("step").Int()).Block()
	return f
}

// laps prints the call that tells that a step is done. Steps that hold others have
// none: theirs do.
func (f *function) laps(s program.Step) []jen.Code {
	if f.lap == nil {
		return nil
	}
	switch s.(type) {
	case *program.Call, *program.Loop, *program.Custom:
		return []jen.Code{jen.Id(lapName).Call(jen.Lit(f.lap(s)))}
	}
	return nil
}
