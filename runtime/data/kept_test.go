package data_test

import (
	"testing"

	"github.com/burngen/burngen/runtime/data"
)

func TestKept(t *testing.T) {
	kept, err := data.Kept(numbers(7), func(x int) bool { return x%3 == 0 })
	if err != nil {
		t.Fatal(err)
	}
	laws(t, kept, []int{0, 3, 6})
	wantError(t, failed(data.Kept(numbers(7), nil)), "kept: no function")
	wantError(t, failed(data.Kept(data.Dataset[int](&blocks{n: 3, bad: 2}), func(int) bool { return true })), "kept: item 1: bad item")
}
