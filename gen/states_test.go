package gen

import (
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// TestBeginStates asserts that absent states begin with zeros in the extents of the other arguments.
func TestBeginStates(t *testing.T) {
	m, err := ir.Parse(`func @forward(%x: f32[N,3], %h: f32[N,4], %past: f32[N,P,2]) -> (y: f32[N,3]) {
  return %x
}
`, op.Set)
	if err != nil {
		t.Fatal(err)
	}
	begin := func(x []int, h []float32) (args []any, shapes [][]int, err error) {
		args, shapes = []any{make([]float32, 6), nil, nil}, [][]int{x, nil, nil}
		if h != nil {
			args[1], shapes[1] = h, []int{2, 4}
		}
		return args, shapes, beginStates(m.Funcs[0], []string{"h", "past"}, args, shapes)
	}
	args, shapes, err := begin([]int{2, 3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if h := args[1].([]float32); len(h) != 8 || !slices.Equal(shapes[1], []int{2, 4}) || slices.Max(h) != 0 {
		t.Errorf("h is %v of shape %v", h, shapes[1])
	}
	if past := args[2].([]float32); len(past) != 0 || !slices.Equal(shapes[2], []int{2, 0, 2}) {
		t.Errorf("past is %v of shape %v", past, shapes[2])
	}
	given := []float32{1, 2, 3, 4, 5, 6, 7, 8}
	if args, _, err = begin([]int{2, 3}, given); err != nil || &args[1].([]float32)[0] != &given[0] {
		t.Errorf("a state that is given became %v, error %v", args[1], err)
	}
	if _, _, err := begin([]int{-1, 3}, nil); err == nil || !strings.Contains(err.Error(), `state "h"`) {
		t.Errorf("a negative extent: error %v", err)
	}
}
