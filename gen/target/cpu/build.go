package cpu

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/gen/target/cpu/call"
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// Build implements [program.Target]. It adds the kernel calls or the loop that compute a node. It
// returns an error if no kernel computes the node.
func (Target) Build(to *program.Builder, n *ir.Node) error {
	b := &builder{to}
	if err := b.bind(n); err != nil {
		return err
	}
	return b.compute(n)
}

type builder struct{ *program.Builder }

// bind adds the step that gives a node's symbols their values. The step comes before the node is computed. It adds
// nothing if the node has no symbols, or if its own kernel determines them. It returns an error if the kernels that
// determine the symbols do not support the operands.
func (b *builder) bind(n *ir.Node) error {
	o, ok := n.Op.(ir.Binder)
	if !ok {
		return nil
	}
	calls, err := call.Measures(n)
	if err != nil || len(calls) == 0 {
		return err
	}
	step := &program.Bind{Node: n, Symbols: o.Binds()}
	for _, c := range calls {
		s, err := b.call(n, c)
		if err != nil {
			return err
		}
		step.Measures = append(step.Measures, s)
	}
	b.Add(step)
	return nil
}

// compute adds the step that computes a node's results. It adds nothing if the node binds symbols and has no results.
// It returns an error if no kernel computes the node.
func (b *builder) compute(n *ir.Node) error {
	switch o := n.Op.(type) {
	case ir.Binder:
		if len(n.Results) == 0 {
			return nil
		}
	case ir.Extents:
		s, err := b.call(n, kernel.Elements(kernel.Result{Value: n.Results[0]}, o.Elems...))
		b.Add(s)
		return err
	case op.Pointwise:
		return b.loop(n)
	case op.Elementwise:
		for _, a := range n.Args {
			if a != nil && !slices.EqualFunc(a.Type.Shape, n.Results[0].Type.Shape, dim.Dim.Equal) {
				return fmt.Errorf("no kernel broadcasts %s", a.Type)
			}
		}
	}
	c, err := call.Of(n)
	if err != nil {
		return err
	}
	s, err := b.call(n, c)
	b.Add(s)
	return err
}

// call returns the step for c, a kernel call of n. The step refers to the memory that the kernel reads and writes.
// call returns c.Err if that is not nil, and an error if an argument cannot be passed.
func (b *builder) call(n *ir.Node, c kernel.Call) (*Call, error) {
	s := &Call{Node: n, Kernel: c.Kernel, Instance: c.Instance}
	for _, a := range c.Args {
		v, err := b.arg(a)
		if err != nil {
			return nil, err
		}
		s.Args = append(s.Args, v)
	}
	return s, c.Err
}

func (b *builder) arg(a any) (any, error) {
	switch a := a.(type) {
	case kernel.Result:
		if !a.Value.Type.IsTensor() {
			return Pointer{b.Write(a.Value)}, nil
		}
		return b.Write(a.Value), nil
	case kernel.Operand:
		return b.Read(a.Value), nil
	case kernel.Element:
		return Scalar{b.Read(a.Value)}, nil
	case kernel.Scratch:
		return b.Scratch(ir.TensorOf(a.DType, a.Len)), nil
	case *kernel.Composite:
		s := &Struct{Type: a.Type, Ctx: a.Ctx}
		for _, f := range a.Fields {
			v, err := b.arg(f.Value)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.Name, err)
			}
			s.Fields = append(s.Fields, kernel.Field{Name: f.Name, Type: f.Type, Value: v})
		}
		return s, nil
	case *ir.Block:
		return newChain(a)
	case []kernel.Memory:
		list := make([]any, len(a))
		for i, m := range a {
			var err error
			if list[i], err = b.arg(m); err != nil {
				return nil, err
			}
		}
		return list, nil
	case kernel.Text:
		return string(a), nil
	case dim.Dim, []dim.Dim, kernel.Context, kernel.Number, kernel.Constant, bool, string, nil:
		return a, nil
	}
	return nil, fmt.Errorf("a kernel argument cannot be a %T", a)
}
