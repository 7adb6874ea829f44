package gpu

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/target/gpu/launch"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/runtime/cpu"
)

// cpuPath is the package of the errors that faults become.
const cpuPath = "github.com/burngen/burngen/runtime/cpu"

// Fault is an argument of a launch: memory in which the kernel records an index that is out of range. The host turns
// the record into the error that the CPU's kernel returns.
type Fault struct{ check op.CheckIndex }

// faultOf returns the fault that the kernel of a node can report. It returns an error if no fault is defined for the
// operator.
func faultOf(n *ir.Node) (Fault, error) {
	switch o := n.Op.(type) {
	case op.CheckIndex:
		return Fault{o}, nil
	case op.MaxRoiPool:
		return Fault{launch.ImageIndex(n.Args[0])}, nil
	}
	return Fault{}, fmt.Errorf("%s: there is no error for the fault of its kernel", ir.OpName(n.Op))
}

func (a Fault) err(f *exec.Frame, index int64) error {
	count, err := f.Int(a.check.Count)
	if err != nil {
		return err
	}
	return &cpu.IndexError{Index: index, Dim: count, What: a.check.What, Things: a.check.Things}
}

// print prints a call of gpu.Run.Fault. Its argument is a function that returns the error for an index.
func (a Fault) print(s *emit.Scope, n *ir.Node) jen.Code {
	fields := jen.Dict{jen.Id("Index"): jen.Id("index"), jen.Id("Dim"): s.Int(a.check.Count)}
	if a.check.What != "" {
		fields[jen.Id("What")], fields[jen.Id("Things")] = emit.Text(a.check.What), emit.Text(a.check.Things)
	}
	failed := s.At(n, jen.Op("&").Qual(cpuPath, "IndexError").Values(fields))
	return s.Run().Dot("Fault").Call(jen.Func().Params(jen.Id("index").Int64()).Error().Block(jen.Return(failed)))
}
