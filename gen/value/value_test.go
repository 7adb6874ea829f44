package value

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/onnx/onnxtest"
)

// Every element type survives the way to a kernel's slice and back.
func TestSlice(t *testing.T) {
	for _, d := range ir.DTypes() {
		t.Run(d.String(), func(t *testing.T) {
			x := ir.NewTensor(d, 2, 2)
			for i := range 4 {
				switch {
				case d == ir.String:
					x.SetText(i, strings.Repeat("é", i))
				case d.IsFloat():
					x.SetFloat(i, math.Exp2(float64(i-1)))
				default:
					x.SetInt(i, int64(i-2))
				}
			}
			back, err := FromSlice(d, x.Shape, Slice(x))
			if err != nil || !back.Equal(x) {
				t.Errorf("got %v, %v", back, err)
			}
		})
	}
	if _, err := FromSlice(ir.F32, []int{2}, []float32{1}); err == nil {
		t.Error("too few elements are accepted")
	}
	if _, err := FromSlice(ir.F32, []int{1}, []string{"a"}); err == nil {
		t.Error("strings are taken for numbers")
	}
}

func TestNPY(t *testing.T) {
	for _, x := range []*ir.Tensor{
		ir.FloatTensor(ir.F32, 1, math.Inf(-1), 3).Reshape(3, 1), ir.FloatTensor(ir.F64, 0.1), ir.FloatTensor(ir.F16, 0.5),
		ir.IntTensor(ir.I64, -1, 1<<40), ir.IntTensor(ir.U16, 65535), ir.IntTensor(ir.I8, -128), ir.IntTensor(ir.Bool, 1, 0),
		ir.Scalar(ir.F32, 7), ir.NewTensor(ir.I32, 0, 4),
	} {
		t.Run(x.Type().String(), func(t *testing.T) {
			var b bytes.Buffer
			if err := WriteNPY(&b, x); err != nil {
				t.Fatal(err)
			}
			if i := bytes.IndexByte(b.Bytes(), '\n'); (i+1)%64 != 0 {
				t.Errorf("the elements begin at %d", i+1)
			}
			back, err := DecodeNPY(b.Bytes())
			if err != nil || !back.Equal(x) {
				t.Errorf("got %v, %v from %q", back, err, b.Bytes())
			}
		})
	}
}

// The file is laid out as NEP 1 says, version 1.0, the header padded to 128 bytes.
func TestNPYBytes(t *testing.T) {
	var b bytes.Buffer
	if err := WriteNPY(&b, ir.FloatTensor(ir.F32, 1, 2).Reshape(1, 2)); err != nil {
		t.Fatal(err)
	}
	header := "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }"
	want := "\x93NUMPY\x01\x00v\x00" + header + strings.Repeat(" ", 117-len(header)) + "\n\x00\x00\x80\x3f\x00\x00\x00\x40"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
	b.Reset()
	texts := ir.NewTensor(ir.String, 2)
	texts.SetText(0, "ab")
	texts.SetText(1, "é")
	if err := WriteNPY(&b, texts); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "'descr': '<U2'") || !strings.HasSuffix(b.String(), "a\x00\x00\x00b\x00\x00\x00\xe9\x00\x00\x00\x00\x00\x00\x00") {
		t.Errorf("got %q", b.String())
	}
}

func TestNPYRefuses(t *testing.T) {
	file := func(header, body string) string {
		return "\x93NUMPY\x01\x00" + string([]byte{byte(len(header)), 0}) + header + body
	}
	for _, c := range []struct{ name, data, want string }{
		{"empty", "", "not a NumPy array"},
		{"cut", "\x93NUMPY\x01\x00\xff\xff{'descr'", "broken header"},
		{"fortran order", file("{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }", "abcd"), "Fortran"},
		{"big-endian", file("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", "abcd"), "big-endian"},
		{"records", file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "abcd"), "not a plain array"},
		{"complex", file("{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", "abcdabcd"), `NumPy type "c8"`},
		{"short", file("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "abcd"), "4 bytes for f32[2]"},
		{"huge", file("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", ""), "elements"},
		{"longer than any", file("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", ""), "extent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := DecodeNPY([]byte(c.data)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func FuzzDecodeNPY(f *testing.F) {
	var b bytes.Buffer
	if err := WriteNPY(&b, ir.FloatTensor(ir.F32, 1, 2)); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr': '<f4'"))
	f.Add([]byte("\x93NUMPY\x01\x00\x40\x00{'descr': '|b1', 'fortran_order': False, 'shape': (0, 99999999), }"))
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := DecodeNPY(data)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := WriteNPY(&b, x); err != nil {
			if !strings.Contains(err.Error(), "rank too large") {
				t.Fatal(err)
			}
			return // a header of fewer spaces than are written
		}
		if back, err := DecodeNPY(b.Bytes()); err != nil || !back.Equal(x) {
			t.Errorf("%v became %v, %v", x, back, err)
		}
	})
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	picture := image.NewNRGBA(image.Rect(0, 0, 4, 2))
	for y := range 2 {
		for x := range 4 {
			picture.Set(x, y, color.NRGBA{uint8(50 * x), uint8(100 * y), 255, 255})
		}
	}
	var encoded bytes.Buffer
	if err := png.Encode(&encoded, picture); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"x.pb": onnxtest.Tensor("x", ir.FloatTensor(ir.F32, 1, 2)), "x.bin": {0, 0, 128, 63, 0, 0, 0, 64},
		"p.png": encoded.Bytes(), "bad.png": []byte("text"), "bad.pb": []byte("text"), "x.txt": nil,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := SaveNPY(filepath.Join(dir, "x.npy"), ir.FloatTensor(ir.F32, 1, 2)); err != nil {
		t.Fatal(err)
	}
	n := dim.Sym("N")
	two := ir.FloatTensor(ir.F32, 1, 2)
	grey := func(i int) float64 { return (0.299*50*float64(i) + 0.114*255) / 255 }
	for _, c := range []struct {
		file string
		typ  ir.Type
		want *ir.Tensor // nil for an error
		err  string
	}{
		{file: "x.npy", typ: ir.TensorOf(ir.F32, n), want: two},
		{file: "x.pb", typ: ir.TensorOf(ir.F32, n), want: two},
		{file: "x.bin", typ: ir.TensorOf(ir.F32, n), want: two},
		{file: "x.bin", typ: ir.TensorOf(ir.F32, n, dim.Const(2)), want: two.Reshape(1, 2)},
		{file: "x.bin", typ: ir.TensorOf(ir.I64, n), want: ir.IntTensor(ir.I64, 0x400000003f800000)},
		{file: "p.png", typ: ir.TensorOf(ir.F32, n, dim.Const(3), dim.Const(1), dim.Const(2)), want: ir.FloatTensor(ir.F32, 25./255, 125./255, 50./255, 50./255, 1, 1).Reshape(1, 3, 1, 2)},
		{file: "p.png", typ: ir.StaticTensor(ir.U8, 2, 2, 3), want: ir.IntTensor(ir.U8, 25, 0, 255, 125, 0, 255, 25, 100, 255, 125, 100, 255).Reshape(2, 2, 3)},
		{file: "p.png", typ: ir.TensorOf(ir.F32, dim.Const(1), dim.Sym("H"), dim.Const(4)), want: ir.FloatTensor(ir.F32, grey(0), grey(1), grey(2), grey(3), grey(0)+58.7/255, grey(1)+58.7/255, grey(2)+58.7/255, grey(3)+58.7/255).Reshape(1, 2, 4)},
		{file: "x.npy", typ: ir.StaticTensor(ir.F64, 2), err: "x.npy: has f32[2], want f64[2]"},
		{file: "x.npy", typ: ir.StaticTensor(ir.F32, 1, 2), err: "x.npy: has f32[2], want f32[1,2]"},
		{file: "x.npy", typ: ir.StaticTensor(ir.F32, 3), err: "x.npy: has f32[2], want f32[3]"},
		{file: "x.bin", typ: ir.StaticTensor(ir.F32, 3), err: "x.bin: 8 bytes for f32[3]"},
		{file: "x.bin", typ: ir.StaticTensor(ir.F32, 1<<20, 1<<20), err: "x.bin: 8 bytes"},
		{file: "p.png", typ: ir.StaticTensor(ir.F32, 2, 3, 4, 4), err: "1 or 3 channels expected"},
		{file: "p.png", typ: ir.StaticTensor(ir.I64, 3, 4, 4), err: "an image is not an argument of type i64[3,4,4]"},
		{file: "bad.png", typ: ir.StaticTensor(ir.F32, 3, 4, 4), err: "bad.png: not a PNG, JPEG or GIF image: text"},
		{file: "bad.pb", typ: ir.StaticTensor(ir.F32, 2), err: "bad.pb: "},
		{file: "x.txt", typ: ir.StaticTensor(ir.F32, 2), err: "unknown kind of file"},
		{file: "missing.npy", typ: ir.StaticTensor(ir.F32, 2), err: "missing.npy: no such file"},
		{file: "x.npy", typ: ir.SequenceOf(ir.StaticTensor(ir.F32, 2)), err: "cannot be read"},
	} {
		t.Run(c.file+" as "+c.typ.String(), func(t *testing.T) {
			got, err := Read(filepath.Join(dir, c.file), c.typ)
			if c.want == nil {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("got %v, want %q", err, c.err)
				}
				return
			}
			if err != nil || got.Type().String() != c.want.Type().String() {
				t.Fatalf("got %v, %v", got, err)
			}
			for i := range got.Len() {
				if math.Abs(got.Number(i)-c.want.Number(i)) > 1e-6 {
					t.Errorf("element %d is %v, want %v", i, got.Number(i), c.want.Number(i))
				}
			}
		})
	}
}
