package data_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/burngen/burngen/golden/corpus"
	_ "github.com/burngen/burngen/internal/seeded"
	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/rt"
)

// write writes a file in a folder that the test has for itself.
func write(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func zipped(t *testing.T, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// idx returns a file of a type, extents and bytes of elements.
func idx(typ byte, extents []uint32, elements ...byte) []byte {
	b := []byte{0, 0, typ, byte(len(extents))}
	for _, n := range extents {
		b = append(b, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
	return append(b, elements...)
}

func TestIDX(t *testing.T) {
	small := idx(8, []uint32{2, 3}, 1, 2, 3, 4, 5, 255)
	want := rt.Tensor[uint8]{Data: []uint8{1, 2, 3, 4, 5, 255}, Shape: []int{2, 3}}
	for name, path := range map[string]string{
		"plain":                write(t, "x", small),
		"gzip":                 write(t, "x", zipped(t, small)),
		"gzip under its name":  write(t, "x.gz", zipped(t, small)),
		"gzip of another name": strings.TrimSuffix(write(t, "x.gz", zipped(t, small)), ".gz"),
	} {
		if got, err := data.IDX[uint8](path); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	t.Run("types", func(t *testing.T) {
		check(t, idx(9, []uint32{1}, 0xfe), int8(-2))
		check(t, idx(11, []uint32{2}, 0xff, 0xfe, 1, 0), int16(-2), 256)
		check(t, idx(12, []uint32{1}, 0xff, 0xff, 0xff, 0xfe), int32(-2))
		check(t, idx(13, []uint32{1}, 0xc0, 0x20, 0, 0), float32(-2.5))
		check(t, idx(14, []uint32{1}, 0xc0, 4, 0, 0, 0, 0, 0, 0), -2.5)
		check(t, idx(13, nil, 0xc0, 0x20, 0, 0), float32(-2.5)) // a scalar
		check(t, idx(13, []uint32{3, 0, 2}), []float32{}...)
	})
}

func check[T data.IDXElement](t *testing.T, file []byte, want ...T) {
	t.Helper()
	x, err := data.ReadIDX[T](bytes.NewReader(file))
	if err != nil || !slices.Equal(x.Data, want) {
		t.Errorf("% x: %v, %v, want %v", file, x, err, want)
	}
}

func TestIDXOfHostileFiles(t *testing.T) {
	good := idx(8, []uint32{2, 3}, 1, 2, 3, 4, 5, 6)
	for _, tt := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "header: unexpected EOF"},
		{"short header", good[:3], "header: unexpected EOF"},
		{"not IDX", []byte("hello, world"), `begins with 0x68 0x65: not IDX`},
		{"unknown type", idx(10, []uint32{1}, 1), "elements are of an unknown type, 0x0a: u8 expected"},
		{"another type", idx(13, []uint32{1}, 1, 2, 3, 4), "elements are f32: u8 expected"},
		{"short extents", good[:7], "extent 0: unexpected EOF"},
		{"missing extents", idx(8, []uint32{1, 2})[:8], "extent 1: unexpected EOF"},
		{"short elements", good[:len(good)-1], "5 bytes of elements: shape [2 3] needs 6"},
		{"more elements", append(slices.Clone(good), 7), "there is more after 6 elements of [2 3]"},
		{"a shape without elements", idx(8, []uint32{60000, 28, 28}), "0 bytes of elements: shape [60000 28 28] needs 47040000"},
		{"a shape that wraps", idx(8, []uint32{1 << 30, 1 << 30, 1 << 30}), "more elements than fit an int"},
		{"an empty shape that wraps", idx(8, []uint32{0, 1 << 30, 1 << 30, 1 << 30}), "more elements than fit an int"},
		{"a shape beyond the limit", idx(8, []uint32{1 << 31, 1 << 16}), ""},
		{"255 extents", idx(8, slices.Repeat([]uint32{255}, 255)), ""},
		{"gzip cut short", zipped(t, good)[:20], "unexpected EOF"},
		{"gzip with another checksum", func() []byte { z := zipped(t, good); z[len(z)-5] ^= 1; return z }(), "gzip: invalid checksum"},
		{"gzip of nothing", zipped(t, nil), "header: unexpected EOF"},
		{"half a gzip header", []byte{0x1f, 0x8b, 8}, "EOF"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x, err := data.IDX[uint8](write(t, "x", tt.file))
			if err == nil || !strings.HasPrefix(err.Error(), "idx: ") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, error %v, want %s", x, err, tt.want)
			}
			if x.Data != nil {
				t.Error("elements beside an error")
			}
		})
	}
	if _, err := data.IDX[uint8](filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	t.Run("memory", func(t *testing.T) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := data.ReadIDX[uint8](bytes.NewReader(idx(8, []uint32{1000, 1000, 1000}))); err == nil {
			t.Error("a gigabyte of nothing")
		}
		if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 1<<20 {
			t.Errorf("%d bytes for a file of 16", after.TotalAlloc-before.TotalAlloc)
		}
	})
}

func TestMNIST(t *testing.T) {
	pictures := make([]byte, 2*28*28)
	pictures[28*28+29] = 255
	images := write(t, "images", idx(8, []uint32{2, 28, 28}, pictures...))
	labels := write(t, "labels.gz", zipped(t, idx(8, []uint32{2}, 7, 3)))
	x, y, err := data.MNIST(images, strings.TrimSuffix(labels, ".gz"))
	if err != nil {
		t.Fatal(err)
	}
	if len(x) != 2 || !slices.Equal(y, []int64{7, 3}) {
		t.Errorf("%d pictures, labels %v", len(x), y)
	}
	for _, tt := range []struct{ got, want float64 }{
		{float64(x[0][0][0]), -0.1307 / 0.3081},
		{float64(x[1][1][1]), (1 - 0.1307) / 0.3081},
		{float64(x[1][1][2]), -0.1307 / 0.3081},
	} {
		if math.Abs(tt.got-tt.want) > 1e-6 {
			t.Errorf("pixel %v, want %v", tt.got, tt.want)
		}
	}
	three := write(t, "three", idx(8, []uint32{3}, 1, 2, 3))
	for want, files := range map[string][2]string{
		"pictures have shape [2 28 28]: [3 28 28] expected for the labels of " + three: {images, three},
		"labels have shape [2 28 28]":   {images, images},
		"pictures have shape [3]":       {three, labels},
		"none: no such file":            {"none", labels},
		"no such file":                  {images, "none"},
		"elements are f32: u8 expected": {images, write(t, "floats", idx(13, []uint32{0}))},
	} {
		if _, _, err := data.MNIST(files[0], files[1]); err == nil || !strings.HasPrefix(err.Error(), "mnist: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	t.Run("the test set", func(t *testing.T) {
		folder := corpus.Path(t, "datasets/mnist")
		x, y, err := data.MNIST(filepath.Join(folder, "t10k-images-idx3-ubyte"), filepath.Join(folder, "t10k-labels-idx1-ubyte"))
		if err != nil {
			t.Fatal(err)
		}
		if len(x) != 10000 || !slices.Equal(y[:5], []int64{7, 2, 1, 0, 4}) {
			t.Errorf("%d pictures, labels %v…", len(x), y[:5])
		}
	})
}

// all returns what batches yield, copied.
func all[X, Y any](x []X, y []Y, size int, rng *rand.Rand) (batches [][]X, others [][]Y) {
	for x, y := range data.Batches(x, y, size, rng) {
		batches, others = append(batches, slices.Clone(x)), append(others, slices.Clone(y))
	}
	return batches, others
}

func TestBatches(t *testing.T) {
	x, y := []int{0, 1, 2, 3, 4, 5, 6}, []string{"a", "b", "c", "d", "e", "f", "g"}
	t.Run("in order", func(t *testing.T) {
		bx, by := all(x, y, 3, nil)
		if d := cmp.Diff([][]int{{0, 1, 2}, {3, 4, 5}, {6}}, bx) + cmp.Diff([][]string{{"a", "b", "c"}, {"d", "e", "f"}, {"g"}}, by); d != "" {
			t.Error(d)
		}
	})
	t.Run("shuffled", func(t *testing.T) {
		rng := rand.New(rand.NewPCG(42, 0))
		first, _ := all(x, y, 3, rng)
		second, _ := all(x, y, 3, rng)
		again, _ := all(x, y, 3, rand.New(rand.NewPCG(42, 0)))
		if cmp.Equal(first, second) || !cmp.Equal(first, again) {
			t.Errorf("%v, then %v, with the same seed %v", first, second, again)
		}
		if d := cmp.Diff([][]int{{2, 3, 4}, {1, 0, 5}, {6}}, first); d != "" {
			t.Error(d)
		}
	})
	t.Run("every example once, with its own", func(t *testing.T) {
		rapid.Check(t, func(r *rapid.T) {
			n, size := rapid.IntRange(0, 40).Draw(r, "n"), rapid.IntRange(-1, 50).Draw(r, "size")
			var rng *rand.Rand
			if rapid.Bool().Draw(r, "shuffled") {
				rng = rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
			}
			x, y := make([]int, n), make([]int, n+rapid.IntRange(0, 2).Draw(r, "beyond"))
			for i := range x {
				x[i], y[i] = i, -i
			}
			bx, by := all(x, y, size, rng)
			for i := range bx {
				if len(bx[i]) == 0 || size > 0 && (len(bx[i]) > size || i < len(bx)-1 && len(bx[i]) < size) || len(bx[i]) != len(by[i]) {
					r.Errorf("batch %d has %d and %d examples", i, len(bx[i]), len(by[i]))
				}
			}
			xs, ys := slices.Concat(bx...), slices.Concat(by...)
			for i := range xs {
				if xs[i] != -ys[i] {
					r.Errorf("%d has %d", xs[i], ys[i])
				}
			}
			if slices.Sort(xs); !slices.Equal(xs, x) {
				r.Errorf("examples are %v", xs)
			}
		})
	})
	t.Run("stopped", func(t *testing.T) {
		for _, rng := range []*rand.Rand{nil, rand.New(rand.NewPCG(1, 2))} {
			n := 0
			for range data.Batches(x, y, 2, rng) {
				if n++; n == 2 {
					break
				}
			}
		}
	})
	t.Run("nothing", func(t *testing.T) {
		if bx, _ := all([]int{}, []int{1}, 2, rand.New(rand.NewPCG(1, 2))); bx != nil {
			t.Error(bx)
		}
	})
}

func TestSplit(t *testing.T) {
	x, y := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, []int{0, -1, -2, -3, -4, -5, -6, -7, -8, -9}
	for _, tt := range []struct {
		part  float64
		first int
	}{{0.8, 8}, {0.84, 8}, {0.86, 9}, {0, 0}, {1, 10}, {-1, 0}, {2, 10}, {math.NaN(), 0}, {math.Inf(1), 10}} {
		for _, rng := range []*rand.Rand{nil, rand.New(rand.NewPCG(1, 2))} {
			a, b := data.Split(x, y[:10], tt.part, rng)
			if len(a.X) != tt.first || len(a.Y) != tt.first || len(b.X) != 10-tt.first || len(b.Y) != 10-tt.first {
				t.Errorf("%v: %d and %d", tt.part, len(a.X), len(b.X))
			}
			xs, ys := slices.Concat(a.X, b.X), slices.Concat(a.Y, b.Y)
			if shuffled := !slices.Equal(xs, x); shuffled != (rng != nil) {
				t.Errorf("%v: examples are %v", tt.part, xs)
			}
			for i := range xs {
				if xs[i] != -ys[i] {
					t.Errorf("%d has %d", xs[i], ys[i])
				}
			}
			if slices.Sort(xs); !slices.Equal(xs, x) {
				t.Errorf("examples are %v", xs)
			}
		}
	}
}

func TestRandomIsResumed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	pcg := rand.NewPCG(1, 2)
	pcg.Uint64()
	if err := rt.SaveState(path, map[string]rt.Stater{"shuffling": data.Random(pcg)}); err != nil {
		t.Fatal(err)
	}
	again := rand.NewPCG(0, 0)
	if err := rt.LoadState(path, map[string]rt.Stater{"shuffling": data.Random(again)}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if a, b := pcg.Uint64(), again.Uint64(); a != b {
			t.Errorf("%d, uninterrupted %d", b, a)
		}
	}
	if err := rt.SaveState(path, map[string]rt.Stater{"shuffling": data.Random(nil)}); err == nil {
		t.Error("no generator was saved")
	}
}

func TestWindows(t *testing.T) {
	tokens := data.Bytes("abcdefgh")
	x, y, err := data.Windows[[3]int64](tokens, 2)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([][3]int64{{97, 98, 99}, {99, 100, 101}, {101, 102, 103}}, x) + cmp.Diff([][3]int64{{98, 99, 100}, {100, 101, 102}, {102, 103, 104}}, y); d != "" {
		t.Error(d)
	}
	if x, _, err := data.Windows[[8]int64](tokens, 1); len(x) != 0 || err != nil {
		t.Errorf("a window has nothing after it: %v, %v", x, err)
	}
	if x, _, err := data.Windows[[7]int64](tokens, 100); len(x) != 1 || err != nil {
		t.Errorf("%v, %v", x, err)
	}
	_, _, err = data.Windows[[3]int64](tokens, 0)
	wantError(t, err, "windows: stride 0: at least 1 expected")
	_, _, err = data.Windows[[6]int32](tokens, 1)
	wantError(t, err, "windows: a window is a [6]int32: an array of int64 expected, as [64]int64")
	_, _, err = data.Windows[[0]int64](tokens, 1)
	wantError(t, err, "windows: a window is a [0]int64: an array of int64 expected, as [64]int64")
	_, _, err = data.Windows[int64](tokens, 1)
	wantError(t, err, "windows: a window is a int64: an array of int64 expected, as [64]int64")
}

func TestRandomWindows(t *testing.T) {
	tokens := data.Bytes("abcd")
	batches, err := data.RandomWindows[[2]int64](tokens, 3, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	seen, n := map[int64]bool{}, 0
	for x, y := range batches {
		for i := range x {
			seen[x[i][0]] = true
			if len(x) != 3 || x[i][1] != x[i][0]+1 || y[i][0] != x[i][1] || y[i][1] != x[i][1]+1 {
				t.Errorf("%v, then %v", x, y)
			}
		}
		if n++; n == 20 {
			break
		}
	}
	if len(seen) != 2 || !seen['a'] || !seen['b'] {
		t.Errorf("windows begin with %v", seen)
	}
	defer rt.ArenaLimit(rt.ArenaLimit(1 << 20))
	for want, err := range map[string]error{
		"windows: 4 tokens: a window and what follows need 5":                             failed(data.RandomWindows[[4]int64](tokens, 1, rand.New(rand.NewPCG(1, 2)))),
		"windows: batches of 0: at least 1 expected":                                      failed(data.RandomWindows[[2]int64](tokens, 0, rand.New(rand.NewPCG(1, 2)))),
		"windows: 268435456 elements of 16 bytes: limit is 1048576 bytes (rt.ArenaLimit)": failed(data.RandomWindows[[2]int64](tokens, 1<<28, rand.New(rand.NewPCG(1, 2)))),
		"windows: no generator":                                                           failed(data.RandomWindows[[2]int64](tokens, 1, nil)),
		"windows: a window is a []int64: an array of int64 expected, as [64]int64":        failed(data.RandomWindows[[]int64](tokens, 1, nil)),
	} {
		wantError(t, err, want)
	}
}

func failed[T any](_ T, err error) error { return err }

func TestNoReader(t *testing.T) {
	wantError(t, failed(data.ReadCSV[struct{ A int }](nil, data.CSVOptions{})), "no reader to read from")
	wantError(t, failed(data.ReadIDX[uint8](nil)), "no reader to read from")
}

func TestVocabulary(t *testing.T) {
	v := data.Characters("hello, wörld\xff")
	tokens, err := v.Encode("wörld")
	if err != nil || v.Len() != 11 || v.Decode(tokens) != "wörld" {
		t.Errorf("%v, %v of %d, %q", tokens, err, v.Len(), v.Decode(tokens))
	}
	if again := data.Characters("wörld, hello\xff"); !reflect.DeepEqual(again, v) {
		t.Error("the order of a text matters")
	}
	_, err = v.Encode("wör?")
	wantError(t, err, `text: '?' at byte 4 is not in the vocabulary of 11 characters`)
	if got := v.Decode([]int64{-1, 0, 99}); got != "\ufffd \ufffd" {
		t.Errorf("decoded %q", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		v := data.Characters(text)
		tokens, err := v.Encode(text)
		if err != nil || v.Decode(tokens) != text {
			t.Errorf("%q became %v, %q: %v", text, tokens, v.Decode(tokens), err)
		}
		for _, k := range tokens {
			if k < 0 || k >= int64(v.Len()) {
				t.Errorf("token %d of %d", k, v.Len())
			}
		}
	})
}

func TestVocabularyOfCorpus(t *testing.T) {
	text, err := os.ReadFile(corpus.Path(t, "datasets/text/tinyshakespeare.txt"))
	if err != nil {
		t.Fatal(err)
	}
	v := data.Characters(string(text))
	tokens, err := v.Encode(string(text))
	if err != nil || v.Len() != 65 || len(tokens) != 1115394 || v.Decode(tokens) != string(text) {
		t.Errorf("%d characters, %d tokens, %v", v.Len(), len(tokens), err)
	}
}

func TestCategories(t *testing.T) {
	numbers, names := data.Categories([]string{"spam", "ham", "spam", "eggs"})
	if !slices.Equal(numbers, []int64{2, 1, 2, 0}) || !slices.Equal(names, []string{"eggs", "ham", "spam"}) {
		t.Errorf("%v of %q", numbers, names)
	}
	if numbers, names := data.Categories(nil); len(numbers) != 0 || len(names) != 0 {
		t.Errorf("%v of %q", numbers, names)
	}
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if fmt.Sprint(err) != want {
		t.Errorf("error %q, want %q", fmt.Sprint(err), want)
	}
}
