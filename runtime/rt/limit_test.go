package rt

import (
	"math"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

func TestArenaLimitIsWhatTheProgramHas(t *testing.T) {
	set := arenaLimit.Swap(0)
	t.Cleanup(func() { arenaLimit.Store(set) })
	limit := ArenaLimit(0)
	if limit <= 0 || limit > debug.SetMemoryLimit(-1) {
		t.Fatalf("limit is %d", limit)
	}
	has := machineMemory()
	if has > 0 && limit > has {
		t.Errorf("limit is %d, the machine has %d", limit, has)
	}
	switch runtime.GOOS {
	case "linux", "darwin", "windows":
		if has <= 0 {
			t.Error("the machine's memory is not known")
		}
	}
	if has <= 0 {
		return
	}
	// Twice what there is, in every way of asking for it.
	var tail Tail
	var z Sizes
	var room []byte
	var tensor, rows Tensor[float64]
	rows.Shape = []int{0, 1}
	n := int(limit/8) * 2
	for what, err := range map[string]error{
		"arena":  second(NewArena(2 * limit)),
		"tail":   tail.Place(&room, 2*limit, &z, "here"),
		"tensor": tensor.Resize("here", n),
		"row":    second(rows.Append("here", n)),
		"list":   Grow(&tensor.Data, n),
		"size":   CheckSize[float64](n),
	} {
		if err == nil || !strings.Contains(err.Error(), "rt.ArenaLimit") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestRequestsCountTogether asks for memory beside what the program has.
func TestRequestsCountTogether(t *testing.T) {
	const n = 2 * fitsAlways
	held := make([]byte, n)
	held[0] = 1
	limit := allocated() + n/2
	if err := fits(n, limit); err == nil {
		t.Error("a request fits beside as much that is in use")
	}
	runtime.KeepAlive(held)
	held = nil
	if err := fits(n, limit); err != nil {
		t.Errorf("garbage counts: %v", err)
	}
	if err := fits(fitsAlways-1, 0); err != nil {
		t.Error(err)
	}
}

func TestExtend(t *testing.T) {
	defer ArenaLimit(ArenaLimit(1 << 16))
	var x []uint16
	moves := 0
	for i := range 1 << 15 {
		room := cap(x)
		if err := Extend(&x, 1); err != nil {
			t.Fatalf("element %d: %v", i, err)
		}
		if cap(x) != room {
			moves++
		}
		x[i] = uint16(i)
	}
	if moves > 40 {
		t.Errorf("%d allocations", moves)
	}
	for i, v := range x {
		if v != uint16(i) {
			t.Fatalf("element %d is %d", i, v)
		}
	}
	wantError(t, Extend(&x, 1), "32769 elements of 2 bytes: limit is 65536 bytes (rt.ArenaLimit)")
	for _, n := range []int{-1, math.MaxInt, math.MinInt} {
		if Extend(&x, n) == nil {
			t.Errorf("%d more elements: no error", n)
		}
	}
	if len(x) != 1<<15 {
		t.Errorf("length %d after errors", len(x))
	}
}
