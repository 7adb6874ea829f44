// Package call maps operators to kernels of runtime/cpu and their arguments. It has a builder for
// each operator, in one file per family, listed in table.go. It does not know how a call is printed
// or run.
package call

import (
	"fmt"
	"reflect"

	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// Of returns the kernel call that computes a node. It returns an error if no kernel computes the
// operator, or if the kernel does not support these operands or attributes.
func Of(n *ir.Node) (kernel.Call, error) {
	build := builders[reflect.TypeOf(n.Op)].call
	if build == nil {
		return kernel.Call{}, fmt.Errorf("no kernel computes it for %v", n.ArgTypes())
	}
	c := build(node{n})
	return c, c.Err
}

// Has reports whether a kernel computes an operator, at least for some operands.
func Has(o ir.Op) bool { return builders[reflect.TypeOf(o)].call != nil }

// Measures returns calls of kernels that determine the symbols of a node: one call for each symbol that the node
// binds. These calls come before the node's own call. Measures returns no calls if the node binds no symbols, or if
// its own kernel determines them.
func Measures(n *ir.Node) ([]kernel.Call, error) {
	build := builders[reflect.TypeOf(n.Op)].measures
	if build == nil {
		return nil, nil
	}
	calls := build(node{n})
	for _, c := range calls {
		if c.Err != nil {
			return nil, c.Err
		}
	}
	return calls, nil
}

// Computes returns nil if a kernel computes the node without further lowering. Otherwise it returns
// an error with the reason.
func Computes(n *ir.Node) error {
	_, err := Of(n)
	return err
}

// Reads returns the operands that the node's kernel reads from memory. It does not return operands that are passed by
// value or as fields of a struct. If no kernel computes the node, it returns all operands.
func Reads(n *ir.Node) []*ir.Value {
	c, err := Of(n)
	if err != nil {
		return n.Args
	}
	var read []*ir.Value
	for _, a := range c.Args {
		if o, ok := a.(kernel.Operand); ok {
			read = append(read, o.Value)
		}
	}
	return read
}

type entry struct {
	op       reflect.Type
	call     func(n node) kernel.Call   // nil if no kernel computes the operator
	measures func(n node) []kernel.Call // nil if no kernel measures symbols for it
}

// computes returns the table entry of an operator that a kernel computes. The function `build` returns the call of
// the kernel.
func computes[O ir.Op](build func(o O, n node) kernel.Call) entry {
	return entry{op: reflect.TypeFor[O](), call: func(n node) kernel.Call { return build(n.Op.(O), n) }}
}

// measures returns the table entry of an operator that determines the values of symbols and computes nothing else.
// The function `build` returns a call for each symbol.
func measures[O ir.Op](build func(o O, n node) []kernel.Call) entry {
	return entry{op: reflect.TypeFor[O](), measures: func(n node) []kernel.Call { return build(n.Op.(O), n) }}
}

// measured returns the table entry of an operator whose result extents depend on the elements of its operands. Such
// extents are symbols of the node. The function `measure` returns a kernel call for each symbol, which determines
// the extent. The function `build` returns the call of the kernel that then computes the result.
func measured[O ir.Op](measure func(o O, n node) []kernel.Call, build func(o O, n node) kernel.Call) entry {
	e := computes(build)
	e.measures = measures(measure).measures
	return e
}

type node struct{ *ir.Node }

func (n node) in(i int) kernel.Memory {
	if v := n.Arg(i); v != nil {
		return kernel.Operand{Value: v}
	}
	return nil
}

func (n node) out(i int) kernel.Memory { return kernel.Result{Value: n.Results[i]} }

func (n node) shape(i int) []dim.Dim { return n.Args[i].Type.Shape }

// element returns the only element of operand i. If the operand is constant, element returns the element's value.
// Otherwise it returns an element that is read from memory.
func (n node) element(i int) kernel.Scalar {
	if t, ok := n.Args[i].ConstValue(); ok {
		return first(t)
	}
	return n.read(i)
}

func (n node) read(i int) kernel.Scalar { return kernel.Element{Value: n.Args[i]} }

// number returns x as a constant, rounded to the element type of the first operand. This type must be a float type.
func (n node) number(x float64) kernel.Number {
	d := n.Arg(0).Type.DType
	return kernel.Number{DType: d, Float: ir.RoundFloat(d, x)}
}

func first(t *ir.Tensor) kernel.Scalar {
	switch {
	case t.DType == ir.String:
		return kernel.Text(t.Text(0))
	case t.DType.IsFloat():
		return kernel.Number{DType: t.DType, Float: t.Float(0)}
	}
	return kernel.Number{DType: t.DType, Int: t.Int(0)}
}

// uniform returns the element of a constant that stores one element for all. ok is false for other
// values, and for strings.
func uniform(v *ir.Value) (s kernel.Scalar, ok bool) {
	t, ok := v.ConstValue()
	if !ok || t.Stored() != 1 || t.DType == ir.String {
		return nil, false
	}
	return first(t), true
}

// none returns a call without a kernel. Its Err says why no kernel computes the node without further lowering.
func none(format string, args ...any) kernel.Call {
	return kernel.Call{Err: fmt.Errorf(format, args...)}
}
