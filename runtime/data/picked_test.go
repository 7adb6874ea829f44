package data_test

import (
	"testing"

	"github.com/burngen/burngen/runtime/data"
)

func TestPicked(t *testing.T) {
	indices := []int{3, 0, 3}
	d := data.Picked(numbers(4), indices)
	indices[0] = 1
	laws(t, d, []int{3, 0, 3})
	laws(t, data.Picked(numbers(4), nil), nil)
	wantError(t, data.Err(data.Picked(numbers(4), []int{0, 4})), "picked: position 1: index 4: there are 4 items")
	wantError(t, data.Err(data.Picked(numbers(4), []int{-1})), "picked: position 0: index -1: there are 4 items")
}
