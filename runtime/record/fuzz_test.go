package record

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// seeds are the records that fuzzing begins with: those that are read, and cut off.
func seeds(f *testing.F, files ...[]byte) {
	for _, file := range files {
		f.Add(file)
		f.Add(file[:len(file)/2])
	}
}

// fuzz reads a file. What is read is kept by every format.
func fuzz(t *testing.T, file []byte) {
	w, err := Parse(file)
	if err != nil {
		return
	}
	want := contents(t, w)
	for _, format := range []Format{MessagePack, Binary, JSON} {
		again, err := Parse(encode(t, Recorder{Format: format}, w))
		if err != nil {
			t.Fatal(format, err)
		}
		if d := cmp.Diff(want, contents(t, again)); d != "" {
			t.Fatal(format, d)
		}
	}
}

func FuzzMessagePack(f *testing.F) {
	seeds(f, burnMessagePack(f), encode(f, Recorder{Format: MessagePack}, small()), encode(f, Recorder{Format: MessagePack}, everything()),
		packMessage(nil, burnRecord("0.13.0", "half::binary16::f16", "i16", []pair{{"w", oldParam([]any{0x3c00, 0xc000}, 2)}, {"b", oldParam([]any{true}, 1)}})))
	f.Fuzz(func(t *testing.T, file []byte) {
		if isMessagePack(file) {
			fuzz(t, file)
		}
	})
}

func FuzzJSON(f *testing.F) {
	seeds(f, burnJSON(), encode(f, Recorder{Format: JSON}, small()), encode(f, Recorder{Format: PrettyJSON}, everything()),
		packJSON(nil, burnRecord("0.13.0", "f64", "i32", []pair{{"w", oldParam([]any{float32(1), float32(2)}, 2)}})))
	f.Fuzz(func(t *testing.T, file []byte) {
		if isJSON(file) {
			fuzz(t, file)
		}
	})
}

func FuzzBinary(f *testing.F) {
	seeds(f, encode(f, Recorder{Format: Binary}, small()), encode(f, Recorder{Format: Binary}, everything()))
	f.Fuzz(func(t *testing.T, file []byte) { fuzz(t, append([]byte(binaryMagic), file...)); fuzz(t, file) })
}

func FuzzBurnpack(f *testing.F) {
	seeds(f, packBurn(256, packedTensors(pair{"a", descriptor("F32", 0, 8, 2)}, pair{"b", descriptor([]pair{{"Bool", "U8"}}, 8, 9, 1)}), make([]byte, 9)),
		packBurn(1, []pair{{"metadata", []pair{{"version", "0.19.0"}}}, {"tensors", []pair{{"a", descriptor("F32", 0, 4)}}}}, make([]byte, 4)))
	f.Fuzz(func(t *testing.T, file []byte) {
		if isBurnpack(file) {
			fuzz(t, file)
		}
	})
}

func FuzzBincode(f *testing.F) {
	for _, version := range []string{"0.13.0", "0.14.0", "0.16.0", "0.18.0", "0.21.0"} {
		b := newBinCode(version, "f32", "i32")
		b.param(1, raw(1, 2), 2)
		*b = append(*b, 0, 1)
		b.param(13, []byte{0}, 1)
		b.text("30b82c23-788d-4d63-a743-ada258d5f13c")
		*b = append(*b, 2, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2)
		seeds(f, *b)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		if isBincode(file) {
			fuzz(t, file)
		}
	})
}

func FuzzGzip(f *testing.F) {
	seeds(f, zip(burnMessagePack(f)), encode(f, Recorder{Format: Binary, Gzip: true}, small()))
	f.Fuzz(func(t *testing.T, file []byte) {
		if isGzip(file) {
			fuzz(t, file)
		}
	})
}
