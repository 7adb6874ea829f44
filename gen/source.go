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

// Source is a model to be compiled: one that was imported, or recorded from its
// description.
type Source struct {
	Name string // of the file, without its extension
	File string // the file's base name
	Sum  string // SHA-256 of the file, in hexadecimal
	// Format is what the model is written in, "opset 17".
	Format string
	Doc    string
	Meta   rt.Meta
	Module *ir.Module
	// Functions are the functions of Module that the package offers, one or more.
	Functions []Function
	// Params are the weights that can be trained; nil stands for those that
	// [Parameters] finds.
	Params []string
	// Initial says how the weights of a described model begin, all of them: its package
	// has New and no weights file. nil stands for weights that have data.
	Initial []rt.Initial
	// Aliases are further names that files may have for weights, by name.
	Aliases map[string][]string
	// From is the file that the weights were taken from, and Fitted how; "" for a model
	// with its own.
	From   string
	Fitted *keys.Fitted
	// InPlace tells that the file is a safetensors file with the model's names, types and
	// layouts.
	InPlace bool
	// Configs are the configurations of a described model, and Built the Go expression of
	// the one that it was made by, "" for none.
	Configs *config.Set
	Built   string
	// Limits are the largest extents that symbols may have.
	Limits map[string]int
	// Nodes is the number of nodes in the graph, and Operators counts its operators.
	Nodes     int
	Operators map[string]int
}

// Function is a function of a [Source] that the package offers.
type Function struct {
	// Name is what the module calls it, and Method what its methods of Model and
	// Session are called.
	Name, Method string
	// Doc is its documentation, which begins with Method; "" for the whole model.
	Doc string
	// Inputs and Outputs are what the structs are called that several arguments or
	// results stand in. Without Inputs each argument is a parameter.
	Inputs, Outputs string
	// Direct gives each argument and result the Go type that its own shape asks for,
	// and scalars bare; else one form serves all of them, as for imported models.
	Direct bool
	// Loss tells that training minimises its first result.
	Loss bool
	// States are the names of parameters behind the others that sessions keep from call to
	// call, and of the results that they become.
	States []string
}

// forward is the only function of an imported model.
var forward = Function{Name: pass.Forward, Method: "Forward", Inputs: "Inputs", Outputs: "Outputs"}

// fromONNX returns an imported model as a source.
func fromONNX(m *onnx.Model) *Source {
	return &Source{
		Name: m.Name, File: m.File, Sum: m.Sum, Format: opsetsText(m.Meta.Opsets), Doc: m.Doc, Meta: m.Meta,
		Module: m.Module, Functions: []Function{forward}, Limits: m.Limits, Nodes: m.Nodes, Operators: m.Operators,
	}
}

// Func returns the first of the functions that the package offers.
func (s *Source) Func() *ir.Func { return s.Module.Func(s.Functions[0].Name) }

// reservedMethods are the methods that every generated package has, of Model, Session
// and Trainer.
var reservedMethods = strings.Fields("Meta Save Swap NewSession NewTrainer SetContext Params Model Weights State Backward")

// check reports what of a source cannot be compiled, all of it.
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
			fail("there are two")
		case slices.Contains(reservedMethods, f.Method), strings.HasPrefix(f.Method, "Step"), strings.HasPrefix(f.Method, "Train"):
			fail("generated packages have methods of this name")
		}
		methods[f.Method] = true
	}
	for _, f := range s.Functions {
		if with := f.Method + "Context"; methods[with] {
			errs = append(errs, fmt.Errorf("%s: method %s: %s with a context is called so", s.File, with, f.Method))
		}
	}
	return errors.Join(errs...)
}
