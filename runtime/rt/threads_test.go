package rt

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// cores gives a test n threads whatever the machine has.
func cores(t testing.TB, n int) {
	procs := runtime.GOMAXPROCS(n)
	threads := workers.setting.Swap(0)
	t.Cleanup(func() {
		runtime.GOMAXPROCS(procs)
		workers.setting.Store(threads)
	})
	if runtime.GOMAXPROCS(0) != n {
		t.Skip("this machine runs one goroutine at a time")
	}
}

// count is a task that counts how often each part was done.
type count struct {
	done  []int32
	parts int
	work  int
	sink  atomic.Int64
}

func (c *count) Part(i, parts int) {
	if parts != c.parts {
		panic("wrong number of parts")
	}
	c.done[i]++ // a race if two goroutines do one part
	var x int64
	for k := range c.work {
		x += int64(k ^ i)
	}
	c.sink.Add(x)
}

func (c *count) check() error {
	for i, n := range c.done {
		if n != 1 {
			return fmt.Errorf("part %d of %d was done %d times", i, c.parts, n)
		}
	}
	return nil
}

func newCount(parts, work int) *count {
	return &count{done: make([]int32, parts), parts: parts, work: work}
}

func TestRun(t *testing.T) {
	for _, threads := range []int{1, 2, 3, 8} {
		t.Run(fmt.Sprintf("%d threads do every part once", threads), func(t *testing.T) {
			cores(t, threads)
			rapid.Check(t, func(t *rapid.T) {
				Begin()
				defer End()
				for _, parts := range rapid.SliceOfN(rapid.IntRange(0, 40), 1, 20).Draw(t, "parts") {
					c := newCount(parts, rapid.SampledFrom([]int{0, 100, 20_000}).Draw(t, "work"))
					if err := Run(c, parts); err != nil {
						t.Fatal(err)
					}
					if err := c.check(); err != nil {
						t.Fatal(err)
					}
				}
			})
		})
	}
	t.Run("outside of an inference", func(t *testing.T) {
		cores(t, 4)
		c := newCount(7, 0)
		if err := errors.Join(Run(c, 7), c.check()); err != nil {
			t.Error(err)
		}
	})
	t.Run("many inferences at once", func(t *testing.T) {
		cores(t, 4)
		var group sync.WaitGroup
		for g := range 12 {
			group.Go(func() {
				for i := range 50 {
					Begin()
					for range 3 {
						c := newCount(1+(g+i)%9, 500)
						if err := errors.Join(Run(c, c.parts), c.check()); err != nil {
							t.Error(err)
						}
					}
					End()
				}
			})
		}
		group.Wait()
	})
	t.Run("a negative number of parts is none", func(t *testing.T) {
		if err := Run(newCount(0, 0), -1); err != nil {
			t.Error(err)
		}
	})
}

// nested is a task whose parts run tasks.
type nested struct{ inner []*count }

func (n *nested) Part(i, _ int) {
	if err := Run(n.inner[i], n.inner[i].parts); err != nil {
		panic(err)
	}
}

func TestRunInsideRun(t *testing.T) {
	cores(t, 4)
	Begin()
	defer End()
	n := &nested{}
	for i := range 6 {
		n.inner = append(n.inner, newCount(i, 100))
	}
	if err := Run(n, 6); err != nil {
		t.Fatal(err)
	}
	for _, c := range n.inner {
		if err := c.check(); err != nil {
			t.Error(err)
		}
	}
}

func TestRunOfManyParts(t *testing.T) {
	cores(t, 3)
	Begin()
	defer End()
	c := newCount(3*maxUnits+1, 0)
	if err := errors.Join(Run(c, c.parts), c.check()); err != nil {
		t.Error(err)
	}
}

// last is a task whose first part ends after all others.
type last struct {
	done atomic.Int32
	late atomic.Bool
}

func (l *last) Part(i, parts int) {
	for deadline := time.Now().Add(2 * time.Minute); i == 0 && int(l.done.Load()) < parts-1; time.Sleep(time.Microsecond) {
		if time.Now().After(deadline) {
			l.late.Store(true)
			return
		}
	}
	l.done.Add(1)
}

func TestWorkersTakePartsOfASlowOne(t *testing.T) {
	for _, threads := range []int{2, 5} {
		cores(t, threads)
		Begin()
		defer End()
		for _, parts := range []int{threads, 4 * threads, 4*threads + 3} {
			var l last
			if err := Run(&l, parts); err != nil || l.late.Load() {
				t.Errorf("%d threads: no other does the parts after a slow one of %d, error %v", threads, parts, err)
			}
		}
	}
}

func TestWatchThreads(t *testing.T) {
	cores(t, 4)
	Begin()
	defer End()
	var s Sharing
	WatchThreads(&s)
	defer WatchThreads(nil)
	for range 3 {
		if err := Run(newCount(8, 20_000), 8); err != nil {
			t.Fatal(err)
		}
	}
	if err := Run(newCount(1, 100), 1); err != nil { // is not shared
		t.Fatal(err)
	}
	WatchThreads(nil)
	if err := Run(newCount(8, 100), 8); err != nil {
		t.Fatal(err)
	}
	if s.Runs != 3 || s.Workers != 12 || s.Longest <= 0 || s.Busy < s.Longest || s.Span < s.Longest {
		t.Errorf("%+v", s)
	}
}

// meeting is a task whose parts wait until all of them have begun.
type meeting struct {
	begun atomic.Int32
	late  atomic.Bool
}

func (m *meeting) Part(_, parts int) {
	m.begun.Add(1)
	for deadline := time.Now().Add(2 * time.Minute); int(m.begun.Load()) < parts; time.Sleep(time.Microsecond) {
		if time.Now().After(deadline) {
			m.late.Store(true)
			return
		}
	}
}

func TestPartsRunAtOnce(t *testing.T) {
	for _, threads := range []int{2, 3, 8} {
		cores(t, threads)
		for range 3 {
			func() {
				Begin()
				defer End()
				for range 3 {
					var m meeting
					if err := Run(&m, threads); err != nil || m.late.Load() {
						t.Fatalf("%d threads: parts do not run at once, error %v", threads, err)
					}
				}
			}()
		}
	}
}

func TestIdleWorkersPark(t *testing.T) {
	cores(t, 4)
	Begin()
	if err := Run(newCount(4, 1000), 4); err != nil {
		t.Fatal(err)
	}
	End()
	deadline := time.Now().Add(2 * time.Minute)
	for _, w := range workers.all() {
		for !w.parked.Load() {
			if time.Now().After(deadline) {
				t.Fatal("a worker spins when no inference is under way")
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// bomb is a task whose parts from first on panic.
type bomb struct {
	first int
	value any
	done  []atomic.Bool
}

func (b *bomb) Part(i, _ int) {
	if i >= b.first {
		panic(b.value)
	}
	b.done[i].Store(true)
}

func TestPanicOfAPartIsAnError(t *testing.T) {
	cores(t, 4)
	for _, inference := range []bool{false, true} {
		if inference {
			Begin()
			defer End()
		}
		for first := range 8 {
			cause := fmt.Errorf("cause %d", first)
			b := &bomb{first, cause, make([]atomic.Bool, 8)}
			err := Run(b, 8)
			var p *PanicError
			if !errors.As(err, &p) || !errors.Is(err, cause) || len(p.Stack) == 0 {
				t.Fatalf("first %d: %v", first, err)
			}
			for i := range first {
				if !b.done[i].Load() {
					t.Errorf("part %d before the panic was not done", i)
				}
			}
			c := newCount(8, 100)
			if err := errors.Join(Run(c, 8), c.check()); err != nil {
				t.Fatalf("the Run after a panic: %v", err)
			}
		}
	}
}

func TestRunDoesNotAllocate(t *testing.T) {
	cores(t, 3)
	c := &sum{}
	Begin()
	defer End()
	if n := testing.AllocsPerRun(200, func() {
		if Run(c, 3) != nil {
			t.Error("error")
		}
		Begin()
		End()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

type sum struct{ n atomic.Int64 }

func (s *sum) Part(i, _ int) { s.n.Add(int64(i)) }

func TestThreads(t *testing.T) {
	cores(t, 4)
	if got := Threads(0); got != 4 {
		t.Errorf("Threads(0) = %d with 4 processors", got)
	}
	if got := Threads(2); got != 4 {
		t.Errorf("Threads(2) = %d, the setting before was 4", got)
	}
	if got := Threads(-1); got != 2 {
		t.Errorf("Threads(-1) = %d, the setting was 2", got)
	}
	for _, tt := range []struct {
		threads, inferences int
		ns                  int64
		want                int
	}{
		{4, 0, 1e9, 1},
		{4, 1, 1e9, 4},
		{4, 1, 9_999, 1},
		{4, 1, 10_000, 2},
		{4, 1, -5, 1},
		{4, 2, 1e9, 3},
		{4, 4, 1e9, 1},
		{4, 9, 1e9, 1},
		{3, 1, 1e9, 3},
		{1, 1, 1e9, 1},
		{99, 1, 1e9, 4},
	} {
		Threads(tt.threads)
		for range tt.inferences {
			Begin()
		}
		if got := Parts(tt.ns); got != tt.want {
			t.Errorf("%+v: Parts = %d", tt, got)
		}
		for range tt.inferences {
			End()
		}
	}
}

func BenchmarkRun(b *testing.B) {
	c := &sum{}
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("%d_threads", threads), func(b *testing.B) {
			defer Threads(Threads(threads))
			Begin()
			defer End()
			for b.Loop() {
				if err := Run(c, threads); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// spin is a task of parts that take about 10 µs.
type spin struct{ x [64]float32 }

func (s *spin) Part(i, _ int) {
	x := s.x[i]
	for range 10_000 {
		x = x*0.5 + 1
	}
	s.x[i] = x
}

func BenchmarkRunWork(b *testing.B) {
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("%d_threads", threads), func(b *testing.B) {
			defer Threads(Threads(threads))
			Begin()
			defer End()
			s := &spin{}
			for b.Loop() {
				if err := Run(s, 2); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkBegin(b *testing.B) {
	for b.Loop() {
		Begin()
		End()
	}
}

// asked is a context that ends when it has been asked a number of times whether it has.
type asked struct {
	context.Context
	left atomic.Int64
}

func endsAfter(n int64) *asked {
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // so that it has a cause
	a := &asked{Context: ctx}
	a.left.Store(n)
	return a
}

func (a *asked) Err() error {
	if a.left.Add(-1) >= 0 {
		return nil
	}
	return a.Context.Err()
}

func TestRunUntil(t *testing.T) {
	for _, threads := range []int{1, 2, 8} {
		t.Run(fmt.Sprintf("%d threads", threads), func(t *testing.T) {
			cores(t, threads)
			Begin()
			defer End()
			const parts = 100
			for _, asks := range []int64{0, 1, 7, 99, 100, 1000} {
				c := newCount(parts, 100)
				if err := RunUntil(endsAfter(asks), c, parts); err != nil {
					t.Fatal(err)
				}
				done := int64(0)
				for i, n := range c.done {
					if done += int64(n); n > 1 {
						t.Errorf("part %d was done %d times", i, n)
					}
				}
				if done != min(asks, parts) {
					t.Errorf("%d parts were done of %d, by a context that ends after %d", done, parts, asks)
				}
				whole := newCount(parts, 100)
				if err := Run(whole, parts); err != nil {
					t.Fatal(err)
				}
				if err := whole.check(); err != nil {
					t.Errorf("the run after: %v", err)
				}
			}
		})
	}
}
