package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/cost"
)

// WinogradBlocked is a convolution of kernel 3×3 and stride 1 of x, channel-blocked
// f32[N,⌈InC/16⌉,H,W,16], with weights that [PackWinograd] has transformed, and an
// [Epilogue]. Pads are the cells of zeros above, left, below and right of x. The result is
// channel-blocked, its lanes beyond OutC zero where those of the residual are.
type WinogradBlocked struct {
	Tile             int
	Pads             []ir.Dim
	InC, OutC, Group int
	Epilogue
}

// Infer is InferBlocks without a region.
func (op WinogradBlocked) Infer(in []ir.Type) ([]ir.Type, error) { return op.InferBlocks(in, nil) }

// Eval is EvalBlocks without a region.
func (op WinogradBlocked) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return op.EvalBlocks(in, nil, nil)
}

func (op WinogradBlocked) filtering() filtering {
	return filtering{op.InC, op.OutC, op.Group, op.Tile}
}

// InferBlocks computes the spatial extents.
func (op WinogradBlocked) InferBlocks(in []ir.Type, blocks []*ir.Block) ([]ir.Type, error) {
	if err := operands(in, 2, -1); err != nil {
		return nil, err
	}
	f, x := op.filtering(), in[0]
	if err := f.check(); err != nil {
		return nil, err
	}
	end, err := spatialEnd(x, true)
	if err != nil {
		return nil, err
	}
	if end != 4 || !x.Shape[1].Equal(ir.Const(f.inBlocks())) || len(op.Pads) != 4 {
		return nil, fmt.Errorf("%s for %d channels and pads %v", x, op.InC, op.Pads)
	}
	if !in[1].Equal(f.packed()) {
		return nil, fmt.Errorf("transformed weights %s, %s expected", in[1], f.packed())
	}
	spatial, err := padded(x.Shape[2:end], op.Pads)
	if err != nil {
		return nil, err
	}
	if spatial, err = (Window{Kernel: []int{3, 3}}).shape(spatial); err != nil {
		return nil, err
	}
	y := blockedType(x.Shape[0], ir.Const(op.OutC), spatial)
	return []ir.Type{y}, op.check(in, blocks, ir.Const(f.outBlocks()*block), y)
}

// EvalBlocks transforms tiles, multiplies, and transforms back in float64.
func (op WinogradBlocked) EvalBlocks(in []*ir.Tensor, blocks []*ir.Block, _ func(*ir.Block, []*ir.Tensor) ([]*ir.Tensor, error)) ([]*ir.Tensor, error) {
	out, shape, err := evalTypes(op, in, blocks)
	if err != nil {
		return nil, err
	}
	pads, ok := ir.Ints(op.Pads)
	if !ok {
		return nil, fmt.Errorf("pads %v have no value", op.Pads)
	}
	f, x, w := op.filtering(), numbersOf(in[0]), numbersOf(in[1])
	h, wide, n := in[0].Shape[2], in[0].Shape[3], op.Tile+2
	width, points := f.width(), f.points()
	sums := make([]float64, out.Len())
	factors, products := make([]float64, points*block*width), make([]float64, points)
	tile := make([]float64, points)
	for image := range shape[0] {
		for o := range f.outBlocks() {
			first := o * block / (op.OutC / op.Group) * width
			for y := 0; y < shape[2]; y += op.Tile {
				for z := 0; z < shape[3]; z += op.Tile {
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
								products[p] += float64(factors[c*points+p] * w[((p*f.outBlocks()+o)*width*block+c)*block+lane])
							}
						}
						for i, v := range twice(products, n, gatherPoints) {
							if r, s := y+i/op.Tile, z+i%op.Tile; r < shape[2] && s < shape[3] {
								sums[(((image*f.outBlocks()+o)*shape[2]+r)*shape[3]+s)*block+lane] = v
							}
						}
					}
				}
			}
		}
	}
	return evalBlockedSums(op.Epilogue, sums, shape, op.OutC, in, blocks)
}

// twice transforms the columns of a square of n rows, and then the rows.
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

// spreadPoints multiplies inputs by Bᵀ of F(tile,3).
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

// gatherPoints multiplies products by Aᵀ of F(tile,3).
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

// Overwrites lists the residual.
func (WinogradBlocked) Overwrites() []int { return []int{residualArg} }

// Flops counts two operations for each product of the convolution that it computes, which
// are more than it takes.
func (op WinogradBlocked) Flops(in, out []ir.Type) ir.Dim {
	return out[0].Elems().Mul(ir.Const(2 * 9 * block * op.filtering().width()))
}

// What Winograd makes use of; see cpu.WinogradScratch.
const (
	winogradParts = 16 // that have scratch of their own
	winogradTiles = 56 // that a part works on at once
	winogradRow   = 14 // tiles that are multiplied together, at most
	linePixels    = 64 + 2
)

// scratch is the memory that the kernel works in: the lines of each part, and as many tiles
// as all parts work on at once. It does not grow with the batch, whose extent is often
// the only one that is open.
func (op WinogradBlocked) scratch(y []ir.Dim) ir.Scratch {
	f, tile := op.filtering(), ir.Const(op.Tile)
	elems := f.points() * block * (f.inBlocks() + f.outBlocks())
	down, across := y[2].CeilDiv(tile), y[3].CeilDiv(tile)
	tiles := y[0].Mul(down).Mul(across)
	if _, ok := y[0].Int(); !ok {
		tiles = ir.Const(unknownBatch).Mul(down).Mul(across).Max(ir.Const(winogradTiles))
	}
	line := across.Mul(tile).Add(ir.Const(2)).Min(ir.Const(linePixels))
	lines := line.Mul(ir.Const((op.Tile + 3) * block)).Add(ir.Const(2 * f.points() * block))
	lines = lines.Mul(tiles.Min(ir.Const(winogradParts)))
	return ir.Scratch{DType: ir.F32, Len: tiles.Min(ir.Const(winogradParts * winogradTiles)).Mul(ir.Const(elems)).Add(lines)}
}

// Call is cpu.Winograd.
func (op WinogradBlocked) Call(n *ir.Node) (ir.Call, error) {
	x, y := n.Arg(0).Type.Shape, n.Results[0].Type.Shape
	shape := ir.Struct{Type: "WinogradShape", Fields: []ir.Field{
		{Name: "N", Value: x[0]},
		{Name: "InC", Value: op.InC},
		{Name: "InH", Value: x[2]},
		{Name: "InW", Value: x[3]},
		{Name: "OutC", Value: op.OutC},
		{Name: "OutH", Value: y[2]},
		{Name: "OutW", Value: y[3]},
		{Name: "Top", Value: op.Pads[0]},
		{Name: "Left", Value: op.Pads[1]},
		{Name: "Group", Value: op.Group},
		{Name: "Tile", Value: op.Tile},
	}}
	return ir.Call{Kernel: "Winograd", Args: []any{ir.Out(0), ir.In(0), ir.In(1), op.scratch(y), shape, op.call(n)}}, nil
}

// What stands for a batch and for extents of images that are not known.
const (
	unknownBatch  = 2
	unknownExtent = 56
)

// relayoutWinograd convolves by minimal filtering where that is faster; nil where it is not,
// or where weights are transformed each time. Gradients would have its rounding, which is
// coarser, and flip what of them a rectifier lets through.
func (op Conv) relayoutWinograd(b *ir.Builder, n *ir.Node, l Layouts) *ir.Value {
	if l.Raw() {
		return nil
	}
	x, w := n.Arg(0), n.Arg(1)
	for i := range op.Kernel {
		if op.Kernel[i] != 3 || op.stride(i) != 1 || op.dilation(i) != 1 || len(op.Kernel) != 2 {
			return nil
		}
	}
	channels, _ := w.Type.Static()
	f := filtering{inC: channels[1] * op.Group, outC: channels[0], group: op.Group, tile: 4}
	if f.check() != nil || l.Blocked(x) == nil && fewChannels(f.inC) {
		return nil
	}
	known := func(d ir.Dim, unknown int) int {
		if n, ok := d.Int(); ok {
			return n
		}
		return unknown
	}
	y := n.Results[0].Type.Shape
	f.tile = l.Tile(cost.Conv{
		N: known(y[0], unknownBatch), InC: f.inC, OutC: f.outC, Group: f.group,
		OutH: known(y[2], unknownExtent), OutW: known(y[3], unknownExtent),
	})
	if f.tile == 0 {
		return nil
	}
	bias := n.Arg(2)
	if bias != nil {
		bias = blockVector(b, bias)
	}
	blocked := WinogradBlocked{Tile: f.tile, Pads: op.pads(x.Type.Shape[2:]), InC: f.inC, OutC: f.outC, Group: f.group}
	return withExtents(b, b.Node(blocked, l.Block(x), b.Node(PackWinograd{Tile: f.tile, Group: f.group}, w), bias), n)
}

// WithEnding replaces the epilogue.
func (op WinogradBlocked) WithEnding(e Epilogue) ir.Op {
	op.Epilogue = e
	return op
}

// BlockedChannels are OutC.
func (op WinogradBlocked) BlockedChannels() (channels int, blocked bool) { return op.OutC, true }

// EmptyLanes are zero.
func (WinogradBlocked) EmptyLanes(*ir.Node) []float64 { return []float64{0} }
