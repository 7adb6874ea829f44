package rt

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/burngen/burngen/runtime/rt/safetensors"
	"github.com/google/go-cmp/cmp"
)

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
weights: "fc.weight": f32[10,784] expected, file has no such tensor
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
