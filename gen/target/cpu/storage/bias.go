package storage

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// blockedBias appends v as a vector of 16·⌈channels/16⌉ numbers, one for each lane of all blocks
// of y. y is the channel-blocked type that v broadcasts to. blockedBias returns nil unless v has one
// number for each channel and is known to be zero in the lanes beyond the channels.
func blockedBias(b *ir.Builder, y ir.Type, channels int, v *ir.Value) *ir.Value {
	if !broadcasts(v.Type, y, 1, y.Rank()-1) || !zeroLanes(channels, v) {
		return nil
	}
	return wholeVector(b, v)
}

// rowBias appends v as a vector with an element for each column of a planar y. The vector is padded with zeros to a
// multiple of 16. It returns nil unless v has one number for each column.
func rowBias(b *ir.Builder, y ir.Type, v *ir.Value) *ir.Value {
	if !broadcasts(v.Type, y, y.Rank()-1) {
		return nil
	}
	return wholeVector(b, v)
}

// broadcasts reports whether v has the extents of y along these axes, and extent 1 along the others.
func broadcasts(v, y ir.Type, axes ...int) bool {
	want := slices.Repeat(dim.Consts(1), y.Rank())
	for _, i := range axes {
		want[i] = y.Shape[i]
	}
	have := v.Shape
	return len(have) <= len(want) && slices.EqualFunc(have, want[len(want)-len(have):], dim.Dim.Equal) &&
		v.Elems().Equal(dim.Product(want...))
}

// zeroLanes reports whether v, a blocked value with `channels` channels, is known to be zero in the lanes beyond
// the last channel.
func zeroLanes(channels int, v *ir.Value) bool {
	if channels%block == 0 {
		return true
	}
	if v.Def == nil {
		return false
	}
	_, ok := v.Def.Op.(Block)
	return ok
}

// wholeVector appends a vector of the elements of v, padded with zeros to a multiple of 16.
func wholeVector(b *ir.Builder, v *ir.Value) *ir.Value {
	return blockVector(b, op.ReshapeTo(b, v, v.Type.Elems()))
}
