package gen

import (
	"errors"
	"fmt"
	"go/token"
	"slices"
	"strings"

	"github.com/burngen/burngen/gen/config"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/pass"
	"github.com/burngen/burngen/onnx"
	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/rt/keys"
)

// Source is a model to compile: imported from a file or recorded from a description.
type Source struct {
	Name string // name of the file without extension, or of the described package
	File string // base name of the file
	Sum  string // SHA-256 of the file, or of the recorded description, in hexadecimal
	// format of the file, such as "opset 17"
	Format string
	Doc    string
	Meta   rt.Meta
	Module *ir.Module
	// Functions are the functions of Module that the package offers, at least one.
	Functions []Function
	// Params are the names of the weights that can be trained. nil stands for the result of [Parameters].
	Params []string
	// Initial describes the initial values of all weights of a described model. Its package has New
	// and no weights file. nil means that the weights have data.
	Initial []rt.Initial
	// Aliases maps names of weights to further names that files may use.
	Aliases map[string][]string
	// From is the file that the weights were taken from. It is "" for a model with its own weights.
	// Fitted is the result of matching the weights.
	From   string
	Fitted *keys.Fitted
	// InPlace says that the file is a safetensors file with the model's names, types and layouts.
	InPlace bool
	// Configs are the configurations of a described model. Built is the Go expression of the
	// configuration that the model was built with, or "".
	Configs *config.Set
	Built   string
	// Limits holds the maximum values of symbols.
	Limits map[string]int
	// Nodes is the number of nodes in the graph. Operators counts them by operator.
	Nodes     int
	Operators map[string]int
}

// Function is a function of a [Source] that the package offers.
type Function struct {
	// Name is the name in the module, and Method the name of the methods of Model and Session.
	Name, Method string
	// Doc is the documentation, which starts with Method. If it is "", the package says that the method
	// computes the model.
	Doc string
	// Inputs and Outputs are the names of the structs for several arguments or results. If Inputs
	// is "", each argument is a parameter.
	Inputs, Outputs string
	// Direct gives each argument and result the Go type for its shape, with plain scalars.
	// Otherwise all use one form, as in imported models.
	Direct bool
	// Loss says that training minimises the first result.
	Loss bool
	// States are the names of the states. A state is an additional last parameter, which sessions
	// keep between calls, and a result that replaces it.
	States []string
}

// forward is the only function of an imported model.
var forward = Function{Name: pass.Forward, Method: "Forward", Inputs: "Inputs", Outputs: "Outputs"}

func fromONNX(m *onnx.Model) *Source {
	return &Source{
		Name: m.Name, File: m.File, Sum: m.Sum, Format: opsetsText(m.Meta.Opsets), Doc: m.Doc, Meta: m.Meta,
		Module: m.Module, Functions: []Function{forward}, Limits: m.Limits, Nodes: m.Nodes, Operators: m.Operators,
	}
}

// Func returns the first function that the package offers.
func (s *Source) Func() *ir.Func { return s.Module.Func(s.Functions[0].Name) }

// reservedMethods are the names of methods that Model, Session or Trainer have in generated packages.
var reservedMethods = strings.Fields("Meta Save Swap On Device NewSession NewTrainer SetContext Params Model Weights State Backward")

// check returns an error that joins all reasons why the source cannot be compiled.
func (s *Source) check() error {
	if len(s.Functions) == 0 {
		return fmt.Errorf("%s: no function to compile", s.File)
	}
	var errs []error
	methods := map[string]bool{}
	for _, f := range s.Functions {
		fail := func(format string, args ...any) {
			errs = append(errs, fmt.Errorf("%s: method %s: %w", s.File, f.Method, fmt.Errorf(format, args...)))
		}
		switch {
		case s.Module.Func(f.Name) == nil:
			fail("the module has no function @%s", f.Name)
		case !token.IsIdentifier(f.Method) || !token.IsExported(f.Method):
			fail("not an exported name of Go")
		case methods[f.Method]:
			fail("two methods have this name")
		case slices.Contains(reservedMethods, f.Method), strings.HasPrefix(f.Method, "Step"), strings.HasPrefix(f.Method, "Train"):
			fail("generated packages have methods of this name")
		}
		methods[f.Method] = true
	}
	for _, f := range s.Functions {
		if with := f.Method + "Context"; methods[with] {
			errs = append(errs, fmt.Errorf("%s: method %s: the generated method %[3]s with a context has this name", s.File, with, f.Method))
		}
		if on := f.Method + "Device"; methods[on] {
			errs = append(errs, fmt.Errorf("%s: method %s: the generated method %[3]s for tensors on a device has this name", s.File, on, f.Method))
		}
	}
	return errors.Join(errs...)
}
