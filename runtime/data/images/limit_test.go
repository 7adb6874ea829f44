package images

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/rt"
)

func TestPixelLimit(t *testing.T) {
	if got := PixelLimit(0); got != 1<<26 {
		t.Errorf("the default is %d", got)
	}
	file := encoded(t, few(5, 4))
	defer PixelLimit(PixelLimit(20))
	if _, err := Decode(file); err != nil {
		t.Error(err)
	}
	if got := PixelLimit(19); got != 20 {
		t.Errorf("the limit was %d", got)
	}
	wantError(t, failed(Decode(file)), "png: 5 × 4 pixels: limit is 19 pixels (images.PixelLimit)")
	m := few(3, 3)
	s := Sample{Image: rgba(m)}
	wantError(t, Resize{Width: 4, Height: 5}.Apply(&s, generator(1)), "resize: 4 × 5 pixels: limit is 19 pixels (images.PixelLimit)")
	PixelLimit(100)
	defer rt.ArenaLimit(rt.ArenaLimit(79))
	if err := failed(Decode(file)); err == nil || !strings.Contains(err.Error(), "rt.ArenaLimit") {
		t.Errorf("error %v", err)
	}
}
