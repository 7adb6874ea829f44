package rt

import (
	"fmt"
	"slices"
	"testing"
)

// wantError checks the text of an error, "" for none.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if got := fmt.Sprint(err); err == nil && want != "" || err != nil && got != want {
		t.Errorf("error %q, want %q", got, want)
	}
}

func TestChecks(t *testing.T) {
	const where = "digits: Forward"
	for _, tt := range []struct {
		err  error
		want string
	}{
		{CheckTensor(where, "x", Tensor[int]{make([]int, 6), []int{2, 3}}), ""},
		{CheckTensor(where, "x", Tensor[int]{make([]int, 5), []int{2, 3}}), "digits: Forward: x: tensor: shape [2 3] has 6 elements: data has 5"},
		{CheckLen(where, "x", 784, 784), ""},
		{CheckLen(where, "x", 0, 784), "digits: Forward: x: 784 elements expected, got 0"},
		{CheckDim(where, "axis 1", 7, 7), ""},
		{CheckDim(where, "axis 1", 7, 8), "digits: Forward: axis 1: extent 8 expected, got 7"},
		{CheckBroadcast(where, "axis 1", 7, 8), "digits: Forward: axis 1: extent 1 or 8 expected, got 7"},
		{CheckBroadcast(where, "axis 1", 1, 8), ""},
		{CheckBroadcast(where, "axis 1", 8, 8), ""},
	} {
		wantError(t, tt.err, tt.want)
	}
}

func TestOverlaps(t *testing.T) {
	x := make([]int32, 16)
	arena, err := NewArena(64)
	if err != nil {
		t.Fatal(err)
	}
	// spans are the memory of x[i:j], for pairs of i and j.
	spans := func(at ...int) (out []span) {
		for i := 0; i < len(at); i += 2 {
			out = append(out, spanOf(x[at[i]:at[i+1]]))
		}
		return out
	}
	for name, tt := range map[string]struct {
		dst, args []span
		want      bool
	}{
		"itself":                   {spans(0, 16), spans(0, 16), true},
		"halves":                   {spans(0, 8), spans(8, 16), false},
		"halves the other way":     {spans(8, 16), spans(0, 8), false},
		"one element in common":    {spans(0, 9), spans(8, 16), true},
		"inside":                   {spans(0, 16), spans(4, 5), true},
		"around":                   {spans(4, 5), spans(0, 16), true},
		"an empty part of it":      {spans(0, 16), spans(4, 4), false},
		"an empty part in it":      {spans(4, 4), spans(0, 16), false},
		"nil":                      {spans(0, 16), []span{spanOf([]int32(nil))}, false},
		"other memory":             {spans(0, 16), []span{spanOf(make([]int32, 16))}, false},
		"other types":              {[]span{spanOf(View[float32](arena, 0, 4))}, []span{spanOf(View[uint8](arena, 15, 1))}, true},
		"other types apart":        {[]span{spanOf(View[float32](arena, 0, 4))}, []span{spanOf(View[uint8](arena, 16, 1))}, false},
		"nothing":                  {nil, nil, false},
		"results that overlap":     {spans(0, 8, 4, 8), spans(8, 16), false},
		"the last of each":         {spans(0, 1, 4, 6), spans(1, 4, 6, 7, 5, 6), true},
		"between arguments":        {spans(4, 8), spans(8, 16, 0, 2, 2, 4), false},
		"arguments in arguments":   {spans(6, 7), spans(8, 9, 1, 8, 2, 3), true},
		"after what is in another": {spans(10, 12), spans(2, 3, 1, 8), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := someOverlap(tt.dst, tt.args); got != tt.want {
				t.Errorf("got %t", got)
			}
		})
	}
	if n := testing.AllocsPerRun(10, func() {
		someOverlap([]span{spanOf(x[:4]), spanOf(x[4:6])}, []span{spanOf(x[8:]), spanOf(x[6:8])})
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// overlap reports whether a and b have a byte in common.
func overlap[A, B any](a []A, b []B) bool { return someOverlap([]span{spanOf(a)}, []span{spanOf(b)}) }

// someOverlap reports whether a span of dst has memory of one of args.
func someOverlap(dst, args []span) bool {
	return slices.ContainsFunc(dst, func(d span) bool { return d.overlaps(args) })
}
