package data_test

import (
	"math"
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/data"
)

func TestStratified(t *testing.T) {
	// 60 items of class 0, 30 of class 1, 7 of class 2, mixed.
	class := func(x int) int {
		switch {
		case x%97 < 60:
			return 0
		case x%97 < 90:
			return 1
		}
		return 2
	}
	d := data.Shuffled(numbers(97), 3)
	shares := []float64{0.7, 0.2, 0.1}
	parts, err := data.Stratified(d, class, shares...)
	if err != nil {
		t.Fatal(err)
	}
	order := items(t, d)
	var all []int
	for k, p := range parts {
		laws(t, p, items(t, p))
		counts := make([]int, 3)
		last := -1
		for _, x := range items(t, p) {
			counts[class(x)]++
			if at := slices.Index(order, x); at <= last {
				t.Errorf("part %d has item %d after item %d", k, at, last)
			} else {
				last = at
			}
		}
		for c, of := range []int{60, 30, 7} {
			if math.Abs(float64(counts[c])-shares[k]*float64(of)) > 1 {
				t.Errorf("part %d has %d items of class %d, %v expected", k, counts[c], c, shares[k]*float64(of))
			}
		}
		all = append(all, items(t, p)...)
	}
	if slices.Sort(all); !slices.Equal(all, upTo(97)) {
		t.Errorf("items are %v", all)
	}
	wantError(t, failed(data.Stratified(data.Dataset[int](&blocks{n: 3, bad: 2}), class, 1)), "stratified: item 1: bad item")
	wantError(t, failed(data.Stratified(numbers(3), class, 2)), "stratified: shares [2]: from 0 to 1 expected, with a sum of at most 1")
	wantError(t, failed(data.Stratified[int, int](numbers(3), nil, 1)), "stratified: no function")
	if parts, err := data.Stratified(numbers(0), class, 0.5, 0.5); err != nil || len(parts) != 2 || parts[0].Len() != 0 {
		t.Errorf("%v, %v", parts, err)
	}
}
