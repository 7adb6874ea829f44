package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// PackWinograd is the weights of a convolution, f32[OutC,InC/Group,3,3], transformed for
// minimal filtering in tiles of Tile×Tile as [WinogradBlocked] reads them:
// f32[(Tile+2)²,⌈OutC/16⌉,⌈InC/Group/16⌉,16,16]. Several groups have whole blocks.
type PackWinograd struct {
	Tile  int // 2 or 4
	Group int
}

// filtering is the channels of a convolution by minimal filtering.
type filtering struct{ inC, outC, group, tile int }

// check reports what no such convolution has.
func (f filtering) check() error {
	if f.tile != 2 && f.tile != 4 || f.inC < 1 || f.outC < 1 || f.group < 1 || f.inC%f.group != 0 || f.outC%f.group != 0 ||
		f.group > 1 && (f.inC/f.group%block != 0 || f.outC/f.group%block != 0) {
		return fmt.Errorf("%d to %d channels in %d groups, tiles of %d", f.inC, f.outC, f.group, f.tile)
	}
	return nil
}

func (f filtering) inBlocks() int  { return (f.inC + block - 1) / block }
func (f filtering) outBlocks() int { return (f.outC + block - 1) / block }

// width is the number of input blocks of a group.
func (f filtering) width() int { return (f.inC/f.group + block - 1) / block }

// points is the number of factors of a tile.
func (f filtering) points() int { return (f.tile + 2) * (f.tile + 2) }

// packed returns the type of transformed weights.
func (f filtering) packed() ir.Type {
	return ir.StaticTensor(ir.F32, f.points(), f.outBlocks(), f.width(), block, block)
}

// Infer gives the transformed type; the weights' extents have to be constants.
func (op PackWinograd) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
		return nil, err
	}
	f, err := op.filtering(in[0])
	if err != nil {
		return nil, err
	}
	return []ir.Type{f.packed()}, nil
}

func (op PackWinograd) filtering(w ir.Type) (f filtering, err error) {
	shape, ok := w.Static()
	if !ok || w.DType != ir.F32 || len(shape) != 4 || shape[2] != 3 || shape[3] != 3 {
		return f, fmt.Errorf("weights %s", w)
	}
	f = filtering{shape[1] * op.Group, shape[0], op.Group, op.Tile}
	return f, f.check()
}

// Eval multiplies each kernel by G from the left and by Gᵀ from the right.
func (op PackWinograd) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	w := in[0]
	f, err := op.filtering(w.Type())
	if err != nil {
		return nil, err
	}
	shape, _ := f.packed().Static()
	y, width, each := ir.NewTensor(ir.F32, shape...), f.width(), f.inC/f.group
	for i := range w.Len() / 9 {
		o, c := i/each, i%each
		var kernel, rows, points []float64
		for k := range 9 {
			kernel = append(kernel, w.Float(9*i+k))
		}
		for x := range 3 {
			rows = append(rows, weightPoints(op.Tile, kernel[x], kernel[3+x], kernel[6+x])...)
		}
		n := op.Tile + 2
		for r := range n {
			points = append(points, weightPoints(op.Tile, rows[r], rows[n+r], rows[2*n+r])...)
		}
		for p, v := range points {
			y.SetFloat((((p*f.outBlocks()+o/block)*width+c/block)*block+c%block)*block+o%block, v)
		}
	}
	return []*ir.Tensor{y}, nil
}

// weightPoints multiplies three weights by G of F(tile,3).
func weightPoints(tile int, a, b, c float64) []float64 {
	sum := a + c
	if tile == 2 {
		return []float64{a, (sum + b) / 2, (sum - b) / 2, c}
	}
	far, twice := a+float64(4*c), float64(2*b)
	return []float64{a / 4, (-sum - b) / 6, (b - sum) / 6, (far + twice) / 24, (far - twice) / 24, c}
}

// Call is cpu.PackWinograd.
func (op PackWinograd) Call(n *ir.Node) (ir.Call, error) {
	f, err := op.filtering(n.Arg(0).Type)
	if err != nil {
		return ir.Call{}, err
	}
	return ir.Call{Kernel: "PackWinograd", Args: []any{ir.Out(0), ir.In(0), ir.Struct{Type: "WinogradShape", Fields: []ir.Field{
		{Name: "InC", Value: f.inC},
		{Name: "OutC", Value: f.outC},
		{Name: "Group", Value: f.group},
		{Name: "Tile", Value: f.tile},
	}}}}, nil
}
