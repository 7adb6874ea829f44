package cpu_test

import (
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
)

func TestCol2ImRefusesWhatDoesNotFit(t *testing.T) {
	for name, err := range map[string]error{
		"rows":    cpu.Col2Im(make([]int8, 9), make([]int8, 12), 1, 3, 4, []int{3, 3}, []int{2, 2}, []int{1, 1}, []int{1, 1}, make([]int, 4)),
		"columns": cpu.Col2Im(make([]int8, 9), make([]int8, 12), 1, 4, 3, []int{3, 3}, []int{2, 2}, []int{1, 1}, []int{1, 1}, make([]int, 4)),
		"block":   cpu.Col2Im(make([]int8, 9), make([]int8, 12), 1, 4, 3, []int{3, 3}, []int{0, 2}, []int{1, 1}, []int{1, 1}, make([]int, 4)),
	} {
		if err == nil {
			t.Errorf("%s that do not fit give no error", name)
		}
	}
}
