package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// DepthwisePlanar is a convolution over one or two spatial axes in which each of C output
// channels has one input channel, its own: of planar f32[N,C,spatial…] with weights
// f32[C,KH,KW], and an [Epilogue] whose bias is padded to a multiple of 16. The result is
// planar. The windows are small enough for the kernel: see [FitsPlanar].
type DepthwisePlanar struct {
	Window
	C int
	Epilogue
}

// What cpu.DepthwisePlanar copies rows to; see cpu.FitsPlanar.
const (
	roomLen  = 6 << 10
	roomTaps = 128
)

// FitsPlanar reports whether cpu.DepthwisePlanar can compute windows over one or two axes.
func FitsPlanar(w Window) bool {
	axes := len(w.Kernel)
	kh, kw := w.plane()
	if kh*kw > roomTaps {
		return false
	}
	stride, reach, depth := w.stride(axes-1), (kw-1)*w.dilation(axes-1), 1
	if axes > 1 {
		depth += (kh - 1) * w.dilation(0)
	}
	return roomLen/depth/stride-reach/stride-1 >= block
}

// Infer is InferBlocks without a region.
func (op DepthwisePlanar) Infer(in []ir.Type) ([]ir.Type, error) { return op.InferBlocks(in, nil) }

// Eval is EvalBlocks without a region.
func (op DepthwisePlanar) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return op.EvalBlocks(in, nil, nil)
}

// InferBlocks computes the spatial extents.
func (op DepthwisePlanar) InferBlocks(in []ir.Type, blocks []*ir.Block) ([]ir.Type, error) {
	if err := operands(in, 2, -1); err != nil {
		return nil, err
	}
	x, w := in[0], in[1]
	spatial, err := op.over(x)
	if err != nil {
		return nil, err
	}
	channels := ir.Const(op.C)
	if op.C < 1 || x.DType != ir.F32 || x.Rank() != 2+len(op.Kernel) || !x.Shape[1].Equal(channels) {
		return nil, fmt.Errorf("%s for %d channels", x, op.C)
	}
	kh, kw := op.plane()
	if !w.Equal(ir.TensorOf(ir.F32, channels, ir.Const(kh), ir.Const(kw))) || !FitsPlanar(op.Window) {
		return nil, fmt.Errorf("weights %s for a kernel %v", w, op.Kernel)
	}
	y := ir.TensorOf(ir.F32, append([]ir.Dim{x.Shape[0], channels}, spatial...)...)
	return []ir.Type{y}, op.Epilogue.check(in, blocks, channels.CeilDiv(ir.Const(block)).Mul(ir.Const(block)), y)
}

// EvalBlocks sums in float64.
func (op DepthwisePlanar) EvalBlocks(in []*ir.Tensor, blocks []*ir.Block, _ func(*ir.Block, []*ir.Tensor) ([]*ir.Tensor, error)) ([]*ir.Tensor, error) {
	out, shape, err := evalTypes(op, in, blocks)
	if err != nil {
		return nil, err
	}
	x, w := numbersOf(in[0]), numbersOf(in[1])
	inPlane, outPlane, kernel := lenOf(in[0].Shape[2:]), lenOf(shape[2:]), lenOf(op.Kernel)
	sums := make([]float64, out.Len())
	err = op.visit(in[0].Shape[2:], func(o int, c cells) {
		for i := range shape[0] * op.C {
			sums[i*outPlane+o] = dot(cellsOf(x[i*inPlane:], c.at), w[i%op.C*kernel:][:kernel], c.tap, kernel)
		}
	})
	if err != nil {
		return nil, err
	}
	y, err := op.Epilogue.eval(sums, shape, in, blocks, func(i int) int { return i / outPlane % op.C })
	return []*ir.Tensor{y}, err
}

// cellsOf returns the elements of a plane that a window sees.
func cellsOf(plane []float64, at []int) []float64 {
	seen := make([]float64, len(at))
	for i, p := range at {
		seen[i] = plane[p]
	}
	return seen
}

// Overwrites lists the residual.
func (DepthwisePlanar) Overwrites() []int { return []int{residualArg} }

// Flops counts two operations for each product.
func (DepthwisePlanar) Flops(in, out []ir.Type) ir.Dim {
	return out[0].Elems().Mul(ir.Product(in[1].Shape[1:]...)).Mul(ir.Const(2))
}

// Call is cpu.DepthwisePlanar.
func (op DepthwisePlanar) Call(n *ir.Node) (ir.Call, error) {
	shape := op.convShape(n, packing{op.C, op.C, op.C, 1})
	return ir.Call{Kernel: "DepthwisePlanar", Args: []any{ir.Out(0), ir.In(0), ir.In(1), shape, op.call(n)}}, nil
}
