package metric

import "fmt"

// Pictures is an output of a model that makes or restores pictures.
type Pictures struct {
	Loss      float32   // mean loss of the items
	Predicted []float32 // of shape [items, Channels, Height, Width]
	Targets   []float32 // of the same shape
	Channels  int
	Height    int
	Width     int
	Range     float64 // largest value minus least value that a pixel may have; 0 means 1
}

// Lost returns the loss and the number of items.
func (p Pictures) Lost() (float64, int) {
	n, err := p.items()
	if err != nil {
		return float64(p.Loss), 0
	}
	return float64(p.Loss), n
}

func (p Pictures) items() (int, error) {
	n := len(p.Targets)
	switch {
	case len(p.Predicted) != n:
		return 0, fmt.Errorf("pictures of %d pixels and targets of %d: as many expected", len(p.Predicted), n)
	case !(p.Range >= 0):
		return 0, fmt.Errorf("range %g: a positive number expected", p.Range)
	case n == 0:
		return 0, nil
	}
	size := 1
	for _, extent := range []int{p.Channels, p.Height, p.Width} {
		if extent < 1 || extent > n/size {
			return 0, fmt.Errorf("%d pixels with pictures of %d channels, height %d and width %d: a multiple expected", n, p.Channels, p.Height, p.Width)
		}
		size *= extent
	}
	if n%size != 0 {
		return 0, fmt.Errorf("%d pixels with pictures of %d: a multiple expected", n, size)
	}
	return n / size, nil
}

// span returns the difference between the largest and the smallest possible pixel value.
func (p Pictures) span() float64 {
	if p.Range == 0 {
		return 1
	}
	return p.Range
}

// perPicture returns a metric that is the mean of f over the pictures.
func perPicture(name, unit string, f func(o Pictures, predicted, target []float32) (float64, error)) Metric[Pictures] {
	return newMetric(name, unit, 1, rule[Pictures, *mean]{
		empty: newMean,
		add: func(m *mean, o Pictures) error {
			n, err := o.items()
			if err != nil || n == 0 {
				return err
			}
			size := len(o.Targets) / n
			for i := range n {
				v, err := f(o, o.Predicted[i*size:(i+1)*size], o.Targets[i*size:(i+1)*size])
				if err != nil {
					return fmt.Errorf("item %d: %w", i, err)
				}
				m.add(v)
			}
			return nil
		},
		value: (*mean).value,
	})
}
