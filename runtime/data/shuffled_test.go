package data_test

import (
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/data"
)

func TestShuffled(t *testing.T) {
	p := data.NewPermutation(50, 42, 0)
	want := make([]int, 50)
	for i := range want {
		want[i] = p.At(i)
	}
	laws(t, data.Shuffled(numbers(50), 42), want)
	laws(t, data.Shuffled(numbers(0), 42), nil)
	laws(t, data.Shuffled(numbers(1), 42), []int{0})
	if n := data.Shuffled(data.Repeated(numbers(1), math.MaxInt), 1).Len(); n != math.MaxInt {
		t.Error(n)
	}
}
