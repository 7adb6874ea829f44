package rt

import (
	"bytes"
	"encoding/binary"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/burngen/burngen/runtime/rt/safetensors"
	"pgregory.net/rapid"
)

// everyKind returns weights with a tensor of every element type.
func everyKind() *Weights {
	w := NewWeights()
	Add(w, "f64", []float64{1, -2}, 2)
	Add(w, "f32", []float32{1, 2, 3, 4, 5, 6}, 2, 3)
	Add(w, "f16", []Float16{0x3c00, 0xc000}, 2)
	Add(w, "bf16", []BFloat16{0x3f80}, 1)
	Add(w, "f8e4m3fn", []Float8E4M3FN{0x38, 0x39}, 2)
	Add(w, "f8e4m3fnuz", []Float8E4M3FNUZ{0x38, 0x39}, 2)
	Add(w, "f8e5m2", []Float8E5M2{0x38, 0x39}, 2)
	Add(w, "f8e5m2fnuz", []Float8E5M2FNUZ{0x38, 0x39}, 1, 2)
	Add(w, "f8e8m0", []Float8E8M0{127}, 1)
	Add(w, "i64", []int64{-1})
	Add(w, "i32", []int32{-1, 2}, 2)
	Add(w, "i16", []int16{-1, 2}, 2)
	Add(w, "i8", []int8{-1, 2}, 2)
	Add(w, "u64", []uint64{1 << 63})
	Add(w, "u32", []uint32{1 << 31})
	Add(w, "u16", []uint16{1 << 15})
	Add(w, "u8", []uint8{1 << 7, 3}, 1, 2, 1)
	Add(w, "bool", []bool{true, false, true}, 3)
	Add(w, "string", []string{"a", "", "köln\x00", "b"}, 2, 2)
	Add(w, "empty", []float32{}, 3, 0)
	Add(w, "no strings", []string{}, 0)
	AddPacked(w, "f4e2m1", 4, []Float4E2M1{1, 15, 7}, 3)
	AddPacked(w, "i4", 4, []int8{-8, 7, -1}, 3)
	AddPacked(w, "u4", 4, []uint8{15, 0, 9}, 1, 3)
	AddPacked(w, "i2", 2, []int8{-2, -1, 0, 1, -2}, 5)
	AddPacked(w, "u2", 2, []uint8{3, 2, 1, 0, 3}, 5)
	w.SetMetadata("source", "test")
	return w
}

// same checks one tensor of everyKind.
func same[T Element](t *testing.T, w *Weights, name string, shape []int, want ...T) {
	t.Helper()
	got := WeightsOf[T](w, name, shape...)
	if got == nil || !slices.Equal(got, want) {
		t.Errorf("%q is %v, want %v", name, got, want)
	}
	if _, text := any(got).([]string); !text && len(got) > 0 && uintptr(unsafe.Pointer(&got[0]))%placed != 0 {
		t.Errorf("%q is not aligned", name)
	}
}

func checkEveryKind(t *testing.T, w *Weights) {
	t.Helper()
	same(t, w, "f64", []int{2}, 1.0, -2)
	same(t, w, "f32", []int{2, 3}, []float32{1, 2, 3, 4, 5, 6}...)
	same(t, w, "f16", []int{2}, Float16(0x3c00), 0xc000)
	same(t, w, "bf16", []int{1}, BFloat16(0x3f80))
	same(t, w, "f8e4m3fn", []int{2}, Float8E4M3FN(0x38), 0x39)
	same(t, w, "f8e4m3fnuz", []int{2}, Float8E4M3FNUZ(0x38), 0x39)
	same(t, w, "f8e5m2", []int{2}, Float8E5M2(0x38), 0x39)
	same(t, w, "f8e5m2fnuz", []int{1, 2}, Float8E5M2FNUZ(0x38), 0x39)
	same(t, w, "f8e8m0", []int{1}, Float8E8M0(127))
	same(t, w, "i64", nil, int64(-1))
	same(t, w, "i32", []int{2}, int32(-1), 2)
	same(t, w, "i16", []int{2}, int16(-1), 2)
	same(t, w, "i8", []int{2}, int8(-1), 2)
	same(t, w, "u64", nil, uint64(1<<63))
	same(t, w, "u32", nil, uint32(1<<31))
	same(t, w, "u16", nil, uint16(1<<15))
	same(t, w, "u8", []int{1, 2, 1}, uint8(1<<7), 3)
	same(t, w, "bool", []int{3}, true, false, true)
	same(t, w, "string", []int{2, 2}, "a", "", "köln\x00", "b")
	same[float32](t, w, "empty", []int{3, 0})
	same[string](t, w, "no strings", []int{0})
	same(t, w, "f4e2m1", []int{3}, Float4E2M1(1), 15, 7)
	same(t, w, "i4", []int{3}, int8(-8), 7, -1)
	same(t, w, "u4", []int{1, 3}, uint8(15), 0, 9)
	same(t, w, "i2", []int{5}, int8(-2), -1, 0, 1, -2)
	same(t, w, "u2", []int{5}, uint8(3), 2, 1, 0, 3)
	if got := w.Metadata(); !maps.Equal(got, map[string]string{"source": "test"}) {
		t.Errorf("metadata is %v", got)
	}
	if err := w.Err(); err != nil {
		t.Error(err)
	}
}

func TestWeightsOfEveryKind(t *testing.T) {
	w := everyKind()
	data := encodeWeights(t, w)
	path := filepath.Join(t.TempDir(), "w.safetensors")
	if err := w.Save(path); err != nil {
		t.Fatal(err)
	}
	misaligned := append([]byte{0}, data...)[1:]
	for _, tt := range []struct {
		name string
		w    *Weights
	}{
		{"as added", w},
		{"embedded", OpenWeights(string(data))},
		{"from memory", ParseWeights(data)},
		{"from memory that is not aligned", ParseWeights(misaligned)},
		{"from a file", OpenWeightsFile(path)},
		{"written twice", ParseWeights(encodeWeights(t, ParseWeights(data)))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			checkEveryKind(t, tt.w)
			if tt.name != "as added" {
				if err := tt.w.Verify(); err != nil {
					t.Error(err)
				}
				if !bytes.Equal(encodeWeights(t, tt.w), data) {
					t.Error("writing them gives another file")
				}
			}
			if err := tt.w.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestWeightsNotes(t *testing.T) {
	bytesEntry := func(n int) safetensors.Entry {
		return safetensors.Entry{Name: "x", DType: safetensors.U8, Shape: []int64{int64(n)}, Data: make([]byte, n)}
	}
	for _, tt := range []struct {
		name, note string
		entry      safetensors.Entry
		want       string // of the error, "" for none
	}{
		{"packed", "u4[3]", bytesEntry(2), ""},
		{"scalar", "i2[]", bytesEntry(1), ""},
		{"strings", "string[2,0]", bytesEntry(0), ""},
		{"no type", "", bytesEntry(2), "not a type"},
		{"no shape", "u4", bytesEntry(2), "not a type"},
		{"open shape", "u4[3", bytesEntry(2), "not a type"},
		{"a type that needs none", "f32[1]", bytesEntry(4), "not a type"},
		{"an unknown type", "x[1]", bytesEntry(4), "not a type"},
		{"a negative extent", "u4[-3]", bytesEntry(2), "not a number"},
		{"a huge extent", "u4[9223372036854775808]", bytesEntry(2), "not a number"},
		{"a product that wraps", "u4[4294967296,4294967296]", bytesEntry(0), `"x": `},
		{"an empty extent", "u4[3,]", bytesEntry(2), "not a number"},
		{"the wrong size", "u4[5]", bytesEntry(2), "u4[5] is not 2 bytes"},
		{"too many strings", "string[2]", bytesEntry(7), "does not fit 7 bytes"},
		{"not bytes", "u4[2]", safetensors.Entry{Name: "x", DType: safetensors.I8, Shape: []int64{1}, Data: []byte{0}}, "not bytes"},
		{"bytes of two axes", "u4[2]", safetensors.Entry{Name: "x", DType: safetensors.U8, Shape: []int64{1, 1}, Data: []byte{0}}, "not bytes"},
		{"nothing there", "u4[2]", safetensors.Entry{Name: "y", DType: safetensors.U8, Shape: []int64{1}, Data: []byte{0}}, "no such tensor"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := ParseWeights(foreign(t, map[string]string{"burngen.dtype:x": tt.note}, tt.entry))
			err := w.Err()
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error %v, want %q", err, tt.want)
			}
			if err == nil {
				if info, _ := w.Info("x"); info.String() != tt.note {
					t.Errorf("tensor is %v, note %q", info, tt.note)
				}
			} else if len(w.Names()) > 0 {
				t.Error("tensors of a broken file")
			}
		})
	}
	t.Run("strings that lie about their lengths", func(t *testing.T) {
		for _, raw := range [][]byte{
			{2, 0, 0, 0, 'a'},
			{0, 0, 0, 0, 'a'},
			{0xff, 0xff, 0xff, 0xff, 'a'},
		} {
			w := NewWeights()
			w.AddRaw("x", "string", []int{1}, raw)
			if list := WeightsOf[string](w, "x", 1); list != nil || w.Err() == nil {
				t.Errorf("%q: %q", raw, list)
			}
		}
	})
}

func TestPack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "bits")
		codes := rapid.SliceOf(rapid.Byte()).Draw(t, "codes")
		packed := pack(codes, bits)
		got := make([]byte, len(codes))
		unpack(got, packed, bits, false)
		for i, c := range codes {
			if got[i] != c&(1<<bits-1) {
				t.Fatalf("element %d is %d", i, got[i])
			}
		}
		unpack(got, packed, bits, true)
		for i, c := range codes {
			want := int8(c & (1<<bits - 1))
			if want >= 1<<(bits-1) {
				want -= 1 << bits
			}
			if int8(got[i]) != want {
				t.Fatalf("signed element %d is %d, want %d", i, int8(got[i]), want)
			}
		}
	})
	if got := pack([]byte{1, 2, 3}, 4); !bytes.Equal(got, []byte{0x21, 0x03}) {
		t.Errorf("the first element is not in the low bits: %x", got)
	}
}

func TestReverse(t *testing.T) {
	src := make([]byte, 0, 24)
	for _, v := range []uint64{1, 0x0102030405060708, 1 << 63} {
		src = binary.BigEndian.AppendUint64(src, v)
	}
	dst := make([]byte, len(src))
	reverse(dst, src, 8)
	for i, want := range []uint64{1, 0x0102030405060708, 1 << 63} {
		if got := binary.LittleEndian.Uint64(dst[8*i:]); got != want {
			t.Errorf("element %d is %#x", i, got)
		}
	}
}
