// Package storage holds the operators on the storage formats that the kernels of package
// runtime/cpu require: channels in blocks of 16, matrices in panels of 16 columns, and rows of
// bytes in groups of four. It also converts operators of package op to these operators. It does not
// know which values get which format (package layout), nor which kernel computes an operator
// (package call).
package storage

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// Ops lists the operators of this package.
var Ops = []ir.Op{
	Block{},
	BlockBytes{},
	ConvBlocked{},
	ConvDataBlocked{},
	ConvWeightsBlocked{},
	ConvBytes{},
	ConvPixels{},
	DepthwiseBlocked{},
	DepthwiseBytes{},
	DepthwisePlanar{},
	GatherChannels{},
	MatMulPanels{},
	MaxPoolBytes{},
	PackColumns{},
	PackConv{},
	PackConvBytes{},
	PackConvData{},
	PackDepthwiseBytes{},
	PackPanels{},
	PackRows{},
	PackWinograd{},
	PadBlocked{},
	PadBytes{},
	Patches{},
	ProductColumns{},
	ProductInteger{},
	Unblock{},
	UnblockBytes{},
	WinogradBlocked{},
}

// Set looks up the operators of this package and of package op by name.
var Set = ir.NewOpSet(slices.Concat(ir.Builtin(), op.Ops, Ops)...)
