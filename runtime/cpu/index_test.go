package cpu_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
)

func TestCheckIndex(t *testing.T) {
	for _, c := range []struct {
		name    string
		src     []int64
		fromEnd bool
		want    []int64 // nil for an error
		wrong   int64
	}{
		{"from the start", []int64{0, 3, 4}, false, []int64{0, 3, 4}, 0},
		{"from the end", []int64{-1, 0, -5}, true, []int64{4, 0, 0}, 0},
		{"nothing", []int64{}, true, []int64{}, 0},
		{"after the last", []int64{1, 5}, true, nil, 5},
		{"before the first", []int64{-6}, true, nil, -6},
		{"negative", []int64{2, -1}, false, nil, -1},
		{"very negative", []int64{math.MinInt64}, true, nil, math.MinInt64},
	} {
		t.Run(c.name, func(t *testing.T) {
			dst := slices.Clone(c.src) // dst may be src
			err := cpu.CheckIndex(dst, dst, 5, c.fromEnd, "label", "classes")
			if c.want != nil {
				if err != nil || !slices.Equal(dst, c.want) {
					t.Errorf("%v, %v, want %v", dst, err, c.want)
				}
				return
			}
			var wrong *cpu.IndexError
			if !errors.As(err, &wrong) || *wrong != (cpu.IndexError{Index: c.wrong, Dim: 5, What: "label", Things: "classes"}) {
				t.Errorf("error %v", err)
			}
		})
	}
	if err := cpu.CheckIndex(make([]int32, 1), []int32{math.MaxInt32}, 3, true, "", ""); err == nil || err.Error() != "cpu: index 2147483647 of an axis of 3" {
		t.Errorf("error %v", err)
	}
}

func TestRequire(t *testing.T) {
	if err := cpu.Require(true, true, "spectrograms"); err != nil {
		t.Error(err)
	}
	if err := cpu.Require(false, true, "spectrograms"); !errors.Is(err, errors.ErrUnsupported) || err.Error() != "spectrograms: unsupported operation" {
		t.Errorf("error %v", err)
	}
}
