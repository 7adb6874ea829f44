package images

import (
	"fmt"
	"sync/atomic"

	"github.com/burngen/burngen/runtime/rt"
)

const defaultPixels = 1 << 26

var pixelLimit atomic.Int64 // 0 until PixelLimit sets it

// PixelLimit sets the largest number of pixels of a picture that is decoded or computed if limit is
// above 0, and returns the limit before. The default is 2²⁶. Decoding may take 20 bytes for a pixel
// for a moment; the result takes 4, which [rt.ArenaLimit] also bounds.
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

// checkSize returns an error if a side is below 1, or if the picture exceeds [PixelLimit] or the
// largest slice.
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
