package data

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/runtime/rt"
)

// Standardizer shifts and scales the columns of rows, so that each column has the mean 0 and the standard
// deviation 1 on the rows that it has seen. NaN is a missing value: statistics ignore it, and
// [Standardizer.Apply] treats it as the mean. [rt.SaveState] saves the statistics with a run.
//
// Fit it on the training set only. Methods that do not change it may be called by several goroutines at once.
type Standardizer struct {
	count []int64   // values seen in each column
	mean  []float64 // of each column
	m2    []float64 // sum of the squares of differences from the mean
}

// NewStandardizer returns a Standardizer of rows with `width` columns. A negative width counts as 0.
func NewStandardizer(width int) *Standardizer {
	n := max(0, width)
	return &Standardizer{make([]int64, n), make([]float64, n), make([]float64, n)}
}

// Standardize returns a Standardizer that has seen all items of d. row returns the columns of an item; all
// rows must have the same length. Standardize returns an error if there are no items, an item cannot be read,
// the lengths differ, or a value is infinite.
func Standardize[T any](d Dataset[T], row func(x *T) []float32) (*Standardizer, error) {
	if row == nil {
		return nil, fmt.Errorf("standardize: no function")
	}
	var s *Standardizer
	i := 0
	for x, err := range All(d) {
		if err == nil {
			values := row(&x)
			if s == nil {
				s = NewStandardizer(len(values))
			}
			if err = s.Add(values); err != nil {
				err = fmt.Errorf("item %d: %w", i, err)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("standardize: %w", err)
		}
		i++
	}
	if s == nil {
		return nil, fmt.Errorf("standardize: the data set has no items")
	}
	return s, nil
}

// Add adds a row to the statistics, by Welford's method (B. P. Welford, Note on a method for calculating
// corrected sums of squares and products, 1962). It returns an error, and changes nothing, if the row has
// another width or an infinite value.
func (s *Standardizer) Add(row []float32) error {
	if err := s.check(row); err != nil {
		return err
	}
	for k, v := range row {
		if math.IsInf(float64(v), 0) {
			return fmt.Errorf("column %d is %v", k, v)
		}
	}
	for k, v := range row {
		x := float64(v)
		if math.IsNaN(x) {
			continue
		}
		s.count[k]++
		delta := x - s.mean[k]
		s.mean[k] += delta / float64(s.count[k])
		s.m2[k] += float64(delta * (x - s.mean[k]))
	}
	return nil
}

func (s *Standardizer) check(row []float32) error {
	if len(row) != len(s.mean) {
		return fmt.Errorf("row of %d columns: %d expected", len(row), len(s.mean))
	}
	return nil
}

// Mean returns the mean of a column's values, or NaN if it has no values. It returns NaN if there is
// no such column.
func (s *Standardizer) Mean(column int) float64 {
	if column < 0 || column >= len(s.mean) || s.count[column] == 0 {
		return math.NaN()
	}
	return s.mean[column]
}

// Deviation returns the standard deviation of a column's values, the root of the mean square of
// differences from the mean. It returns NaN if the column has no values, or there is no such column.
func (s *Standardizer) Deviation(column int) float64 {
	if column < 0 || column >= len(s.mean) || s.count[column] == 0 {
		return math.NaN()
	}
	return math.Sqrt(s.m2[column] / float64(s.count[column]))
}

// Apply replaces the values x of a row by (x - mean)/deviation. Missing values become 0, and so do
// the values of a column that has no values or whose deviation is 0. It returns an error if the row
// has another width.
func (s *Standardizer) Apply(row []float32) error {
	if err := s.check(row); err != nil {
		return err
	}
	for k, v := range row {
		mean, deviation := s.Mean(k), s.Deviation(k)
		row[k] = 0
		if deviation > 0 && v == v {
			row[k] = float32((float64(v) - mean) / deviation)
		}
	}
	return nil
}

// Undo replaces the values z of a row by z·deviation + mean: the inverse of Apply. A column without
// values stays as it is. It returns an error if the row has another width.
func (s *Standardizer) Undo(row []float32) error {
	if err := s.check(row); err != nil {
		return err
	}
	for k, z := range row {
		if s.count[k] > 0 {
			row[k] = float32(float64(float64(z)*s.Deviation(k)) + s.mean[k])
		}
	}
	return nil
}

// Fill replaces the missing values of a row by the means of their columns. They stay missing in a
// column without values. It returns an error if the row has another width.
func (s *Standardizer) Fill(row []float32) error {
	if err := s.check(row); err != nil {
		return err
	}
	for k, v := range row {
		if v != v {
			row[k] = float32(s.Mean(k))
		}
	}
	return nil
}

// State registers the statistics. They are restored into a Standardizer of the same width.
func (s *Standardizer) State(state *rt.State) {
	rt.StateTensor(state, "count", s.count, len(s.count))
	rt.StateTensor(state, "mean", s.mean, len(s.mean))
	rt.StateTensor(state, "m2", s.m2, len(s.m2))
}
