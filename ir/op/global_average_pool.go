package op

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// GlobalAveragePool is the mean over all spatial axes of x, [N,C,spatial…], for floats (ONNX
// GlobalAveragePool). The result is [N,C,1…].
type GlobalAveragePool struct {
	// Blocked says that x is channel-blocked, f32[N,⌈C/16⌉,spatial…,16].
	Blocked bool
}

// Infer returns x's type with spatial extents of 1.
func (op GlobalAveragePool) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	if err := checkDomain(in, floats{}); err != nil {
		return nil, err
	}
	x := in[0]
	end, err := SpatialEnd(x, op.Blocked)
	if err != nil {
		return nil, err
	}
	shape := append([]dim.Dim{}, x.Shape...)
	for i := 2; i < end; i++ {
		shape[i] = dim.Const(1)
	}
	return []ir.Type{ir.TensorOf(x.DType, shape...)}, nil
}

// Eval returns the mean of each channel of each image, summed in float64. Without spatial elements
// the mean is NaN.
func (op GlobalAveragePool) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	out, err := op.Infer([]ir.Type{x.Type()})
	if err != nil {
		return nil, err
	}
	end, _ := SpatialEnd(x.Type(), op.Blocked)
	shape, _ := out[0].Static()
	y := ir.NewTensor(x.DType, shape...)
	plane, lanes := LenOf(x.Shape[2:end]), LenOf(x.Shape[end:])
	for i := range y.Len() {
		sum := 0.0
		for at := range plane {
			sum += x.Float((i/lanes*plane+at)*lanes + i%lanes)
		}
		y.SetFloat(i, sum/float64(plane))
	}
	return []*ir.Tensor{y}, nil
}

// Grad returns dy divided by the number of spatial elements of a channel. Each spatial element gets this quotient.
func (GlobalAveragePool) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	c, x := calculus{b}, n.Arg(0)
	g := c.div(dy[0], c.extent(x, dim.Product(x.Type.Shape[2:]...)))
	return []*ir.Value{ExpandTo(b, g, x.Type.Shape...)}
}

// Flops counts an addition for each element of the operand.
func (GlobalAveragePool) Flops(in, _ []ir.Type) dim.Dim { return in[0].Elems() }

// Lower computes floats of at most 16 bits in f32. It replaces a pool of f64 by a [Reduce]. If there are no spatial
// axes, it returns x.
func (op GlobalAveragePool) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	x := n.Arg(0)
	switch {
	case x.Type.Rank() == 2:
		return []*ir.Value{x}
	case x.Type.DType == ir.F64:
		return []*ir.Value{b.Node(Reduce{Kind: ReduceMean, Axes: SpatialAxes(x.Type), KeepDims: true}, x)}
	}
	return nil
}

// SpatialAxes returns the axes of [N,C,spatial…] after the channels.
func SpatialAxes(t ir.Type) []int { return AllAxes(t.Rank())[2:] }

func importGlobalAveragePool(c ir.Importer) ([]*ir.Value, error) {
	return []*ir.Value{c.Builder().Node(GlobalAveragePool{}, c.Arg(0))}, nil
}
