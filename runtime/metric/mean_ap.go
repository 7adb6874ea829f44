package metric

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// MeanAP returns the mean average precision of detectors, from 0 to 1, as the COCO benchmark
// defines it (Lin and others: Microsoft COCO, common objects in context, 2014; pycocotools, boxes
// of all areas). Predictions are matched in the order of falling scores. A prediction is right if
// its intersection over union with a target of its class is at least a threshold, and no earlier
// prediction has taken this target. For each recall r of 0, 0.01, … 1, take the largest precision
// at a recall of at least r; the average precision of a class is the mean of these 101 numbers. It
// is averaged over the classes that have targets, and over the thresholds. In each item, at most
// 100 predictions of a class count.
//
// If there are no arguments, the thresholds are 0.5, 0.55, … 0.95, known as mAP@[0.5:0.95].
// MeanAP(0.5) is mAP@0.5. A threshold must be above 0 and at most 1, and there may be at most 63;
// otherwise a counter reports an error.
//
// Predictions of several items with equal scores count at once, so that the order of items does not
// matter. A counter keeps 24 bytes for each prediction.
func MeanAP(thresholds ...float64) Metric[Boxes] {
	thresholds = slices.Clone(thresholds)
	name := "mAP@" + strings.Trim(fmt.Sprint(thresholds), "[]")
	if len(thresholds) == 0 {
		name = "mAP@[0.5:0.95]"
		for i := range 10 {
			thresholds = append(thresholds, 0.5+float64(0.05*float64(i)))
		}
	}
	return newMetric(name, "", 1, rule[Boxes, *detections]{
		empty: func() *detections { return &detections{} },
		add: func(d *detections, o Boxes) error {
			if len(thresholds) > 63 {
				return fmt.Errorf("%d thresholds: at most 63 expected", len(thresholds))
			}
			for _, t := range thresholds {
				if !(t > 0 && t <= 1) {
					return fmt.Errorf("threshold %g: above 0 and at most 1 expected", t)
				}
			}
			return d.add(o, thresholds)
		},
		value: func(d *detections) float64 { return d.value(len(thresholds)) },
	})
}

type detections map[int64]*detected

type detected struct {
	targets int64 // without crowds
	found   []found
}

// of returns the predictions of a class. It adds the class if it is missing.
func (d *detections) of(class int64) *detected {
	if (*d)[class] == nil {
		(*d)[class] = &detected{}
	}
	return (*d)[class]
}

func (d *detections) add(o Boxes, thresholds []float64) error {
	if err := o.check(); err != nil {
		return err
	}
	for i := range o.Targets {
		predicted, targets := byClass(o.Predicted[i]), byClass(o.Targets[i])
		for class, boxes := range targets {
			for _, b := range boxes {
				if c := d.of(class); !b.Crowd {
					c.targets++
				}
			}
		}
		for class, boxes := range predicted {
			c := d.of(class)
			c.found = append(c.found, matchBoxes(boxes, targets[class], thresholds)...)
		}
	}
	return nil
}

func byClass(boxes []Box) map[int64][]Box {
	list := map[int64][]Box{}
	for _, b := range boxes {
		list[b.Class] = append(list[b.Class], b)
	}
	return list
}

func (d *detections) value(thresholds int) float64 {
	var m mean
	for _, class := range slices.Sorted(maps.Keys(*d)) {
		c := (*d)[class]
		if c.targets == 0 {
			continue
		}
		slices.SortFunc(c.found, func(a, b found) int { return cmp.Compare(b.score, a.score) })
		for k := range thresholds {
			m.add(c.averagePrecision(1 << k))
		}
	}
	return m.value()
}

// averagePrecision returns the average precision of a class at threshold k; see [MeanAP]. bit is
// 1<<k. c.found must be sorted by descending score.
func (c *detected) averagePrecision(bit uint64) float64 {
	const steps = 100 // of recall
	var right []int64 // after each distinct score
	var precision []float64
	hits, misses := int64(0), int64(0)
	for i, f := range c.found {
		switch {
		case f.right&bit != 0:
			hits++
		case f.ignored&bit == 0:
			misses++
		}
		if i+1 == len(c.found) || c.found[i+1].score != f.score {
			right = append(right, hits)
			precision = append(precision, ratio(float64(hits), float64(hits+misses)))
		}
	}
	for i := len(precision) - 2; i >= 0; i-- {
		precision[i] = max(precision[i], precision[i+1])
	}
	sum, at := 0.0, 0
	for step := range int64(steps + 1) {
		for at < len(right) && right[at]*steps < step*c.targets {
			at++
		}
		if at < len(right) {
			sum += precision[at]
		}
	}
	return sum / (steps + 1)
}

func (d *detections) merge(o *detections) error {
	for class, other := range *o {
		c := d.of(class)
		c.targets += other.targets
		c.found = append(c.found, other.found...)
	}
	return nil
}

// numbers returns the tally for a saved state. The integers of a class are the class itself, the
// number of its targets, the number of its predictions, and two bit sets for each prediction: right
// and ignored. The floats are the scores.
func (d *detections) numbers() numbers {
	var n numbers
	for _, class := range slices.Sorted(maps.Keys(*d)) {
		c := (*d)[class]
		n.ints = append(n.ints, class, c.targets, int64(len(c.found)))
		for _, f := range c.found {
			n.ints = append(n.ints, int64(f.right), int64(f.ignored))
			n.floats = append(n.floats, f.score)
		}
	}
	return n
}

func (d *detections) restore(n numbers) error {
	for len(n.ints) > 0 {
		head, ok := take(&n.ints, 3)
		if !ok || (*d)[head[0]] != nil || head[2] > int64(len(n.ints)) {
			return errSaved
		}
		bits, hasBits := take(&n.ints, 2*head[2])
		scores, hasScores := take(&n.floats, head[2])
		if !hasBits || !hasScores || slices.ContainsFunc(scores, math.IsNaN) {
			return errSaved
		}
		c := d.of(head[0])
		c.targets = head[1]
		for i, score := range scores {
			c.found = append(c.found, found{score, uint64(bits[2*i]), uint64(bits[2*i+1])})
		}
	}
	if len(n.floats) > 0 {
		return errSaved
	}
	return nil
}
