package metric

import "math"

type mean struct {
	sum float64
	n   int64
}

func newMean() *mean { return new(mean) }

func (m *mean) add(v float64) {
	m.sum += v
	m.n++
}

// addMean adds n terms whose mean is v.
func (m *mean) addMean(v float64, n int) {
	if n > 0 {
		m.sum += v * float64(n)
		m.n += int64(n)
	}
}

// value returns the mean, or NaN if there are no terms.
func (m *mean) value() float64 {
	if m.n == 0 {
		return math.NaN()
	}
	return m.sum / float64(m.n)
}

func (m *mean) merge(o *mean) error {
	m.sum += o.sum
	m.n += o.n
	return nil
}

func (m *mean) numbers() numbers { return numbers{[]int64{m.n}, []float64{m.sum}} }

func (m *mean) restore(n numbers) error {
	if len(n.ints) != 1 || len(n.floats) != 1 {
		return errSaved
	}
	m.n, m.sum = n.ints[0], n.floats[0]
	return nil
}
