package data_test

import (
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/data"
)

func TestJoined(t *testing.T) {
	d := &blocks{n: 3}
	laws(t, data.Joined(numbers(2), numbers(0), data.Dataset[int](d), numbers(1)), []int{0, 1, 0, 1, 2, 0})
	if d.many.Load() == 0 {
		t.Error("Many is not called")
	}
	laws(t, data.Joined[int](), nil)
	laws(t, data.Joined(numbers(0), numbers(0)), nil)
	huge := data.Repeated(numbers(1), math.MaxInt)
	wantError(t, data.Err(data.Joined(huge, numbers(1))), "joined: more items than fit an int")
	err := data.Joined(numbers(1), data.Dataset[int](&blocks{n: 2, bad: 2})).(data.ManyReader[int]).Many(make([]int, 2), []int{1, 2})
	wantError(t, err, "set 1: bad item")
}
