package storage

import "github.com/burngen/burngen/ir/dim"

// Assumed values of symbolic extents, for estimates of costs.
const (
	unknownBatch  = 2
	unknownExtent = 56
)

// AssumedBatch returns d, the number of images, or 2 if d is not a constant.
func AssumedBatch(d dim.Dim) int { return known(d, unknownBatch) }

// AssumedExtent returns d, a spatial extent, or 56 if d is not a constant.
func AssumedExtent(d dim.Dim) int { return known(d, unknownExtent) }

// AssumedPixels returns the product of the spatial extents, or 56² if an extent is not a constant.
func AssumedPixels(spatial []dim.Dim) int {
	return known(dim.Product(spatial...), unknownExtent*unknownExtent)
}

func known(d dim.Dim, unknown int) int {
	if n, ok := d.Int(); ok {
		return n
	}
	return unknown
}
