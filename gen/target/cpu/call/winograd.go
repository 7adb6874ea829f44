package call

import (
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/gen/target/cpu/storage"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

var winograd = []entry{computes(packWinograd), computes(winogradBlocked)}

func packWinograd(o storage.PackWinograd, n node) kernel.Call {
	f, err := o.Filtering(n.Arg(0).Type)
	if err != nil {
		return none("%w", err)
	}
	return kernel.PackWinograd(n.out(0), n.in(0), winogradShape(f))
}

// winogradShape returns the fields of cpu.WinogradShape that transforming weights depends on.
func winogradShape(f storage.Filtering) *kernel.WinogradShape {
	return &kernel.WinogradShape{
		InC: dim.Const(f.InC), OutC: dim.Const(f.OutC), Group: dim.Const(f.Group), Tile: dim.Const(f.Tile),
	}
}

func winogradBlocked(o storage.WinogradBlocked, n node) kernel.Call {
	x, y := n.shape(0), n.Results[0].Type.Shape
	s := winogradShape(o.Filtering())
	s.N, s.InH, s.InW, s.OutH, s.OutW, s.Top, s.Left = x[0], x[2], x[3], y[2], y[3], o.Pads[0], o.Pads[1]
	return kernel.Winograd(n.out(0), n.in(0), n.in(1), winogradScratch(s), s, epilogue(o.Epilogue, n))
}

const (
	// winogradParts is the largest number of parts of a convolution that have scratch memory of
	// their own.
	winogradParts = 16
	// winogradTiles is the largest number of tiles that a part processes at once.
	winogradTiles = 56
	// openBatch is the batch size for which scratch memory is reserved if the batch is known only at
	// run time.
	openBatch = 2
)

// winogradScratch returns the scratch memory of a convolution. It has room for each part of the work, and for the
// tiles that a part processes at once. If the batch is known only at run time, the size of the memory does not
// depend on the batch.
func winogradScratch(s *kernel.WinogradShape) kernel.Scratch {
	image := s.OutH.CeilDiv(s.Tile).Mul(s.OutW.CeilDiv(s.Tile))
	tiles := s.N.Mul(image)
	if !s.N.IsConst() {
		tiles = dim.Const(openBatch).Mul(image).Max(dim.Const(winogradTiles))
	}
	parts := tiles.Min(dim.Const(winogradParts))
	return kernel.Scratch{DType: ir.F32, Len: kernel.WinogradScratch(s, parts, tiles.Min(dim.Const(winogradParts*winogradTiles)))}
}
