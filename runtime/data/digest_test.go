package data_test

import (
	"math/rand/v2"
	"testing"

	"github.com/burngen/burngen/runtime/data"
)

// wholeOf returns what makes batches of items as they are.
func wholeOf[T any]() data.Collate[T, []T] {
	return data.Into(func(b *[]T, n int) { *b = make([]T, n) }, func(x T, b *[]T, k int, _ *rand.Rand) error {
		(*b)[k] = x
		return nil
	})
}

func digestFor[T any](t *testing.T, items ...T) string {
	t.Helper()
	text, err := data.Load(data.Of(items), wholeOf[T](), data.LoaderOptions{Batch: 1}).Digest()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestDigest compares the digests of items that are equal, and of items that differ in one place.
func TestDigest(t *testing.T) {
	type inner struct {
		list  []int16
		cells [2][2]float32
	}
	type item struct {
		Name  string
		Flag  bool
		Count uint8
		At    *int
		Any   any
		Words map[string]int
		Waves []complex64
		Call  func()
		Deep  inner
	}
	item0 := func() item {
		one := 1
		return item{"a", true, 3, &one, 2.5, map[string]int{"x": 1, "y": 2}, []complex64{1i}, nil, inner{[]int16{4}, [2][2]float32{{1, 2}, {3, 4}}}}
	}
	same := item0()
	same.Call = func() {}
	if digestFor(t, item0()) != digestFor(t, same) {
		t.Error("equal items have different digests")
	}
	seen := map[string]int{digestFor(t, item0()): -1}
	for i, change := range []func(x *item){
		func(x *item) { x.Name = "b" },
		func(x *item) { x.Flag = false },
		func(x *item) { x.Count = 4 },
		func(x *item) { *x.At = 2 },
		func(x *item) { x.At = nil },
		func(x *item) { x.Any = float32(2.5) },
		func(x *item) { x.Any = nil },
		func(x *item) { x.Words["y"] = 1 },
		func(x *item) { x.Words = nil },
		func(x *item) { x.Waves[0] = 1 },
		func(x *item) { x.Deep.list[0] = 5 },
		func(x *item) { x.Deep.cells[1][1] = 5 },
	} {
		x := item0()
		change(&x)
		d := digestFor(t, x)
		if before, ok := seen[d]; ok {
			t.Errorf("changes %d and %d have one digest", before, i)
		}
		seen[d] = i
	}
	if digestFor(t, "ab", "c") == digestFor(t, "a", "bc") {
		t.Error("texts run into each other")
	}
}

// TestDigestCoversTheEnds changes the first and the last of many items.
func TestDigestCoversTheEnds(t *testing.T) {
	for _, n := range []int{1, 2, 15, 16, 17, 1000} {
		before := digestFor(t, upTo(n)...)
		for _, i := range []int{0, n - 1} {
			items := upTo(n)
			items[i] = -1
			if digestFor(t, items...) == before {
				t.Errorf("%d items: item %d does not count", n, i)
			}
		}
	}
}

func TestDigestErrors(t *testing.T) {
	type ring struct{ next *ring }
	r := &ring{}
	r.next = r
	_, err := data.Load(data.Of([]*ring{r}), wholeOf[*ring](), data.LoaderOptions{Batch: 1}).Digest()
	wantError(t, err, "item 0: items are nested more than 32 levels deep")
	_, err = data.Load(&blocks{n: 3, bad: 3}, wholeOf[int](), data.LoaderOptions{Batch: 1}).Digest()
	wantError(t, err, "item 2: bad item")
	_, err = data.Load(broken, wholeOf[int](), data.LoaderOptions{Batch: 1}).Digest()
	wantError(t, err, "load: "+brokenText)
}

func TestLoaderTellsItsOptions(t *testing.T) {
	o := data.LoaderOptions{Batch: 3, Shuffle: true, Seed: 4, Workers: 2, DropLast: true}
	l := data.Load(numbers(7), wholeOf[int](), o)
	if l.Options() != o || l.Err() != nil {
		t.Errorf("options %+v, error %v", l.Options(), l.Err())
	}
	wantError(t, data.Load(numbers(7), wholeOf[int](), data.LoaderOptions{}).Err(), "load: batches of 0 items: at least 1 expected")
}
