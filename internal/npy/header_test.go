package npy

import (
	"slices"
	"strings"
	"testing"
)

func TestParseOfAppend(t *testing.T) {
	for _, shape := range [][]int{nil, {0}, {7}, {2, 3}, {1, 2, 3, 4}} {
		file, err := Append(nil, "<f4", shape)
		if err != nil {
			t.Fatal(err)
		}
		if len(file)%64 != 0 || string(file[:6]) != Magic || int(file[8])+int(file[9])<<8 != len(file)-10 {
			t.Errorf("%v: %q", shape, file)
		}
		h, err := Parse(string(file[10:]))
		if err != nil || h.Type != "f4" || !slices.Equal(h.Shape, shape) {
			t.Errorf("%v: %+v, %v", shape, h, err)
		}
	}
	if _, err := Append(nil, "<f4", make([]int, MaxHeader/3)); err == nil {
		t.Error("a header of any length is written")
	}
}

func TestParseReportsMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"": "not a plain array",
		"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }":           "not a plain array",
		"{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }":                     "Fortran",
		"{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }":                    "big-endian",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }": "an extent of 99999999999999999999",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if h, err := Parse("{'descr': '>u1', 'fortran_order': False, 'shape': (), }"); err != nil || h.Type != "u1" {
		t.Errorf("bytes have no order: %+v, %v", h, err)
	}
}
