package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// BindSlice binds numbers that describe a slice of a tensor of shape Shape (ONNX Slice). The operands are lists of
// starts and of ends, and optional lists of axes and of steps. For each of Axes it binds the index of the first
// element and the number of elements. If Steps is set, it also binds the step s, clamped to ±extent. Bound numbers
// are never negative, so s is bound as two numbers, max(s, 0) and max(−s, 0).
type BindSlice struct {
	Bound
	Shape []dim.Dim
	Axes  []int
	Steps bool
}

// Width returns the number of symbols for each axis.
func (op BindSlice) Width() int {
	if op.Steps {
		return 4
	}
	return 2
}

// Infer checks the types of the lists. There are no results.
func (op BindSlice) Infer(in []ir.Type) ([]ir.Type, error) {
	if len(in) < 2 || len(in) > 4 || in[1].IsZero() {
		return nil, fmt.Errorf("%d operands, 2 to 4 expected", len(in))
	}
	if err := checkAxes(op.Axes, len(op.Shape)); err != nil {
		return nil, err
	}
	return op.infer(in, op.Width()*len(op.Axes))
}

// BindValues returns, for each of Axes in turn, the numbers that [BindSlice] lists. It returns an
// error if the lists differ in length, an axis is out of range or repeated, or a step is 0.
func (op BindSlice) BindValues(in, _ []*ir.Tensor) ([]int64, error) {
	shape, _ := dim.Ints(op.Shape)
	starts, ends, axes, steps := intsOf(in[0]), intsOf(in[1]), intsOf(arg(in, 2)), intsOf(arg(in, 3))
	places := make([][4]int64, len(shape))
	for i, d := range shape {
		places[i] = [4]int64{0, int64(d), 1, 0}
	}
	if len(ends) != len(starts) || axes != nil && len(axes) != len(starts) || steps != nil && len(steps) != len(starts) {
		return nil, fmt.Errorf("%d starts, %d ends, %d axes, %d steps", len(starts), len(ends), len(axes), len(steps))
	}
	named := make([]int, len(starts))
	for i := range named {
		named[i] = i
		if axes != nil {
			named[i] = int(axes[i])
		}
	}
	named, err := axesFromFront(named, len(shape))
	if err != nil {
		return nil, err
	}
	for i, a := range named {
		step, d := int64(1), int64(shape[a])
		if steps != nil {
			step = min(max(steps[i], -max(d, 1)), max(d, 1))
		}
		if step == 0 {
			return nil, fmt.Errorf("the step of axis %d is 0", a)
		}
		first, count := slicedRange(starts[i], ends[i], step, d)
		places[a] = [4]int64{first, count, max(step, 0), max(-step, 0)}
	}
	return op.each(func(i int) (int64, error) { return places[op.Axes[i/op.Width()]][i%op.Width()], nil })
}

// slicedRange returns the index of the first element and the number of elements of the slice [start:end:step] of an
// axis with extent d. Negative bounds count from the end, and both bounds are clamped to the axis.
func slicedRange(start, end, step, d int64) (first, count int64) {
	if start < 0 {
		start = max(start, -d) + d
	}
	if end < 0 {
		end = max(end+d, -1)
	}
	if step > 0 {
		first = min(start, d)
		for at := first; at < min(end, d); at += step {
			count++
		}
		return first, count
	}
	first = min(start, d-1)
	for at := first; at >= 0 && at > end; at += step {
		count++
	}
	return max(first, 0), count
}
