package data_test

import (
	"math"
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/data"
)

func TestCached(t *testing.T) {
	d := &blocks{n: 5, block: 2}
	c := data.Cached(data.Dataset[int](d))
	for range 3 {
		if x, err := c.At(3); x != 3 || err != nil {
			t.Errorf("%d, %v", x, err)
		}
	}
	if d.one.Load() != 1 {
		t.Errorf("item 3 was read %d times", d.one.Load())
	}
	dst := make([]int, 4)
	if err := c.(data.ManyReader[int]).Many(dst, []int{4, 3, 0, 4}); err != nil || !slices.Equal(dst, []int{4, 3, 0, 4}) {
		t.Errorf("%v, %v", dst, err)
	}
	if d.one.Load() != 1 || d.many.Load() != 1 || d.all.Load() > 3 {
		t.Errorf("two new items were read with %d calls of At and %d of Many, %d items", d.one.Load(), d.many.Load(), d.all.Load())
	}
	laws(t, c, upTo(5))
	if reads := d.one.Load() + d.all.Load(); reads > 7 {
		t.Errorf("items were read %d times", reads)
	}
	laws(t, data.Cached(numbers(0)), nil)
	if data.Err(data.Cached(data.Repeated(numbers(1), math.MaxInt))) == nil {
		t.Error("as many items as fit an int")
	}
	bad := &blocks{n: 3, bad: 2}
	e := data.Cached(data.Dataset[int](bad))
	for range 2 {
		_, err := e.At(1)
		wantError(t, err, "bad item")
	}
	if bad.one.Load() != 2 {
		t.Errorf("an item with an error was read %d times", bad.one.Load())
	}
}
