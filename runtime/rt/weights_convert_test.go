package rt

import (
	"io"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
)

func TestConvert(t *testing.T) {
	third := 1.0 / 3
	list := []float64{0, math.Copysign(0, -1), 1, third, 65504, 65520, 1e-8, math.Inf(-1), 1 + 0x1p-11 + 0x1p-40}
	w := NewWeights()
	for _, to := range []string{"f32", "f16", "bf16", "f64"} {
		Add(w, to, list, len(list))
	}
	Add(w, "i", []int32{1}, 1)
	if err := w.Convert(map[string]string{"f32": "f32", "f16": "f16", "bf16": "bf16", "f64": "f64"}); err != nil {
		t.Fatal(err)
	}
	f32, f16, bf16 := WeightsOf[float32](w, "f32", len(list)), WeightsOf[Float16](w, "f16", len(list)), WeightsOf[BFloat16](w, "bf16", len(list))
	if err := w.Err(); err != nil {
		t.Fatal(err)
	}
	for i, x := range list {
		if f32[i] != float32(x) || f16[i] != ToFloat16(RoundToOdd(x)) || bf16[i] != ToBFloat16(RoundToOdd(x)) {
			t.Errorf("%v: %v %v %v", x, f32[i], f16[i].Float32(), bf16[i].Float32())
		}
	}
	if f16[8].Float32() != 1+0x1p-10 { // rounded once: twice would be a tie, to 1
		t.Error(f16[8].Float32())
	}
	if got := WeightsOf[float64](w, "f64", len(list)); !slices.Equal(got, list) {
		t.Error(got)
	}
	if err := w.Convert(map[string]string{"f16": "f64"}); err != nil {
		t.Fatal(err)
	}
	if got := WeightsOf[float64](w, "f16", len(list)); got[2] != 1 || got[7] != math.Inf(-1) {
		t.Error(got)
	}
	for name, to := range map[string]string{"i": "f32", "f32": "i32", "none": "f32", "bf16": "x"} {
		if err := w.Convert(map[string]string{name: to}); err == nil {
			t.Error(name, to)
		}
	}
}

func TestConvertIntegers(t *testing.T) {
	for _, tt := range []struct {
		name, to string
		list     []int64
		fits     bool
	}{
		{"least and most of 16 bits", "i16", []int64{-1 << 15, -1, 0, 1<<15 - 1}, true},
		{"one more", "i16", []int64{1 << 15}, false},
		{"one less", "i16", []int64{-1<<15 - 1}, false},
		{"most of 32 bits", "u32", []int64{0, 1<<32 - 1}, true},
		{"less than none", "u32", []int64{-1}, false},
		{"a sign lost", "u64", []int64{-1}, false},
		{"most of 8 bits", "u8", []int64{255}, true},
		{"low bits that are right", "i8", []int64{1 << 40}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := NewWeights()
			Add(w, "x", tt.list, len(tt.list))
			if err := w.Convert(map[string]string{"x": tt.to}); err != nil {
				t.Fatal(err)
			}
			if raw := w.Raw("x"); (raw != nil) != tt.fits || (w.Err() == nil) != tt.fits {
				t.Fatal(raw, w.Err())
			}
			if !tt.fits {
				return
			}
			if err := w.Convert(map[string]string{"x": "i64"}); err != nil {
				t.Fatal(err)
			}
			if got := WeightsOf[int64](w, "x", len(tt.list)); !slices.Equal(got, tt.list) {
				t.Error(got)
			}
		})
	}
	w := NewWeights()
	Add(w, "x", []uint64{1 << 63}, 1)
	if err := w.Convert(map[string]string{"x": "i64"}); err != nil || w.Raw("x") != nil || w.Err() == nil {
		t.Error(err, w.Err())
	}
}

// TestChangesTellAllThatIsWrong asks for changes that cannot be made.
func TestChangesTellAllThatIsWrong(t *testing.T) {
	w := NewWeights()
	Add(w, "a", []float32{1}, 1)
	Add(w, "b", []string{"x"}, 1)
	Add(w, "c", []float32{1}, 1)
	wantError(t, w.Convert(map[string]string{"a": "i8", "b": "f32", "c": "f16", "d": "f32"}),
		"weights: \"a\": f32[1] cannot be converted to i8\nweights: \"b\": string[1] cannot be converted to f32\nweights: \"d\": no such tensor")
	wantError(t, w.Transpose("d", "a"), "weights: \"d\": no such tensor\nweights: \"a\": f32[1] is not a matrix that can be transposed")
	if info, _ := w.Info("c"); info.DType != "f32" || w.Err() != nil {
		t.Error(info, w.Err())
	}
}

// TestWritingKeepsNothing writes tensors that are computed from others. Their memory must be free
// again after they are written.
func TestWritingKeepsNothing(t *testing.T) {
	const tensors, size = 16, 1 << 20
	w := NewWeights()
	var reads atomic.Int64
	types := map[string]string{}
	for i := range tensors {
		name := string(rune('a' + i))
		w.AddFunc(name, "f32", []int{size, 1}, func() ([]byte, error) {
			reads.Add(1)
			return make([]byte, 4*size), nil
		})
		types[name] = "f16"
	}
	if err := w.Convert(types); err != nil {
		t.Fatal(err)
	}
	if err := w.Transpose("a", "b"); err != nil {
		t.Fatal(err)
	}
	live := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := live()
	if _, err := w.WriteTo(io.Discard); err != nil {
		t.Fatal(err)
	}
	if kept := live() - before; kept > 4*size {
		t.Errorf("%d bytes are kept", kept)
	}
	if n := reads.Load(); n != 2*tensors { // for the digest, and to be written
		t.Errorf("%d reads", n)
	}
	w.RawOnce("c")
	for range 2 { // kept from the first time on
		if n := len(w.Raw("c")); n != 2*size {
			t.Errorf("%d bytes", n)
		}
	}
	if len(w.RawOnce("c")) != 2*size || reads.Load() != 2*tensors+2 {
		t.Errorf("%d reads", reads.Load())
	}
	runtime.KeepAlive(w)
}
