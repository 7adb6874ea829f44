package metric

import "math"

// counts is a tally of a fixed number of counts, such as the right items and all items.
type counts []int64

func newCounts(n int) func() *counts {
	return func() *counts {
		c := make(counts, n)
		return &c
	}
}

func (c *counts) merge(o *counts) error {
	for i, v := range *o {
		(*c)[i] += v
	}
	return nil
}

func (c *counts) numbers() numbers { return numbers{ints: *c} }

func (c *counts) restore(n numbers) error {
	if len(n.ints) != len(*c) || len(n.floats) != 0 {
		return errSaved
	}
	*c = n.ints
	return nil
}

// hit adds an item to the second count and, if right is true, to the first count.
func (c *counts) hit(right bool) {
	if right {
		(*c)[0]++
	}
	(*c)[1]++
}

// percent returns the first count in percent of the second. It returns NaN if the second is 0.
func (c *counts) percent() float64 { return percent((*c)[0], (*c)[1]) }

func percent(part, whole int64) float64 {
	if whole == 0 {
		return math.NaN()
	}
	return 100 * float64(part) / float64(whole)
}
