package op

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/runtime/rt"
)

const gradSuffix = "Grad"

// GradientType returns the type of functions that compute the gradients. The parameters are the
// operands, the results, and the gradients of the float results. The results are the gradients of
// the float operands. For an operator (f32[N,K], i64[N]) -> f32[N] it is (f32[N,K], i64[N], f32[N],
// f32[N]) -> f32[N,K].
func (op Custom) GradientType() (ir.Signature, error) {
	s, err := op.signature()
	if err != nil {
		return ir.Signature{}, err
	}
	return ir.Signature{Params: slices.Concat(s.Params, s.Results, floatTypes(s.Results)), Results: floatTypes(s.Params)}, nil
}

func floatTypes(types []ir.Type) []ir.Type {
	return slices.DeleteFunc(slices.Clone(types), func(t ir.Type) bool { return !t.DType.IsFloat() })
}

// Grad computes the gradients by the function that Gradient names. It copies the function's nodes into b, so that
// passes can optimize them. If Gradient is "", it appends a call of the Go function whose name is Func followed by
// "Grad". Both functions have the type [Custom.GradientType]. The attribute [rt.WantAttr] tells the Go function
// which gradients are needed, unless all are.
func (op Custom) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, want []bool) []*ir.Value {
	typ, err := op.GradientType()
	if err != nil {
		ir.FailWith(err)
	}
	args := slices.Concat(n.Args, n.Results)
	for i, r := range n.Results {
		switch {
		case !r.Type.DType.IsFloat():
		case dy[i] == nil:
			args = append(args, Full(b, r.Type, 0))
		default:
			args = append(args, dy[i])
		}
	}
	var computed []*ir.Value
	if op.Gradient != "" {
		computed = op.inlined(b, args)
	} else {
		computed = op.called(b, typ, args, want)
	}
	grads := make([]*ir.Value, len(n.Args))
	for i, a := range n.Args {
		if a.Type.DType.IsFloat() {
			grads[i], computed = computed[0], computed[1:]
		}
	}
	return grads
}

func (op Custom) called(b *ir.Builder, typ ir.Signature, args []*ir.Value, want []bool) []*ir.Value {
	var mask []int64
	for i, w := range want {
		switch {
		case !args[i].Type.DType.IsFloat():
		case w:
			mask = append(mask, 1)
		default:
			mask = append(mask, 0)
		}
	}
	attrs := op.Attrs
	if slices.Contains(mask, 0) {
		attrs = append(slices.Clip(attrs), ir.Attribute{Name: rt.WantAttr, Value: ir.IntTensor(ir.I64, mask...)})
	}
	back := Custom{Name: op.Name + gradSuffix, Func: op.Func + gradSuffix, Type: typ.String(), Attrs: attrs}
	if op.local != nil {
		back = back.With(Local{Call: op.local.Grad})
	}
	return b.Nodes(back, args...)
}

func (op Custom) inlined(b *ir.Builder, args []*ir.Value) []*ir.Value {
	if op.local == nil || op.local.Gradient == nil {
		ir.Fail("custom operator %s: the function @%s is not linked", op.Name, op.Gradient)
	}
	f := op.local.Gradient.Clone()
	bound := map[string]dim.Dim{}
	for i, p := range f.Params {
		args[i] = b.Now(args[i])
		for k, d := range p.Type.Shape {
			if _, known := bound[d.String()]; !known && slices.Contains(d.Symbols(), d.String()) {
				bound[d.String()] = args[i].Type.Shape[k]
			}
		}
	}
	f.Subst(bound)
	return b.Inline(&f.Block, args, "")
}

// Link returns the operator with the function that Gradient names. The argument `find` returns a function of the
// module by its name, or nil. Link returns an error if `find` returns nil. It also returns an error if the function
// does not have the type [Custom.GradientType], or has symbols that its parameters do not bind.
func (op Custom) Link(find func(name string) *ir.Func) (ir.Op, error) {
	if op.Gradient == "" {
		return op, nil
	}
	f := find(op.Gradient)
	if f == nil {
		return nil, fmt.Errorf("no function @%s", op.Gradient)
	}
	want, err := op.GradientType()
	if err != nil {
		return nil, err
	}
	if got := signatureOf(f); got.String() != want.String() {
		return nil, fmt.Errorf("the gradient @%s is %s, not %s", f.Name, got, want)
	}
	if len(f.Scope) > 0 || len(f.BoundSymbols()) > 0 {
		return nil, fmt.Errorf("the gradient @%s has extents that are known only when the model runs", f.Name)
	}
	l := op.Local()
	l.Gradient = f
	return op.With(l), nil
}

func signatureOf(f *ir.Func) ir.Signature {
	s := ir.Signature{}
	for _, p := range f.Params {
		s.Params = append(s.Params, p.Type)
	}
	for _, r := range f.Results {
		s.Results = append(s.Results, r.Type)
	}
	return s
}
