package cpu

import (
	"slices"
	"testing"
)

func TestReverseSequence(t *testing.T) {
	x := []string{"a", "b", "c", "d", "e", "f"}
	for _, test := range []struct {
		name         string
		lens         []int64
		steps, batch int
		inner        int
		batchFirst   bool
		want         string
	}{
		{"steps first", []int64{3, 2}, 3, 2, 1, false, "edcbaf"},
		{"sequences first", []int64{1, 3}, 3, 2, 1, true, "abcfed"},
		{"several elements a step", []int64{3}, 3, 1, 2, false, "efcdab"},
		{"lengths of none", []int64{0, 0, 1}, 2, 3, 1, true, "abcdef"},
	} {
		t.Run(test.name, func(t *testing.T) {
			y := make([]string, 6)
			if err := ReverseSequence(y, x, test.lens, test.steps, test.batch, test.inner, test.batchFirst); err != nil {
				t.Fatal(err)
			}
			if want := splitLetters(test.want); !slices.Equal(y, want) {
				t.Errorf("%v, want %v", y, want)
			}
		})
	}
	for _, l := range []int64{-1, 3} {
		if err := ReverseSequence(make([]int8, 2), make([]int8, 2), []int64{l}, 2, 1, 1, false); err == nil {
			t.Errorf("no error for length %d", l)
		}
	}
}

func splitLetters(s string) (letters []string) {
	for _, r := range s {
		letters = append(letters, string(r))
	}
	return letters
}
