package field_test

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/burngen/burngen/runtime/data/store/internal/field"
)

type (
	level  int8
	pixels []byte
)

func TestSet(t *testing.T) {
	set := map[string]func(v reflect.Value) error{
		"-129":  func(v reflect.Value) error { return field.SetInt(v, -129) },
		"127":   func(v reflect.Value) error { return field.SetInt(v, 127) },
		"256":   func(v reflect.Value) error { return field.SetInt(v, 256) },
		"u127":  func(v reflect.Value) error { return field.SetUint(v, 127) },
		"u2⁶³":  func(v reflect.Value) error { return field.SetUint(v, 1<<63) },
		"0.1":   func(v reflect.Value) error { return field.SetFloat(v, 0.1) },
		"1e39":  func(v reflect.Value) error { return field.SetFloat(v, 1e39) },
		"-inf":  func(v reflect.Value) error { return field.SetFloat(v, math.Inf(-1)) },
		"true":  func(v reflect.Value) error { return field.SetBool(v, true) },
		"text":  func(v reflect.Value) error { return field.SetString(v, "ä") },
		"bytes": func(v reflect.Value) error { return field.SetBytes(v, []byte{1, 2}) },
		"empty": func(v reflect.Value) error { return field.SetBytes(v, nil) },
		"*int8": func(v reflect.Value) error { return field.SetInt(field.Deref(v), 3) },
	}
	three := int8(3)
	for _, tt := range []struct {
		set  string
		into any // a pointer
		want any // the value, or the error
	}{
		{"-129", new(int16), int16(-129)},
		{"-129", new(int8), "-129 is not a int8"},
		{"-129", new(uint64), "-129 is not a uint64"},
		{"-129", new(float32), float32(-129)},
		{"-129", new(string), "-129 is not a string"},
		{"127", new(level), level(127)},
		{"256", new(uint8), "256 is not a uint8"},
		{"256", new(uint16), uint16(256)},
		{"u127", new(level), level(127)},
		{"u2⁶³", new(uint64), uint64(1 << 63)},
		{"u2⁶³", new(int64), "9223372036854775808 is not a int64"},
		{"u2⁶³", new(uint32), "9223372036854775808 is not a uint32"},
		{"u2⁶³", new(float64), float64(1 << 63)},
		{"0.1", new(float32), float32(0.1)},
		{"0.1", new(int), "0.1 is not a int"},
		{"1e39", new(float32), "1e+39 is not a float32"},
		{"1e39", new(float64), 1e39},
		{"-inf", new(float32), float32(math.Inf(-1))},
		{"true", new(bool), true},
		{"true", new(int), "true is not a int"},
		{"text", new(string), "ä"},
		{"text", new([]byte), `"ä" is not a []uint8`},
		{"bytes", new([]byte), []byte{1, 2}},
		{"bytes", new(pixels), pixels{1, 2}},
		{"bytes", new([2]byte), [2]byte{1, 2}},
		{"bytes", new([3]byte), "2 bytes are not a [3]uint8"},
		{"bytes", new([]int8), "2 bytes are not a []int8"},
		{"bytes", new(string), "2 bytes are not a string"},
		{"empty", new([]byte), []byte{}},
		{"*int8", new(*int8), &three},
	} {
		got := any(nil)
		if err := set[tt.set](reflect.ValueOf(tt.into).Elem()); err != nil {
			got = err.Error()
		} else {
			got = reflect.ValueOf(tt.into).Elem().Interface()
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s into %s\n%s", tt.set, fmt.Sprintf("%T", tt.into), d)
		}
	}
}

// TestDeref asserts that what a pointer points to already stays.
func TestDeref(t *testing.T) {
	x := &struct{ A, B int8 }{1, 2}
	if err := field.SetInt(field.Deref(reflect.ValueOf(&x).Elem()).Field(0), 3); err != nil || x.A != 3 || x.B != 2 {
		t.Errorf("%+v, %v", x, err)
	}
}
