package cpu

import (
	"fmt"
	"unsafe"
)

// SelectBoxes chooses boxes by their scores, separately for each batch and class (ONNX
// NonMaxSuppression). boxes is [batches, n, 4], and scores is [batches, classes, n]. dst, [batches,
// classes, n], receives the indices of the chosen boxes, followed by −1.
//
// Boxes are taken in descending order of score, ties by index, until `most` are chosen. A box is
// skipped if its overlap (IoU) with a chosen box exceeds `share`. If bounded is true, boxes with a
// score of at most `low` are left out. A box is two corners y, x, y, x in any order or, if center
// is true, its center x, y and its width and height. queue is scratch memory of n elements.
// SelectBoxes returns an error unless `share` is in [0, 1].
func SelectBoxes(dst []int32, boxes, scores []float32, batches, classes, n int, most int64, share, low float32, bounded, center bool, queue []int64) error {
	if !(share >= 0 && share <= 1) {
		return fmt.Errorf("select_boxes: a share of %g", share)
	}
	dst, scores = trim(dst, volume(batches, classes, n)), trim(scores, volume(batches, classes, n))
	boxes, queue = trim(boxes, volume(batches, n, 4)), trim(queue, n)
	for line := range batches * classes {
		// A candidate is the rank of its score in the upper bits, and a number that is larger the
		// earlier it occurs in the lower bits.
		candidates, k := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(queue))), n), 0
		for i, s := range scores[line*n:][:n] {
			candidates[k] = uint64(float32Order(s))<<32 | uint64(^uint32(i))
			if !bounded || s > low {
				k++
			}
		}
		selectBoxes(dst[line*n:][:n], candidates[:k], boxes[line/classes*n*4:][:n*4], most, share, center)
	}
	return nil
}

// selectBoxes chooses boxes of one batch element and class. It stores their indices in chosen,
// followed by −1. candidates has a key for each box; boxes are taken in descending order of their
// keys. The low 32 bits of a key are the inverted index of the box. selectBoxes overwrites
// candidates. `most`, `share` and `center` have the meaning that they have in [SelectBoxes].
func selectBoxes(chosen []int32, candidates []uint64, boxes []float32, most int64, share float32, center bool) {
	count := 0
	for i := len(candidates)/2 - 1; i >= 0; i-- {
		sift(candidates, i)
	}
next:
	for len(candidates) > 0 && int64(count) < most {
		i, last := int32(^uint32(candidates[0])), len(candidates)-1
		candidates[0], candidates = candidates[last], candidates[:last]
		if last > 0 {
			sift(candidates, 0)
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

type box struct{ x0, y0, x1, y1 float32 }

// boxOf reads a box in the format of [SelectBoxes].
func boxOf(b []float32, center bool) box {
	if center {
		w, h := b[2]/2, b[3]/2
		return box{b[0] - w, b[1] - h, b[0] + w, b[1] + h}
	}
	return box{min(b[1], b[3]), min(b[0], b[2]), max(b[1], b[3]), max(b[0], b[2])}
}

func (b box) area() float32 { return float32(max(0, b.x1-b.x0) * max(0, b.y1-b.y0)) }

// overlap returns the intersection over union of two boxes, or 0 if their union is empty.
func (b box) overlap(c box) float32 {
	if b.x1 < c.x0 || c.x1 < b.x0 || b.y1 < c.y0 || c.y1 < b.y0 {
		return 0
	}
	both := box{max(b.x0, c.x0), max(b.y0, c.y0), min(b.x1, c.x1), min(b.y1, c.y1)}.area()
	covered := float32(b.area()+c.area()) - both
	if !(both > 0) || !(covered > 0) {
		return 0
	}
	return both / covered
}
