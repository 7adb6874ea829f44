package cpu

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/gen/gotype"
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/plan"
)

const (
	runtimePath = "github.com/burngen/burngen/runtime/cpu"
	// imagePath is the package of the functions that decode images. It is separate from the kernels
	// because it links the decoders.
	imagePath = "github.com/burngen/burngen/runtime/rt/image"
)

// Printer returns a new printer of calls and loops.
func (Target) Printer() emit.Printer {
	return &goPrinter{variables: map[string]string{}, count: map[string]int{}, chains: map[string]string{}}
}

type goPrinter struct {
	variables map[string]string // of structs of constants, by their text
	count     map[string]int    // number of variables, by their types
	vars      []jen.Code
	chains    map[string]string // functions, by their text
	funcs     []jen.Code        // not in a file yet
}

type printing struct {
	*goPrinter
	*emit.Scope
}

func (*goPrinter) Imports() map[string]string {
	return map[string]string{runtimePath: "cpu", imagePath: "rtimage"}
}

func (p *goPrinter) Step(s *emit.Scope, step program.Step) []jen.Code {
	on := &printing{p, s}
	switch step := step.(type) {
	case *Call:
		return []jen.Code{on.call(step)}
	case *Loop:
		return on.loop(step)
	case *program.Copy:
		return []jen.Code{on.call(copyCall(step))}
	}
	ir.Fail("%s has no code", step.At())
	return nil
}

func (p *goPrinter) Measure(s *emit.Scope, step program.Step) (value *jen.Statement, isFallible bool) {
	c, on := step.(*Call), &printing{p, s}
	return goFunc(c.Kernel).Call(on.args(c)...), c.Kernel.Fallible
}

func (*goPrinter) Copy(_ *emit.Scope, to, from jen.Code) *jen.Statement {
	return jen.Qual(runtimePath, "Copy").Call(to, from)
}

func (*goPrinter) OnDevice() bool { return false }

func (*goPrinter) Queued(program.Step) bool { return false }

func (*goPrinter) Device() (*emit.Device, error) { return nil, nil }

// Ends implements [emit.Printer]. It reports whether a step calls a kernel that takes a context:
// such a kernel checks the context itself and can end early.
func (*goPrinter) Ends(step program.Step) bool {
	c, ok := step.(*Call)
	return ok && slices.ContainsFunc(c.Args, func(a any) bool {
		_, context := a.(kernel.Context)
		s, composite := a.(*Struct)
		return context || composite && len(s.Fields) > 0 && s.Ctx
	})
}

// movers are the prefixes of the names of kernels that only move elements.
var movers = []string{"Pack", "Block", "Unblock", "StridedCopy", "Copy", "Fill", "Repeat", "Transpose"}

// Moves implements [emit.Printer]. It reports whether a step is a copy, or a call of a kernel that
// only moves elements.
func (*goPrinter) Moves(step program.Step) bool {
	if _, copies := step.(*program.Copy); copies {
		return true
	}
	c, ok := step.(*Call)
	return ok && slices.ContainsFunc(movers, func(m string) bool { return strings.HasPrefix(c.Kernel.Name, m) })
}

func (p *goPrinter) Vars() (doc string, defs []jen.Code) { return "Shapes of kernel calls.", p.vars }

func (p *goPrinter) Funcs() []jen.Code {
	funcs := p.funcs
	p.funcs = nil
	return funcs
}

func (p *printing) call(s *Call) jen.Code {
	return p.checked(s.Kernel, s.Node, goFunc(s.Kernel).Call(p.args(s)...))
}

// checked prints `call`, a call of the kernel k. If k can fail, the printed code returns the error
// of the call, and the error names the node n.
func (p *printing) checked(k *kernel.Kernel, n *ir.Node, call *jen.Statement) jen.Code {
	if !k.Fallible {
		return call
	}
	return p.Check(n, call)
}

func (p *printing) args(c *Call) []jen.Code {
	out := make([]jen.Code, len(c.Args))
	for i, a := range c.Args {
		if dims, ok := a.([]dim.Dim); ok {
			out[i] = jen.Id(c.Kernel.Param(i).Type).Values(p.Ints(dims)...)
			continue
		}
		out[i] = p.arg(a)
	}
	return out
}

func (p *printing) arg(a any) *jen.Statement {
	switch a := a.(type) {
	case nil:
		return jen.Nil()
	case *plan.Ref:
		if a == nil {
			return jen.Nil()
		}
		return p.Slice(a)
	case Pointer:
		return p.Pointer(a.Ref)
	case Scalar:
		return p.Slice(a.Ref).Index(jen.Lit(0))
	case dim.Dim:
		return p.Int(a)
	case kernel.Context:
		return p.Context()
	case kernel.Number:
		return number(a)
	case *Struct:
		if len(a.Fields) == 0 {
			return jen.Nil()
		}
		return p.composite(a)
	case *Chain:
		return jen.Id(p.chain(a))
	case bool:
		return jen.Lit(a)
	case string:
		return emit.Text(a)
	case kernel.Constant:
		return jen.Qual(runtimePath, string(a))
	}
	ir.Fail("a kernel argument cannot be a %T", a)
	return nil
}

// composite prints a pointer to a struct. A struct of constants is a variable of the package. If [varying] splits the
// struct into constants and one extent, composite prints the call of a method that returns a copy of such a variable
// with the extent set. Any other struct is printed as a literal. If the step may take long and the struct has a field
// for a context, the field is set.
func (p *printing) composite(s *Struct) *jen.Statement {
	takes := p.Long() && s.Ctx
	ctx := jen.Nil()
	if takes {
		ctx = p.Context()
	}
	if fixed, how, extent, ok := varying(s); ok {
		return jen.Id(p.variable(fixed, p.values(fixed))).Dot(how).Call(p.Int(extent), ctx)
	}
	values := p.values(s)
	switch static := isStatic(s); {
	case static && takes:
		return jen.Id(p.variable(s, values)).Dot("Until").Call(ctx)
	case static:
		return jen.Op("&").Id(p.variable(s, values))
	case takes:
		values = append(values, jen.Id("Ctx").Op(":").Add(ctx))
	}
	return jen.Op("&").Qual(runtimePath, s.Type).Values(values...)
}

func (p *printing) values(s *Struct) []jen.Code {
	values := make([]jen.Code, len(s.Fields))
	for i, field := range s.Fields {
		values[i] = jen.Id(field.Name).Op(":").Add(p.field(field))
	}
	return values
}

func (p *printing) field(field kernel.Field) *jen.Statement {
	switch list := field.Value.(type) {
	case []dim.Dim:
		return jen.Id(field.Type).Values(p.Ints(list)...)
	case []any:
		var items []jen.Code
		for _, item := range list {
			items = append(items, p.arg(item))
		}
		return jen.Id(field.Type).Values(items...)
	}
	return p.arg(field.Value)
}

func isStatic(s *Struct) bool {
	for _, field := range s.Fields {
		switch v := field.Value.(type) {
		case *plan.Ref, *Chain, *Struct, Scalar, Pointer:
			return false
		case dim.Dim:
			if !v.IsConst() {
				return false
			}
		case []dim.Dim:
			if _, ok := dim.Ints(v); !ok {
				return false
			}
		case []any:
			for _, item := range v {
				if _, isRef := item.(*plan.Ref); isRef {
					return false
				}
			}
		}
	}
	return true
}

func number(n kernel.Number) *jen.Statement {
	switch {
	case n.DType == ir.F32:
		return float32Of(n.Float)
	case n.DType == ir.F64:
		return emit.Float(n.Float, 64)
	case n.DType.IsFloat():
		return jen.Qual("github.com/burngen/burngen/runtime/rt", strings.TrimPrefix(gotype.Elem(n.DType), "rt.")).Call(jen.Id(fmt.Sprintf("%#x", n.Bits())))
	case n.DType == ir.Bool:
		return jen.Lit(n.Int != 0)
	case n.DType == ir.U64:
		return jen.Id(strconv.FormatUint(uint64(n.Int), 10))
	}
	return jen.Id(strconv.FormatInt(n.Int, 10))
}

func float32Of(v float64) *jen.Statement {
	if math.IsInf(v, 1) {
		return jen.Qual(runtimePath, "Inf")
	}
	return emit.Float(v, 32)
}

func goFunc(k *kernel.Kernel) *jen.Statement {
	if k.Folder != "" {
		return jen.Qual(imagePath, k.Name)
	}
	return jen.Qual(runtimePath, k.Name)
}

// variable returns the name of the variable that holds a struct. It declares the variable when it is
// new. values are the printed fields.
func (p *printing) variable(s *Struct, values []jen.Code) string {
	key := fmt.Sprintf("%s%#v", s.Type, jen.Values(values...))
	if name, ok := p.variables[key]; ok {
		return name
	}
	kind := strings.TrimSuffix(s.Type, "Shape")
	p.count[kind]++
	name := p.Name(kind + strconv.Itoa(p.count[kind]))
	p.variables[key] = name
	p.vars = append(p.vars, jen.Id(name).Op("=").Qual(runtimePath, s.Type).Values(values...))
	return name
}
