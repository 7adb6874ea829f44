package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// GlobalAveragePool is the mean over all spatial axes of x, [N,C,spatial…], of
// floats, as [N,C,1…] (ONNX GlobalAveragePool).
type GlobalAveragePool struct {
	// Blocked is set where x is channel-blocked, f32[N,⌈C/16⌉,spatial…,16].
	Blocked bool
}

// Infer makes the spatial extents 1.
func (op GlobalAveragePool) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
		return nil, err
	}
	if err := checkDomain(in, floats{}); err != nil {
		return nil, err
	}
	x := in[0]
	end, err := spatialEnd(x, op.Blocked)
	if err != nil {
		return nil, err
	}
	shape := append([]ir.Dim{}, x.Shape...)
	for i := 2; i < end; i++ {
		shape[i] = ir.Const(1)
	}
	return []ir.Type{ir.TensorOf(x.DType, shape...)}, nil
}

// Eval sums in float64; the mean of nothing is NaN.
func (op GlobalAveragePool) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	out, err := op.Infer([]ir.Type{x.Type()})
	if err != nil {
		return nil, err
	}
	end, _ := spatialEnd(x.Type(), op.Blocked)
	shape, _ := out[0].Static()
	y := ir.NewTensor(x.DType, shape...)
	plane, lanes := lenOf(x.Shape[2:end]), lenOf(x.Shape[end:])
	for i := range y.Len() {
		sum := 0.0
		for at := range plane {
			sum += x.Float((i/lanes*plane+at)*lanes + i%lanes)
		}
		y.SetFloat(i, sum/float64(plane))
	}
	return []*ir.Tensor{y}, nil
}

// Grad shares the result's among all cells.
func (GlobalAveragePool) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	c, x := calculus{b}, n.Arg(0)
	g := c.div(of[0], c.extent(x, ir.Product(x.Type.Shape[2:]...)))
	return []*ir.Value{expand(b, g, x.Type.Shape...)}
}

// Flops counts an addition for each element of the operand.
func (GlobalAveragePool) Flops(in, _ []ir.Type) ir.Dim { return in[0].Elems() }

// Lower computes narrow floats in f32, and f64 by a [Reduce].
func (op GlobalAveragePool) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	x := n.Arg(0)
	switch {
	case x.Type.Rank() == 2:
		return []*ir.Value{x}
	case x.Type.DType == ir.F64:
		return []*ir.Value{b.Node(Reduce{Kind: ReduceMean, Axes: spatialAxes(x.Type), KeepDims: true}, x)}
	}
	return nil
}

// spatialAxes returns the axes of [N,C,spatial…] after the channels.
func spatialAxes(t ir.Type) []int { return allAxes(t.Rank())[2:] }

// Relayout averages a blocked operand.
func (op GlobalAveragePool) Relayout(b *ir.Builder, n *ir.Node, l Layouts) *ir.Value {
	x := l.Blocked(n.Arg(0))
	if x == nil || !l.ZeroLanes(n.Arg(0)) {
		return nil
	}
	return b.Node(GlobalAveragePool{Blocked: true}, x)
}

// Call is cpu.GlobalAveragePool.
func (op GlobalAveragePool) Call(n *ir.Node) (ir.Call, error) {
	x := n.Arg(0).Type
	end, err := spatialEnd(x, op.Blocked)
	if err != nil || x.DType != ir.F32 {
		return ir.Call{}, fmt.Errorf("no kernel averages %s", x)
	}
	lanes := 1
	if op.Blocked {
		lanes = block
	}
	return ir.Call{Kernel: "GlobalAveragePool", Args: []any{
		ir.Out(0), ir.In(0), x.Shape[0], x.Shape[1], ir.Product(x.Shape[2:end]...), lanes,
	}}, nil
}

// importGlobalAveragePool reads GlobalAveragePool.
func importGlobalAveragePool(c ir.Importer) ([]*ir.Value, error) {
	return []*ir.Value{c.Builder().Node(GlobalAveragePool{}, c.Arg(0))}, nil
}

// EmptyLanes are zero.
func (GlobalAveragePool) EmptyLanes(*ir.Node) []float64 { return []float64{0} }
