package gpu

import (
	"fmt"
	"testing"
	"unsafe"
)

// TestFaults returns the error of the first kernel that finds a fault, also when the call is replayed.
func TestFaults(t *testing.T) {
	f, r := opened(t)
	// A kernel that finds a number below 0.
	f.kernels["look"] = func(args []uint64) {
		x := floats(args[0], 1)
		record := unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(floats(args[1], 3)))), 3)
		if x[0] < 0 {
			n := int64(x[0]) << 33
			record[0], record[1], record[2] = 1, int32(n), int32(n>>32)
		}
	}
	look := &KernelInfo{Name: "look", Block: [3]int{1, 1, 1}, Args: 2}
	w := &nothing{}
	call := func(launches int, x ...float32) (err error) {
		if err := Begin(r, nil, nil, w, In(x)); err != nil {
			return err
		}
		defer r.End(&err)
		if r.Replays("look", launches) {
			return nil
		}
		for i := range launches {
			at := i % len(x)
			r.Launch(look, 1, 1, 1, In(x[at:at+1]), r.Fault(func(n int64) error { return fmt.Errorf("number %d is %d", at, n) }))
		}
		return nil
	}
	for round := range 3 {
		for _, c := range []struct {
			x    []float32
			want string
		}{
			{[]float32{1, 2, 3}, ""}, {[]float32{1, -2, -3}, "number 1 is -17179869184"}, {[]float32{1, 2, -1}, "number 2 is -8589934592"}, {[]float32{0, 0, 0}, ""},
		} {
			if got := errorText(call(3, c.x...)); got != c.want {
				t.Errorf("round %d, %v: %q, want %q", round, c.x, got, c.want)
			}
		}
	}
	if f.counts["replay"] == 0 {
		t.Error("no call was replayed")
	}
	// More than there are records.
	many := 2*maxFaults + 5
	if err := call(many, 1, 2); err != nil {
		t.Error(err)
	}
	if err := call(many, 1, -1); err == nil {
		t.Error("no error after many launches")
	}
	if err := call(3, 1, 2, 3); err != nil {
		t.Errorf("the fault of an earlier call stays: %v", err)
	}
	r.free()
	r.program.forgetAll()
	if f.pieces() > 0 {
		t.Errorf("%d allocations are not given back", f.pieces())
	}
}
