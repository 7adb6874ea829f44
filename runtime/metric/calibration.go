package metric

import (
	"fmt"
	"math"
)

// Calibration returns the expected calibration error in percent. It says how far the probability of
// the predicted class is from the share of right predictions. Predictions are put into bins of equal
// width by this probability. The error of a bin is the distance between its mean probability and its
// share of right predictions. The value is the mean of these errors, weighted by the number of
// predictions in each bin (Guo and others: On calibration of modern neural networks, 2017). 15 bins
// are usual. A counter reports an error if bins is not from 1 to 65,536.
func Calibration(bins int) Metric[Classes] {
	const most = 1 << 16
	used := min(max(bins, 1), most)
	return newMetric(fmt.Sprintf("calibration error (%d bins)", bins), "%", -1, rule[Classes, *calibration]{
		empty: func() *calibration { return &calibration{make([]int64, 2*used), make([]float64, used), nil} },
		add: func(c *calibration, o Classes) error {
			if bins != used {
				return fmt.Errorf("%d bins: a number from 1 to %d expected", bins, most)
			}
			return c.add(o)
		},
		value: (*calibration).value,
	})
}

// calibration is the tally of probabilities in bins. A bin includes its upper bound.
type calibration struct {
	// for each bin, the count of right predictions and then the count of all predictions
	counts []int64
	// the sum of the probabilities in each bin
	probabilities []float64
	row           []float64 // scratch
}

func (c *calibration) add(o Classes) error {
	return o.each(func(target int, row []float32) error {
		n := max(2, len(row))
		if cap(c.row) < n {
			c.row = make([]float64, n)
		}
		p := c.row[:n]
		o.Kind.softmax(p, row)
		class := o.predicted(row)
		bins := len(c.probabilities)
		bin := min(max(int(math.Ceil(p[class]*float64(bins)))-1, 0), bins-1)
		c.probabilities[bin] += p[class]
		hits := counts(c.counts[2*bin : 2*bin+2])
		hits.hit(class == target)
		return nil
	})
}

func (c *calibration) value() float64 {
	sum, items := 0.0, int64(0)
	for bin, p := range c.probabilities {
		sum += math.Abs(p - float64(c.counts[2*bin]))
		items += c.counts[2*bin+1]
	}
	if items == 0 {
		return math.NaN()
	}
	return 100 * sum / float64(items)
}

func (c *calibration) merge(o *calibration) error {
	for i, n := range o.counts {
		c.counts[i] += n
	}
	for i, p := range o.probabilities {
		c.probabilities[i] += p
	}
	return nil
}

func (c *calibration) numbers() numbers { return numbers{c.counts, c.probabilities} }

func (c *calibration) restore(n numbers) error {
	if len(n.ints) != len(c.counts) || len(n.floats) != len(c.probabilities) {
		return errSaved
	}
	c.counts, c.probabilities = n.ints, n.floats
	return nil
}
