package data_test

import (
	"testing"

	"github.com/burngen/burngen/runtime/data"
)

func TestZipped(t *testing.T) {
	letters := data.Of([]string{"a", "b", "c"})
	laws(t, data.Zipped(numbers(3), letters), []data.Pair[int, string]{{0, "a"}, {1, "b"}, {2, "c"}})
	wantError(t, data.Err(data.Zipped(numbers(2), letters)), "zipped: 2 items and 3 items")
	bad := data.Zipped(letters, data.Dataset[int](&blocks{n: 3, bad: 2}))
	if p, err := bad.At(1); err == nil || p.X != "" {
		t.Errorf("%v, %v", p, err)
	}
	if block := bad.(data.Blocked).Block(); block != 1 {
		t.Errorf("blocks of %d", block)
	}
}
