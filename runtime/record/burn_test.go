package record

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/burngen/burngen/golden/corpus"
	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/rt/keys"
)

// The encoders here are written after the specifications, by hand, and share nothing with
// those of the package.

// pair is a key and its value in a table that keeps its order.
type pair struct {
	key   string
	value any
}

// packMessage encodes x as MessagePack, in the forms that rmp-serde chooses. x is a nil, bool, int,
// string, []byte, float32, float64, []any or []pair.
func packMessage(b []byte, x any) []byte {
	size := func(n int, short byte, most int, forms ...byte) {
		switch {
		case n <= most:
			b = append(b, short|byte(n))
		case len(forms) == 3 && n < 1<<8:
			b = append(b, forms[0], byte(n))
		case n < 1<<16:
			b = binary.BigEndian.AppendUint16(append(b, forms[len(forms)-2]), uint16(n))
		default:
			b = binary.BigEndian.AppendUint32(append(b, forms[len(forms)-1]), uint32(n))
		}
	}
	switch x := x.(type) {
	case nil:
		return append(b, 0xc0)
	case bool:
		if x {
			return append(b, 0xc3)
		}
		return append(b, 0xc2)
	case int:
		switch {
		case x >= 0 && x < 128 || x < 0 && x >= -32:
			return append(b, byte(x))
		case x >= 0 && x < 1<<8:
			return append(b, 0xcc, byte(x))
		case x >= 0 && x < 1<<16:
			return binary.BigEndian.AppendUint16(append(b, 0xcd), uint16(x))
		case x >= -128 && x < 0:
			return append(b, 0xd0, byte(x))
		}
		return binary.BigEndian.AppendUint32(append(b, 0xd2), uint32(int32(x)))
	case float32:
		return binary.BigEndian.AppendUint32(append(b, 0xca), math.Float32bits(x))
	case float64:
		return binary.BigEndian.AppendUint64(append(b, 0xcb), math.Float64bits(x))
	case string:
		size(len(x), 0xa0, 31, 0xd9, 0xda, 0xdb)
		return append(b, x...)
	case []byte:
		size(len(x), 0, -1, 0xc4, 0xc5, 0xc6)
		return append(b, x...)
	case []any:
		size(len(x), 0x90, 15, 0xdc, 0xdd)
		for _, y := range x {
			b = packMessage(b, y)
		}
	case []pair:
		size(len(x), 0x80, 15, 0xde, 0xdf)
		for _, p := range x {
			b = packMessage(packMessage(b, p.key), p.value)
		}
	}
	return b
}

// packJSON is JSON of the same values, as serde_json writes it: bytes are lists of numbers.
func packJSON(b []byte, x any) []byte {
	switch x := x.(type) {
	case []byte:
		var list []any
		for _, c := range x {
			list = append(list, int(c))
		}
		return packJSON(b, list)
	case float32:
		text := fmt.Sprint(x)
		if !strings.ContainsAny(text, ".e") {
			text += ".0"
		}
		return append(b, text...)
	case []any:
		b = append(b, '[')
		for i, y := range x {
			if i > 0 {
				b = append(b, ',')
			}
			b = packJSON(b, y)
		}
		return append(b, ']')
	case []pair:
		b = append(b, '{')
		for i, p := range x {
			if i > 0 {
				b = append(b, ',')
			}
			b = packJSON(append(packJSON(b, p.key), ':'), p.value)
		}
		return append(b, '}')
	}
	text, err := json.Marshal(x)
	if err != nil {
		panic(err)
	}
	return append(b, text...)
}

func zip(file []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(file)
	z.Close()
	return b.Bytes()
}

// raw is floats as bytes.
func raw(list ...float32) []byte {
	var b []byte
	for _, x := range list {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// burnRecord returns a record of burn around an item.
func burnRecord(version, float, int string, item any) []pair {
	return []pair{
		{"metadata", []pair{{"float", float}, {"int", int}, {"format", "burn_core::record::file::X"}, {"version", version}, {"settings", "S"}}},
		{"item", item},
		{"_b", []any{}},
	}
}

// param is a parameter as it is since version 0.14.
func newParam(dtype any, data []byte, shape ...any) []pair {
	return []pair{{"id", "72d17eukbtkma"}, {"param", []pair{{"bytes", data}, {"shape", shape}, {"dtype", dtype}}}}
}

// oldParam returns one as it was before.
func oldParam(values []any, shape ...any) []pair {
	return []pair{{"id", "30b82c23-788d-4d63-a743-ada258d5f13c"}, {"param", []pair{{"value", values}, {"shape", shape}}}}
}

// newItem returns a module with everything a module may have.
func newItem() []pair {
	return []pair{
		{"conv", []pair{{"weight", newParam("F32", raw(1, 2, 3, 4, 5, 6), 2, 3)}, {"bias", nil}, {"stride", nil}}},
		{"blocks", []any{
			[]pair{{"gamma", newParam("F32", raw(7), 1)}, {"epsilon", nil}},
			[]pair{{"gamma", newParam("F32", raw(8), 1)}, {"epsilon", nil}},
		}},
		{"act", []pair{{"Linear", []pair{{"weight", newParam("F64", make([]byte, 16), 2)}}}}},
		{"mask", newParam("Bool", []byte{1, 0, 1}, 3)},
		{"mask2", newParam([]pair{{"Bool", "Native"}}, []byte{1}, 1)},
		{"steps", newParam("I64", make([]byte, 8))},
		{"state", []pair{{"bytes", raw(9)}, {"shape", []any{1}}, {"dtype", "F32"}}}, // a tensor that is not a parameter
		{"value", newParam("F16", []byte{0, 0x3c}, 1)},                              // a module of the name of a list
		{"id", nil},
		{"list", []any{1, 2.5, "text", true}},
		{"count", 7},
		{"empty", newParam("F32", nil, 0, 4)},
	}
}

var newTensors = map[string]string{
	"conv.weight":       "f32[2,3] " + hexOf(raw(1, 2, 3, 4, 5, 6)),
	"blocks.0.gamma":    "f32[1] " + hexOf(raw(7)),
	"blocks.1.gamma":    "f32[1] " + hexOf(raw(8)),
	"act.Linear.weight": "f64[2] " + hexOf(make([]byte, 16)),
	"mask":              "bool[3] 010001",
	"mask2":             "bool[1] 01",
	"steps":             "i64[] " + hexOf(make([]byte, 8)),
	"state":             "f32[1] " + hexOf(raw(9)),
	"value":             "f16[1] 003c",
	"empty":             "f32[0,4] ",
}

func hexOf(b []byte) string { return fmt.Sprintf("%x", b) }

func burnMessagePack(testing.TB) []byte {
	return packMessage(nil, burnRecord("0.18.0", "f32", "i32", newItem()))
}

func burnJSON() []byte { return packJSON(nil, burnRecord("0.18.0", "f32", "i32", newItem())) }

func TestBurnNamedRecords(t *testing.T) {
	pretty := &bytes.Buffer{}
	if err := json.Indent(pretty, burnJSON(), "", "  "); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string][]byte{
		"mpk": burnMessagePack(t), "mpk.gz": zip(burnMessagePack(t)), "json.gz": zip(burnJSON()), "json": pretty.Bytes(),
	} {
		t.Run(name, func(t *testing.T) {
			w, err := Parse(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(newTensors, contents(t, w)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestBurnRecordsBefore14(t *testing.T) {
	item := []pair{
		{"w", oldParam([]any{float32(1.5), float32(-2)}, 2, 1)},
		{"b", oldParam([]any{true, false, true}, 3)},
		{"n", oldParam([]any{-3, 100000}, 2)},
		{"e", oldParam([]any{}, 0)},
		{"value", []pair{{"x", oldParam([]any{float32(0.25)}, 1)}}},
	}
	want := map[string]string{
		"w": "f32[2,1] " + hexOf(raw(1.5, -2)), "b": "bool[3] 010001", "n": "i32[2] fdffffffa0860100", "e": "f32[0] ",
		"value.x": "f32[1] " + hexOf(raw(0.25)),
	}
	for name, file := range map[string][]byte{
		"mpk":     packMessage(nil, burnRecord("0.13.0", "f32", "i32", item)),
		"json.gz": zip(packJSON(nil, burnRecord("0.13.0", "f32", "i32", item))),
	} {
		w, err := Parse(file)
		if err != nil {
			t.Fatal(name, err)
		}
		if d := cmp.Diff(want, contents(t, w)); d != "" {
			t.Error(name, d)
		}
	}
	half := burnRecord("0.13.0", "half::binary16::f16", "i16", []pair{{"w", oldParam([]any{0x3c00, 0xc000}, 2)}})
	w, err := Parse(packMessage(nil, half))
	if err != nil {
		t.Fatal(err)
	}
	if got := contents(t, w)["w"]; got != "f16[2] 003c00c0" {
		t.Error(got)
	}
}

func TestBurnRecordsThatAreNone(t *testing.T) {
	one := func(p []pair) []pair { return burnRecord("0.18.0", "f32", "i32", []pair{{"w", p}}) }
	deep := any(nil)
	for range 1000 {
		deep = []any{[]pair{{"a", deep}}}
	}
	long := strings.Repeat("x", maxName)
	for _, tt := range []struct {
		name   string
		record []pair
		want   string
	}{
		{"bytes too few", one(newParam("F32", raw(1), 2)), "f32[2] is not 4 bytes"},
		{"bytes too many", one(newParam("F32", raw(1, 2), 1)), "f32[1] is not 8 bytes"},
		{"an unknown type", one(newParam("F8", raw(1), 1)), `"F8": unknown element type`},
		{"a type that is not text", one(newParam(3, raw(1), 1)), "want a type"},
		{"quantised", one(newParam([]pair{{"QFloat", []pair{{"value", "Q8S"}}}}, []byte{1}, 1)), "quantised"},
		{"truth values of 32 bits", one(newParam([]pair{{"Bool", "U32"}}, raw(1), 1)), "stored as"},
		{"a negative extent", one(newParam("F32", raw(1), -1)), "from 0 to 2^63-1"},
		{"an extent that is text", one(newParam("F32", raw(1), "1")), "want an integer"},
		{"extents whose product is too large", one(newParam("F32", raw(1), 1<<30, 1<<30, 1<<30)), "more elements"},
		{"no shape", one([]pair{{"id", "x"}, {"param", []pair{{"bytes", raw(1)}}}}), `want "shape"`},
		{"no param", one([]pair{{"id", "x"}}), `want "param"`},
		{"more in a parameter", one(append(newParam("F32", raw(1), 1), pair{"more", nil})), "more than 2 items"},
		{"more in a tensor", one([]pair{{"bytes", raw(1)}, {"shape", []any{1}}, {"dtype", "F32"}, {"x", nil}}), "more than 3 items"},
		{"elements of two types", one(oldParam([]any{float32(1), true}, 2)), "want a number"},
		{"elements of another number", one(oldParam([]any{float32(1), float32(1)}, 3)), "f32[3] is not 8 bytes"},
		{"integers of a type that is none", burnRecord("0.13.0", "f32", "u7", []pair{{"w", oldParam([]any{1}, 1)}}), "not read"},
		{"one name twice", burnRecord("0.18.0", "f32", "i32", []pair{{"w", newParam("F32", raw(1), 1)}, {"w", newParam("F32", raw(1), 1)}}), "appears twice"},
		{"values 1000 deep", burnRecord("0.18.0", "f32", "i32", deep), "in one another"},
		{"a name of 4096 bytes", burnRecord("0.18.0", "f32", "i32", []pair{{long, newParam("F32", raw(1), 1)}}), "exceeds 4096 bytes"},
		{"no item", []pair{{"metadata", []pair{}}}, `want "item"`},
		{"metadata that is a list", []pair{{"metadata", []any{}}}, "want a table"},
		{"metadata of numbers", []pair{{"metadata", []pair{{"float", 1}}}}, "want a text"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for form, file := range map[string][]byte{"mpk": packMessage(nil, tt.record), "json": packJSON(nil, tt.record)} {
				_, err := Parse(file)
				if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 500 {
					t.Errorf("%s: error %v, want %s", form, err, tt.want)
				}
			}
		})
	}
}

// packCBOR is CBOR of the values that packMessage takes.
func packCBOR(b []byte, x any) []byte {
	head := func(major byte, n uint64) {
		switch {
		case n < 24:
			b = append(b, major<<5|byte(n))
		case n < 1<<8:
			b = append(b, major<<5|24, byte(n))
		case n < 1<<16:
			b = binary.BigEndian.AppendUint16(append(b, major<<5|25), uint16(n))
		case n < 1<<32:
			b = binary.BigEndian.AppendUint32(append(b, major<<5|26), uint32(n))
		default:
			b = binary.BigEndian.AppendUint64(append(b, major<<5|27), n)
		}
	}
	switch x := x.(type) {
	case nil:
		return append(b, 0xf6)
	case bool:
		if x {
			return append(b, 0xf5)
		}
		return append(b, 0xf4)
	case int:
		if x < 0 {
			head(1, uint64(-1-x))
		} else {
			head(0, uint64(x))
		}
	case uint64:
		head(0, x)
	case float64:
		return binary.BigEndian.AppendUint64(append(b, 0xfb), math.Float64bits(x))
	case string:
		head(3, uint64(len(x)))
		return append(b, x...)
	case []byte:
		head(2, uint64(len(x)))
		return append(b, x...)
	case []any:
		head(4, uint64(len(x)))
		for _, y := range x {
			b = packCBOR(b, y)
		}
	case []pair:
		head(5, uint64(len(x)))
		for _, p := range x {
			b = packCBOR(packCBOR(b, p.key), p.value)
		}
	}
	return b
}

// packBurn returns a burnpack file of metadata and the bytes of tensors, which begin at a multiple
// of align.
func packBurn(align int, metadata any, data []byte) []byte {
	text := packCBOR(nil, metadata)
	b := binary.LittleEndian.AppendUint32([]byte("NRUB\x01\x00"), uint32(len(text)))
	b = append(b, text...)
	for len(b)%align > 0 {
		b = append(b, 0)
	}
	return append(b, data...)
}

func descriptor(dtype any, from, to any, shape ...any) []pair {
	return []pair{{"dtype", dtype}, {"shape", shape}, {"data_offsets", []any{from, to}}, {"param_id", uint64(1 << 63)}}
}

func packedTensors(tensors ...pair) []pair {
	return []pair{{"tensors", tensors}, {"metadata", []pair{{"producer", "burn"}}}, {"scalars", []pair{{"step", []pair{{"UInt", 7}}}, {"rate", []pair{{"Float", 0.5}}}}}}
}

func TestBurnpack(t *testing.T) {
	data := append(raw(1, 2), 1)
	metadata := packedTensors(pair{"fc.weight", descriptor("F32", 0, 8, 2, 1)}, pair{"mask", descriptor([]pair{{"Bool", "Native"}}, 8, 9, 1)}, pair{"empty", descriptor("I64", 0, 0, 0)})
	for version, align := range map[string]int{"0.20.0": 256, "0.19.1": 1} {
		want := map[string]string{
			"fc.weight": "f32[2,1] " + hexOf(raw(1, 2)), "mask": "bool[1] 01", "empty": "i64[0] ", "metadata version": version,
		}
		metadata := slices.Clone(metadata)
		metadata[1].value = []pair{{"version", version}}
		w, err := Parse(packBurn(align, metadata, data))
		if err != nil {
			t.Fatal(version, err)
		}
		if d := cmp.Diff(want, contents(t, w)); d != "" {
			t.Error(version, d)
		}
	}
	if w, err := Parse(packBurn(256, packedTensors(), nil)); err != nil || len(w.Names()) != 0 {
		t.Error(err)
	}
	for _, tt := range []struct {
		name string
		file []byte
		want string
	}{
		{"cut off", packBurn(256, metadata, data[:8]), "tensors end at byte 9"},
		{"bytes after the end", packBurn(256, metadata, append(data, 0)), "tensors end at byte 9"},
		{"a later version", append([]byte("NRUB\x02\x00"), packBurn(256, metadata, data)[6:]...), "version 2"},
		{"metadata longer than the file", append([]byte("NRUB\x01\x00\xff\xff\xff\xff"), packBurn(256, metadata, data)[10:]...), "the metadata has 4294967295 bytes"},
		{"metadata shorter", append([]byte("NRUB\x01\x00\x05\x00\x00\x00"), packBurn(256, metadata, data)[10:]...), "want"},
		{"another size", packBurn(256, packedTensors(pair{"a", descriptor("F32", 0, 9, 2)}), data), "f32[2] is not 9 bytes"},
		{"offsets reversed", packBurn(256, packedTensors(pair{"a", descriptor("F32", 9, 0, 0)}), data), "offsets [9 0]"},
		{"offsets of 2^63", packBurn(256, packedTensors(pair{"a", descriptor("F32", 0, uint64(1<<63), 0)}), data), "from 0 to 2^63-1"},
		{"offsets near 2^63", packBurn(256, packedTensors(pair{"a", descriptor("F32", 0, uint64(1<<63-1), 0)}), data), "are invalid"},
		{"one offset", packBurn(256, packedTensors(pair{"a", []pair{{"dtype", "F32"}, {"data_offsets", []any{1}}}}), data), "are invalid"},
		{"three offsets", packBurn(256, packedTensors(pair{"a", []pair{{"data_offsets", []any{1, 2, 3}}}}), data), "more than two"},
		{"no offsets", packBurn(256, packedTensors(pair{"a", []pair{{"dtype", "F32"}}}), data), "want dtype and data_offsets"},
		{"quantised", packBurn(256, packedTensors(pair{"a", descriptor([]pair{{"QFloat", []pair{}}}, 0, 9, 9)}), data), "quantised"},
		{"one name twice", packBurn(256, packedTensors(pair{"a", descriptor("F32", 0, 8, 2)}, pair{"a", descriptor("U8", 8, 9, 1)}), data), "appears twice"},
		{"metadata that is a list", packBurn(256, []any{}, nil), "want a table"},
		{"a tensor that is a number", packBurn(256, packedTensors(pair{"a", 1}), data), "want a table"},
	} {
		if _, err := Parse(tt.file); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %s", tt.name, err, tt.want)
		}
	}
}

// binCode writes the encoding that bincode reads. Numbers up to 250 take a byte. A byte 251
// precedes 16 bits, and a byte 252 precedes 32 bits.
type binCode []byte

func (b *binCode) number(n int) {
	switch {
	case n <= 250:
		*b = append(*b, byte(n))
	case n < 1<<16:
		*b = binary.LittleEndian.AppendUint16(append(*b, 251), uint16(n))
	default:
		*b = binary.LittleEndian.AppendUint32(append(*b, 252), uint32(n))
	}
}

func (b *binCode) text(s string) { b.number(len(s)); *b = append(*b, s...) }

func (b *binCode) shape(shape ...int) {
	b.number(len(shape))
	for _, n := range shape {
		b.number(n)
	}
}

func (b *binCode) param(dtype int, data []byte, shape ...int) {
	b.text("72d17eukbtkma")
	b.text(string(data))
	b.shape(shape...)
	b.number(dtype)
}

func newBinCode(version, float, int string) *binCode {
	b := &binCode{}
	for _, s := range []string{float, int, "burn_core::record::file::BinFileRecorder", version, "FullPrecisionSettings"} {
		b.text(s)
	}
	return b
}

func TestBincode(t *testing.T) {
	large := make([]float32, 300)
	large[299] = 3
	for _, tt := range []struct {
		name, version string
		write         func(b *binCode)
		want          map[string]string
	}{
		{"0.18", "0.18.0", func(b *binCode) {
			b.param(1, raw(1, 2), 2)
			*b = append(*b, 1) // an option
			b.param(1, raw(large...), 300)
			*b = append(*b, 0, 0, 2) // options and a length
			b.param(13, []byte{1}, 1, 1)
			*b = append(*b, 0)
		}, map[string]string{"0": "f32[2] " + hexOf(raw(1, 2)), "1": "f32[300] " + hexOf(raw(large...)), "2": "bool[1,1] 01"}},
		{"0.14", "0.14.0", func(b *binCode) { b.param(10, []byte{7}, 1); b.param(2, []byte{0, 0x3c}) },
			map[string]string{"0": "u8[1] 07", "1": "f16[] 003c"}},
		{"0.16", "0.16.1", func(b *binCode) { b.param(10, []byte{7, 0}, 1) }, map[string]string{"0": "u16[1] 0700"}},
		{"0.21", "0.21.0", func(b *binCode) { b.param(13, []byte{1}, 1); *b = append(*b, 0); b.param(5, make([]byte, 8)) },
			map[string]string{"0": "bool[1] 01", "1": "i64[] " + hexOf(make([]byte, 8))}},
		{"0.13", "0.13.2", func(b *binCode) {
			b.text("30b82c23-788d-4d63-a743-ada258d5f13c")
			b.number(2)
			*b = append(*b, raw(1, 2)...)
			b.shape(2, 1)
			b.text("30b82c23-788d-4d63-a743-ada258d5f13c")
			*b = append(*b, 3, 5, 251, 0xd0, 0x07, 0) // -3, 1000, 0
			b.shape(3)
			b.text("30b82c23-788d-4d63-a743-ada258d5f13c")
			*b = append(*b, 2, 1, 0)
			b.shape(2)
		}, map[string]string{"0": "f32[2,1] " + hexOf(raw(1, 2)), "1": "i32[3] fdffffffe803000000000000", "2": "i32[2] ffffffff00000000"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBinCode(tt.version, "f32", "i32")
			tt.write(b)
			for name, file := range map[string][]byte{"bin": *b, "bin.gz": zip(*b)} {
				w, err := Parse(file)
				if err != nil {
					t.Fatal(name, err)
				}
				if d := cmp.Diff(tt.want, contents(t, w)); d != "" {
					t.Error(name, d)
				}
			}
		})
	}
	half := newBinCode("0.13.0", "half::binary16::f16", "i16")
	half.text("30b82c23-788d-4d63-a743-ada258d5f13c")
	*half = append(*half, 2, 251, 0x00, 0x3c, 3)
	half.shape(2)
	if w, err := Parse(*half); err != nil || contents(t, w)["0"] != "f16[2] 003c0300" {
		t.Error(err)
	}
	many := newBinCode("0.18.0", "f32", "i32")
	for i := range 11 {
		many.param(1, raw(float32(i)))
	}
	if w, err := Parse(*many); err != nil || w.Names()[2] != "02" || w.Names()[10] != "10" {
		t.Error(err)
	}
}

func TestBincodeThatIsNone(t *testing.T) {
	for _, tt := range []struct {
		name, version string
		write         func(b *binCode)
		want          string
	}{
		{"cut off", "0.18.0", func(b *binCode) { b.param(1, raw(make([]float32, 300)...), 300); *b = (*b)[:900] }, "no parameter is in"},
		{"a size that is not the shape's", "0.18.0", func(b *binCode) { b.param(1, raw(make([]float32, 300)...), 299) }, "no parameter is in"},
		{"nothing", "0.18.0", func(b *binCode) {}, "no parameter"},
		{"quantised", "0.18.0", func(b *binCode) { b.param(14, []byte{1}, 1) }, "quantised"},
		{"an unknown version", "1.0.0", func(b *binCode) {}, "is not supported"},
		{"no version", "", func(b *binCode) {}, "is not supported"},
		{"other bytes", "0.18.0", func(b *binCode) { *b = append(*b, make([]byte, 1000)...) }, "no parameter is in"},
	} {
		b := newBinCode(tt.version, "f32", "i32")
		tt.write(b)
		if _, err := Parse(*b); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %s", tt.name, err, tt.want)
		}
	}
}

func TestInOrder(t *testing.T) {
	b := newBinCode("0.18.0", "f32", "i32")
	b.param(1, raw(1, 2), 2, 1)
	b.param(1, raw(3), 1)
	want := []rt.Info{{Name: "fc.weight", DType: "f32", Shape: []int{2, 1}}, {Name: "fc.bias", DType: "f32", Shape: []int{1}}}
	open := func() *rt.Weights {
		w, err := Parse(*b)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	w, err := InOrder(open(), want)
	if err != nil {
		t.Fatal(err)
	}
	if got := rt.WeightsOf[float32](w, "fc.weight", 2, 1); !slices.Equal(got, []float32{1, 2}) {
		t.Error(got)
	}
	if _, err := InOrder(open(), want[:1]); err == nil || !strings.Contains(err.Error(), "want 1 tensors, the file has 2") {
		t.Error(err)
	}
	slices.Reverse(want)
	if _, err := InOrder(open(), want); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Error(err)
	}
	if _, err := InOrder(nil, nil); err == nil {
		t.Error("no error")
	}
}

// TestBurnFitsModels gives a model, which has PyTorch's names and layouts, weights of burn.
func TestBurnFitsModels(t *testing.T) {
	half := func(list ...uint16) []byte {
		var b []byte
		for _, x := range list {
			b = binary.LittleEndian.AppendUint16(b, x)
		}
		return b
	}
	w, err := Parse(packMessage(nil, burnRecord("0.18.0", "half::binary16::f16", "i16", []pair{
		{"norm", []pair{{"gamma", newParam("F16", half(0x3c00), 1)}, {"beta", newParam("F16", half(0x4000), 1)}, {"epsilon", nil}}},
		{"fc", []pair{{"weight", newParam("F16", half(0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600), 3, 2)}, {"bias", nil}}},
	})))
	if err != nil {
		t.Fatal(err)
	}
	w, err = keys.Load(w, nil, []keys.Want{
		{Name: "norm.weight", DType: "f32", Shape: []int{1}}, {Name: "norm.bias", DType: "f32", Shape: []int{1}},
		{Name: "fc.weight", DType: "f32", Shape: []int{2, 3}, Layout: keys.OutIn},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := slices.Concat(rt.WeightsOf[float32](w, "norm.weight", 1), rt.WeightsOf[float32](w, "norm.bias", 1), rt.WeightsOf[float32](w, "fc.weight", 2, 3))
	if want := []float32{1, 2, 1, 3, 5, 2, 4, 6}; !slices.Equal(got, want) || w.Err() != nil {
		t.Error(got, w.Err())
	}
}

// refused are files of the corpus that Open rejects: one of burn 0.6, and one with a newline after
// its end.
var refused = map[string]string{"mnist-v0.6.0.json.gz": "not a record", "dqn-trailing.mpk": "after the end"}

// TestBurnFiles reads files that burn wrote. One model is there twice: in full precision as
// bincode, and in half precision as MessagePack.
func TestBurnFiles(t *testing.T) {
	dir := corpus.Path(t, "weights/burn-record")
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			w, err := Open(file)
			if why := refused[filepath.Base(file)]; why != "" {
				if err == nil || !strings.Contains(err.Error(), why) {
					t.Errorf("error %v, want %s", err, why)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			for _, name := range w.Names() {
				info, _ := w.Info(name)
				data := w.Raw(name)
				for at := 0; elements[info.DType].float != nil && at < len(data); at += elements[info.DType].width {
					if x := elements[info.DType].float(littleEndian(data[at:][:elements[info.DType].width])); !(math.Abs(x) < 1e4) {
						t.Fatalf("%v: %v", info, x)
					}
				}
			}
			if err := w.Err(); err != nil {
				t.Error(err)
			}
		})
	}
	full, err := Open(filepath.Join(dir, "lab-mnist.bin"))
	if err != nil {
		t.Fatal(err)
	}
	half, err := Open(filepath.Join(dir, "lab-mnist.mpk"))
	if err != nil {
		t.Fatal(err)
	}
	order := []string{"conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias", "fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"}
	if d := cmp.Diff(slices.Sorted(slices.Values(order)), half.Names()); d != "" {
		t.Fatal(d)
	}
	var want []rt.Info
	types := map[string]string{}
	for _, name := range order {
		info, _ := half.Info(name)
		want = append(want, info)
		types[name] = "f16"
	}
	if full, err = InOrder(full, want); err != nil {
		t.Fatal(err)
	}
	if err := full.Convert(types); err != nil {
		t.Fatal(err)
	}
	for _, name := range order {
		if !bytes.Equal(full.Raw(name), half.Raw(name)) {
			t.Errorf("%q differs", name)
		}
	}
}
