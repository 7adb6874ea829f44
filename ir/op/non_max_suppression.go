package op

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// SelectBoxes chooses boxes by their scores, for each batch and class (non-maximum suppression). Boxes are f32
// [batches, n, 4], and scores f32 [batches, classes, n]. The result is i32 [batches, classes, n]: the indices of
// the chosen boxes, followed by -1. Boxes are taken in order of score, ties by index. A box is skipped if its
// overlap (IoU) with a chosen box exceeds a threshold. A box is given by two opposite corners y, x, y, x, in any
// order. With Center, it is given by its center x, y, its width and its height.
//
// The third operand is the maximum number of chosen boxes for each batch and class, an i64. The fourth operand is
// the overlap threshold, an f32 from 0 to 1. The optional fifth operand is an f32. A box is chosen only if its
// score exceeds this number.
type SelectBoxes struct{ Center bool }

// Infer returns i32 in the shape of the scores, [batches,classes,n].
func (SelectBoxes) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 4, 5); err != nil {
		return nil, err
	}
	boxes, scores := in[0], in[1]
	if boxes.DType != ir.F32 || scores.DType != ir.F32 || boxes.Rank() != 3 || scores.Rank() != 3 || !boxes.Shape[2].Equal(dim.Const(4)) {
		return nil, fmt.Errorf("boxes %s and scores %s, f32[batches,n,4] and f32[batches,classes,n] expected", boxes, scores)
	}
	for i, d := range []ir.DType{ir.I64, ir.F32, ir.F32}[:len(in)-2] {
		if n, ok := in[2+i].Elems().Int(); !ok || n != 1 || in[2+i].DType != d {
			return nil, fmt.Errorf("operand %d is %s, one %s expected", 2+i, in[2+i], d)
		}
	}
	if err := Same(boxes.Shape[0], scores.Shape[0], "batches of boxes and scores"); err != nil {
		return nil, err
	}
	if err := Same(boxes.Shape[1], scores.Shape[2], "boxes and scores"); err != nil {
		return nil, err
	}
	return []ir.Type{scores.With(ir.I32)}, nil
}

// IsPairing marks the operator as [Pairing]: its work depends on the values of its operands, because it may compare
// each box with every other box.
func (SelectBoxes) IsPairing() {}

// Eval returns the indices of the chosen boxes, padded with −1 to [batches,classes,n]. It returns
// an error unless the overlap threshold is from 0 to 1.
func (op SelectBoxes) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	boxes, scores, most, share := in[0], in[1], in[2].Int(0), in[3].Float(0)
	if !(share >= 0 && share <= 1) {
		return nil, fmt.Errorf("a share of %g", share)
	}
	n := boxes.Shape[1]
	y := ir.NewTensor(ir.I32, scores.Shape...)
	for line := range scores.Shape[0] * scores.Shape[1] {
		score := func(i int) float64 { return scores.Float(line*n + i) }
		var order, chosen []int
		for i := range n {
			y.SetInt(line*n+i, -1)
			if len(in) < 5 || score(i) > in[4].Float(0) {
				order = append(order, i)
			}
		}
		slices.SortStableFunc(order, func(i, j int) int { return totalOrder(scores, line*n+j, line*n+i) })
		first := line / scores.Shape[1] * n
		for _, i := range order {
			overlaps := func(j int) bool { return op.overlap(boxes, first+i, first+j) > float32(share) }
			if int64(len(chosen)) < most && !slices.ContainsFunc(chosen, overlaps) {
				y.SetInt(line*n+len(chosen), int64(i))
				chosen = append(chosen, i)
			}
		}
	}
	return []*ir.Tensor{y}, nil
}

// overlap returns the intersection over union (IoU) of boxes i and j, rounded as f32. It returns 0 if the boxes do
// not intersect.
func (op SelectBoxes) overlap(boxes *ir.Tensor, i, j int) float32 {
	lo, hi := op.corners(boxes, i)
	lo2, hi2 := op.corners(boxes, j)
	area := func(lo, hi [2]float32) float32 {
		return float32(max(0, hi[0]-lo[0]) * max(0, hi[1]-lo[1]))
	}
	both := area(
		[2]float32{max(lo[0], lo2[0]), max(lo[1], lo2[1])},
		[2]float32{min(hi[0], hi2[0]), min(hi[1], hi2[1])})
	covered := area(lo, hi) + area(lo2, hi2) - both
	if !(both > 0) || !(covered > 0) {
		return 0
	}
	return both / covered
}

func (op SelectBoxes) corners(boxes *ir.Tensor, i int) (lo, hi [2]float32) {
	var b [4]float32
	for k := range b {
		b[k] = float32(boxes.Float(4*i + k))
	}
	if op.Center {
		w, h := b[2]/2, b[3]/2
		b = [4]float32{b[0] - w, b[1] - h, b[0] + w, b[1] + h}
		return [2]float32{b[0], b[1]}, [2]float32{b[2], b[3]}
	}
	return [2]float32{min(b[0], b[2]), min(b[1], b[3])}, [2]float32{max(b[0], b[2]), max(b[1], b[3])}
}

func importNonMaxSuppression(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	most, share := c.Arg(2), c.Arg(3)
	if most == nil {
		most = b.Scalar(ir.I64, 0)
	}
	if share == nil {
		share = b.Scalar(ir.F32, 0)
	}
	if most.Type.DType != ir.I64 {
		most = ConvertTo(b, most, ir.I64)
	}
	boxes := b.Node(SelectBoxes{Center: c.Int("center_point_box", 0) != 0}, c.Arg(0), c.Arg(1), most, share, c.Arg(4))
	chosen := b.Node(GreaterOrEqual{}, boxes, b.Scalar(ir.I32, 0))
	places := TransposeBy(b, b.Node(NonZero{Count: b.Symbol("chosen")}, chosen), 1, 0)
	box := ConvertTo(b, b.Node(GatherND{}, boxes, places), ir.I64)
	count := places.Type.Shape[0]
	class := sliceAxis(b, places, 1, dim.Const(0), dim.Const(2))
	return []*ir.Value{b.Node(Concat{Axis: 1}, class, ReshapeTo(b, box, count, dim.Const(1)))}, nil
}
