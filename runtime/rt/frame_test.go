package rt

import (
	"math"
	"slices"
	"testing"
)

// TestMemoryPlacesBuffers asserts the offsets of buffers whose sizes follow from two extents. A
// function's part of the arena is a buffer of its caller.
func TestMemoryPlacesBuffers(t *testing.T) {
	callee := Buffers{
		Bytes: func(z *Sizes, extents, bytes []int64) { bytes[0] = z.Mul(extents[0], extents[1]) },
		First: []int32{0}, Last: []int32{1},
	}
	own := Buffers{
		Fixed: []int64{64, 0, 0}, Each: [][]int64{nil, {0, 64, 0}, {0, 0, 64}},
		First: []int32{0, 0, 1}, Last: []int32{0, 1, 1},
	}
	method := &Method{Name: "net: Run", Symbols: []string{"N", "T"}, Buffers: []Buffers{callee, own}, Layout: Layout, Serial: true}
	var m Memory
	run := func(n, k int) error {
		if err := m.enter(method); err != nil {
			t.Fatal(err)
		}
		defer m.leave()
		shape := []int{n, k}
		return m.begin([]Passed{InTensor("x", Tensor[bool]{Data: make([]bool, n*k), Shape: shape}, Sym(0), Sym(1))})
	}
	wantError(t, run(16, 8), "")
	if got := m.Offsets(1); !slices.Equal(got, []int{512, 0, 512}) || len(m.Arena) != 512+128 {
		t.Errorf("offsets %v in %d bytes", got, len(m.Arena))
	}
	if got := m.Offsets(0); !slices.Equal(got, []int{0}) {
		t.Errorf("the callee's offsets are %v", got)
	}
	if m.Extent(0) != 16 || m.Extent(1) != 8 {
		t.Errorf("extents %d and %d", m.Extent(0), m.Extent(1))
	}
	wantError(t, run(2, 2), "")
	if got := m.Offsets(1); !slices.Equal(got, []int{128, 0, 128}) || len(m.Arena) != 192 || cap(m.Arena) != 640 {
		t.Errorf("for less: offsets %v in %d bytes of %d", got, len(m.Arena), cap(m.Arena))
	}
	shape := []int{16, 8}
	x := Tensor[bool]{Data: make([]bool, 128), Shape: shape}
	if n := testing.AllocsPerRun(10, func() {
		m.enter(method)
		m.begin([]Passed{InTensor("x", x, Sym(0), Sym(1))})
		m.leave()
	}); n != 0 {
		t.Errorf("a call allocates %g times", n)
	}
}

func TestMemoryChecksSizes(t *testing.T) {
	for _, method := range []*Method{
		{Name: "net: Run", Symbols: []string{"N"}, Fixed: 1, Each: []int64{math.MaxInt64 / 2}},
		{Name: "net: Run", Symbols: []string{"N"}, Buffers: []Buffers{{Fixed: []int64{1}, Each: [][]int64{{math.MaxInt64 / 2}}, First: []int32{0}, Last: []int32{0}}}, Layout: Layout},
	} {
		var m Memory
		if err := m.enter(method); err != nil {
			t.Fatal(err)
		}
		err := m.begin([]Passed{In("x", make([][0]float32, 3))})
		wantError(t, err, "net: Run: sizes: 4611686018427387903 * 3 does not fit 64 bits")
		m.leave()
	}
}

// TestMemoryIsOpenAfterPanics asserts that sizes that cannot be computed are an error, and that the
// next call computes them again.
func TestMemoryIsOpenAfterPanics(t *testing.T) {
	calls := 0
	sizes := func(z *Sizes, extents, bytes []int64) {
		if calls++; calls == 1 {
			panic("no")
		}
		bytes[0] = extents[0]
	}
	method := &Method{Name: "net: Run", Symbols: []string{"N"}, Buffers: []Buffers{{Bytes: sizes, First: []int32{0}, Last: []int32{0}}}, Layout: Layout}
	var m Memory
	for _, want := range []string{"net: Run: panic: no", "", ""} {
		wantError(t, m.enter(method), "")
		wantError(t, m.begin([]Passed{In("x", make([][0]float32, 64))}), want)
		m.leave()
	}
	if len(m.Arena) != 64 || calls != 2 {
		t.Errorf("%d bytes, computed %d times", len(m.Arena), calls)
	}
}

// TestMemoryBindsLater asserts that Open makes the room of a method whose arguments do not bind
// every symbol.
func TestMemoryBindsLater(t *testing.T) {
	method := &Method{Name: "net: Run", Symbols: []string{"N"}, Each: []int64{64}, Unbound: true}
	m := Memory{max: Max{"N": 4}}
	if err := m.enter(method); err != nil {
		t.Fatal(err)
	}
	defer m.leave()
	wantError(t, m.begin([]Passed{InTensor("x", Tensor[bool]{Data: make([]bool, 6), Shape: []int{6}}, AnyDim)}), "")
	if len(m.Arena) != 0 {
		t.Error("there is room before the symbol is bound")
	}
	wantError(t, m.Symbols.Bind("net", 0, 3), "")
	wantError(t, m.Open(), "")
	if len(m.Arena) != 192 {
		t.Errorf("%d bytes", len(m.Arena))
	}
	m.Symbols.Reset()
	wantError(t, m.Symbols.Bind("net", 0, 5), "")
	wantError(t, m.Open(), "net: Run: N = 5: session holds 4 at most")
}

// TestMemoryResults asserts what Results says of results, and that it knows an input again after the
// stack has moved.
func TestMemoryResults(t *testing.T) {
	var m Memory
	if err := m.enter(&Method{Name: "net: Run", Symbols: []string{"N"}}); err != nil {
		t.Fatal(err)
	}
	defer m.leave()
	x := make([][2]float32, 3)
	wantError(t, m.begin([]Passed{In("x", x)}), "")
	if n := deepen(1 << 14); n != 1<<14 {
		t.Fatalf("%d calls", n)
	}
	var grown [][2]float32
	var tensor Tensor[int64]
	wantError(t, m.Results(OutGrown("dst", &grown, 3), OutTensor("y", &tensor, 2, 5), OutArray("z", new(float32)), OutLate("late", &tensor)), "")
	if len(grown) != 3 || len(tensor.Data) != 10 {
		t.Errorf("%d items, %d elements", len(grown), len(tensor.Data))
	}
	wantError(t, m.Results(Out("dst", x)), "net: Run: dst overlaps an input")
	wantError(t, m.Results(Out("dst", grown[:2])), "net: Run: dst has room for 2: batch of 3")
	wantError(t, m.Results(OutArray[float32]("z", nil)), "net: Run: z is nil")
	wantError(t, m.Results(OutTensor("y", &tensor, -1)), "net: Run: tensor: shape [-1] has a negative extent")
	wantError(t, m.CheckLike("dy", []int{2}, []int{3}), "net: Run: dy: shape [2]: [3] expected")
}

// deepen calls itself n times, so that the stack grows and moves.
func deepen(n int) int {
	if n == 0 {
		return 0
	}
	return 1 + deepen(n-1)
}
