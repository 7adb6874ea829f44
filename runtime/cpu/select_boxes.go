package cpu

import (
	"fmt"
	"slices"
)

// SelectBoxes chooses, for each batch and class, among n boxes by their scores
// (ONNX NonMaxSuppression): boxes is [batches, n, 4], scores and dst are [batches,
// classes, n]. dst gets the numbers of the boxes that are chosen, then -1. The box of
// the highest score, of equals the one before, is chosen unless it overlaps one chosen
// before by more than a share, or most are chosen; with bounded set only scores above
// low count. A box is two corners y, x, y, x in any order or, with center set, its
// center x, y and its width and height. order is scratch of n elements.
func SelectBoxes(dst []int32, boxes, scores []float32, batches, classes, n int, most int64, share, low float32, bounded, center bool, order []int32) error {
	if !(share >= 0 && share <= 1) {
		return fmt.Errorf("select_boxes: a share of %g", share)
	}
	dst, scores = trim(dst, volume(batches, classes, n)), trim(scores, volume(batches, classes, n))
	boxes, order = trim(boxes, volume(batches, n, 4)), trim(order, n)
	for line := range batches * classes {
		score, chosen := scores[line*n:][:n], dst[line*n:][:n]
		candidates := order[:0]
		for i, s := range score {
			if !bounded || s > low {
				candidates = append(candidates, int32(i))
			}
		}
		slices.SortFunc(candidates, func(i, j int32) int {
			a, b := score[i], score[j]
			switch {
			case a > b || a != a && b == b:
				return -1
			case b > a || b != b && a == a:
				return 1
			}
			return int(i - j)
		})
		selectBoxes(chosen, candidates, boxes[line/classes*n*4:][:n*4], most, share, center)
	}
	return nil
}

// selectBoxes chooses among candidates in their order.
func selectBoxes(chosen, candidates []int32, boxes []float32, most int64, share float32, center bool) {
	count := 0
next:
	for _, i := range candidates {
		if int64(count) >= most {
			break
		}
		a := boxOf(boxes[4*i:], center)
		for _, j := range chosen[:count] {
			if a.overlap(boxOf(boxes[4*j:], center)) > share {
				continue next
			}
		}
		chosen[count] = i
		count++
	}
	Fill(chosen[count:], -1)
}

// box is an upright rectangle by its least and greatest coordinates.
type box struct{ x0, y0, x1, y1 float32 }

// boxOf reads a box as [SelectBoxes] takes it.
func boxOf(b []float32, center bool) box {
	if center {
		w, h := b[2]/2, b[3]/2
		return box{b[0] - w, b[1] - h, b[0] + w, b[1] + h}
	}
	return box{min(b[1], b[3]), min(b[0], b[2]), max(b[1], b[3]), max(b[0], b[2])}
}

func (b box) area() float32 { return float32(max(0, b.x1-b.x0) * max(0, b.y1-b.y0)) }

// overlap returns the area that two boxes have in common, divided by the area that
// they cover; 0 where there is none.
func (b box) overlap(c box) float32 {
	both := box{max(b.x0, c.x0), max(b.y0, c.y0), min(b.x1, c.x1), min(b.y1, c.y1)}.area()
	covered := float32(b.area()+c.area()) - both
	if !(both > 0) || !(covered > 0) {
		return 0
	}
	return both / covered
}
