package record

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/burngen/burngen/runtime/rt"
)

// recorders returns all there are, in a precision.
func recorders(p Precision) map[string]Recorder {
	all := map[string]Recorder{}
	for f := range formats {
		for _, zipped := range []bool{false, true} {
			r := Recorder{Format: Format(f), Gzip: zipped, Precision: p}
			name := r.Format.String()
			if zipped {
				name += ", gzip"
			}
			all[name] = r
		}
	}
	return all
}

// everything are weights with a tensor of each type.
func everything() *rt.Weights {
	w := rt.NewWeights()
	rt.Add(w, "conv.weight", []float32{1, -0.1, float32(math.Copysign(0, -1)), math.MaxFloat32, math.Float32frombits(1), float32(math.Inf(-1))}, 2, 3)
	rt.Add(w, "a f64", []float64{math.Pi, math.NaN(), math.Float64frombits(0x7ff0000000000001), math.Inf(1), 1e300}, 5)
	rt.Add(w, "nan.bits", []float32{math.Float32frombits(0x7fc01234), math.Float32frombits(0xffc00000)}, 2)
	rt.Add(w, "half", []rt.Float16{0x3c00, 0x7e00, 0x7c00, 0x0001, 0xfe01}, 5)
	rt.Add(w, "brain", []rt.BFloat16{0x3f80, 0x7fc0, 0xff80, 0x0001}, 2, 2)
	rt.Add(w, "i64", []int64{math.MinInt64, math.MaxInt64, 0}, 3)
	rt.Add(w, "u64", []uint64{math.MaxUint64, 1}, 1, 2)
	rt.Add(w, "i32", []int32{math.MinInt32, math.MaxInt32}, 2)
	rt.Add(w, "u32", []uint32{math.MaxUint32}, 1)
	rt.Add(w, "i16", []int16{-1 << 15}, 1)
	rt.Add(w, "u16", []uint16{1<<16 - 1}, 1)
	rt.Add(w, "i8", []int8{-128, 127}, 2)
	rt.Add(w, "u8", []uint8{0, 255, 7}, 3)
	rt.Add(w, "bool", []bool{true, false}, 2)
	w.AddRaw("odd bool", "bool", []int{3}, []byte{0, 1, 2})
	rt.Add(w, "e4m3", []rt.Float8E4M3FN{0x38, 0x7f}, 2)
	rt.Add(w, "e8m0", []rt.Float8E8M0{0x7f}, 1)
	rt.AddPacked(w, "i4", 4, []int8{-8, 7, 1}, 3)
	rt.AddPacked(w, "u2", 2, []uint8{3, 0, 1, 2, 3}, 5)
	rt.Add(w, "words", []string{"", "ж\x00\n", "\xff"}, 3)
	rt.Add(w, "scalar", []float32{0.25})
	rt.Add(w, "empty", []float32{}, 0, 4)
	rt.Add(w, "wide", make([]float32, 300), 300)
	rt.Add(w, "\"quoted\"\\\n\u2028ж", []uint8{1}, 1, 1, 1)
	w.SetMetadata("format", "pt")
	w.SetMetadata("k\n\"", "")
	return w
}

// contents returns what is in weights.
func contents(t testing.TB, w *rt.Weights) map[string]string {
	t.Helper()
	all := map[string]string{}
	for key, value := range w.Metadata() {
		all["metadata "+key] = value
	}
	for _, name := range w.Names() {
		info, _ := w.Info(name)
		all[name] = fmt.Sprintf("%v %x", info, w.Raw(name))
	}
	if err := w.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func encode(t testing.TB, r Recorder, w *rt.Weights) []byte {
	t.Helper()
	file, err := r.Encode(w)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestRecordersKeepEverything(t *testing.T) {
	for name, r := range recorders(AsIs) {
		t.Run(name, func(t *testing.T) {
			want := contents(t, everything())
			file := encode(t, r, everything())
			if !bytes.Equal(file, encode(t, r, everything())) {
				t.Error("equal weights make different files")
			}
			w, err := Parse(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, contents(t, w)); d != "" {
				t.Error(d)
			}
			path := filepath.Join(t.TempDir(), "model"+r.Extension())
			if err := r.Save(path, everything()); err != nil {
				t.Fatal(err)
			}
			w, err = Open(path)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, contents(t, w)); d != "" {
				t.Error(d)
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, file) {
				t.Error("Save and Encode differ", err)
			}
			again, err := For(path)
			if r.Format == PrettyJSON {
				again.Format = PrettyJSON
			}
			if err != nil || again != r {
				t.Errorf("%s: %+v, %v", path, again, err)
			}
		})
	}
}

// someWeights draws weights of a few tensors.
func someWeights(t *rapid.T, dtypes ...string) *rt.Weights {
	w := rt.NewWeights()
	for _, name := range rapid.SliceOfNDistinct(rapid.String(), 0, 5, rapid.ID).Draw(t, "names") {
		shape := rapid.SliceOfN(rapid.IntRange(0, 4), 0, 3).Draw(t, "shape")
		n := 1
		for _, d := range shape {
			n *= d
		}
		dtype := rapid.SampledFrom(dtypes).Draw(t, "dtype")
		n *= elements[dtype].width
		raw := rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "raw")
		w.AddRaw(name, dtype, shape, raw)
	}
	for key, value := range rapid.MapOfN(rapid.String(), rapid.String(), 0, 2).Draw(t, "metadata") {
		w.SetMetadata(key, value)
	}
	return w
}

func allElements() []string {
	return []string{"f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8", "bool"}
}

func TestAnyWeightsAreKept(t *testing.T) {
	for name, r := range recorders(AsIs) {
		if r.Gzip && r.Format != Binary {
			continue
		}
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				w := someWeights(rt, allElements()...)
				got, err := Parse(encode(t, r, w))
				if err != nil {
					rt.Fatal(err)
				}
				if d := cmp.Diff(contents(t, w), contents(t, got)); d != "" {
					rt.Fatal(d)
				}
			})
		})
	}
}

// stored returns what is left of an element in a precision.
func stored(dtype string, bits uint64, p Precision) uint64 {
	e, to := elements[dtype], precisions[p].float
	if e.float == nil || to == "" || elements[to].width >= e.width && dtype != "bf16" {
		return bits
	}
	x := e.float(bits)
	switch to {
	case "f32":
		x = float64(float32(x))
	case "f16":
		x = float64(rt.ToFloat16(rt.RoundToOdd(x)).Float32())
	}
	if dtype == "f64" {
		return math.Float64bits(x)
	}
	if dtype == "bf16" {
		return uint64(rt.ToBFloat16(float32(x)))
	}
	return uint64(math.Float32bits(float32(x)))
}

// TestPrecisions compares every element with its value rounded to the precision, and the types in
// the file with the types of the precision.
func TestPrecisions(t *testing.T) {
	for _, p := range []Precision{Double, Full, Half} {
		for name, r := range recorders(p) {
			if r.Gzip {
				continue
			}
			t.Run(p.String()+", "+name, func(t *testing.T) {
				rapid.Check(t, func(rt *rapid.T) {
					w := someWeights(rt, allElements()...)
					file, err := r.Encode(w)
					if err != nil {
						if !strings.Contains(err.Error(), "does not fit") || p == Double {
							rt.Fatal(err)
						}
						rt.Skip(err)
					}
					got, err := Parse(file)
					if err != nil {
						rt.Fatal(err)
					}
					if d := cmp.Diff(w.Metadata(), got.Metadata()); d != "" || len(w.Names()) != len(got.Names()) {
						rt.Fatal(d, got.Names())
					}
					for _, name := range w.Names() {
						info, _ := w.Info(name)
						if again, _ := got.Info(name); info.String() != again.String() {
							rt.Fatalf("%v became %v", info, again)
						}
						e, before, after := elements[info.DType], w.Raw(name), got.Raw(name)
						for at := 0; at < len(before); at += e.width {
							bits, now := littleEndian(before[at:][:e.width]), littleEndian(after[at:][:e.width])
							if e.float != nil && math.IsNaN(e.float(bits)) && math.IsNaN(e.float(now)) {
								continue
							}
							if want := stored(info.DType, bits, p); now != want {
								rt.Fatalf("%v: %x became %x, not %x", info, bits, now, want)
							}
						}
					}
				})
			})
		}
	}
}

// typesInFile returns the types that a record stores.
func typesInFile(t *testing.T, r Recorder, w *rt.Weights) map[string]string {
	raw := rt.NewWeights()
	if err := read(raw, encode(t, r, w)); err != nil {
		t.Fatal(err)
	}
	types := map[string]string{}
	for _, name := range raw.Names() {
		info, _ := raw.Info(name)
		types[name] = info.DType
	}
	return types
}

func TestPrecisionsDecideTypes(t *testing.T) {
	w := rt.NewWeights()
	for _, dtype := range allElements() {
		w.AddRaw(dtype, dtype, []int{2}, make([]byte, 2*elements[dtype].width))
	}
	rt.Add(w, "large", []int64{1 << 40, 1}, 2)
	rt.Add(w, "medium", []int64{-1 << 31, 1}, 2)
	rt.Add(w, "small", []int64{-1 << 15}, 1)
	same := map[string]string{"i8": "i8", "u64": "u64", "u32": "u32", "u16": "u16", "u8": "u8", "bool": "bool"}
	for p, other := range map[Precision]map[string]string{
		AsIs:   {"f64": "f64", "f32": "f32", "f16": "f16", "bf16": "bf16", "i64": "i64", "i32": "i32", "i16": "i16", "large": "i64", "medium": "i64", "small": "i64"},
		Double: {"f64": "f64", "f32": "f64", "f16": "f64", "bf16": "f64", "i64": "i64", "i32": "i64", "i16": "i64", "large": "i64", "medium": "i64", "small": "i64"},
		Full:   {"f64": "f32", "f32": "f32", "f16": "f32", "bf16": "f32", "i64": "i32", "i32": "i32", "i16": "i32", "large": "i64", "medium": "i32", "small": "i32"},
		Half:   {"f64": "f16", "f32": "f16", "f16": "f16", "bf16": "f16", "i64": "i16", "i32": "i16", "i16": "i16", "large": "i64", "medium": "i64", "small": "i16"},
	} {
		for name := range same {
			other[name] = same[name]
		}
		for name, r := range recorders(p) {
			if d := cmp.Diff(other, typesInFile(t, r, w)); d != "" {
				t.Errorf("%v, %s: %s", p, name, d)
			}
		}
	}
}

func TestFloatsThatHaveNoPlace(t *testing.T) {
	for _, tt := range []struct {
		x    float64
		p    Precision
		fits bool
	}{
		{65504, Half, true}, {65519.99, Half, true}, {65520, Half, false}, {-65520, Half, false},
		{math.Inf(1), Half, true}, {1e300, Full, false}, {1e300, Double, true},
		{math.MaxFloat32, Full, true}, {0x1.ffffffp127, Full, false}, {math.Nextafter(0x1.ffffffp127, 0), Full, true},
	} {
		w := rt.NewWeights()
		rt.Add(w, "x", []float64{1, tt.x}, 2)
		_, err := Recorder{Precision: tt.p}.Encode(w)
		if (err == nil) != tt.fits {
			t.Errorf("%v in %v precision: %v", tt.x, tt.p, err)
		}
	}
	w := rt.NewWeights()
	rt.Add(w, "x", []rt.BFloat16{rt.ToBFloat16(1e10)}, 1)
	if _, err := (Recorder{Precision: Half}).Encode(w); err == nil {
		t.Error("no error")
	}
}

// small are weights that make a small file of every kind of value.
func small() *rt.Weights {
	w := rt.NewWeights()
	rt.Add(w, "a.weight", []float32{1.5, -2e-5}, 2, 1)
	rt.Add(w, "n", []int64{-3})
	rt.Add(w, "e", []rt.Float8E5M2{1, 2, 3}, 3)
	rt.Add(w, "b", []bool{true}, 1)
	w.SetMetadata("k", "v")
	return w
}

// TestDamageIsFound flips every bit of a file and truncates it after every byte. Reading must
// return an error. If the damaged byte does not affect the contents, it may return the original
// contents instead.
func TestDamageIsFound(t *testing.T) {
	harmless := map[string]bool{"JSON": true, "pretty JSON": true} // e and E
	for name, r := range recorders(AsIs) {
		t.Run(name, func(t *testing.T) {
			file := encode(t, r, small())
			want := contents(t, small())
			for i := range file {
				for bit := range 8 {
					flipped := bytes.Clone(file)
					flipped[i] ^= 1 << bit
					w, err := Parse(flipped)
					if err != nil {
						continue
					}
					if d := cmp.Diff(want, contents(t, w)); d != "" || !r.Gzip && !harmless[name] {
						t.Fatalf("bit %d of byte %d of %d: no error. %s", bit, i, len(file), d)
					}
				}
				if _, err := Parse(file[:i]); err == nil && !(name == "pretty JSON" && i == len(file)-1) {
					t.Errorf("cut off after %d bytes of %d: no error", i, len(file))
				}
			}
			if _, err := Parse(append(bytes.Clone(file), 0)); err == nil {
				t.Error("a byte after the end: no error")
			}
		})
	}
}

func TestLaterVersionsAreRefused(t *testing.T) {
	for name, r := range recorders(AsIs) {
		if r.Gzip {
			continue
		}
		t.Run(name, func(t *testing.T) {
			w := small()
			file := encode(t, r, w)
			switch r.Format {
			case Safetensors:
				w.SetMetadata(noteVersion, "2")
				file = nil
				var b bytes.Buffer
				if _, err := w.WriteTo(&b); err != nil {
					t.Fatal(err)
				}
				file = b.Bytes()
			case Binary:
				file[len(binaryMagic)]++
			case MessagePack:
				file[bytes.Index(file, []byte(keyVersion))+len(keyVersion)]++
			default:
				at := bytes.IndexByte(file, '1')
				file[at]++
			}
			if _, err := Parse(file); err == nil || !strings.Contains(err.Error(), "version") {
				t.Error(err)
			}
		})
	}
}

func TestSavingReplacesWholeFilesOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.mpk")
	if err := Save(path, small()); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	w := small()
	w.AddFunc("z", "f32", nil, func() ([]byte, error) { return nil, errors.New("no such bytes") })
	for name, r := range recorders(AsIs) {
		if err := r.Save(path, w.Fork()); err == nil || !strings.Contains(err.Error(), "no such bytes") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Error("the file has changed", err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("%v lie beside the file", entries)
	}
	if err := Save(filepath.Join(t.TempDir(), "none", "model.mpk"), small()); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestWhatCannotBeWritten(t *testing.T) {
	text := rt.NewWeights()
	rt.Add(text, "\xff", []uint8{1}, 1)
	metadata := small()
	metadata.SetMetadata("k", "\xff")
	for _, tt := range []struct {
		name string
		w    *rt.Weights
		want string
	}{
		{"a name that is not UTF-8", text, "UTF-8"},
		{"metadata that is not UTF-8", metadata, "UTF-8"},
		{"weights that are closed", func() *rt.Weights { w := small(); w.Close(); return w }(), "closed"},
		{"no weights", nil, "none given"},
	} {
		for name, r := range recorders(AsIs) {
			if _, err := r.Encode(tt.w); r.Format != Binary && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%s, %s: %v", tt.name, name, err)
			}
		}
	}
	for _, r := range []Recorder{{Format: 9}, {Precision: 9}} {
		if _, err := r.Encode(small()); err == nil || !strings.Contains(err.Error(), "is none") {
			t.Error(err)
		}
		if r.Format.String() == "" || r.Precision.String() == "" || r.Extension() == "x" {
			t.Error("no name")
		}
	}
	for _, path := range []string{"model", "model.gz", "model.pt", ""} {
		if err := Save(path, small()); err == nil || !strings.Contains(err.Error(), "a name that ends in") {
			t.Error(path, err)
		}
		if err := SaveState(path, nil); err == nil {
			t.Error(path)
		}
	}
}

func TestFilesOfOthers(t *testing.T) {
	for name, file := range map[string]string{
		"nothing": "", "text": "hello", "a table": "{}", "another table": `{"a":1}`, "a list": "[]", "gzip": "\x1f\x8b", "MessagePack": "\x80",
		"MessagePack of others": "\x81\xa1a\x01", "zip": "PK\x03\x04", "pickle": "\x80\x02}.", "bincode": "\x03f32", "burnpack": "NRUB", "binary": binaryMagic,
	} {
		if w, err := Parse([]byte(file)); err == nil || !strings.HasPrefix(err.Error(), "weights: ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, %v", name, w, err)
		}
	}
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("a folder: no error")
	}
}
