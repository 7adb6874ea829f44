package cpu_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/rt"
)

// tensor returns elements 1, 2, … of a shape.
func tensor(shape ...int) rt.Tensor[int32] {
	n := 1
	for _, d := range shape {
		n *= d
	}
	t := rt.Tensor[int32]{Shape: shape, Data: make([]int32, n)}
	for i := range t.Data {
		t.Data[i] = int32(i + 1)
	}
	return t
}

func TestSequences(t *testing.T) {
	a, b := tensor(2), tensor(1, 2)
	seq := []rt.Tensor[int32]{a, b}
	c := tensor(3)
	for _, test := range []struct {
		name string
		make func(dst *[]rt.Tensor[int32]) error
		want string // the sequence, or "" for an IndexError
	}{
		{"empty", func(dst *[]rt.Tensor[int32]) error { cpu.SequenceEmpty(dst); return nil }, "[]"},
		{"append", func(dst *[]rt.Tensor[int32]) error { cpu.SequenceAppend(dst, seq, c.Data, c.Shape); return nil }, "[{[1 2] [2]} {[1 2] [1 2]} {[1 2 3] [3]}]"},
		{"append a scalar to none", func(dst *[]rt.Tensor[int32]) error { cpu.SequenceAppend(dst, nil, c.Data[:1], nil); return nil }, "[{[1] []}]"},
		{"insert in front", insert(seq, c, -2), "[{[1 2 3] [3]} {[1 2] [2]} {[1 2] [1 2]}]"},
		{"insert between", insert(seq, c, 1), "[{[1 2] [2]} {[1 2 3] [3]} {[1 2] [1 2]}]"},
		{"insert at the end", insert(seq, c, 2), "[{[1 2] [2]} {[1 2] [1 2]} {[1 2 3] [3]}]"},
		{"insert beyond the end", insert(seq, c, 3), ""},
		{"insert before the front", insert(seq, c, -3), ""},
		{"erase", erase(seq, 0), "[{[1 2] [1 2]}]"},
		{"erase the last", erase(seq, -1), "[{[1 2] [2]}]"},
		{"erase beyond the end", erase(seq, 2), ""},
		{"erase of none", erase(nil, -1), ""},
		{"erase far outside", erase(seq, math.MinInt64), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			dst := seq[:1:1]
			err := test.make(&dst)
			if err != nil {
				var outside *cpu.IndexError
				if test.want != "" || !errors.As(err, &outside) {
					t.Error(err)
				}
				return
			}
			if got := fmt.Sprint(dst); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if len(seq) != 2 || &seq[0].Data[0] != &a.Data[0] {
				t.Error("the operand has changed")
			}
		})
	}
	length := make([]int64, 1)
	if cpu.SequenceLength(length, seq); length[0] != 2 {
		t.Errorf("length %d", length[0])
	}
}

func insert(seq []rt.Tensor[int32], x rt.Tensor[int32], at int64) func(*[]rt.Tensor[int32]) error {
	return func(dst *[]rt.Tensor[int32]) error {
		return cpu.SequenceInsert(dst, seq, x.Data, x.Shape, []int64{at})
	}
}

func erase(seq []rt.Tensor[int32], at int64) func(*[]rt.Tensor[int32]) error {
	return func(dst *[]rt.Tensor[int32]) error { return cpu.SequenceErase(dst, seq, []int64{at}) }
}

// Tensors are copied into a sequence, because the arena changes later.
func TestSequencesHoldCopies(t *testing.T) {
	x, shape := []string{"a"}, []int{1}
	var seq []rt.Tensor[string]
	var one *rt.Tensor[string]
	var parts []rt.Tensor[string]
	cpu.SequenceAppend(&seq, nil, x, shape)
	cpu.OptionalTensor(&one, x, shape)
	if err := cpu.SplitToSlices(&parts, x, shape, 0, true); err != nil {
		t.Fatal(err)
	}
	x[0], shape[0] = "b", 7
	if got := fmt.Sprint(seq, *one, parts); got != "[{[a] [1]}] {[a] [1]} [{[a] [1]}]" {
		t.Error(got)
	}
}

func TestSequenceAt(t *testing.T) {
	seq := []rt.Tensor[int32]{tensor(2, 3), tensor(0, 3)}
	n, err := cpu.SequenceExtent(seq, []int32{-2}, 2, 1)
	if err != nil || n != 3 {
		t.Errorf("extent %d %v", n, err)
	}
	dst := make([]int32, 6)
	if err := cpu.SequenceAt(dst, seq, []int32{0}, []int{2, 3}); err != nil || fmt.Sprint(dst) != "[1 2 3 4 5 6]" {
		t.Errorf("got %v %v", dst, err)
	}
	if err := cpu.SequenceAt(dst[:0], seq, []int64{1}, []int{0, 3}); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{
		"another shape":   cpu.SequenceAt(dst, seq, []int32{0}, []int{3, 2}),
		"an index beyond": cpu.SequenceAt(dst, seq, []int32{2}, []int{2, 3}),
		"another rank":    second(cpu.SequenceExtent(seq, []int32{0}, 3, 1)),
		"no element":      second(cpu.SequenceExtent(seq[:0], []int32{-1}, 2, 0)),
	} {
		if err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func second(_ int, err error) error { return err }

func TestConcatFromSequence(t *testing.T) {
	for _, c := range []struct {
		name    string
		seq     []rt.Tensor[int32]
		axis    int
		newAxis bool
		rank    int
		want    string // shape and elements; "" for an error
	}{
		{"along the first axis", []rt.Tensor[int32]{tensor(1, 2), tensor(2, 2)}, 0, false, 2, "[3 2] [1 2 1 2 3 4]"},
		{"along the last axis", []rt.Tensor[int32]{tensor(2, 1), tensor(2, 2), tensor(2, 0)}, 1, false, 2, "[2 3] [1 1 2 2 3 4]"},
		{"of one", []rt.Tensor[int32]{tensor(2)}, 0, false, 1, "[2] [1 2]"},
		{"along a new axis", []rt.Tensor[int32]{tensor(2), tensor(2)}, 1, true, 2, "[2 2] [1 1 2 2]"},
		{"of scalars", []rt.Tensor[int32]{tensor(), tensor()}, 0, true, 1, "[2] [1 1]"},
		{"of empty ones", []rt.Tensor[int32]{tensor(0, 2), tensor(0, 2)}, 0, true, 3, "[2 0 2] []"},
		{"of none", nil, 0, false, 1, ""},
		{"of other extents", []rt.Tensor[int32]{tensor(2, 1), tensor(3, 1)}, 1, false, 2, ""},
		{"of other ranks", []rt.Tensor[int32]{tensor(2), tensor(2, 1)}, 0, false, 1, ""},
		{"of other shapes along a new axis", []rt.Tensor[int32]{tensor(2), tensor(1)}, 0, true, 2, ""},
		{"of too many", []rt.Tensor[int32]{tensor(math.MaxInt, 0), tensor(1, 0)}, 0, false, 2, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := concat(c.seq, c.axis, c.newAxis, c.rank)
			if err != nil && c.want != "" || err == nil && got != c.want {
				t.Errorf("got %s %v, want %s", got, err, c.want)
			}
		})
	}
	seq := []rt.Tensor[int32]{tensor(2)}
	for _, shape := range [][]int{{1}, {3}, {2, 1}} {
		if err := cpu.ConcatFromSequence(make([]int32, 3), seq, shape, 0, false); err == nil {
			t.Errorf("shape %v is taken", shape)
		}
	}
}

func concat(seq []rt.Tensor[int32], axis int, newAxis bool, rank int) (string, error) {
	shape, n := make([]int, rank), 1
	for i := range shape {
		var err error
		if shape[i], err = cpu.ConcatExtent(seq, axis, newAxis, rank, i); err != nil {
			return "", err
		}
		n *= shape[i]
	}
	dst := make([]int32, n)
	err := cpu.ConcatFromSequence(dst, seq, shape, axis, newAxis)
	return fmt.Sprint(shape, dst), err
}

func TestSplitToSequence(t *testing.T) {
	x := tensor(2, 3)
	for _, c := range []struct {
		name  string
		split func(dst *[]rt.Tensor[int32]) error
		want  string // "" for an error
	}{
		{"slices", slicesOf(x, 1, true), "[{[1 4] [2 1]} {[2 5] [2 1]} {[3 6] [2 1]}]"},
		{"slices without the axis", slicesOf(x, 0, false), "[{[1 2 3] [3]} {[4 5 6] [3]}]"},
		{"slices of none", slicesOf(tensor(2, 0), 1, true), "[]"},
		{"slices of nothing", slicesOf(tensor(1, 0), 0, false), "[{[] [0]}]"},
		{"too many slices", slicesOf(tensor(1<<24, 0), 0, true), ""},
		{"parts of one length", partsOf(x, 1, 2), "[{[1 2 4 5] [2 2]} {[3 6] [2 1]}]"},
		{"one part", partsOf(x, 0, 9), "[{[1 2 3 4 5 6] [2 3]}]"},
		{"parts of length 0", partsOf(x, 0, 0), ""},
		{"parts of a negative length", partsOf(x, 0, -1), ""},
		{"parts of lengths", lengthsOf(x, 1, 1, 0, 2), "[{[1 4] [2 1]} {[] [2 0]} {[2 3 5 6] [2 2]}]"},
		{"lengths below the extent", lengthsOf(x, 1, 1, 1), ""},
		{"lengths beyond the extent", lengthsOf(x, 1, 2, 2), ""},
		{"a negative length", lengthsOf(x, 1, 4, -1), ""},
		{"a huge length", lengthsOf(x, 1, math.MaxInt64, math.MaxInt64), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var dst []rt.Tensor[int32]
			err := c.split(&dst)
			if got := fmt.Sprint(dst); err != nil && c.want != "" || err == nil && got != c.want {
				t.Errorf("got %s %v, want %s", got, err, c.want)
			}
		})
	}
}

func slicesOf(x rt.Tensor[int32], axis int, keep bool) func(*[]rt.Tensor[int32]) error {
	return func(dst *[]rt.Tensor[int32]) error { return cpu.SplitToSlices(dst, x.Data, x.Shape, axis, keep) }
}

func partsOf(x rt.Tensor[int32], axis int, length int32) func(*[]rt.Tensor[int32]) error {
	return func(dst *[]rt.Tensor[int32]) error {
		return cpu.SplitToParts(dst, x.Data, x.Shape, axis, []int32{length})
	}
}

func lengthsOf(x rt.Tensor[int32], axis int, lengths ...int64) func(*[]rt.Tensor[int32]) error {
	return func(dst *[]rt.Tensor[int32]) error {
		return cpu.SplitToSequence(dst, x.Data, x.Shape, axis, lengths)
	}
}

func TestOptionals(t *testing.T) {
	x := tensor(2)
	var one *rt.Tensor[int32]
	var many *[]rt.Tensor[int32]
	has, dst := make([]bool, 2), make([]int32, 2)
	cpu.OptionalTensor(&one, x.Data, x.Shape)
	cpu.OptionalSequence(&many, []rt.Tensor[int32]{x})
	cpu.HasTensor(has[:1], one)
	cpu.HasSequence(has[1:], many)
	if digits(has) != "11" {
		t.Errorf("has %s", digits(has))
	}
	if n, err := cpu.OptionalExtent(one, 1, 0); err != nil || n != 2 {
		t.Errorf("extent %d %v", n, err)
	}
	if err := cpu.GetTensor(dst, one, []int{2}); err != nil || dst[1] != 2 {
		t.Errorf("got %v %v", dst, err)
	}
	if cpu.GetTensor(dst, one, []int{1}) == nil || second(cpu.OptionalExtent(one, 2, 0)) == nil {
		t.Error("another shape is taken")
	}
	var seq []rt.Tensor[int32]
	if err := cpu.GetSequence(&seq, many); err != nil || fmt.Sprint(seq) != "[{[1 2] [2]}]" {
		t.Errorf("got %v %v", seq, err)
	}

	cpu.NoTensor(&one)
	cpu.NoSequence(&many)
	cpu.HasTensor(has[:1], one)
	cpu.HasSequence(has[1:], many)
	if digits(has) != "00" || one != nil || many != nil {
		t.Errorf("has %s", digits(has))
	}
	if cpu.GetTensor(dst, one, []int{2}) == nil || cpu.GetSequence(&seq, many) == nil || second(cpu.OptionalExtent(one, 1, 0)) == nil {
		t.Error("none is taken")
	}
}
