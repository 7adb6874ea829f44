package data_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/runtime/data"
)

// list makes batches that are lists of items.
func list[T any]() data.Collate[T, []T] {
	return data.Whole(func(items []T, b *[]T, _ *rand.Rand) error {
		*b = append((*b)[:0], items...)
		return nil
	})
}

// batches returns copies of an epoch's batches.
func batches[T any](t testing.TB, l *data.Loader[[]T], epoch, from int) [][]T {
	t.Helper()
	all := [][]T{}
	for b, err := range l.Epoch(context.Background(), epoch, from) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, slices.Clone(*b))
	}
	return all
}

func TestLoad(t *testing.T) {
	for _, tt := range []struct {
		n    int
		o    data.LoaderOptions
		want string
	}{
		{7, data.LoaderOptions{Batch: 3}, "[[0 1 2] [3 4 5] [6]]"},
		{6, data.LoaderOptions{Batch: 3}, "[[0 1 2] [3 4 5]]"},
		{7, data.LoaderOptions{Batch: 3, DropLast: true}, "[[0 1 2] [3 4 5]]"},
		{2, data.LoaderOptions{Batch: math.MaxInt}, "[[0 1]]"},
		{3, data.LoaderOptions{Batch: 1}, "[[0] [1] [2]]"},
	} {
		l := data.Load(numbers(tt.n), list[int](), tt.o)
		got := batches(t, l, 0, 0)
		sum := 0
		for _, b := range got {
			sum += len(b)
		}
		if text := fmt.Sprint(got); text != tt.want || l.Batches() != len(got) || l.Items() != sum {
			t.Errorf("%d items, %+v: %s, want %s; %d batches of %d items are announced", tt.n, tt.o, text, tt.want, l.Batches(), l.Items())
		}
	}
}

func TestMistakesInLoad(t *testing.T) {
	for want, l := range map[string]*data.Loader[[]int]{
		"load: batches of 0 items: at least 1 expected":                                          data.Load(numbers(3), list[int](), data.LoaderOptions{}),
		"load: batches of -1 items: at least 1 expected":                                         data.Load(numbers(3), list[int](), data.LoaderOptions{Batch: -1}),
		"load: -2 workers: at least 0, or Inline, expected":                                      data.Load(numbers(3), list[int](), data.LoaderOptions{Batch: 1, Workers: -2}),
		"load: OnError is 7: Stop or Skip expected":                                              data.Load(numbers(3), list[int](), data.LoaderOptions{Batch: 1, OnError: 7}),
		"load: the data set has no items":                                                        data.Load(numbers(0), list[int](), data.LoaderOptions{Batch: 1}),
		"load: 3 items do not make a batch of 4":                                                 data.Load(numbers(3), list[int](), data.LoaderOptions{Batch: 4, DropLast: true}),
		"load: no data set":                                                                      data.Load(nil, list[int](), data.LoaderOptions{Batch: 4}),
		"load: " + brokenText:                                                                    data.Load(broken, list[int](), data.LoaderOptions{Batch: 4}),
		"load: no function makes a batch of items":                                               data.Load(numbers(3), data.Collate[int, []int]{}, data.LoaderOptions{Batch: 4}),
		"load: shard 2 of 2: from 0 to the number of shards expected":                            data.Load(numbers(3), list[int](), data.LoaderOptions{Batch: 4}).Shard(2, 2),
		"load: shard -1 of 2: from 0 to the number of shards expected":                           data.Load(numbers(3), list[int](), data.LoaderOptions{Batch: 4}).Shard(-1, 2),
		"load: shard 0 of 0: from 0 to the number of shards expected":                            data.Load(numbers(3), list[int](), data.LoaderOptions{Batch: 4}).Shard(0, 0),
		"load: the data set has no items\nshard 1 of 1: from 0 to the number of shards expected": data.Load(numbers(0), list[int](), data.LoaderOptions{Batch: 4}).Shard(1, 1),
	} {
		n := 0
		for b, err := range l.Epoch(context.Background(), 0, 0) {
			n++
			if b != nil {
				t.Errorf("%s: a batch beside an error", want)
			}
			wantError(t, err, want)
		}
		if n != 1 {
			t.Errorf("%s: %d batches", want, n)
		}
	}
	huge := data.Load(data.Repeated(numbers(1), math.MaxInt), list[int](), data.LoaderOptions{Batch: math.MaxInt})
	for _, err := range huge.Epoch(context.Background(), 0, 0) {
		if err == nil {
			t.Error("a batch of all ints")
		}
		break
	}
	l := data.Load(numbers(3), list[int](), data.LoaderOptions{Batch: 2})
	for _, from := range []int{-1, 3, math.MaxInt} {
		for _, err := range l.Epoch(context.Background(), 0, from) {
			wantError(t, err, fmt.Sprintf("load: batch %d: the epoch has 2 batches", from))
		}
	}
	if got := batches(t, l, 0, 2); len(got) != 0 {
		t.Errorf("after the last batch there is %v", got)
	}
}

// TestEveryItemOnce asserts that an epoch has every item once, with blocks, too.
func TestEveryItemOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "n")
		o := data.LoaderOptions{
			Batch:   rapid.IntRange(1, 40).Draw(t, "batch"),
			Shuffle: rapid.Bool().Draw(t, "shuffle"),
			Seed:    rapid.Uint64().Draw(t, "seed"),
			Workers: rapid.IntRange(data.Inline, 3).Draw(t, "workers"),
		}
		d := &blocks{n: n, block: rapid.IntRange(0, 60).Draw(t, "block")}
		l := data.Load(data.Dataset[int](d), list[int](), o)
		epoch := rapid.IntRange(-2, 5).Draw(t, "epoch")
		var all []int
		for b, err := range l.Epoch(context.Background(), epoch, 0) {
			if err != nil || len(*b) > o.Batch {
				t.Fatal(b, err)
			}
			all = append(all, *b...)
		}
		sorted := slices.Sorted(slices.Values(all))
		if !slices.Equal(sorted, upTo(n)) {
			t.Fatalf("items are %v", all)
		}
		if !o.Shuffle && !slices.IsSorted(all) {
			t.Errorf("items are %v", all)
		}
	})
}

// TestBlocks asserts that the items of a window of batches are in eight blocks, and that blocks and
// their items are mixed.
func TestBlocks(t *testing.T) {
	const block, window = 10, 80
	l := data.Load(data.Dataset[int](&blocks{n: 995, block: block}), list[int](), data.LoaderOptions{Batch: 995, Shuffle: true, Seed: 5})
	order := batches(t, l, 1, 0)[0]
	if other := batches(t, l, 2, 0)[0]; slices.Equal(order, other) {
		t.Error("two epochs have the same order")
	}
	next := 0 // of items after the last window, to find the short block
	for from := 0; from < len(order); from = next {
		seen := map[int]int{}
		for next = from; next < len(order) && (len(seen) < 8 || seen[order[next]/block] > 0); next++ {
			seen[order[next]/block]++
		}
		for b, n := range seen {
			if want := min(block, 995-b*block); n != want {
				t.Errorf("from position %d on, block %d has %d items, want %d", from, b, n, want)
			}
		}
		if runs := len(slices.CompactFunc(slices.Clone(order[from:next]), func(a, b int) bool { return a/block == b/block })); runs < (next-from)/2 {
			t.Errorf("items %v are not mixed", order[from:next])
		}
	}
}

// TestOrdersOfEpochs pins orders and asserts that epochs and seeds differ.
func TestOrdersOfEpochs(t *testing.T) {
	first := func(seed uint64, epoch int) []int {
		l := data.Load(numbers(10), list[int](), data.LoaderOptions{Batch: 10, Shuffle: true, Seed: seed})
		return batches(t, l, epoch, 0)[0]
	}
	for _, v := range vectors {
		if v.n == 10 && !slices.Equal(first(v.seed, int(v.epoch)), v.first) {
			t.Errorf("seed %d, epoch %d: %v, want %v", v.seed, v.epoch, first(v.seed, int(v.epoch)), v.first)
		}
	}
	if slices.Equal(first(1, 0), first(2, 0)) || slices.Equal(first(1, 0), first(1, 1)) {
		t.Error("another seed or epoch has the same order")
	}
}

// TestShards asserts that the parts of all ranks, one after the other, are the batches.
func TestShards(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "n")
		of := rapid.IntRange(1, 7).Draw(t, "shards")
		again := rapid.IntRange(1, 3).Draw(t, "shards of shards")
		o := data.LoaderOptions{Batch: rapid.IntRange(1, 20).Draw(t, "batch"), Shuffle: true, Workers: data.Inline}
		l := data.Load(numbers(n), list[int](), o)
		read := func(l *data.Loader[[]int]) (all [][]int) {
			for b, err := range l.Epoch(context.Background(), 3, 0) {
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, slices.Clone(*b))
			}
			return all
		}
		whole := read(l)
		joined := make([][]int, len(whole))
		for rank := range of {
			part := l.Shard(rank, of)
			own := make([][]int, len(whole))
			for r := range again {
				s := part.Shard(r, again)
				for k, b := range read(s) {
					own[k] = append(own[k], b...)
				}
				if s.Items() != n || s.Batches() != len(whole) {
					t.Errorf("a shard announces %d items and %d batches", s.Items(), s.Batches())
				}
			}
			for k, b := range read(part) {
				if len(whole[k])/of > len(b) || len(b) > len(whole[k])/of+1 {
					t.Errorf("rank %d has %d of %d items", rank, len(b), len(whole[k]))
				}
				if !slices.Equal(own[k], b) {
					t.Errorf("shards of shard %d have %v, the shard has %v", rank, own[k], b)
				}
				joined[k] = append(joined[k], b...)
			}
		}
		for k := range whole {
			if !slices.Equal(joined[k], whole[k]) {
				t.Errorf("batch %d is %v, the shards have %v", k, whole[k], joined[k])
			}
		}
	})
	l := data.Load(numbers(3), list[int](), data.LoaderOptions{Batch: 2}).Shard(0, math.MaxInt).Shard(0, 2)
	for _, err := range l.Epoch(context.Background(), 0, 0) {
		if err == nil {
			t.Error("more shards than fit an int")
		}
	}
}
