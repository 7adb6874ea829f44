package data_test

import (
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/data"
)

func TestFolds(t *testing.T) {
	folds, err := data.Folds(numbers(11), 3)
	if err != nil {
		t.Fatal(err)
	}
	var all []int
	for _, f := range folds {
		laws(t, f.Train, items(t, f.Train))
		if n := f.Valid.Len(); n < 3 || n > 4 {
			t.Errorf("a fold validates on %d items", n)
		}
		both := append(items(t, f.Train), items(t, f.Valid)...)
		if slices.Sort(both); !slices.Equal(both, upTo(11)) || !slices.IsSorted(items(t, f.Train)) {
			t.Errorf("a fold has %v", both)
		}
		all = append(all, items(t, f.Valid)...)
	}
	if !slices.Equal(all, upTo(11)) {
		t.Errorf("folds validate on %v", all)
	}
	for _, k := range []int{-1, 0, 1, 12} {
		if _, err := data.Folds(numbers(11), k); err == nil {
			t.Errorf("%d folds", k)
		}
	}
}
