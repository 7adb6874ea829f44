package metric

import "fmt"

// TopK returns the percentage of items whose target is among the k classes with the largest scores.
// If classes have equal scores, the class with the lower number comes first. A counter reports an
// error if k is below 1.
func TopK(k int) Metric[Classes] {
	return newMetric(fmt.Sprintf("top-%d accuracy", k), "%", 1, rule[Classes, *counts]{
		empty: newCounts(2),
		add: func(c *counts, o Classes) error {
			if k < 1 {
				return fmt.Errorf("the target among %d classes: at least 1 expected", k)
			}
			return o.each(func(target int, row []float32) error {
				if len(row) == 1 {
					c.hit(k > 1 || o.predicted(row) == target)
				} else {
					c.hit(rank(row, target) < k)
				}
				return nil
			})
		},
		value: (*counts).percent,
	})
}

// rank returns the number of classes that rank before `class`. These are the classes with a larger
// score, and earlier classes with the same score.
func rank(row []float32, class int) int {
	n := 0
	for i, s := range row {
		if s > row[class] || s == row[class] && i < class {
			n++
		}
	}
	return n
}
