package storage

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// WinogradBlocked is a 3×3 convolution with stride 1 of x, channel-blocked f32[N,⌈InC/16⌉,H,W,16],
// by the Winograd algorithm, with weights transformed by [PackWinograd] and an [op.Epilogue]. Pads
// are the zero cells above, left, below and right of x. The result is channel-blocked. Its lanes
// beyond OutC are zero if these lanes of the residual are zero.
type WinogradBlocked struct {
	Tile             int
	Pads             []dim.Dim
	InC, OutC, Group int
	op.Epilogue
}

// Infer is InferBlocks without a fused region.
func (o WinogradBlocked) Infer(in []ir.Type) ([]ir.Type, error) { return o.InferBlocks(in, nil) }

// Eval is EvalBlocks without a fused region.
func (o WinogradBlocked) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return o.EvalBlocks(in, nil, nil)
}

// Filtering returns the parameters of the weights' transform: channels, groups and tile.
func (o WinogradBlocked) Filtering() Filtering {
	return Filtering{o.InC, o.OutC, o.Group, o.Tile}
}

// InferBlocks returns f32[N,⌈OutC/16⌉,H,W,16], where H and W are the numbers of windows.
func (o WinogradBlocked) InferBlocks(in []ir.Type, blocks []*ir.Block) ([]ir.Type, error) {
	if err := op.CheckOperands(in, 2, -1); err != nil {
		return nil, err
	}
	f, x := o.Filtering(), in[0]
	if err := f.check(); err != nil {
		return nil, err
	}
	end, err := op.SpatialEnd(x, true)
	if err != nil {
		return nil, err
	}
	if end != 4 || !x.Shape[1].Equal(dim.Const(f.inBlocks())) || len(o.Pads) != 4 {
		return nil, fmt.Errorf("%s for %d channels and pads %v", x, o.InC, o.Pads)
	}
	if !in[1].Equal(f.packed()) {
		return nil, fmt.Errorf("transformed weights %s, %s expected", in[1], f.packed())
	}
	spatial, err := padded(x.Shape[2:end], o.Pads)
	if err != nil {
		return nil, err
	}
	if spatial, err = (op.Window{Kernel: []int{3, 3}}).Places(spatial); err != nil {
		return nil, err
	}
	y := op.BlockedType(x.Shape[0], dim.Const(o.OutC), spatial)
	return []ir.Type{y}, o.Check(in, blocks, dim.Const(f.outBlocks()*block), y)
}

// EvalBlocks transforms tiles of x, multiplies them by the weights and transforms the sums back, in
// float64. It then computes the epilogue.
func (o WinogradBlocked) EvalBlocks(in []*ir.Tensor, blocks []*ir.Block, _ func(*ir.Block, []*ir.Tensor) ([]*ir.Tensor, error)) ([]*ir.Tensor, error) {
	out, shape, err := op.EvalTypes(o, in, blocks)
	if err != nil {
		return nil, err
	}
	pads, ok := dim.Ints(o.Pads)
	if !ok {
		return nil, fmt.Errorf("pads %v have no value", o.Pads)
	}
	f, x, w := o.Filtering(), op.NumbersOf(in[0]), op.NumbersOf(in[1])
	h, wide, n := in[0].Shape[2], in[0].Shape[3], o.Tile+2
	width, points := f.width(), f.points()
	sums := make([]float64, out.Len())
	factors, products := make([]float64, points*block*width), make([]float64, points)
	tile := make([]float64, points)
	for image := range shape[0] {
		for to := range f.outBlocks() {
			first := to * block / (o.OutC / o.Group) * width
			for y := 0; y < shape[2]; y += o.Tile {
				for z := 0; z < shape[3]; z += o.Tile {
					for c := range block * width {
						plane := (image*f.inBlocks() + first + c/block) * h
						for i := range tile {
							tile[i] = 0
							if r, s := y+i/n-pads[0], z+i%n-pads[1]; r >= 0 && r < h && s >= 0 && s < wide {
								tile[i] = x[((plane+r)*wide+s)*block+c%block]
							}
						}
						copy(factors[c*points:], twice(tile, n, spreadPoints))
					}
					for lane := range block {
						clear(products)
						for p := range products {
							for c := range block * width {
								products[p] += float64(factors[c*points+p] * w[((p*f.outBlocks()+to)*width*block+c)*block+lane])
							}
						}
						for i, v := range twice(products, n, gatherPoints) {
							if r, s := y+i/o.Tile, z+i%o.Tile; r < shape[2] && s < shape[3] {
								sums[(((image*f.outBlocks()+to)*shape[2]+r)*shape[3]+s)*block+lane] = v
							}
						}
					}
				}
			}
		}
	}
	return evalBlockedSums(o.Epilogue, sums, shape, o.OutC, in, blocks)
}

// twice applies the function `transform` to the columns of a square of n rows, and then to the rows of the result.
func twice(square []float64, n int, transform func([]float64) []float64) []float64 {
	var columns [][]float64
	for x := range n {
		column := make([]float64, n)
		for y := range column {
			column[y] = square[y*n+x]
		}
		columns = append(columns, transform(column))
	}
	var out []float64
	for y := range columns[0] {
		row := make([]float64, n)
		for x := range row {
			row[x] = columns[x][y]
		}
		out = append(out, transform(row)...)
	}
	return out
}

// spreadPoints returns Bᵀ·d for F(tile,3), where d has tile+2 elements.
func spreadPoints(d []float64) []float64 {
	if len(d) == 4 {
		return []float64{d[0] - d[2], d[1] + d[2], d[2] - d[1], d[1] - d[3]}
	}
	even, odd := d[4]-float64(4*d[2]), d[3]-float64(4*d[1])
	even2, odd2 := d[4]-d[2], float64(2*(d[3]-d[1]))
	return []float64{
		d[4] - float64(5*d[2]) + float64(4*d[0]),
		even + odd, even - odd, even2 + odd2, even2 - odd2,
		d[5] - float64(5*d[3]) + float64(4*d[1]),
	}
}

// gatherPoints returns Aᵀ·m for F(tile,3), where m has tile+2 elements.
func gatherPoints(m []float64) []float64 {
	sum, difference := m[1]+m[2], m[1]-m[2]
	if len(m) == 4 {
		return []float64{m[0] + sum, difference - m[3]}
	}
	sum2, difference2 := m[3]+m[4], m[3]-m[4]
	return []float64{
		m[0] + sum + sum2,
		difference + float64(2*difference2),
		sum + float64(4*sum2),
		m[5] + difference + float64(8*difference2),
	}
}

// Overwrites implements [ir.Overwriter]: the result may reuse the memory of the residual.
func (WinogradBlocked) Overwrites() []int { return []int{op.ResidualArg} }

// Flops counts two operations for each product of the direct convolution. The Winograd algorithm performs fewer.
func (o WinogradBlocked) Flops(in, out []ir.Type) dim.Dim {
	return out[0].Elems().Mul(dim.Const(2 * 9 * block * o.Filtering().width()))
}

// WithEnding implements [op.EpilogueHost]: it returns the operator with epilogue e.
func (o WinogradBlocked) WithEnding(e op.Epilogue) ir.Op {
	o.Epilogue = e
	return o
}

// Bias implements [op.EpilogueHost]. It returns v as a vector with an element for each lane of the blocks. It returns
// nil unless v has one number for each channel and is known to be zero in the lanes beyond the channels.
func (o WinogradBlocked) Bias(b *ir.Builder, n *ir.Node, v *ir.Value) *ir.Value {
	return blockedBias(b, n.Results[0].Type, o.OutC, v)
}

// EmptyLanes returns a list of one number, zero: the lanes beyond the last channel hold zero if the node has no
// residual. Nodes get a residual only after the pass that asks for their lanes.
func (WinogradBlocked) EmptyLanes(*ir.Node) []float64 { return []float64{0} }
