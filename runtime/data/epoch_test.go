package data_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/burngen/burngen/runtime/data"
)

// silent is a log that nobody reads.
var silent = slog.New(slog.DiscardHandler)

// noisy makes batches of items with random numbers.
var noisy = data.Pairs(func(item int, x *[3]float64, y *int, r *rand.Rand) error {
	*y = item
	for k := range x {
		x[k] = r.Float64()
	}
	return nil
})

// digest returns the text of an epoch's batches from batch from on.
func digest[B any](t testing.TB, l *data.Loader[B], epoch, from int) []string {
	t.Helper()
	var all []string
	for b, err := range l.Epoch(context.Background(), epoch, from) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprint(*b))
	}
	return all
}

// TestWorkersDoNotMatter compares the batches of any number of workers, from any batch on.
func TestWorkersDoNotMatter(t *testing.T) {
	for name, d := range map[string]data.Dataset[int]{
		"slice":  numbers(103),
		"many":   data.Shuffled(numbers(103), 1),
		"blocks": &blocks{n: 103, block: 4},
	} {
		o := data.LoaderOptions{Batch: 10, Shuffle: true, Seed: 42, Workers: data.Inline}
		want := digest(t, data.Load(d, noisy, o), 3, 0)
		if other := digest(t, data.Load(d, noisy, o), 4, 0); len(want) != 11 || want[0] == other[0] {
			t.Errorf("%s: %d batches; two epochs begin with %s", name, len(want), want[0])
		}
		for workers := range 9 {
			o.Workers = workers
			l := data.Load(d, noisy, o)
			for from := range len(want) + 1 {
				if got := digest(t, l, 3, from); !slices.Equal(got, want[from:]) {
					t.Errorf("%s, %d workers, from batch %d on: %v, want %v", name, workers, from, got, want[from:])
				}
			}
		}
	}
}

// TestRandomNumbersOfItems asserts that an item's numbers depend on the seed, the epoch and the
// item only, and compares them with the test vector of docs/data.md.
func TestRandomNumbersOfItems(t *testing.T) {
	numbersOf := func(n int, o data.LoaderOptions, epoch int) map[int][3]float64 {
		all := map[int][3]float64{}
		for b, err := range data.Load(numbers(n), noisy, o).Epoch(context.Background(), epoch, 0) {
			if err != nil {
				t.Fatal(err)
			}
			for k, item := range b.Y {
				all[item] = b.X[k]
			}
		}
		return all
	}
	one := numbersOf(5000, data.LoaderOptions{Batch: 7, Shuffle: true, Seed: 42}, 7)
	two := numbersOf(5000, data.LoaderOptions{Batch: 64, Seed: 42}, 7)
	seen := map[float64]bool{}
	for item, x := range one {
		if two[item] != x {
			t.Errorf("item %d has %v and %v", item, x, two[item])
		}
		if seen[x[0]] {
			t.Errorf("%v is drawn twice", x[0])
		}
		seen[x[0]] = true
	}
	if epoch := numbersOf(10, data.LoaderOptions{Batch: 7, Seed: 42}, 8); epoch[0] == one[0] {
		t.Error("two epochs have the same numbers")
	}
	if seed := numbersOf(10, data.LoaderOptions{Batch: 7, Seed: 43}, 7); seed[0] == one[0] {
		t.Error("two seeds have the same numbers")
	}
	r := rand.New(rand.NewPCG(0xdaf2781fd0fef266, 0xb9830bc198722a8f))
	if want := [3]float64{r.Float64(), r.Float64(), r.Float64()}; one[4711] != want {
		t.Errorf("item 4711 has %v, want %v", one[4711], want)
	}
}

// TestBatchesAllocateNothing counts allocations while batches are made.
func TestBatchesAllocateNothing(t *testing.T) {
	put := data.Pairs(func(p data.Pair[[64]float32, int64], x *[64]float32, y *int64, r *rand.Rand) error {
		*x, *y = p.X, p.Y
		x[0] += r.Float32()
		return nil
	})
	images, labels := make([][64]float32, 1000), make([]int64, 1000)
	for name, d := range map[string]data.Dataset[data.Pair[[64]float32, int64]]{
		"zipped":   data.Zipped(data.Of(images), data.Of(labels)),
		"shuffled": data.Part(data.Shuffled(data.Repeated(data.Zipped(data.Of(images), data.Of(labels)), 50), 1), 0, 40000),
		"mapped":   data.Map(data.Of(labels), func(y int64) (p data.Pair[[64]float32, int64], err error) { p.Y = y; return p, nil }),
	} {
		for _, workers := range []int{data.Inline, 0, 3} {
			l := data.Load(data.Repeated(d, 100), put, data.LoaderOptions{Batch: 32, Shuffle: true, Workers: workers})
			next, stop := iter.Pull2(l.Epoch(context.Background(), 0, 0))
			read := func() {
				if _, err, ok := next(); err != nil || !ok {
					t.Fatal(err, ok)
				}
			}
			for range 50 {
				read()
			}
			if n := testing.AllocsPerRun(200, read); n > 0 {
				t.Errorf("%s, %d workers: %v allocations per batch", name, workers, n)
			}
			stop()
		}
	}
}

// TestABatchIsValidUntilTheNext keeps each batch as long as it may be kept, while workers go ahead.
func TestABatchIsValidUntilTheNext(t *testing.T) {
	l := data.Load(numbers(200), noisy, data.LoaderOptions{Batch: 4, Workers: 3})
	for b, err := range l.Epoch(context.Background(), 0, 0) {
		if err != nil {
			t.Fatal(err)
		}
		before := fmt.Sprint(*b)
		runtime.Gosched()
		time.Sleep(100 * time.Microsecond)
		if after := fmt.Sprint(*b); after != before {
			t.Fatalf("%s became %s", before, after)
		}
	}
}

func TestErrorsNameTheItem(t *testing.T) {
	bad := func(item int, x *int, y *int, r *rand.Rand) error {
		*x = item
		if item == 13 {
			return errBad
		}
		return nil
	}
	for _, workers := range []int{data.Inline, 0, 4} {
		for name, l := range map[string]*data.Loader[data.Set[int, int]]{
			"At":      data.Load(data.Map(numbers(40), func(x int) (int, error) { return x, bad(x, new(int), nil, nil) }), data.Pairs(plain), data.LoaderOptions{Batch: 5, Workers: workers}),
			"Many":    data.Load(data.Dataset[int](&blocks{n: 40, bad: 14}), data.Pairs(plain), data.LoaderOptions{Batch: 5, Workers: workers}),
			"put":     data.Load(numbers(40), data.Pairs(bad), data.LoaderOptions{Batch: 5, Workers: workers}),
			"shuffle": data.Load(numbers(40), data.Pairs(bad), data.LoaderOptions{Batch: 5, Shuffle: true, Workers: workers}),
		} {
			var errs []error
			for b, err := range l.Epoch(context.Background(), 0, 0) {
				if errs = append(errs, err); (err == nil) == (b == nil) {
					t.Errorf("%s: batch %v, %v", name, b, err)
				}
			}
			last := errs[len(errs)-1]
			wantError(t, last, "item 13: bad item")
			if !errors.Is(last, errBad) || name != "shuffle" && len(errs) != 3 || slices.ContainsFunc(errs[:len(errs)-1], func(err error) bool { return err != nil }) {
				t.Errorf("%s: errors are %v", name, errs)
			}
		}
	}
}

// plain stores a number.
func plain(item int, x, _ *int, _ *rand.Rand) error {
	*x = item
	return nil
}

func TestSkip(t *testing.T) {
	for _, workers := range []int{data.Inline, 0, 4} {
		var log bytes.Buffer
		o := data.LoaderOptions{Batch: 5, Workers: workers, OnError: data.Skip, Log: slog.New(slog.NewTextHandler(&log, nil))}
		l := data.Load(data.Dataset[int](&blocks{n: 18, bad: 8}), data.Pairs(plain), o)
		var sizes []int
		for b, err := range l.Epoch(context.Background(), 0, 0) {
			if err != nil || slices.Contains(b.X, 7) || len(b.X) != len(b.Y) {
				t.Fatal(b, err)
			}
			sizes = append(sizes, len(b.X))
		}
		if !slices.Equal(sizes, []int{5, 4, 5, 3}) || l.Skipped() != 1 || l.Items() != 18 {
			t.Errorf("sizes %v, %d skipped of %d", sizes, l.Skipped(), l.Items())
		}
		if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, `error="item 7: bad item"`) {
			t.Errorf("the log is %q", text)
		}
	}
	all := data.Pairs(func(int, *int, *int, *rand.Rand) error { return errBad })
	for _, l := range []*data.Loader[data.Set[int, int]]{
		data.Load(numbers(6), all, data.LoaderOptions{Batch: 5, OnError: data.Skip, Log: silent}),
		data.Load(data.Map(numbers(6), func(int) (int, error) { return 0, errBad }), all, data.LoaderOptions{Batch: 5, OnError: data.Skip, Log: silent}),
	} {
		n := 0
		for _, err := range l.Epoch(context.Background(), 0, 0) {
			n++
			wantError(t, err, "all items of a batch have errors: item 4: bad item")
		}
		if n != 1 || l.Skipped() != 5 {
			t.Errorf("%d batches, %d items skipped", n, l.Skipped())
		}
	}
}

// TestPanics asserts that a panic in a function of the user becomes an error that names the item,
// and is not skipped.
func TestPanics(t *testing.T) {
	panics := func(what string) func(item int) {
		return func(item int) {
			if item == 7 {
				panic(what)
			}
		}
	}
	for _, workers := range []int{data.Inline, 2} {
		o := data.LoaderOptions{Batch: 5, Workers: workers, OnError: data.Skip, Log: silent}
		f := panics("oh")
		for want, l := range map[string]*data.Loader[data.Set[int, int]]{
			"item 7: reading: panic: oh": data.Load(data.Map(numbers(10), func(x int) (int, error) { f(x); return x, nil }), data.Pairs(plain), o),
			"item 7: collating: panic: oh": data.Load(numbers(10), data.Pairs(func(item int, x, y *int, r *rand.Rand) error {
				f(item)
				return nil
			}), o),
			"batch of 5 items from item 5 on: collating: panic: oh": data.Load(numbers(10), data.Whole(func(items []int, b *data.Set[int, int], r *rand.Rand) error {
				for _, x := range items {
					f(x)
				}
				return nil
			}), o),
			"making room for a batch: panic: oh": data.Load(numbers(10), data.Into(func(b *data.Set[int, int], n int) {
				f(7)
			}, func(item int, b *data.Set[int, int], k int, r *rand.Rand) error { return nil }), o),
		} {
			var last error
			for _, err := range l.Epoch(context.Background(), 0, 0) {
				last = err
			}
			wantError(t, last, want)
		}
	}
}

// leaves asserts that f leaves no goroutines.
func leaves(t *testing.T, f func()) {
	t.Helper()
	before := runtime.NumGoroutine()
	f()
	if after := runtime.NumGoroutine(); after > before {
		time.Sleep(10 * time.Millisecond) // a goroutine that has ended its work may still be counted
		if after = runtime.NumGoroutine(); after > before {
			t.Errorf("%d goroutines, and %d before", after, before)
		}
	}
}

func TestAnEpochEndsItsGoroutines(t *testing.T) {
	for _, workers := range []int{data.Inline, 0, 1, 8} {
		l := data.Load(numbers(1000), noisy, data.LoaderOptions{Batch: 3, Workers: workers})
		leaves(t, func() {
			for range l.Epoch(context.Background(), 0, 0) {
				break
			}
			var none context.Context // does not end
			for range l.Epoch(none, 0, 300) {
			}
			func() {
				defer func() { recover() }()
				for range l.Epoch(context.Background(), 0, 0) {
					panic("in the loop")
				}
			}()
		})
		leaves(t, func() {
			cause := errors.New("enough")
			ctx, cancel := context.WithCancelCause(context.Background())
			defer cancel(nil)
			n := 0
			var last error
			for b, err := range l.Epoch(ctx, 0, 0) {
				if n++; n == 5 {
					cancel(cause)
				}
				if last = err; (b == nil) != (n == 6) {
					t.Errorf("batch %d is %v, %v", n, b, err)
				}
			}
			if n != 6 || !errors.Is(last, cause) {
				t.Errorf("%d batches, the last with error %v", n, last)
			}
		})
	}
}

// TestNothingIsReadAfterwards asserts that no item is being read when an iteration has ended.
func TestNothingIsReadAfterwards(t *testing.T) {
	var reading atomic.Int64
	d := data.Map(numbers(1000), func(x int) (int, error) {
		reading.Add(1)
		defer reading.Add(-1)
		time.Sleep(100 * time.Microsecond)
		return x, nil
	})
	for _, workers := range []int{1, 4} {
		for range data.Load(d, noisy, data.LoaderOptions{Batch: 5, Workers: workers}).Epoch(context.Background(), 0, 0) {
			break
		}
		if n := reading.Load(); n > 0 {
			t.Errorf("%d workers: %d items are being read", workers, n)
		}
	}
}

// TestCancelWhileWaiting ends a context while the next batch is not ready, in the middle of it.
func TestCancelWhileWaiting(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var once sync.Once
	reads := 0
	d := data.Map(numbers(100), func(x int) (int, error) {
		if reads++; reads > 3 {
			once.Do(cancel)
			time.Sleep(time.Millisecond)
		}
		return x, nil
	})
	leaves(t, func() {
		n := 0
		for b, err := range data.Load(data.Dataset[int](onlyAt{d}), noisy, data.LoaderOptions{Batch: 100}).Epoch(ctx, 0, 0) {
			if n++; b != nil || !errors.Is(err, context.Canceled) {
				t.Errorf("%v, %v", b, err)
			}
		}
		if n != 1 || reads == 100 {
			t.Errorf("%d batches after %d items", n, reads)
		}
	})
}

// onlyAt is a data set without Many.
type onlyAt struct{ of data.Dataset[int] }

func (d onlyAt) Len() int              { return d.of.Len() }
func (d onlyAt) At(i int) (int, error) { return d.of.At(i) }

// TestEpochsAtOnce iterates over several epochs of a loader at the same time.
func TestEpochsAtOnce(t *testing.T) {
	l := data.Load(numbers(100), noisy, data.LoaderOptions{Batch: 7, Shuffle: true, Workers: 2})
	want := digest(t, l, 0, 0)
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			if got := digest(t, l, 0, 0); !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
	running.Wait()
}

func BenchmarkEpoch(b *testing.B) {
	images, labels := make([][28][28]float32, 2000), make([]int64, 2000)
	d := data.Zipped(data.Of(images), data.Of(labels))
	for _, workers := range []int{data.Inline, 0, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			l := data.Load(data.Repeated(d, 1<<30), data.Pairs(data.Copy[[28][28]float32, int64]), data.LoaderOptions{Batch: 64, Shuffle: true, Workers: workers})
			next, stop := iter.Pull2(l.Epoch(context.Background(), 0, 0))
			defer stop()
			b.ReportAllocs()
			for b.Loop() {
				if _, err, _ := next(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
