package emit

import (
	"math"
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/plan"
)

// Printer prints the steps of a target as Go. Each package is printed with a new printer.
type Printer interface {
	// Imports maps the import paths of the packages that steps may use to the names of these
	// packages.
	Imports() map[string]string
	// Step prints a step that belongs to the target, or a [program.Copy].
	Step(s *Scope, step program.Step) []jen.Code
	// Measure prints the value of a symbol. step is the step of a [program.Bind] that computes the
	// value. fallible says that the printed expression also returns an error.
	Measure(s *Scope, step program.Step) (value *jen.Statement, fallible bool)
	// Copy prints the copy of a slice of elements to another.
	Copy(s *Scope, to, from jen.Code) *jen.Statement
	// Ends reports whether a step checks the context of its call itself, so that it can end early.
	Ends(step program.Step) bool
	// Moves reports whether a step only moves elements. The search for NaN skips such steps. The
	// search reads only results in host memory.
	Moves(step program.Step) bool
	// Vars returns the definitions of the variables that the steps printed so far use, and the
	// comment above the definitions.
	Vars() (doc string, defs []jen.Code)
	// Funcs returns the functions that the steps printed so far use. It leaves out functions that an
	// earlier call of Funcs returned.
	Funcs() []jen.Code
	// Queued reports whether a step only puts work on the queue of a device.
	Queued(step program.Step) bool
	// OnDevice reports whether steps compute in device memory.
	OnDevice() bool
	// Device returns the device code of the package. It is called after all steps are printed, and
	// only if OnDevice returns true. It returns an error if the code cannot be written.
	Device() (*Device, error)
}

// Scope prints the operands of a step of the function f. v collects the variables that the operands
// need.
type Scope struct {
	f *function
	v *views
}

// Slice prints the memory, or the container, that ref refers to.
func (s *Scope) Slice(ref *plan.Ref) *jen.Statement { return s.f.slice(ref, s.v) }

// Pointer prints a pointer to the container that ref refers to.
func (s *Scope) Pointer(ref *plan.Ref) *jen.Statement { return s.f.pointer(ref) }

// Int prints an extent as a Go int.
func (s *Scope) Int(d dim.Dim) *jen.Statement { return s.f.int(d) }

// Ints prints extents as Go ints.
func (s *Scope) Ints(dims []dim.Dim) []jen.Code { return s.f.ints(dims) }

// Factor prints an extent as a factor of a product.
func (s *Scope) Factor(d dim.Dim) *jen.Statement { return s.f.expr(d).factor() }

// Context prints the context of the call. It prints nil in prepare, which has no context.
func (s *Scope) Context() *jen.Statement {
	if s.f.host == nil {
		return jen.Nil()
	}
	return frame("Ctx")
}

// Long reports whether the step may take a millisecond or longer and checks the context itself; see [Printer.Ends].
// Such a step must get the context. Long returns false in prepare, which has no context.
func (s *Scope) Long() bool { return s.f.ends }

// Check prints `call`, which returns an error. If the error is not nil, the printed code returns
// it, wrapped so that it names the node n.
func (s *Scope) Check(n *ir.Node, call *jen.Statement) jen.Code { return returnAt(n, call) }

// At prints a Go expression for an error that names the node n and wraps err.
func (s *Scope) At(n *ir.Node, err jen.Code) *jen.Statement {
	return jen.Qual(rtPath, "At").Call(Text(n.Pos), err)
}

// Name returns a name that is unique in the package. The name is `hint` with a lower-case initial. If that name is
// taken, a number follows it.
func (s *Scope) Name(hint string) string { return s.f.global.unique(ir.Unexported(hint)) }

// Text prints s, a text of a model, as a Go string literal in ASCII.
func Text(s string) *jen.Statement { return jen.Id(strconv.QuoteToASCII(s)) }

// Float prints v as a constant with the given number of bits, 32 or 64, and with enough digits to
// identify it. Infinities, NaN and −0 are printed as calls.
func Float(v float64, bits int) *jen.Statement {
	typ := "float" + strconv.Itoa(bits)
	switch {
	case math.IsInf(v, 0):
		sign := 1
		if v < 0 {
			sign = -1
		}
		return jen.Id(typ).Call(jen.Qual("math", "Inf").Call(jen.Lit(sign)))
	case math.IsNaN(v):
		return jen.Id(typ).Call(jen.Qual("math", "NaN").Call())
	case v == 0 && math.Signbit(v):
		return jen.Id(typ).Call(jen.Qual("math", "Copysign").Call(jen.Lit(0), jen.Lit(-1)))
	}
	return jen.Id(strconv.FormatFloat(v, 'g', -1, bits))
}
