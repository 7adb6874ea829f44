package data_test

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/rt"
)

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

func FuzzReadIDX(f *testing.F) {
	f.Add(idx(8, []uint32{2, 3}, 1, 2, 3, 4, 5, 6))
	f.Add(idx(8, nil, 1))
	f.Add(idx(8, []uint32{0, 5}))
	f.Add(idx(8, []uint32{1 << 31, 1 << 31}))
	f.Add(idx(13, []uint32{1}, 1, 2, 3, 4))
	f.Add([]byte{0, 0, 8})
	f.Fuzz(func(t *testing.T, file []byte) {
		x, err := data.ReadIDX[uint8](bytes.NewReader(file))
		if err != nil {
			return
		}
		if err := x.Check(); err != nil {
			t.Error(err)
		}
		extents := make([]uint32, len(x.Shape))
		for i, n := range x.Shape {
			extents[i] = uint32(n)
		}
		if again := idx(8, extents, x.Data...); !bytes.Equal(again, file) {
			t.Errorf("% x was read as % x", file, again)
		}
	})
}
