package launch

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/kernel/elementary"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

var quantize = []entry{
	computes(dequantizeLinear),
	computes(quantizeLinear),
}

func quantizeLinear(o op.QuantizeLinear, n *ir.Node) ([]kernels.Launch, error) {
	x, scale, zero, y := n.Args[0], n.Args[1], n.Arg(2), n.Results[0]
	if x.Type.DType != ir.F32 || scale.Type.DType != ir.F32 || !o.To.IsInt() || o.Precision != ir.F32 {
		return nil, fmt.Errorf("no kernel quantises %s by %s in %s to %s", x.Type, scale.Type, o.Precision, o.To)
	}
	return scaled("quantize", o.Granularity, n, func(e *kernels.Emitter, i, shared *kernel.Value) {
		q := elementary.Quotient(e.Builder, e.Read(x).Get(i), e.Read(scale).Get(shared))
		e.Write(y).Set(i, op.Quantized(e.Builder, o.To, q, zeroAt(e, zero, shared)))
	})
}

func dequantizeLinear(o op.DequantizeLinear, n *ir.Node) ([]kernels.Launch, error) {
	x, scale, zero, y := n.Args[0], n.Args[1], n.Arg(2), n.Results[0]
	if !x.Type.DType.IsInt() || scale.Type.DType != ir.F32 || o.To != ir.F32 {
		return nil, fmt.Errorf("no kernel dequantises %s by %s to %s", x.Type, scale.Type, o.To)
	}
	return scaled("dequantize", o.Granularity, n, func(e *kernels.Emitter, i, shared *kernel.Value) {
		e.Write(y).Set(i, op.Dequantized(e.Builder, e.Read(x).Get(i), zeroAt(e, zero, shared), e.Read(scale).Get(shared)))
	})
}

// scaled returns the launch of a kernel that quantises or dequantises, with a thread for each element. The function
// `element` computes element i. Its argument `shared` is the index of the scale of this element.
func scaled(name string, g op.Granularity, n *ir.Node, element func(e *kernels.Emitter, i, shared *kernel.Value)) ([]kernels.Launch, error) {
	x, scale := n.Args[0].Type, n.Args[1].Type
	whole := []dim.Dim{dim.Const(1), dim.Const(1), x.Elems()}
	if !op.HasOneElement(scale) {
		whole = []dim.Dim{dim.Product(x.Shape[:g.Axis]...), x.Shape[g.Axis], dim.Product(x.Shape[g.Axis+1:]...)}
	}
	return one(kernels.Map(name, whole, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		shared := at[1]
		if g.Block > 0 && !op.HasOneElement(scale) {
			block := dim.Const(g.Block)
			run := e.Add(e.Mul(at[0], e.Dim(whole[1].CeilDiv(block))), e.Div(at[1], e.Dim(block)))
			shared = e.Add(e.Mul(run, e.Dim(whole[2])), at[2])
		}
		element(e, i, shared)
	}))
}

func zeroAt(e *kernels.Emitter, zero *ir.Value, i *kernel.Value) *kernel.Value {
	if zero == nil {
		return e.Int(0)
	}
	return e.Read(zero).Get(i)
}
