package data_test

import (
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/data"
)

func TestSlid(t *testing.T) {
	laws(t, data.Slid(numbers(7), 3, 2), [][]int{{0, 1, 2}, {2, 3, 4}, {4, 5, 6}})
	laws(t, data.Slid(numbers(3), 3, math.MaxInt), [][]int{{0, 1, 2}})
	laws(t, data.Slid(numbers(2), 3, 1), nil)
	wantError(t, data.Err(data.Slid(numbers(2), 0, 1)), "slid: size 0, stride 1: at least 1 expected")
	wantError(t, data.Err(data.Slid(numbers(2), 1, -1)), "slid: size 1, stride -1: at least 1 expected")
	if data.Err(data.Slid(data.Repeated(numbers(1), math.MaxInt), math.MaxInt, 1)) == nil {
		t.Error("a window of all ints")
	}
	_, err := data.Slid(data.Dataset[int](&blocks{n: 5, bad: 3}), 3, 1).At(0)
	wantError(t, err, "bad item")
}
