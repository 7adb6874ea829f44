package data_test

import (
	"testing"

	"github.com/burngen/burngen/runtime/data"
)

func TestMap(t *testing.T) {
	calls := 0
	square := data.Map(numbers(4), func(x int) (int, error) {
		calls++
		if x == 3 {
			return 0, errBad
		}
		return x * x, nil
	})
	if calls != 0 || square.Len() != 4 {
		t.Errorf("%d calls for %d items that nobody reads", calls, square.Len())
	}
	for range 2 {
		if x, err := square.At(2); x != 4 || err != nil {
			t.Errorf("%d, %v", x, err)
		}
	}
	if calls != 2 {
		t.Errorf("%d calls for two items", calls)
	}
	_, err := square.At(3)
	wantError(t, err, "bad item")
	err = square.(data.ManyReader[int]).Many(make([]int, 2), []int{1, 3})
	wantError(t, err, "item 3: bad item")
	laws(t, data.Map(numbers(5), func(x int) (float64, error) { return float64(x) / 2, nil }), []float64{0, 0.5, 1, 1.5, 2})
	d := &blocks{n: 7, block: 3}
	m := data.Map(data.Dataset[int](d), func(x int) (int, error) { return x, nil })
	laws(t, m, upTo(7))
	if d.many.Load() == 0 || m.(data.Blocked).Block() != 3 {
		t.Errorf("%d calls of Many, blocks of %d", d.many.Load(), m.(data.Blocked).Block())
	}
	wantError(t, data.Err(data.Map[int, int](numbers(1), nil)), "map: no function")
}
