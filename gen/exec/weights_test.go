package exec

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/runtime/rt"
)

// TestWeightsOfModules asserts that a weight has the same bytes after it was added and set. Codes of
// fewer bits than a byte are a byte each in a module, with their sign.
func TestWeightsOfModules(t *testing.T) {
	minus := func(codes ...int8) (b []byte) {
		for _, c := range codes {
			b = append(b, byte(c))
		}
		return b
	}
	for _, c := range []struct {
		dtype ir.DType
		data  []byte
	}{
		{ir.F32, []byte{1, 2, 3, 4, 5, 6, 7, 8}},
		{ir.U8, []byte{0, 255, 7}},
		{ir.I8, minus(-128, 127, 0)},
		{ir.U4, []byte{0, 15, 8, 3, 1}},
		{ir.I4, minus(-8, 7, -1, 0, 3)},
		{ir.F4E2M1, []byte{0, 15, 9}},
		{ir.U2, []byte{0, 3, 2, 1, 3}},
		{ir.I2, minus(-2, 1, 0, -1, 1, -2, 0)},
		{ir.I4, nil},
	} {
		n := len(c.data) / c.dtype.Size()
		w := ir.NewTensor(c.dtype, n)
		typ := w.Type()
		raw := rt.NewWeights()
		AddWeight(raw, &ir.Weight{Name: "w", Type: typ, Data: c.data})
		back := &ir.Weight{Name: "w", Type: typ}
		SetWeight(back, raw)
		if err := raw.Err(); err != nil || !bytes.Equal(back.Data, c.data) {
			t.Errorf("%s: %v becomes %v, error %v", c.dtype, c.data, back.Data, err)
		}
	}
}

func TestWeights(t *testing.T) {
	w := rt.NewWeights()
	AddTo(w, "a", ir.F32, []float32{1, 2, 3}, []int{3})
	AddTo(w, "codes", ir.I4, []int8{-8, 7, 1}, []int{3})
	times := 0
	AddMade(w, "made", ir.I64, func(dst any) error {
		times++
		copy(dst.([]int64), []int64{4, 5})
		return nil
	}, []int{2})
	bad := errors.New("bad")
	AddMade(w, "bad", ir.I64, func(any) error { return bad }, []int{2})
	get := Weights(w)
	for range 2 { // the second time without reading
		a, err := get("a")
		if err != nil || !slices.Equal(a.([]float32), []float32{1, 2, 3}) {
			t.Errorf("a = %v, error %v", a, err)
		}
		codes, err := get("codes")
		if err != nil || !slices.Equal(codes.([]int8), []int8{-8, 7, 1}) {
			t.Errorf("codes = %v, error %v", codes, err)
		}
		made, err := get("made")
		if err != nil || !slices.Equal(made.([]int64), []int64{4, 5}) || times != 1 {
			t.Errorf("made = %v %d times, error %v", made, times, err)
		}
	}
	if _, err := get("b"); err == nil || !strings.Contains(err.Error(), `"b" is missing`) {
		t.Errorf("a weight that is not there: %v", err)
	}
	if _, err := get("bad"); !errors.Is(err, bad) {
		t.Errorf("a weight that cannot be made: %v", err)
	}
	if a, err := get("a"); err != nil || len(a.([]float32)) != 3 {
		t.Errorf("after errors of others: %v, %v", a, err)
	}
}
