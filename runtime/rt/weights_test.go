package rt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"
	"unsafe"

	"github.com/burngen/burngen/runtime/rt/safetensors"
	"github.com/google/go-cmp/cmp"
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

func encodeWeights(t testing.TB, w *Weights) []byte {
	var b bytes.Buffer
	n, err := w.WriteTo(&b)
	if err != nil {
		t.Fatal(err)
	}
	if n != int64(b.Len()) {
		t.Fatalf("%d bytes written, %d reported", b.Len(), n)
	}
	return b.Bytes()
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

func TestWeightsInPlace(t *testing.T) {
	const large = nearWeight/4 + 16
	w := NewWeights()
	Add(w, "large", make([]float32, large), large)
	Add(w, "small", make([]float32, 16), 16)
	Add(w, "ragged", make([]float32, 3), 3)
	Add(w, "last", make([]float32, 3), 3)
	data := encodeWeights(t, w)
	for _, tt := range []struct {
		name      string
		n         int
		at0, at32 bool // whether it is in place in a file that starts there
	}{
		{"large", large, true, true},
		{"small", 16, true, false},
		{"ragged", 3, false, false}, // starts where the first of the odd sizes ends
		{"last", 3, true, false},    // starts where the multiples of 64 bytes end
	} {
		for start, inPlace := range map[int]bool{0: tt.at0, placed: tt.at32} {
			arena := alignedBytes(start + len(data))[start:]
			copy(arena, data)
			w := ParseWeights(arena)
			x := WeightsOf[float32](w, tt.name, tt.n)
			if w.Err() != nil {
				t.Fatal(w.Err())
			}
			if overlap(x, arena) != (inPlace && littleEndian) {
				t.Errorf("%s of a file at byte %d is in place: %v", tt.name, start, !inPlace)
			}
		}
	}
}

func TestWeightsErrors(t *testing.T) {
	w := NewWeights()
	Add(w, "conv1.weight", make([]float32, 200), 8, 1, 5, 5)
	Add(w, "conv1.bias", make([]float64, 8), 8)
	Add(w, "scalar", []float32{1})
	AddPacked(w, "codes", 4, []int8{1}, 1)
	t.Run("all of them at once", func(t *testing.T) {
		w := w.Fork()
		for _, x := range [][]float32{
			WeightsOf[float32](w, "conv1.weight", 8, 1, 3, 3),
			WeightsOf[float32](w, "conv1.bias", 8),
			WeightsOf[float32](w, "scalar", 1),
			WeightsOf[float32](w, "fc.weight", 10, 784),
			WeightsOf[float32](w, "codes", 1),
		} {
			if x != nil {
				t.Errorf("%d elements of a tensor that does not fit", len(x))
			}
		}
		if x := WeightsOf[float32](w, "conv1.weight", 8, 1, 5, 5); len(x) != 200 {
			t.Error("a tensor that fits is missing")
		}
		wantError(t, w.Err(), `weights: "conv1.weight": f32[8,1,3,3] expected, file has f32[8,1,5,5]
weights: "conv1.bias": f32[8] expected, file has f64[8]
weights: "scalar": f32[1] expected, file has f32[]
weights: "fc.weight": f32[10,784] expected, file has none of that name
weights: "codes": f32[1] expected, file has i4[1]`)
	})
	t.Run("another handle has none", func(t *testing.T) {
		if err := w.Err(); err != nil {
			t.Error(err)
		}
		if err := w.Fork().Err(); err != nil {
			t.Error(err)
		}
	})
	t.Run("nil", func(t *testing.T) {
		var w *Weights
		Add(w, "x", []float32{1})
		AddPacked(w, "x", 4, []int8{1})
		w.AddRaw("x", "f32", nil, nil)
		w.SetMetadata("k", "v")
		Keep(new(int), w)
		if x := WeightsOf[float32](w, "x"); x != nil {
			t.Error(x)
		}
		if _, ok := w.Info("x"); ok || w.Raw("x") != nil || len(w.Names()) > 0 || len(w.Metadata()) > 0 || w.Digest() != "" {
			t.Error("nil weights hold something")
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		for _, err := range []error{w.Err(), w.Fork().Err(), w.Verify(), w.Save(filepath.Join(t.TempDir(), "x"))} {
			wantError(t, err, "weights: none given")
		}
		if _, err := w.WriteTo(&bytes.Buffer{}); err == nil {
			t.Error("nil weights were written")
		}
	})
	t.Run("adding", func(t *testing.T) {
		w := NewWeights()
		Add(w, "x", []float32{1, 2}, 2)
		Add(w, "x", []float32{1, 2}, 2)
		Add(w, "short", []float32{1}, 2)
		Add(w, "negative", []string{}, -1)
		AddPacked(w, "three", 3, []int8{1}, 1)
		AddPacked(w, "eight", 8, []int8{1}, 1)
		AddPacked(w, "wide", 2, []Float4E2M1{1}, 1)
		AddPacked(w, "few", 4, []uint8{1}, 2)
		w.AddRaw("kind", "f31", []int{1}, make([]byte, 4))
		w.AddRaw("size", "f32", []int{2}, make([]byte, 4))
		w.AddRaw("nibbles", "u4", []int{3}, make([]byte, 1))
		w.AddRaw("strings", "string", []int{2}, make([]byte, 7))
		w.AddRaw("large", "f64", []int{1 << 30, 1 << 30}[:1+bigInt], make([]byte, 4))
		w.SetMetadata("burngen.digest", "")
		w.SetMetadata("burngen.dtype:x", "")
		want := []string{
			`weights: "x": name appears twice`,
			`weights: "short": tensor: shape [2] has 2 elements: data has 1`,
			`weights: "negative": tensor: shape [-1] has a negative extent`,
			`weights: "three": no type of 3 bits is held in a i8`,
			`weights: "eight": no type of 8 bits is held in a i8`,
			`weights: "wide": no type of 2 bits is held in a f4e2m1`,
			`weights: "few": tensor: shape [2] has 2 elements: data has 1`,
			`weights: "kind": unknown element type "f31"`,
			`weights: "size": f32[2] is not 4 bytes`,
			`weights: "nibbles": u4[3] is not 1 bytes`,
			`weights: "strings": string[2] does not fit 7 bytes`,
			`weights: "large": `,
			`weights: metadata "burngen.digest": key is taken`,
			`weights: metadata "burngen.dtype:x": key is taken`,
		}
		got := strings.Split(w.Err().Error(), "\n")
		if len(got) != len(want) {
			t.Fatalf("%d errors, want %d:\n%v", len(got), len(want), w.Err())
		}
		for i := range got {
			if !strings.HasPrefix(got[i], want[i]) || got[i] != want[i] && i != 11 {
				t.Errorf("%s, want %s", got[i], want[i])
			}
		}
		if names := w.Names(); !slices.Equal(names, []string{"x"}) {
			t.Errorf("names are %q", names)
		}
		if _, err := w.WriteTo(&bytes.Buffer{}); err == nil {
			t.Error("written in spite of errors")
		}
	})
}

// bigInt is 1 where an int has 64 bits, 0 where it has 32.
const bigInt = (32 << (^uint(0) >> 63)) / 64

// foreign returns a file of the entries and metadata.
func foreign(t testing.TB, metadata map[string]string, entries ...safetensors.Entry) []byte {
	var b bytes.Buffer
	if _, err := safetensors.Write(&b, entries, metadata); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestWeightsOfOtherTools(t *testing.T) {
	eight := make([]byte, 8)
	for _, tt := range []struct {
		dtype safetensors.DType
		n     int64
		want  string
	}{
		{safetensors.F4, 16, "f4e2m1[16]"},
		{safetensors.F6E2M3, 8, "f6e2m3[8]"},
		{safetensors.F6E3M2, 8, "f6e3m2[8]"},
		{safetensors.F8E8M0, 8, "f8e8m0[8]"},
		{safetensors.F8E4M3FNUZ, 8, "f8e4m3fnuz[8]"},
		{safetensors.F8E5M2FNUZ, 8, "f8e5m2fnuz[8]"},
		{safetensors.Complex64, 1, "c64[1]"},
		{safetensors.U8, 8, "u8[8]"},
	} {
		n := len(eight)
		if tt.dtype == safetensors.F6E2M3 || tt.dtype == safetensors.F6E3M2 {
			n = 6
		}
		file := foreign(t, nil, safetensors.Entry{Name: "x", DType: tt.dtype, Shape: []int64{tt.n}, Data: eight[:n]})
		w := ParseWeights(file)
		info, ok := w.Info("x")
		if !ok || info.String() != tt.want || info.Bytes != int64(n) {
			t.Errorf("%s is %v", tt.dtype, info)
		}
		if again, _ := ParseWeights(encodeWeights(t, w)).Info("x"); again.String() != tt.want {
			t.Errorf("%s is %v after writing", tt.dtype, again)
		}
	}
	t.Run("bools of any byte", func(t *testing.T) {
		w := ParseWeights(foreign(t, nil, safetensors.Entry{Name: "x", DType: safetensors.Bool, Shape: []int64{3}, Data: []byte{0, 255, 1}}))
		same(t, w, "x", []int{3}, false, true, true)
		if raw := w.Raw("x"); !bytes.Equal(raw, []byte{0, 255, 1}) {
			t.Errorf("raw bytes are %v", raw)
		}
	})
	t.Run("an odd start", func(t *testing.T) {
		data := append([]byte{9}, 0, 0, 0x80, 0x3f)
		file := foreign(t, nil,
			safetensors.Entry{Name: "a", DType: safetensors.U8, Shape: []int64{1}, Data: data[:1]},
			safetensors.Entry{Name: "b", DType: safetensors.F32, Shape: []int64{1}, Data: data[1:]})
		h, err := safetensors.Parse(file)
		if err != nil {
			t.Fatal(err)
		}
		// A writer that lays out by name makes the f32 start at byte 1.
		text := strings.ReplaceAll(strings.ReplaceAll(string(file[:h.Data]), "[0,4]", "[1,5]"), "[4,5]", "[0,1]")
		same(t, OpenWeights(text+string(data)), "b", []int{1}, float32(1))
	})
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

func TestVerify(t *testing.T) {
	data := encodeWeights(t, everyKind())
	w := ParseWeights(data)
	if err := w.Verify(); err != nil {
		t.Fatal(err)
	}
	if len(w.Digest()) != 64 {
		t.Errorf("digest is %q", w.Digest())
	}
	h, err := safetensors.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("a flipped bit anywhere is noticed", func(t *testing.T) {
		padding := len(bytes.TrimRight(data[:h.Data], " "))
		for i := range data {
			if i >= padding && i < int(h.Data) && data[i] == ' ' {
				continue // tabs and the like after the header say the same
			}
			changed := bytes.Clone(data)
			changed[i] ^= 1 << (i % 8)
			if err := ParseWeights(changed).Verify(); err == nil {
				t.Fatalf("no error for bit %d of byte %d: %.60q", i%8, i, changed[max(0, i-20):])
			}
		}
	})
	t.Run("a file without a digest", func(t *testing.T) {
		wantError(t, ParseWeights(foreign(t, nil)).Verify(), "weights: file has no digest to compare with")
	})
	t.Run("a file that is broken", func(t *testing.T) {
		if err := ParseWeights(data[:len(data)-1]).Verify(); err == nil {
			t.Error("no error")
		}
	})
	t.Run("metadata that was changed", func(t *testing.T) {
		w := ParseWeights(data)
		w.SetMetadata("source", "elsewhere")
		if err := w.Verify(); err == nil {
			t.Error("no error")
		}
	})
}

func TestOpenWeightsFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, tt := range []struct{ name, path, want string }{
		{"missing", filepath.Join(dir, "none"), "weights: "},
		{"a folder", dir, "not a regular file"},
		{"a device", os.DevNull, "not a regular file"},
		{"empty", write("empty", nil), "8 needed"},
		{"not safetensors", write("text", []byte("hello, this is text")), "safetensors: header"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := OpenWeightsFile(tt.path)
			if err := w.Err(); err == nil || !strings.HasPrefix(err.Error(), "weights: ") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v", err)
			}
			if x := WeightsOf[float32](w, "x"); x != nil {
				t.Error(x)
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestOpenWeightsFS(t *testing.T) {
	files := fstest.MapFS{"w": {Data: encodeWeights(t, everyKind())}, "text": {Data: []byte("hello, this is text")}}
	checkEveryKind(t, OpenWeightsFS(files, "w"))
	wantError(t, OpenWeightsFS(files, "none").Err(), "weights: open none: file does not exist")
	wantError(t, OpenWeightsFS(files, "text").Err(), "weights: text: safetensors: header of 8367736964726416744 bytes: limit is 100000000")
}

func TestSave(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "w.safetensors")
	one := NewWeights()
	Add(one, "x", []float32{1})
	two := NewWeights()
	Add(two, "x", []float32{2})
	for i, w := range []*Weights{one, two} {
		if err := w.Save(path); err != nil {
			t.Fatal(err)
		}
		saved := OpenWeightsFile(path)
		same(t, saved, "x", nil, float32(i+1))
		saved.Close()
	}
	t.Run("an error leaves the file and nothing else", func(t *testing.T) {
		bad := NewWeights()
		Add(bad, "\xff", []float32{1}) // a name that the format cannot hold
		if err := bad.Save(path); err == nil {
			t.Fatal("no error")
		}
		saved := OpenWeightsFile(path)
		defer saved.Close()
		same(t, saved, "x", nil, float32(2))
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 1 {
			t.Errorf("folder holds %v, error %v", entries, err)
		}
	})
	t.Run("no such folder", func(t *testing.T) {
		if err := one.Save(filepath.Join(dir, "none", "x")); !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	})
}

func TestClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.safetensors")
	source := NewWeights()
	values := make([]float32, 1024)
	Uniform(values, -1, 1, 1)
	Add(source, "x", values, 1024)
	if err := source.Save(path); err != nil {
		t.Fatal(err)
	}
	type model struct{ x []float32 }
	load := func(w *Weights) *model {
		m := &model{}
		Keep(m, w)
		m.x = WeightsOf[float32](w, "x", 1024)
		return m
	}
	// open counts how often the memory is given back.
	open := func() (*Weights, *counter) {
		w := OpenWeightsFile(path)
		c := &counter{}
		if w.unmap == nil {
			w.unmap = func() error { return nil }
		}
		unmap := w.unmap
		w.mapped(func() error { c.add(); return unmap() })
		return w, c
	}
	t.Run("gives the memory back once", func(t *testing.T) {
		w, unmapped := open()
		for range 3 {
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		}
		if n := unmapped.get(); n != 1 {
			t.Errorf("given back %d times", n)
		}
	})
	t.Run("reading afterwards is an error", func(t *testing.T) {
		w, _ := open()
		w.Close()
		for name, use := range map[string]func(w *Weights) error{
			"WeightsOf": func(w *Weights) error { WeightsOf[float32](w, "x", 1024); return w.Err() },
			"Keep":      func(w *Weights) error { Keep(new(model), w); return w.Err() },
			"Verify":    func(w *Weights) error { return w.Verify() },
			"WriteTo":   func(w *Weights) error { _, err := w.WriteTo(&bytes.Buffer{}); return err },
			"Save":      func(w *Weights) error { return w.Save(path + "2") },
		} {
			if err := use(w.Fork()); !errors.Is(err, ErrClosed) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if w.Raw("x") != nil {
			t.Error("raw bytes of closed weights")
		}
	})
	t.Run("the last owner gives the memory back", func(t *testing.T) {
		w, unmapped := open()
		a, b := load(w), load(w.Fork())
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if !slices.Equal(a.x, values) {
			t.Error("wrong values after Close")
		}
		runtime.KeepAlive(a)
		collect(func() bool { return w.refs.Load() == 1 })
		if unmapped.get() != 0 {
			t.Error("given back while an owner is left")
		}
		if !slices.Equal(b.x, values) {
			t.Error("wrong values after an owner has gone")
		}
		runtime.KeepAlive(b)
		if !collect(func() bool { return unmapped.get() == 1 }) {
			t.Errorf("given back %d times", unmapped.get())
		}
	})
	t.Run("owners alone do not give it back", func(t *testing.T) {
		w, unmapped := open()
		load(w)
		collect(func() bool { return w.refs.Load() == 1 })
		if unmapped.get() != 0 {
			t.Error("given back before Close")
		}
		w.Close()
		if unmapped.get() != 1 {
			t.Error("not given back by Close")
		}
	})
	t.Run("abandoned, it is given back with its last owner", func(t *testing.T) {
		w, unmapped := open()
		renamed, err := w.Renamed(map[string]string{"x": "x"})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		renamed.Abandon()
		a := load(renamed)
		runtime.GC()
		if !slices.Equal(a.x, values) || unmapped.get() != 0 {
			t.Error("given back while an owner is left")
		}
		runtime.KeepAlive(a)
		if !collect(func() bool { return unmapped.get() == 1 }) {
			t.Errorf("given back %d times", unmapped.get())
		}
	})
	t.Run("closed and then abandoned, it is given back once", func(t *testing.T) {
		w, unmapped := open()
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		w.Abandon()
		w = nil
		given := make(chan bool)
		runtime.AddCleanup(new([64]byte), func(done chan bool) { close(done) }, given)
		if !collect(func() bool {
			select {
			case <-given:
				return true
			default:
				return false
			}
		}) {
			t.Skip("nothing is collected")
		}
		runtime.GC()
		if n := unmapped.get(); n != 1 {
			t.Errorf("given back %d times", n)
		}
	})
	t.Run("shared, it stays as long as it is used", func(t *testing.T) {
		w, unmapped := open()
		other := NewWeights()
		other.Share(w, "x")
		w.Close()
		a := load(other)
		if !slices.Equal(a.x, values) || other.Err() != nil || unmapped.get() != 0 {
			t.Error("not there any more", other.Err())
		}
		runtime.KeepAlive(a)
		if !collect(func() bool { return unmapped.get() == 1 }) {
			t.Errorf("given back %d times", unmapped.get())
		}
		other = NewWeights()
		other.Share(w, "x", "y")
		wantError(t, other.Err(), "weights: \"y\": no such tensor\nweights: weights are closed")
	})
}

// collect collects garbage until done, at most for a while, and reports whether
// it is done.
func collect(done func() bool) bool {
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		runtime.GC()
		if done() {
			return true
		}
	}
	return false
}

type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) add() {
	c.mu.Lock()
	c.n++
	c.mu.Unlock()
}

func (c *counter) get() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

func TestWeightsFromManyGoroutines(t *testing.T) {
	w := ParseWeights(encodeWeights(t, everyKind()))
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			fork := w.Fork()
			checkEveryKind(t, fork)
			name := fmt.Sprint("new ", g)
			Add(w, name, []int64{int64(g)})
			w.SetMetadata("source", "test")
			same(t, w, name, nil, int64(g))
		})
	}
	for range 8 {
		if _, err := w.WriteTo(&bytes.Buffer{}); err != nil {
			t.Error(err)
		}
	}
	group.Wait()
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

func FuzzParseWeights(f *testing.F) {
	f.Add(encodeWeights(f, everyKind()))
	f.Add(foreign(f, map[string]string{"burngen.dtype:x": "string[1]"}, safetensors.Entry{Name: "x", DType: safetensors.U8, Shape: []int64{5}, Data: []byte{1, 0, 0, 0, 'a'}}))
	f.Add(foreign(f, map[string]string{"burngen.dtype:x": "i4[2,3]"}, safetensors.Entry{Name: "x", DType: safetensors.U8, Shape: []int64{3}, Data: []byte{1, 2, 3}}))
	f.Add(foreign(f, nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		w := ParseWeights(data)
		if w.Err() != nil {
			return
		}
		read := func(w *Weights) map[string]any {
			values := map[string]any{}
			for _, name := range w.Names() {
				info, _ := w.Info(name)
				fork := w.Fork()
				switch info.DType {
				case "string":
					values[name] = WeightsOf[string](fork, name, info.Shape...)
				case "i4", "i2":
					values[name] = WeightsOf[int8](fork, name, info.Shape...)
				case "u4", "u2":
					values[name] = WeightsOf[uint8](fork, name, info.Shape...)
				case "bool":
					values[name] = WeightsOf[bool](fork, name, info.Shape...)
				case "f32":
					values[name] = fmt.Sprint(WeightsOf[float32](fork, name, info.Shape...))
				}
			}
			return values
		}
		again := ParseWeights(encodeWeights(t, w))
		if err := again.Verify(); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(read(w), read(again)); d != "" {
			t.Fatal(d)
		}
	})
}
