package storage

import "github.com/burngen/burngen/ir/dim"

// Assumed values of symbolic extents, for estimates of costs.
const (
	unknownBatch  = 2
	unknownExtent = 56
)

// AssumedBatch returns a batch, or 2 for a symbol.
func AssumedBatch(d dim.Dim) int { return known(d, unknownBatch) }

// AssumedExtent returns an extent of an image, or 56 for a symbol.
func AssumedExtent(d dim.Dim) int { return known(d, unknownExtent) }

// AssumedPixels returns the number of pixels of an image, or 56² if it depends on a symbol.
func AssumedPixels(spatial []dim.Dim) int {
	return known(dim.Product(spatial...), unknownExtent*unknownExtent)
}

// known returns d, or unknown if d is symbolic.
func known(d dim.Dim, unknown int) int {
	if n, ok := d.Int(); ok {
		return n
	}
	return unknown
}
