package sqlite

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// sample has the types of an item of Burn's tests.
type sample struct {
	Str     string               `data:"column_str"`
	Bytes   []byte               `data:"column_bytes"`
	Int     int64                `data:"column_int"`
	Bool    bool                 `data:"column_bool"`
	Float   float64              `data:"column_float"`
	Complex [][][3]uint8         `data:"column_complex"`
	Maybe   *float32             `data:"maybe,optional"`
	Inner   *struct{ A, B int8 } `data:"inner,optional"`
	Or      float64              `data:"or,optional"`
}

func unpack[T any](t testing.TB, packed []byte) (x T, err error) {
	t.Helper()
	f, err := unpacker(reflect.TypeFor[T]())
	if err != nil {
		t.Fatal(err)
	}
	err = f(reflect.ValueOf(&x).Elem(), packed)
	return x, err
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// listed and mapped are a sample as rmp-serde writes it, without and with the names of fields.
const (
	listed = "99 a3484931 930102ccff 00 c3 cb3ff0000000000000 91 91 930117 03 ca3f000000 92ff7f c0"
	mapped = "89 aa636f6c756d6e5f737472 a3484931 a56f74686572 81a178 93c0c3d40102" +
		" ac636f6c756d6e5f6279746573 c4030102ff aa636f6c756d6e5f696e74 d30000000000000000" +
		" ab636f6c756d6e5f626f6f6c c3 ac636f6c756d6e5f666c6f6174 01 ae636f6c756d6e5f636f6d706c6578 dd00000001 dc0001 930117 03" +
		" a56d61796265 cb3fe0000000000000 a5696e6e6572 82a141ffa1427f"
)

func TestUnpack(t *testing.T) {
	half := float32(0.5)
	want := sample{"HI1", []byte{1, 2, 255}, 0, true, 1, [][][3]uint8{{{1, 23, 3}}}, &half, &struct{ A, B int8 }{-1, 127}, math.NaN()}
	for name, text := range map[string]string{"listed": listed, "mapped": mapped} {
		got, err := unpack[sample](t, unhex(t, text))
		if d := cmp.Diff(want, got, cmpopts.EquateNaNs()); d != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, d)
		}
	}
}

func TestForms(t *testing.T) {
	for _, tt := range []struct {
		packed    string
		got, want any
	}{
		{"7f", new(int8), int8(127)}, {"e0", new(int8), int8(-32)},
		{"ccff", new(uint8), uint8(255)}, {"cdffff", new(int32), int32(65535)}, {"ceffffffff", new(int64), int64(math.MaxUint32)},
		{"cfffffffffffffffff", new(uint64), uint64(math.MaxUint64)}, {"d080", new(int8), int8(-128)}, {"d18000", new(int16), int16(math.MinInt16)},
		{"d280000000", new(int32), int32(math.MinInt32)}, {"d38000000000000000", new(int64), int64(math.MinInt64)},
		{"c2", new(bool), false}, {"c3", new(bool), true}, {"ca40490fdb", new(float32), float32(math.Pi)}, {"05", new(float32), float32(5)},
		{"d90161", new(string), "a"}, {"da000161", new(string), "a"}, {"db0000000161", new(string), "a"}, {"a0", new(string), ""},
		{"c40101", new([]byte), []byte{1}}, {"c5000101", new([1]byte), [1]byte{1}}, {"c60000000101", new([]byte), []byte{1}},
		{"90", new([]int), []int{}}, {"92c005", new([]*int8), []*int8{nil, new(int8(5))}}, {"c0", new(*int), (*int)(nil)},
		{"de0000", new(struct{}), struct{}{}}, {"80", new(struct{}), struct{}{}},
	} {
		f, err := unpacker(reflect.TypeOf(tt.got).Elem())
		if err != nil {
			t.Fatal(err)
		}
		v := reflect.ValueOf(tt.got).Elem()
		if err := f(v, unhex(t, tt.packed)); err != nil {
			t.Errorf("%s: %v", tt.packed, err)
		}
		if d := cmp.Diff(tt.want, v.Interface()); d != "" {
			t.Errorf("%s\n%s", tt.packed, d)
		}
	}
}

func TestMistakesInItems(t *testing.T) {
	type pair struct {
		A int8
		B []pair `data:"b,optional"`
	}
	nested := "92 01 91 "
	for text, want := range map[string]string{
		"":                   "byte 0: the item is cut short",
		"92 01":              "byte 1: the item is cut short",
		"92 80 90":           "byte 2: A: a map is not a int8",
		"92 c0 90":           "byte 2: A: nil is not a int8",
		"92 a0 90":           `byte 2: A: "" is not a int8`,
		"92 cc80 90":         "byte 3: A: 128 is not a int8",
		"92 ca3f000000 90":   "byte 6: A: 0.5 is not a int8",
		"91 01":              "byte 1: 1 elements: sqlite.pair has 2",
		"92 01 90 00":        "1 bytes after the item",
		"92 01 ddffffffff":   "byte 7: b: the item is cut short",
		"92 01 c6ffffffff":   "byte 7: b: the item is cut short",
		"92 01 c1":           "byte 3: b: no value begins with 0xc1",
		"92 01 d40000":       "byte 5: b: an extension is not a []sqlite.pair",
		"92 01 c7020001 02":  "byte 7: b: an extension is not a []sqlite.pair",
		"dfffffffff 00":      "byte 5: the item is cut short",
		"81 01 02":           "byte 2: an integer as key: a text expected",
		"81 a141":            "byte 3: A: the item is cut short",
		"81 a178 c1":         "byte 4: no value begins with 0xc1",
		"80":                 `byte 1: no key "A"`,
		"82 a141 01 a141 01": "byte 6: A: twice in a map",
		"82 a141 01 a178" + strings.Repeat("91", 300): "byte 106: more than 100 lists and maps around a value",
	} {
		_, err := unpack[pair](t, unhex(t, text))
		if fmt.Sprint(err) != want {
			t.Errorf("%.50s: error %q, want %q", text, fmt.Sprint(err), want)
		}
	}
	if _, err := unpack[pair](t, unhex(t, strings.Repeat(nested, 300)+"92 01 90")); err == nil || !strings.HasSuffix(err.Error(), "more than 100 lists and maps around a value") {
		t.Error(err)
	}
	if _, err := unpack[pair](t, unhex(t, strings.Repeat(nested, 40)+"92 01 90")); err != nil {
		t.Error(err)
	}
	for _, bad := range []reflect.Type{reflect.TypeFor[any](), reflect.TypeFor[[]map[int]int](), reflect.TypeFor[**int](), reflect.TypeFor[struct{ C complex64 }](), reflect.TypeFor[uintptr]()} {
		if _, err := unpacker(bad); err == nil {
			t.Errorf("%v is read", bad)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	for _, text := range []string{listed, mapped, "", "c1", "dd7fffffff", "df7fffffff", "c9ffffffff00", "99a0", "81a56f74686572c7ff00"} {
		f.Add(unhex(f, text))
	}
	f.Fuzz(func(t *testing.T, packed []byte) {
		first, err := unpack[sample](t, packed)
		second, again := unpack[sample](t, bytes.Clone(packed))
		if fmt.Sprint(err) != fmt.Sprint(again) {
			t.Errorf("%v, and then %v", err, again)
		}
		if len(first.Str)+len(first.Bytes)+len(first.Complex) > len(packed) {
			t.Errorf("%d bytes become %+v", len(packed), first)
		}
		if d := cmp.Diff(first, second, cmpopts.EquateNaNs()); d != "" && err == nil {
			t.Error(d)
		}
	})
}
