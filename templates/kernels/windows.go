package kernels

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// Windows describes a convolution of images [images,spatial…,C] as the matrix products of [Factors]. A window has a
// cell for each element of the spatial kernel. Row m of the first factor belongs to window m: it has Depth channels
// of the window's first cell, then Depth channels of the second, and so on. The Depth channels that product b reads
// begin at channel b·Depth. Windows are ordered by image, and then by place in the image. The second factor holds the
// weights, [Batch·N,cells,Depth], where Batch and N are fields of Factors.
type Windows struct {
	Value *ir.Value // the images; all extents except the first are constant
	Depth int
	// Pads is the padding before each spatial axis, and Places the number of windows on the axis.
	Kernel, Stride, Dilation, Pads, Places []int
}

// cells returns the number of cells of a window.
func (w *Windows) cells() int {
	n := 1
	for _, k := range w.Kernel {
		n *= k
	}
	return n
}

// The Depth channels of a cell are padded with zeros to whole steps of terms. If less than leastOfStep percent of
// these terms are channels, [Pipelined] returns an error.
const leastOfStep = 60

func (w *Windows) check(f Factors) error {
	step := bytesOfStep / f.Matrix.Size()
	padded := (w.Depth + step - 1) / step * step
	shape := w.Value.Type.Shape
	_, ok := dim.Ints(shape[1:])
	// If the channels of a group do not fill its last step, the step also reads channels of the
	// next group.
	if !ok || w.Depth*f.Matrix.Size()%16 != 0 || w.Depth*100 < padded*leastOfStep || w.Depth != padded && !f.Batch.Equal(dim.Const(1)) {
		return errPipelined
	}
	return nil
}

// stepsOfCell returns the number of steps of the channels of a cell.
func (p *pipelined) stepsOfCell() int { return (p.Windows.Depth + p.terms - 1) / p.terms }

// boxesOfWindows adds a parameter to the kernel: a map, which describes the images. With it the kernel copies one
// cell of every window of a tile at a time.
func (p *pipelined) boxesOfWindows() *kernel.Value {
	w := p.Windows
	shape := w.Value.Type.Shape
	m := &kernel.Map{Box: []int{p.tile.M, p.terms}, Windows: &kernel.Windows{}}
	for i, d := range shape {
		n, ok := d.Int()
		if i == 0 && !ok {
			m.Outer = p.Dim(d)
		}
		m.Extents = append(m.Extents, n)
	}
	for i := range w.Kernel {
		m.Windows.First = append(m.Windows.First, -w.Pads[i])
		m.Windows.Last = append(m.Windows.Last, (w.Places[i]-1)*w.Stride[i]-w.Pads[i])
		m.Windows.Step = append(m.Windows.Step, w.Stride[i])
	}
	return p.mapOf("map_a", w.Value, m)
}

// boxesOfCells adds a parameter to the kernel: a map, which describes the weights. With it the kernel copies the
// weights of one cell for all columns of a tile at a time.
func (p *pipelined) boxesOfCells() *kernel.Value {
	w := p.Windows
	return p.mapOf("map_b", p.Stored[1].Value, &kernel.Map{Extents: []int{p.batch, p.n, w.cells(), w.Depth}, Box: []int{1, p.tile.N, 1, p.terms}})
}

// copyWindows is [pipelined.copySteps] for windows.
func (p *pipelined) copyWindows(batch, m, n *kernel.Value) func(k *kernel.Value, s stage) {
	w := p.Windows
	place := p.Unflatten(m, append([]dim.Dim{w.Value.Type.Shape[0]}, dim.Consts(w.Places...)...))
	for i := range w.Kernel {
		place[1+i] = p.Sub(p.Mul(place[1+i], p.Int(w.Stride[i])), p.Int(w.Pads[i]))
	}
	own := p.Mul(batch, p.Int(w.Depth))
	return func(k *kernel.Value, s stage) {
		step := p.Unflatten(p.Div(k, p.Int(p.terms)), dim.Consts(w.cells(), p.stepsOfCell()))
		cell, channel := step[0], p.Mul(step[1], p.Int(p.terms))
		at := append(append([]*kernel.Value{}, place...), p.Add(own, channel))
		for i, c := range p.Unflatten(cell, dim.Consts(w.Kernel...)) {
			at = append(at, p.Mul(c, p.Int(w.Dilation[i])))
		}
		p.CopyBox(p.a, p.Mul(s.index, p.Int(p.tile.M*p.terms)), p.mapA, p.full, s.index, at...)
		p.CopyBox(p.b, p.Mul(s.index, p.Int(p.tile.N*p.terms)), p.mapB, p.full, s.index, batch, n, cell, channel)
	}
}
