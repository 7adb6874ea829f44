package contract

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/burngen/burngen/runtime/rt"
)

// batch is the number of items that the common tests pass.
const batch = 3

// draw returns the argument of a seed.
func draw(seed uint32) []input { return items(batch, seed) }

// items returns n items of a seed.
func items(n int, seed uint32) []input {
	x := make([]input, n)
	rt.Uniform(argument(x), 0, 1, seed)
	return x
}

// argument returns the elements of an argument.
func argument(x []input) []float32 { return rt.Flat[float32](x) }

// elements returns the elements of a result.
func elements(r []output) []float32 { return rt.Flat[float32](r) }

// result returns room for a result.
func result() *[]output {
	r := make([]output, batch)
	return &r
}

// into calls a session.
func into(s *Session, r *[]output, x []input) error { return s.Forward(*r, x) }

func TestBatchesOfAnySize(t *testing.T) {
	m := opened(t)
	x := items(7, 1)
	all, err := m.Forward(x)
	if err != nil {
		t.Fatal(err)
	}
	s := session(t, m)
	for _, n := range []int{1, 7, 2, 0, 3} {
		r := make([]output, n)
		if err := s.Forward(r, x[:n]); err != nil {
			t.Fatalf("batch of %d: %v", n, err)
		}
		for i, v := range elements(r) {
			if w := elements(all)[i]; max(v-w, w-v) > 1e-5*max(1, v, -v) {
				t.Fatalf("batch of %d: element %d is %g, in a batch of 7 %g", n, i, v, w)
			}
		}
	}
	for _, empty := range [][]input{nil, {}} {
		if r, err := m.Forward(empty); err != nil || len(r) != 0 {
			t.Errorf("an empty batch gives %v, %v", r, err)
		}
	}
}

func TestSmallerBatchesDoNotAllocate(t *testing.T) {
	s, x, r := session(t, opened(t)), items(5, 1), make([]output, 5)
	if err := s.Forward(r, x); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(10, func() {
		for n := range 6 {
			if err := s.Forward(r[:n], x[:n]); err != nil {
				t.Fatal(err)
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestWrongBatchIsRefused(t *testing.T) {
	m := opened(t)
	s, x := session(t, m), items(4, 1)
	for _, room := range []int{0, 1, 3, 5} {
		refused(t, s.Forward(make([]output, room), x))
	}
	refused(t, s.Forward(nil, x))
	refused(t, s.Forward(make([]output, 1), nil))
	for _, max := range []rt.Max{{symbol: 0}, {symbol: -1}, {"none such": 3}} {
		_, err := m.NewSession(max)
		refused(t, err)
	}
	bounded, err := m.NewSession(rt.Max{symbol: 3})
	if err != nil {
		t.Fatal(err)
	}
	refused(t, bounded.Forward(make([]output, 4), x), "4", "3")
	if err := bounded.Forward(make([]output, 3), x[:3]); err != nil {
		t.Errorf("batch of 3 in a session for 3: %v", err)
	}
}

func TestTooLargeABatchIsRefused(t *testing.T) {
	defer rt.ArenaLimit(rt.ArenaLimit(1 << 10))
	_, err := opened(t).Forward(items(4, 1))
	refused(t, err, "limit")
}

func TestResultInTheArgumentIsRefused(t *testing.T) {
	s, x := session(t, opened(t)), draw(1)
	before := slices.Clone(argument(x))
	flat := argument(x)
	room := len(flat) - len(elements(*result()))
	for _, at := range []int{0, 1, room} {
		refused(t, s.Forward(unsafe.Slice((*output)(unsafe.Pointer(&flat[at])), batch), x), "overlap")
	}
	if !slices.Equal(argument(x), before) {
		t.Error("the argument is another after the errors")
	}
}
