package safetensors

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/burngen/burngen/golden/corpus"
	_ "github.com/burngen/burngen/internal/seeded"
)

// file puts a header and data together.
func file(header string, data int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	b = append(b, header...)
	return append(b, make([]byte, data)...)
}

var valid = []struct {
	name string
	file []byte
	want []Tensor
	meta map[string]string
}{
	{"no tensors", file(`{}`, 0), nil, nil},
	{"one tensor", file(`{"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}`, 16),
		[]Tensor{{"a", "F32", []int64{2, 2}, 0, 16}}, nil},
	{"space everywhere", file("{ \n\"a\" :\t{ \"shape\" : [ 4 ] , \"data_offsets\" : [ 0 , 16 ] ,\r\"dtype\" : \"F32\" } }  \n", 16),
		[]Tensor{{"a", "F32", []int64{4}, 0, 16}}, nil},
	{"scalar and empty", file(`{"s":{"dtype":"I64","shape":[],"data_offsets":[0,8]},"z":{"dtype":"F32","shape":[0,3],"data_offsets":[8,8]}}`, 8),
		[]Tensor{{"s", "I64", nil, 0, 8}, {"z", "F32", []int64{0, 3}, 8, 8}}, nil},
	{"names sorted, data not", file(`{"b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, 2),
		[]Tensor{{"a", "U8", []int64{1}, 1, 2}, {"b", "U8", []int64{1}, 0, 1}}, nil},
	{"metadata", file(`{"__metadata__":{"format":"pt","":""},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 1),
		[]Tensor{{"a", "U8", []int64{1}, 0, 1}}, map[string]string{"format": "pt", "": ""}},
	{"escapes", file(`{"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 1),
		[]Tensor{{"\"\\/\b\f\n\r\té😀é", "U8", []int64{1}, 0, 1}}, nil},
	{"empty name", file(`{"":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}}`, 1),
		[]Tensor{{"", "BOOL", []int64{1}, 0, 1}}, nil},
	{"narrow elements", file(`{"a":{"dtype":"F4","shape":[3,2],"data_offsets":[0,3]},"b":{"dtype":"F6_E2M3","shape":[4],"data_offsets":[3,6]}}`, 6),
		[]Tensor{{"a", "F4", []int64{3, 2}, 0, 3}, {"b", "F6_E2M3", []int64{4}, 3, 6}}, nil},
}

// tensorJSON returns the entry "a" with the given fields.
func tensorJSON(dtype, shape, offsets string) string {
	return fmt.Sprintf(`{"a":{"dtype":%s,"shape":%s,"data_offsets":%s}}`, dtype, shape, offsets)
}

var invalid = []struct {
	name string
	file []byte
	want string
}{
	{"empty file", nil, "8 needed"},
	{"seven bytes", []byte{1, 0, 0, 0, 0, 0, 0}, "8 needed"},
	{"header length 0", make([]byte, 8), "'{' expected"},
	{"header length beyond the file", []byte{3, 0, 0, 0, 0, 0, 0, 0, '{', '}'}, "file has 2 after"},
	{"header length over the limit", []byte{1, 0xe1, 0xf5, 5, 0, 0, 0, 0, '{', '}'}, "limit is 100000000"},
	{"header length 2^63", []byte{0, 0, 0, 0, 0, 0, 0, 0x80, '{', '}'}, "limit is 100000000"},
	{"header length 2^64-1", bytes.Repeat([]byte{0xff}, 20), "limit is 100000000"},
	{"leading space", file(` {}`, 0), "'{' expected"},
	{"byte order mark", file("\ufeff{}", 0), "'{' expected"},
	{"not JSON", file(`hello`, 0), "'{' expected"},
	{"an array", file(`[]`, 0), "'{' expected"},
	{"cut short", file(`{"a":{"dtype":"F32"`, 0), "end of header"},
	{"text after the object", file(`{}{}`, 0), "end of header expected"},
	{"trailing comma", file(`{"__metadata__":{},}`, 0), `'"' expected`},
	{"trailing data", file(tensorJSON(`"F32"`, `[4]`, `[0,16]`), 17), "tensors end at 16"},
	{"data without tensors", file(`{}`, 1), "tensors end at 0"},
	{"missing data", file(tensorJSON(`"F32"`, `[4]`, `[0,16]`), 15), "tensors need 16"},
	{"gap at the start", file(tensorJSON(`"F32"`, `[2]`, `[8,16]`), 16), "gap before it"},
	{"gap between", file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}}`, 3), "gap before it"},
	{"overlap", file(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}`, 3), "overlaps"},
	{"one range twice", file(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, 2), "overlaps"},
	{"reversed offsets", file(tensorJSON(`"F32"`, `[4]`, `[16,0]`), 16), "reversed"},
	{"offsets too few", file(tensorJSON(`"F32"`, `[4]`, `[16]`), 16), "2 expected"},
	{"offsets too many", file(tensorJSON(`"F32"`, `[4]`, `[0,16,16]`), 16), "more than 2"},
	{"wrong size", file(tensorJSON(`"F32"`, `[5]`, `[0,16]`), 16), "F32[5] needs 20 bytes"},
	{"unknown dtype", file(tensorJSON(`"F33"`, `[4]`, `[0,16]`), 16), `unknown dtype "F33"`},
	{"half a byte", file(tensorJSON(`"F4"`, `[3]`, `[0,2]`), 2), "whole bytes"},
	{"shape product wraps", file(tensorJSON(`"F32"`, `[4611686018427387904,4]`, `[0,16]`), 16), "64-bit"},
	{"bits wrap", file(tensorJSON(`"U8"`, `[1152921504606846976]`, `[0,16]`), 16), "64-bit"},
	{"empty with strides that wrap", file(tensorJSON(`"U8"`, `[0,4611686018427387904,4]`, `[0,0]`), 0), "64-bit"},
	{"extent 2^63", file(tensorJSON(`"F32"`, `[9223372036854775808]`, `[0,16]`), 16), "63 bits"},
	{"negative extent", file(tensorJSON(`"F32"`, `[-4]`, `[0,16]`), 16), "integer of 0 or more"},
	{"fraction", file(tensorJSON(`"F32"`, `[4.0]`, `[0,16]`), 16), "']' expected"},
	{"exponent", file(tensorJSON(`"F32"`, `[4e0]`, `[0,16]`), 16), "']' expected"},
	{"leading zero", file(tensorJSON(`"F32"`, `[04]`, `[0,16]`), 16), "starts with 0"},
	{"nested shape", file(tensorJSON(`"F32"`, strings.Repeat("[", 100_000), `[0,16]`), 16), "integer of 0 or more"},
	{"rank 129", file(tensorJSON(`"U8"`, "["+strings.Repeat("1,", 128)+"1]", `[0,1]`), 1), "more than 128"},
	{"dtype not a string", file(tensorJSON(`32`, `[4]`, `[0,16]`), 16), `'"' expected`},
	{"a tensor that is null", file(`{"a":null}`, 0), "'{' expected"},
	{"key missing", file(`{"a":{"dtype":"F32","shape":[4]}}`, 16), "data_offsets expected"},
	{"key twice", file(`{"a":{"dtype":"F32","dtype":"F32","shape":[4],"data_offsets":[0,16]}}`, 16), "appears twice"},
	{"key unknown", file(`{"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16],"x":{}}}`, 16), `unknown key "x"`},
	{"name twice", file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"a":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}}`, 16), `"a": name appears twice`},
	{"name twice by escapes", file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"\u0061":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, 2), `"a": name appears twice`},
	{"metadata twice", file(`{"__metadata__":{},"__metadata__":{}}`, 0), "__metadata__ appears twice"},
	{"metadata key twice", file(`{"__metadata__":{"k":"1","k":"2"}}`, 0), `key "k" appears twice`},
	{"metadata not strings", file(`{"__metadata__":{"n":1}}`, 0), `'"' expected`},
	{"metadata not an object", file(`{"__metadata__":"x"}`, 0), "'{' expected"},
	{"name not UTF-8", file("{\"\xff\":{}}", 0), "not UTF-8"},
	{"escaped name not UTF-8", file("{\"\\n\xff\":{}}", 0), "not UTF-8"},
	{"control character", file("{\"a\n\":{}}", 0), "control character"},
	{"control character after an escape", file("{\"\\n\n\":{}}", 0), "control character"},
	{"unknown escape", file(`{"\x":{}}`, 0), "unknown escape"},
	{"escape cut short", file(`{"\`, 0), "end of header"},
	{"half a surrogate", file(`{"\ud83d":{}}`, 0), "surrogate"},
	{"two high surrogates", file(`{"\ud83d\ud83d":{}}`, 0), "surrogate"},
	{"hex too short", file(`{"\u00`, 0), "hexadecimal"},
	{"hex with a sign", file(`{"\u+0ff":{}}`, 0), "hexadecimal"},
}

func TestParse(t *testing.T) {
	for _, tt := range valid {
		t.Run(tt.name, func(t *testing.T) {
			h, err := Parse(tt.file)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, h.Tensors); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(tt.meta, h.Metadata); d != "" {
				t.Error(d)
			}
			for _, want := range h.Tensors {
				if got, ok := h.Lookup(want.Name); !ok || !cmp.Equal(got, want) {
					t.Errorf("Lookup(%q) = %v, %v", want.Name, got, ok)
				}
			}
			if _, ok := h.Lookup("not there"); ok {
				t.Error("found a tensor that is not there")
			}
		})
	}
	for _, tt := range invalid {
		t.Run(tt.name, func(t *testing.T) {
			h, err := Parse(tt.file)
			if err == nil {
				t.Fatalf("no error: %v", h)
			}
			if !strings.HasPrefix(err.Error(), "safetensors: ") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %q does not hold %q", err, tt.want)
			}
		})
	}
}

func TestReadHeaderAgreesWithParse(t *testing.T) {
	check := func(t *testing.T, file []byte) {
		want, wantErr := Parse(file)
		got, gotErr := ReadHeader(bytes.NewReader(file), int64(len(file)))
		if fmt.Sprint(wantErr) != fmt.Sprint(gotErr) {
			t.Errorf("error %v, Parse has %v", gotErr, wantErr)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	}
	for _, tt := range valid {
		t.Run(tt.name, func(t *testing.T) { check(t, tt.file) })
	}
	for _, tt := range invalid {
		t.Run(tt.name, func(t *testing.T) { check(t, tt.file) })
	}
	t.Run("a reader shorter than its size", func(t *testing.T) {
		for _, n := range []int{4, 20} {
			if _, err := ReadHeader(bytes.NewReader(valid[1].file[:n]), int64(len(valid[1].file))); err == nil {
				t.Errorf("no error after %d bytes", n)
			}
		}
	})
}

func hostileEveryPrefixIsAnError(t *testing.T) {
	for _, tt := range valid[1:] {
		for n := range tt.file {
			if _, err := Parse(tt.file[:n]); err == nil {
				t.Fatalf("%s: no error for the first %d of %d bytes", tt.name, n, len(tt.file))
			}
		}
	}
}

// hostileManyEntries does not end in time where the work is quadratic.
func hostileManyEntries(t *testing.T) {
	const n = 200_000
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"%d":{"dtype":"U8","shape":[],"data_offsets":[%d,%d]}`, i, i, i+1)
	}
	h, err := Parse(file("{"+b.String()[1:]+"}", n))
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Tensors) != n {
		t.Errorf("%d tensors", len(h.Tensors))
	}
}

func hostileErrorsAreShort(t *testing.T) {
	name := strings.Repeat("x", 1<<20)
	for _, header := range []string{
		`{"` + name + `":{}}`,
		`{"a":{"` + name + `":0}}`,
		tensorJSON(`"`+name+`"`, `[]`, `[0,0]`),
		`{"__metadata__":{"` + name + `":"","` + name + `":""}}`,
	} {
		if _, err := Parse(file(header, 0)); err == nil || len(err.Error()) > 1000 {
			t.Errorf("%.40s…: error of %d bytes", header, len(fmt.Sprint(err)))
		}
	}
}

func entriesOf(h *Header, data []byte) []Entry {
	var list []Entry
	for _, t := range h.Tensors {
		list = append(list, Entry{Name: t.Name, DType: t.DType, Shape: t.Shape, Data: data[h.Data+t.Begin : h.Data+t.End]})
	}
	return list
}

// equal compares data as bytes: cmp takes seconds for a megabyte.
var equal = cmp.Comparer(func(a, b []byte) bool { return bytes.Equal(a, b) })

func write(t interface{ Fatal(...any) }, entries []Entry, meta map[string]string) []byte {
	var b bytes.Buffer
	n, err := Write(&b, entries, meta)
	if err != nil {
		t.Fatal(err)
	}
	if n != int64(b.Len()) {
		t.Fatal("wrong count of bytes written", n, b.Len())
	}
	return b.Bytes()
}

func TestWriteIsTheInverseOfParse(t *testing.T) {
	dtypes := make([]DType, 0, len(widths))
	for d := range widths {
		dtypes = append(dtypes, d)
	}
	slices.Sort(dtypes)
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.String(), 0, 8, rapid.ID).Draw(t, "names")
		meta := rapid.MapOfN(rapid.String(), rapid.String(), 0, 4).Draw(t, "metadata")
		var entries []Entry
		for _, name := range names {
			e := Entry{Name: name, DType: rapid.SampledFrom(dtypes).Draw(t, "dtype")}
			e.Shape = rapid.SliceOfN(rapid.Int64Range(0, 5), 0, 3).Draw(t, "shape")
			e.Shape = append(e.Shape, 4)
			n, err := e.DType.bytes(e.Shape)
			if err != nil {
				t.Fatal(err)
			}
			e.Data = rapid.SliceOfN(rapid.Byte(), int(n), int(n)).Draw(t, "data")
			entries = append(entries, e)
		}
		data := write(t, entries, meta)
		h, err := Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		if h.Data%alignment != 0 {
			t.Fatalf("data section starts at byte %d", h.Data)
		}
		if len(meta) > 0 && !cmp.Equal(meta, h.Metadata) {
			t.Fatal(cmp.Diff(meta, h.Metadata))
		}
		for _, x := range h.Tensors {
			size := x.End - x.Begin
			if size%alignment == 0 && x.Begin%alignment != 0 {
				t.Fatalf("%q has %d bytes and starts at %d", x.Name, size, x.Begin)
			}
			if bytes := int64(x.DType.Bits() / 8); bytes > 0 && x.Begin%bytes != 0 {
				t.Fatalf("%q of %s starts at %d", x.Name, x.DType, x.Begin)
			}
		}
		slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
		got := entriesOf(h, data)
		if len(got) != len(entries) {
			t.Fatalf("%d entries, %d written", len(got), len(entries))
		}
		for i := range got {
			if d := cmp.Diff(entries[i], got[i]); d != "" {
				t.Fatal(d)
			}
		}
		entries = rapid.Permutation(entries).Draw(t, "order")
		if !bytes.Equal(data, write(t, entries, meta)) {
			t.Fatal("another order of the entries gives other bytes")
		}
	})
}

func TestWriteErrors(t *testing.T) {
	one := []byte{0}
	for _, tt := range []struct {
		name    string
		entries []Entry
		meta    map[string]string
		want    string
	}{
		{"reserved name", []Entry{{Name: "__metadata__", DType: U8, Shape: []int64{1}, Data: one}}, nil, "reserved"},
		{"name twice", []Entry{{Name: "a", DType: U8, Shape: nil, Data: one}, {Name: "a", DType: I8, Shape: nil, Data: one}}, nil, "twice"},
		{"name not UTF-8", []Entry{{Name: "\xff", DType: U8, Shape: nil, Data: one}}, nil, "UTF-8"},
		{"metadata not UTF-8", nil, map[string]string{"k": "\xff"}, "UTF-8"},
		{"wrong size", []Entry{{Name: "a", DType: F32, Shape: []int64{1}, Data: one}}, nil, "needs 4 bytes: data has 1"},
		{"unknown dtype", []Entry{{Name: "a", DType: "X", Shape: nil, Data: one}}, nil, "unknown dtype"},
		{"negative extent", []Entry{{Name: "a", DType: U8, Shape: []int64{-1}, Data: nil}}, nil, "negative"},
		{"header too long", []Entry{{Name: strings.Repeat("x", maxHeader), DType: U8, Shape: nil, Data: one}}, nil, "limit"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n, err := Write(&bytes.Buffer{}, tt.entries, tt.meta)
			if err == nil || !strings.Contains(err.Error(), tt.want) || n != 0 {
				t.Errorf("%d, %v", n, err)
			}
		})
	}
	t.Run("the writer's error", func(t *testing.T) {
		entries := []Entry{{Name: "a", DType: U8, Shape: nil, Data: one}, {Name: "b", DType: U8, Shape: nil, Data: one}}
		whole := write(t, entries, nil)
		for n := range whole {
			got, err := Write(&full{n}, entries, nil)
			if err != errFull || got != int64(n) {
				t.Errorf("room for %d: %d, %v", n, got, err)
			}
		}
	})
}

func TestEntriesAreReadWhenTheyAreWritten(t *testing.T) {
	reads := 0
	entries := func(n int, err error) []Entry {
		read := func() ([]byte, error) { reads++; return make([]byte, n), err }
		return []Entry{{Name: "a", DType: U8, Shape: []int64{3}, Read: read}, {Name: "b", DType: U8, Data: []byte{1}, Shape: []int64{1}}}
	}
	want := write(t, []Entry{{Name: "a", DType: U8, Shape: []int64{3}, Data: make([]byte, 3)}, entries(3, nil)[1]}, nil)
	if got := write(t, entries(3, nil), nil); !bytes.Equal(got, want) || reads != 1 {
		t.Error(reads, "reads")
	}
	if _, err := Write(&bytes.Buffer{}, entries(2, nil), nil); err == nil || !strings.Contains(err.Error(), `"a": U8[3] needs 3 bytes: data has 2`) {
		t.Error(err)
	}
	if _, err := Write(&bytes.Buffer{}, entries(0, errFull), nil); !errors.Is(err, errFull) {
		t.Error(err)
	}
}

var errFull = fmt.Errorf("full")

// full takes left bytes.
type full struct{ left int }

func (f *full) Write(p []byte) (int, error) {
	n := min(len(p), f.left)
	f.left -= n
	if n < len(p) {
		return n, errFull
	}
	return n, nil
}

func TestCorpus(t *testing.T) {
	// Those that break a rule of the format which the independent reader does not have.
	bad := map[string]bool{
		"st_bad_dtype": true, "st_begin_gt_end": true, "st_dup_keys": true, "st_header_huge": true,
		"st_header_over_limit": true, "st_hole": true, "st_leading_space": true, "st_metadata_nonstring": true,
		"st_not_json": true, "st_overlap": true, "st_shape_overflow": true, "st_tiny_7bytes": true, "st_trailing": true,
	}
	for _, e := range corpus.WeightFiles(t, func(format string) bool { return format == "safetensors" }) {
		name := strings.TrimSuffix(filepath.Base(e.File), ".safetensors")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(e.File)
			if err != nil {
				t.Fatal(err)
			}
			h, err := Parse(data)
			if bad[name] {
				if err == nil {
					t.Error("no error")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(h.Tensors) != len(e.Tensors) {
				t.Errorf("%d tensors, %d expected", len(h.Tensors), len(e.Tensors))
			}
			for _, got := range entriesOf(h, data) {
				want, ok := e.Tensors[got.Name]
				if sum := sha256.Sum256(got.Data); !ok || string(got.DType) != want.DType || !slices.Equal(got.Shape, want.Shape) || hex.EncodeToString(sum[:]) != want.SHA256 {
					t.Errorf("%q is %s%v with sha256 %x, expected %v", got.Name, got.DType, got.Shape, sum, want)
				}
			}
			again := write(t, entriesOf(h, data), h.Metadata)
			h2, err := Parse(again)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(entriesOf(h, data), entriesOf(h2, again), equal); d != "" {
				t.Error(d)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, tt := range valid {
		f.Add(tt.file)
	}
	for _, tt := range invalid {
		if len(tt.file) < 1000 {
			f.Add(tt.file)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := Parse(data)
		if err != nil {
			return
		}
		entries := entriesOf(h, data)
		again := write(t, entries, h.Metadata)
		h2, err := Parse(again)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(entries, entriesOf(h2, again), equal); d != "" {
			t.Fatal(d)
		}
		if !bytes.Equal(again, write(t, entriesOf(h2, again), h2.Metadata)) {
			t.Fatal("writing what was written gives other bytes")
		}
	})
}

// TestHostile runs the reading of hostile files; those of TestParse are its errors.
func TestHostile(t *testing.T) {
	for _, group := range []struct {
		name string
		test func(*testing.T)
	}{
		{"15 files that are cut off", hostileEveryPrefixIsAnError},
		{"15 headers of many entries", hostileManyEntries},
		{"15 errors of long names", hostileErrorsAreShort},
	} {
		t.Run(group.name, group.test)
	}
}
