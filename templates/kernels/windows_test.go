package kernels_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/templates/kernels"
)

// TestPipelinedWindows compares convolutions of pipelined kernels with their definition, with a constant number of images
// and with one that the kernel gets as an argument. Elements are small integers, so sums are exact.
func TestPipelinedWindows(t *testing.T) {
	for i, c := range []struct {
		d                               ir.DType
		images, groups, depth, channels int
		in, kernel, stride, dilation    []int
		before, after                   []int // padding
		tiles                           kernels.Tiles
	}{
		{ir.BF16, 3, 1, 64, 72, []int{6, 7}, []int{3, 3}, []int{1, 1}, []int{1, 1}, []int{1, 1}, []int{1, 1}, kernels.Tiles{M: 64, N: 64, Stages: 2, Blocks: 2, Raster: 2}},
		{ir.F16, 2, 1, 40, 64, []int{9, 8}, []int{3, 3}, []int{2, 2}, []int{1, 1}, []int{1, 1}, []int{1, 0}, kernels.Tiles{M: 64, N: 64, Turns: true, Stages: 3, Blocks: 1, Raster: 1}},
		{ir.BF16, 2, 1, 128, 64, []int{9, 11}, []int{1, 1}, []int{2, 3}, []int{1, 1}, []int{0, 0}, []int{0, 0}, kernels.Tiles{M: 64, N: 64, Stages: 2, Blocks: 4, Raster: 1}},
		{ir.BF16, 2, 2, 64, 40, []int{5, 6}, []int{2, 3}, []int{1, 1}, []int{2, 2}, []int{1, 2}, []int{2, 2}, kernels.Tiles{M: 64, N: 64, Stages: 2, Blocks: 2, Raster: 1}},
		{ir.F16, 2, 1, 104, 64, []int{70}, []int{5}, []int{2}, []int{3}, []int{6}, []int{6}, kernels.Tiles{M: 128, N: 64, Turns: true, Stages: 2, Blocks: 1, Raster: 1}},
		{ir.BF16, 2, 1, 64, 64, []int{3, 4, 5}, []int{2, 1, 3}, []int{1, 1, 2}, []int{1, 1, 1}, []int{0, 0, 1}, []int{1, 0, 1}, kernels.Tiles{M: 64, N: 64, Stages: 2, Blocks: 1, Raster: 1}},
		{ir.F32, 1, 1, 32, 64, []int{7, 9}, []int{3, 3}, []int{1, 1}, []int{1, 1}, []int{1, 1}, []int{1, 1}, kernels.Tiles{M: 64, N: 64, Stages: 2, Blocks: 1, Raster: 1}},
	} {
		for _, dynamic := range []bool{false, true} {
			t.Run(fmt.Sprint(i, dynamic), func(t *testing.T) {
				var places []int
				cells, perImage := 1, 1
				for k := range c.in {
					places = append(places, (c.in[k]+c.before[k]+c.after[k]-(c.kernel[k]-1)*c.dilation[k]-1)/c.stride[k]+1)
					cells, perImage = cells*c.kernel[k], perImage*places[k]
				}
				images := dim.Const(c.images)
				if dynamic {
					images = dim.Sym("N")
				}
				r := rand.New(rand.NewPCG(1, 2))
				tensor := func(shape ...int) *ir.Tensor {
					x := ir.NewTensor(c.d, shape...)
					for i := range x.Len() {
						x.SetFloat(i, float64(r.IntN(9)-4))
					}
					return x
				}
				all := c.groups * c.depth
				x := tensor(append(append([]int{c.images}, c.in...), all)...)
				w := tensor(c.groups*c.channels, cells, c.depth)
				value := &ir.Value{Type: ir.TensorOf(c.d, append(append([]dim.Dim{images}, dim.Consts(c.in...)...), dim.Const(all))...)}
				weights := &ir.Value{Type: w.Type()}
				rows := images.Mul(dim.Const(perImage))
				width := c.groups * c.channels
				y := &ir.Value{Type: ir.TensorOf(c.d, rows, dim.Const(width))}
				l, err := kernels.Pipelined("conv", kernels.Factors{
					Batch: dim.Const(c.groups), M: rows, N: dim.Const(c.channels), K: dim.Const(cells * c.depth), DType: ir.F32, Matrix: c.d,
					Windows: &kernels.Windows{Value: value, Depth: c.depth, Kernel: c.kernel, Stride: c.stride, Dilation: c.dilation, Pads: c.before, Places: places},
					Stored:  [2]*kernels.Matrices{1: {Value: weights, Batch: c.groups, Rows: c.channels, Columns: cells * c.depth}},
					Store: func(e *kernels.Emitter, group, m, n, sum *kernel.Value) {
						e.Write(y).Set(e.Add(e.Mul(m, e.Int(width)), e.Add(e.Mul(group, e.Int(c.channels)), n)), sum)
					},
				}, c.tiles)
				if err != nil {
					t.Fatal(err)
				}
				if again, err := kernel.Parse(l.Kernel.String()); err != nil || again.String() != l.Kernel.String() {
					t.Fatalf("it does not read as it prints: %v\n%s", err, l.Kernel)
				}
				out := make([]byte, c.images*perImage*width*c.d.Size())
				var args []kernel.Arg
				for _, a := range l.Args {
					switch {
					case a.Read == value:
						args = append(args, kernel.Bytes(c.d, x.Bytes()))
					case a.Read == weights:
						args = append(args, kernel.Bytes(c.d, w.Bytes()))
					case a.Write == y:
						args = append(args, kernel.Bytes(c.d, out))
					default:
						n, err := a.Dim.Eval(func(string) (int64, bool) { return int64(c.images), true })
						if err != nil {
							t.Fatal(err)
						}
						args = append(args, kernel.Number(int32(n)))
					}
				}
				blocks, _ := l.Grid[0].Int()
				if err := l.Kernel.Run([3]int{blocks, 1, 1}, args, kernel.Options{}); err != nil {
					t.Fatal(err)
				}
				got, err := ir.DecodeTensor(c.d, []int{c.images * perImage * width}, out)
				if err != nil {
					t.Fatal(err)
				}
				split := func(i int, extents []int) []int {
					at := make([]int, len(extents))
					for k := len(extents) - 1; k >= 0; k-- {
						at[k], i = i%extents[k], i/extents[k]
					}
					return at
				}
				for i := range got.Len() {
					m, channel := i/width, i%width
					place, want := split(m%perImage, places), 0.0
				cell:
					for cell := range cells {
						from := m / perImage
						for k, tap := range split(cell, c.kernel) {
							j := place[k]*c.stride[k] - c.before[k] + tap*c.dilation[k]
							if j < 0 || j >= c.in[k] {
								continue cell
							}
							from = from*c.in[k] + j
						}
						for d := range c.depth {
							want += x.Float(from*all+channel/c.channels*c.depth+d) * w.Float((channel*cells+cell)*c.depth+d)
						}
					}
					if want = ir.RoundFloat(c.d, want); got.Float(i) != want {
						t.Fatalf("element (%d, %d) is %v, want %v", m, channel, got.Float(i), want)
					}
				}
			})
		}
	}
}
