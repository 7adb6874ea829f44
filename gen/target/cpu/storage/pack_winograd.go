package storage

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// PackWinograd transforms the weights of a convolution, f32[OutC,InC/Group,3,3], for [WinogradBlocked]
// in tiles of Tile×Tile: f32[(Tile+2)²,⌈OutC/16⌉,⌈InC/Group/16⌉,16,16]. If there are several
// groups, InC/Group and OutC/Group must be multiples of 16.
type PackWinograd struct {
	Tile  int // 2 or 4
	Group int
}

// Filtering describes a convolution by the Winograd algorithm F(Tile,3): the numbers of channels and groups, and the
// extent of its square tiles, 2 or 4.
type Filtering struct{ InC, OutC, Group, Tile int }

func (f Filtering) check() error {
	if f.Tile != 2 && f.Tile != 4 || f.InC < 1 || f.OutC < 1 || f.Group < 1 || f.InC%f.Group != 0 || f.OutC%f.Group != 0 ||
		f.Group > 1 && (f.InC/f.Group%block != 0 || f.OutC/f.Group%block != 0) {
		return fmt.Errorf("%d to %d channels in %d groups, tiles of %d", f.InC, f.OutC, f.Group, f.Tile)
	}
	return nil
}

func (f Filtering) inBlocks() int  { return (f.InC + block - 1) / block }
func (f Filtering) outBlocks() int { return (f.OutC + block - 1) / block }

// width returns the number of blocks of 16 channels that the input channels of a group fill.
func (f Filtering) width() int { return (f.InC/f.Group + block - 1) / block }

func (f Filtering) points() int { return (f.Tile + 2) * (f.Tile + 2) }

func (f Filtering) packed() ir.Type {
	return ir.StaticTensor(ir.F32, f.points(), f.outBlocks(), f.width(), block, block)
}

// Infer returns the transformed type. The weights' extents must be constants.
func (o PackWinograd) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := op.CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	f, err := o.Filtering(in[0])
	if err != nil {
		return nil, err
	}
	return []ir.Type{f.packed()}, nil
}

// Filtering returns the parameters of the transform for weights of type w. It returns an error if w
// cannot be transformed.
func (o PackWinograd) Filtering(w ir.Type) (f Filtering, err error) {
	shape, ok := w.Static()
	if !ok || w.DType != ir.F32 || len(shape) != 4 || shape[2] != 3 || shape[3] != 3 {
		return f, fmt.Errorf("weights %s", w)
	}
	f = Filtering{shape[1] * o.Group, shape[0], o.Group, o.Tile}
	return f, f.check()
}

// Eval computes G·w·Gᵀ for each 3×3 kernel w.
func (o PackWinograd) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	w := in[0]
	f, err := o.Filtering(w.Type())
	if err != nil {
		return nil, err
	}
	shape, _ := f.packed().Static()
	y, width, each := ir.NewTensor(ir.F32, shape...), f.width(), f.InC/f.Group
	for i := range w.Len() / 9 {
		out, c := i/each, i%each
		var kernel, rows, points []float64
		for k := range 9 {
			kernel = append(kernel, w.Float(9*i+k))
		}
		for x := range 3 {
			rows = append(rows, weightPoints(o.Tile, kernel[x], kernel[3+x], kernel[6+x])...)
		}
		n := o.Tile + 2
		for r := range n {
			points = append(points, weightPoints(o.Tile, rows[r], rows[n+r], rows[2*n+r])...)
		}
		for p, v := range points {
			y.SetFloat((((p*f.outBlocks()+out/block)*width+c/block)*block+c%block)*block+out%block, v)
		}
	}
	return []*ir.Tensor{y}, nil
}

// weightPoints returns G·(a, b, c) for F(tile,3).
func weightPoints(tile int, a, b, c float64) []float64 {
	sum := a + c
	if tile == 2 {
		return []float64{a, (sum + b) / 2, (sum - b) / 2, c}
	}
	far, twice := a+float64(4*c), float64(2*b)
	return []float64{a / 4, (-sum - b) / 6, (b - sum) / 6, (far + twice) / 24, (far - twice) / 24, c}
}

// IsWeighed marks the operator as an [op.Weighed]: its result is larger than its operand, and the choice of the
// Winograd algorithm has already taken this into account.
func (PackWinograd) IsWeighed() {}
