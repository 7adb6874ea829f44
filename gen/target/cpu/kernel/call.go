package kernel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/burngen/burngen/gen/gotype"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// Call is a call of a kernel. An argument is a [Memory], a [Scalar], a [dim.Dim], []dim.Dim,
// [Context], *[Composite], bool or string. An absent argument is nil.
type Call struct {
	Kernel   *Kernel
	Args     []any
	Instance int // index of the instance; see package instance
	// Err is the reason why no instance of the kernel takes the arguments. It is nil if one does.
	Err error
}

// Memory is memory that a kernel reads or writes: an [Operand], a [Result] or a [Scratch]. It is
// nil for an absent operand.
type Memory interface {
	// goType returns the type of the argument.
	goType() string
}

// Operand is the memory of a value that a kernel reads.
type Operand struct{ Value *ir.Value }

// Result is the memory of a value that a kernel writes.
type Result struct{ Value *ir.Value }

// Scratch is memory that only this call uses.
type Scratch struct {
	DType ir.DType
	Len   dim.Dim
}

func (m Operand) goType() string { return gotype.Of(m.Value.Type) }

// goType returns a pointer type for a container, and a slice type for a tensor.
func (m Result) goType() string {
	if m.Value.Type.IsTensor() {
		return gotype.Of(m.Value.Type)
	}
	return "*" + gotype.Of(m.Value.Type)
}

func (m Scratch) goType() string { return "[]" + gotype.Elem(m.DType) }

// Scalar is a single element that a kernel gets by value: a [Number], a [Text], or an [Element].
type Scalar interface {
	// elem returns the element type.
	elem() ir.DType
}

// Number is a constant of an element type: a number or a truth value.
type Number struct {
	DType ir.DType
	Float float64 // value of a float type
	Int   int64   // value of any other type
}

// F64 returns a constant f64.
func F64(v float64) Number { return Number{DType: ir.F64, Float: v} }

// F32 returns a constant of type f32, v rounded to it.
func F32(v float64) Number { return Number{DType: ir.F32, Float: ir.RoundFloat(ir.F32, v)} }

// I64 returns a constant i64.
func I64(v int64) Number { return Number{DType: ir.I64, Int: v} }

// Bits returns the encoding of a number of a float type.
func (n Number) Bits() uint64 {
	var bits uint64
	for i, b := range ir.Scalar(n.DType, n.Float).Bytes() {
		bits |= uint64(b) << (8 * i)
	}
	return bits
}

// Text is a constant string.
type Text string

// Element is the first element of a tensor, passed by value.
type Element struct{ Value *ir.Value }

func (n Number) elem() ir.DType  { return n.DType }
func (Text) elem() ir.DType      { return ir.String }
func (e Element) elem() ir.DType { return e.Value.Type.DType }

// Constant is the name of a constant of the kernels' package, or "".
type Constant string

// Context is the context of the current call, as an argument for kernels that may take long.
type Context struct{}

// Composite is a pointer to a struct of the kernels' package. Type is the name of the struct.
type Composite struct {
	Type   string
	Ctx    bool    // it has a field for a context
	Fields []Field // fields that are not zero
}

// Field is a field of a [Composite]: its name, its Go type and its value. The value is an argument as in a [Call], a
// []Memory, or an *[ir.Block]. A block is the body of a function that the kernel applies to runs, which are slices of
// a result. Its first parameter is a run, and its result is the new content of the run. Its other parameters are
// further operands of the kernel.
type Field struct {
	Name, Type string
	Value      any
}

// newComposite returns a composite argument of type `typ`, without those fields that are zero. ctx says that the type
// has a field for a context.
func newComposite(typ string, ctx bool, fields ...Field) *Composite {
	return &Composite{Type: typ, Ctx: ctx, Fields: slices.DeleteFunc(fields, func(f Field) bool { return isZero(f.Value) })}
}

// isZero reports whether v, the value of a field of a composite, is known to be zero. Such a field can be left out.
func isZero(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case *ir.Block:
		return v == nil
	case Constant:
		return v == ""
	case bool:
		return !v
	case dim.Dim:
		return v.Equal(dim.Dim{})
	case []dim.Dim:
		return v == nil
	case []Memory:
		return !slices.ContainsFunc(v, func(m Memory) bool { return m != nil })
	}
	return false
}

// newCall returns the call of a kernel. The call's Err is set if no instance takes the arguments.
func newCall(k *Kernel, args ...any) Call {
	c := Call{Kernel: k, Args: args}
	typs := make([]string, len(args))
	for i, a := range args {
		typs[i], c.Err = argType(k.Param(i).Type, a)
		if c.Err != nil {
			c.Err = fmt.Errorf("kernel %s: %s: %w", k, k.Param(i).Name, c.Err)
			return c
		}
	}
	c.Instance, c.Err = k.instance(typs)
	return c
}

// argType returns the Go type of the argument a if a is memory or a scalar, and "" otherwise. param is the Go type
// of the kernel's parameter. It returns an error if a list has a wrong length, if an item of a list has a wrong
// type, or if a field of a composite has a wrong type.
func argType(param string, a any) (string, error) {
	switch a := a.(type) {
	case Memory:
		return a.goType(), nil
	case Scalar:
		return gotype.Elem(a.elem()), nil
	case []dim.Dim:
		var n int
		if _, err := fmt.Sscanf(param, "[%d]int", &n); err == nil && n != len(a) {
			return "", fmt.Errorf("%d extents, %d expected", len(a), n)
		}
	case []Memory:
		elem := param[strings.Index(param, "]")+1:]
		for _, m := range a {
			if m != nil && m.goType() != elem {
				return "", fmt.Errorf("a %s, %s expected", m.goType(), elem)
			}
		}
	case *Composite:
		for _, f := range a.Fields {
			typ, err := argType(f.Type, f.Value)
			if err == nil && typ != "" && typ != f.Type {
				err = fmt.Errorf("a %s, %s expected", typ, f.Type)
			}
			if err != nil {
				return "", fmt.Errorf("%s: %w", f.Name, err)
			}
		}
	}
	return "", nil
}
