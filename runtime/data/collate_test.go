package data_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/data"
)

func TestPairs(t *testing.T) {
	// A target is set for even items only. The others have a zero value, whatever was there before.
	put := data.Pairs(func(item int, x *[2]float32, y *int64, _ *rand.Rand) error {
		x[0] = float32(item)
		if item%2 == 0 {
			*y = int64(item)
			x[1] = 1
		}
		return nil
	})
	l := data.Load(numbers(7), put, data.LoaderOptions{Batch: 3, Workers: data.Inline})
	want := []data.Set[[2]float32, int64]{
		{[][2]float32{{0, 1}, {1, 0}, {2, 1}}, []int64{0, 0, 2}},
		{[][2]float32{{3, 0}, {4, 1}, {5, 0}}, []int64{0, 4, 0}},
		{[][2]float32{{6, 1}}, []int64{6}},
	}
	k := 0
	for b, err := range l.Epoch(context.Background(), 0, 0) {
		if err != nil || !slices.Equal(b.X, want[k].X) || !slices.Equal(b.Y, want[k].Y) {
			t.Errorf("batch %d is %v, %v; want %v", k, b, err, want[k])
		}
		k++
	}
	for _, err := range data.Load(numbers(1), data.Pairs[int, int, int](nil), data.LoaderOptions{Batch: 1}).Epoch(context.Background(), 0, 0) {
		wantError(t, err, "load: no function makes a batch of items")
	}
}

func TestCopy(t *testing.T) {
	d := data.Zipped(numbers(3), data.Of([]string{"a", "b", "c"}))
	for b, err := range data.Load(d, data.Pairs(data.Copy[int, string]), data.LoaderOptions{Batch: 3}).Epoch(context.Background(), 0, 0) {
		if err != nil || !slices.Equal(b.X, upTo(3)) || !slices.Equal(b.Y, []string{"a", "b", "c"}) {
			t.Errorf("%v, %v", b, err)
		}
	}
}

// padded is a batch of texts of different lengths.
type padded struct {
	tokens []int64
	length int
}

func TestWhole(t *testing.T) {
	texts := data.Of([]string{"a", "bcd", "ef", "", "g"})
	fill := data.Whole(func(items []string, b *padded, _ *rand.Rand) error {
		b.length = 0
		for _, s := range items {
			b.length = max(b.length, len(s))
		}
		b.tokens = b.tokens[:0]
		for _, s := range items {
			for k := range b.length {
				b.tokens = append(b.tokens, 0)
				if k < len(s) {
					b.tokens[len(b.tokens)-1] = int64(s[k])
				}
			}
		}
		return nil
	})
	want := [][]int64{{'a', 0, 0, 'b', 'c', 'd'}, {'e', 'f', 0, 0}, {'g'}}
	k := 0
	for b, err := range data.Load(texts, fill, data.LoaderOptions{Batch: 2}).Epoch(context.Background(), 0, 0) {
		if err != nil || !slices.Equal(b.tokens, want[k]) {
			t.Errorf("batch %d is %v, %v", k, b, err)
		}
		k++
	}
	bad := data.Whole(func(items []string, _ *padded, _ *rand.Rand) error {
		if slices.Contains(items, "g") {
			return errors.New("too short")
		}
		return nil
	})
	var last error
	n := 0
	for _, err := range data.Load(texts, bad, data.LoaderOptions{Batch: 2, OnError: data.Skip}).Epoch(context.Background(), 0, 0) {
		n, last = n+1, err
	}
	if wantError(t, last, "batch of 1 items from item 4 on: too short"); n != 3 {
		t.Errorf("%d batches", n)
	}
}

// TestInto makes batches of a type of its own, of which items that fail are left out.
func TestInto(t *testing.T) {
	type batch struct{ items []float64 }
	into := data.Into(func(b *batch, n int) {
		b.items = append(b.items, make([]float64, n)...)[:n]
	}, func(item int, b *batch, k int, r *rand.Rand) error {
		if item%3 == 1 {
			b.items[k] = -1
			return errBad
		}
		b.items[k] = float64(item)
		return nil
	})
	l := data.Load(numbers(8), into, data.LoaderOptions{Batch: 4, OnError: data.Skip, Workers: data.Inline, Log: silent})
	want := [][]float64{{0, 2, 3}, {5, 6}}
	k := 0
	for b, err := range l.Epoch(context.Background(), 0, 0) {
		if err != nil || !slices.Equal(b.items, want[k]) {
			t.Errorf("batch %d is %v, %v; want %v", k, b, err, want[k])
		}
		k++
	}
	if l.Skipped() != 3 {
		t.Errorf("%d items were skipped", l.Skipped())
	}
}
