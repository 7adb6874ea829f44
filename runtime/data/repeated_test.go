package data_test

import (
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/data"
)

func TestRepeated(t *testing.T) {
	laws(t, data.Repeated(numbers(3), 2), []int{0, 1, 2, 0, 1, 2})
	laws(t, data.Repeated(numbers(3), 0), nil)
	laws(t, data.Repeated(numbers(0), math.MaxInt), nil)
	wantError(t, data.Err(data.Repeated(numbers(3), -1)), "repeated: 3 items, -1 times")
	if data.Err(data.Repeated(numbers(3), math.MaxInt/3+1)) == nil {
		t.Error("more items than fit an int")
	}
}
