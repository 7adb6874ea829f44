package nn

import (
	"go/token"
	"net/url"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/runtime/rt"
)

// CustomOption is an option of [Custom]: [Attr], [GradientFunc], [Gradient].
type CustomOption interface{ custom(*customOptions) }

type customOptions struct {
	attrs    []ir.Attribute
	grad     func(*rt.Call) error
	gradient func(operands, results, gradients []Value) []Value
}

// AttrValue is the type of an attribute: an integer, a float, a string, or a list of them. Floats are rounded to
// float32.
type AttrValue interface {
	int | int64 | float64 | float32 | string | []int64 | []float32 | []string
}

type (
	attrOption         ir.Attribute
	gradientFuncOption func(*rt.Call) error
	gradientOption     func(operands, results, gradients []Value) []Value
)

// Attr is an option of [Custom]. It passes an attribute to the Go function of the operator. The function reads the
// attribute with c.Attrs.Int, Float, Text, Ints, Floats or Texts. Two attributes must not have the same name.
func Attr[T AttrValue](name string, value T) attrOption {
	return attrOption{Name: name, Value: attrTensor(value)}
}

func attrTensor(value any) *ir.Tensor {
	switch v := value.(type) {
	case int:
		return ir.IntTensor(ir.I64, int64(v)).Reshape()
	case int64:
		return ir.IntTensor(ir.I64, v).Reshape()
	case float64:
		return ir.Scalar(ir.F32, v)
	case float32:
		return ir.Scalar(ir.F32, float64(v))
	case string:
		return texts(v).Reshape()
	case []int64:
		return ir.IntTensor(ir.I64, v...)
	case []float32:
		t := ir.NewTensor(ir.F32, len(v))
		for i, x := range v {
			t.SetFloat(i, float64(x))
		}
		return t
	default:
		return texts(v.([]string)...)
	}
}

func texts(list ...string) *ir.Tensor {
	t := ir.NewTensor(ir.String, len(list))
	for i, text := range list {
		t.SetText(i, text)
	}
	return t
}

// GradientFunc tells [Grad] which Go function computes the gradients of a [Custom] operator whose operands have
// data. If the function of the operator is called F, g must be the function FGrad of the same package. Generated
// code calls FGrad even without GradientFunc, unless [Gradient] is given.
func GradientFunc(g func(*rt.Call) error) gradientFuncOption { return g }

// Gradient computes the gradients of [Custom] by operators, which f describes. The compiler treats these operators
// like all others: it fuses them, computes only the gradients that are needed, and runs them on devices.
//
// gradients[i] is the gradient of results[i], or the zero Value if the result is not a float. f returns one
// gradient for each operand, of the operand's type. The zero Value is a gradient of zeros; f also returns it for
// operands that are not floats. f is recorded once, on values of the declared type. It must not use other values or
// parameters, draw random numbers, or make extents that are known only when the model runs.
func Gradient(f func(operands, results, gradients []Value) []Value) gradientOption { return f }

func (o attrOption) custom(c *customOptions) {
	named := func(a ir.Attribute) bool { return a.Name == o.Name }
	switch {
	case o.Name == "" || o.Name == rt.WantAttr:
		fail("%q cannot be the name of an attribute", o.Name)
	case slices.ContainsFunc(c.attrs, named):
		fail("attribute %q is given twice", o.Name)
	}
	c.attrs = append(c.attrs, ir.Attribute(o))
}

func (o gradientFuncOption) custom(c *customOptions) { c.grad = o }
func (o gradientOption) custom(c *customOptions)     { c.gradient = o }

// Custom applies an operator that the Go function f computes, and returns its results. Generated code calls f by
// its name. So f must be an exported function of a package other than main, and not a closure or a method.
//
// typ is the declared type, such as "(f32[N,4], f32[N]) -> i64[K]". The extents of the operands determine the
// symbols, such as N. If a symbol is only in results, as K is, f decides its value with [rt.Arg.Resize]. If all
// operands have data, f is called when the results are read, or at once if it decides extents. While a method is
// recorded, a new symbol stands for each extent that f decides.
//
// By default, the function with the name of f and the suffix "Grad" computes the gradients. See [GradientFunc] and
// [Gradient]. Custom panics with an [*Error] if an argument does not fit.
func Custom(f func(*rt.Call) error, typ string, operands []Value, options ...CustomOption) []Value {
	var o customOptions
	for _, option := range options {
		option.custom(&o)
	}
	name := functionName(f)
	c, err := op.NewCustom(name, typ, o.attrs, func(hint string) string { return symbol(hint + "_") })
	if err != nil {
		fail("%v", err)
	}
	for i, v := range operands {
		if !v.Valid() {
			fail("operand %d is the zero nn.Value", i)
		}
	}
	local := op.Local{Call: f, Grad: o.grad}
	switch {
	case o.grad != nil && o.gradient != nil:
		fail("GradientFunc and Gradient exclude each other")
	case o.grad != nil:
		if g := functionName(o.grad); g != name+"Grad" {
			fail("the function of the gradients is %s, not %sGrad", g, name)
		}
	case o.gradient != nil:
		local.Gradient = recordGradient(c, o.gradient)
		c.Gradient = local.Gradient.Name
	}
	return applyCustom(c.With(local), operands)
}

// applyCustom applies c. It calls c's function at once if the function decides extents, all operands have data, and
// no method is recorded. Then the extents of the results are numbers.
func applyCustom(c op.Custom, operands []Value) []Value {
	values := many(c, operands...)
	open := func(v Value) bool { return !v.HasData() }
	if len(c.Extents) == 0 || session.recording || slices.ContainsFunc(operands, open) {
		return values
	}
	tensors := make([]*ir.Tensor, len(operands))
	for i, v := range operands {
		tensors[i] = v.tensor()
	}
	out, err := c.Eval(tensors)
	if err != nil {
		failOp(c, err)
	}
	types := make([]ir.Type, len(out))
	for i, t := range out {
		types[i] = t.Type()
	}
	if c, err = c.Decided(types); err != nil {
		failOp(c, err)
	}
	values = many(c, operands...)
	values[0].n.data = out
	return values
}

// functionName returns the name by which generated code calls f, "example.com/ops.NMS".
func functionName(f func(*rt.Call) error) string {
	if f == nil {
		fail("the function is nil")
	}
	full := runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name()
	start := strings.LastIndexByte(full, '/') + 1
	element, name, _ := strings.Cut(full[start:], ".") // dots of the path's last element are escaped
	path, err := url.PathUnescape(full[:start] + element)
	if err != nil || path == "main" || !token.IsIdentifier(name) || !token.IsExported(name) {
		fail("%s: generated code calls the function by its name, so it has to be an exported function of a package other than main, not a closure or a method", full)
	}
	return path + "." + name
}
