package images

import (
	"fmt"
	"sync/atomic"

	"github.com/burngen/burngen/runtime/rt"
)

const defaultPixels = 1 << 26

var pixelLimit atomic.Int64 // 0 until PixelLimit sets it

// PixelLimit returns the largest number of pixels that a decoded or computed picture may have. If
// `limit` is above 0, PixelLimit sets this number to `limit` and returns the old number. The
// default is 2²⁶. Decoding a picture may take 20 bytes for each pixel. The result takes 4 bytes for
// each pixel, and [rt.ArenaLimit] also bounds it.
func PixelLimit(limit int64) int64 {
	old := pixelLimit.Load()
	if limit > 0 {
		old = pixelLimit.Swap(limit)
	}
	if old == 0 {
		return defaultPixels
	}
	return old
}

// checkSize returns an error if a side is below 1. It also returns an error if the picture has more
// pixels than [PixelLimit] allows, or than a slice can hold.
func checkSize(width, height int) error {
	if width < 1 || height < 1 {
		return fmt.Errorf("%d × %d pixels", width, height)
	}
	if limit := PixelLimit(0); int64(width) > limit/int64(height) {
		return fmt.Errorf("%d × %d pixels: limit is %d pixels (images.PixelLimit)", width, height, limit)
	}
	if err := rt.CheckSize[[4]uint8](width * height); err != nil {
		return fmt.Errorf("%d × %d pixels: %w", width, height, err)
	}
	return nil
}
