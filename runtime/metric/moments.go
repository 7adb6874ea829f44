package metric

import "math"

// moments holds the second moments of predictions and targets, one for each column of an item's
// values. A moment is updated by the method of Welford (Note on a method for calculating corrected
// sums of squares and products, 1962) and merged by the method of Chan, Golub and LeVeque
// (Updating formulae and a pairwise algorithm for computing sample variances, 1979).
type moments []moment

type moment struct {
	n                float64
	predicted        float64 // mean
	target           float64 // mean
	predictedSquares float64 // sum of squared differences from the mean
	targetSquares    float64 // sum of squared differences from the mean
	products         float64 // sum of products of the differences from the means
	residuals        float64 // sum of squares of prediction minus target
}

func newMoments() *moments { return new(moments) }

func (m *moments) fit(width int) error {
	if len(*m) == 0 {
		*m = make(moments, width)
	}
	return sameWidth(width, len(*m))
}

func (m *moments) add(o Values) error {
	if err := o.check(); err != nil || len(o.Targets) == 0 {
		return err
	}
	if err := m.fit(o.width()); err != nil {
		return err
	}
	return o.each(func(column int, predicted, target float64) { (*m)[column].add(predicted, target) })
}

func (m *moment) add(predicted, target float64) {
	m.n++
	dp, dt := predicted-m.predicted, target-m.target
	m.predicted += dp / m.n
	m.target += dt / m.n
	m.predictedSquares += dp * (predicted - m.predicted)
	m.targetSquares += dt * (target - m.target)
	m.products += dp * (target - m.target)
	m.residuals += squaredError(predicted, target)
}

func (m *moment) merge(o moment) {
	switch {
	case o.n == 0:
		return
	case m.n == 0:
		*m = o
		return
	}
	n := m.n + o.n
	dp, dt := o.predicted-m.predicted, o.target-m.target
	m.predictedSquares += o.predictedSquares + dp*dp*m.n*o.n/n
	m.targetSquares += o.targetSquares + dt*dt*m.n*o.n/n
	m.products += o.products + dp*dt*m.n*o.n/n
	m.predicted += dp * o.n / n
	m.target += dt * o.n / n
	m.residuals += o.residuals
	m.n = n
}

func (m *moments) merge(o *moments) error {
	if len(*o) == 0 {
		return nil
	}
	if err := m.fit(len(*o)); err != nil {
		return err
	}
	for i, other := range *o {
		(*m)[i].merge(other)
	}
	return nil
}

// value returns the mean of f over the columns. It is NaN if f is NaN for one of them.
func (m *moments) value(f func(moment) float64) float64 {
	if len(*m) == 0 {
		return math.NaN()
	}
	sum := 0.0
	for _, one := range *m {
		sum += f(one)
	}
	return sum / float64(len(*m))
}

const momentFields = 7

func (m *moments) numbers() numbers {
	var n numbers
	for _, f := range *m {
		n.floats = append(n.floats, f.n, f.predicted, f.target, f.predictedSquares, f.targetSquares, f.products, f.residuals)
	}
	return n
}

func (m *moments) restore(n numbers) error {
	if len(n.ints) != 0 || len(n.floats)%momentFields != 0 {
		return errSaved
	}
	for f := n.floats; len(f) > 0; f = f[momentFields:] {
		*m = append(*m, moment{f[0], f[1], f[2], f[3], f[4], f[5], f[6]})
	}
	return nil
}
