package metric

import "fmt"

// Values is an output of a regression.
type Values struct {
	Loss      float32   // mean loss of the items with a known target
	Predicted []float32 // of shape [items, Width]
	Targets   []float32 // of shape [items, Width]; NaN is an unknown target, which does not count
	Width     int       // values of an item; 0 means 1
}

// Lost returns the loss and the number of items with a known target.
func (v Values) Lost() (float64, int) { return float64(v.Loss), known(v.Targets, v.width()) }

// width returns the number of values of an item. The default is 1.
func (v Values) width() int {
	if v.Width == 0 {
		return 1
	}
	return v.Width
}

// check returns an error if the lengths of the slices of v do not fit one another.
func (v Values) check() error {
	width := v.width()
	switch {
	case len(v.Predicted) != len(v.Targets):
		return fmt.Errorf("%d predictions and %d targets: as many expected", len(v.Predicted), len(v.Targets))
	case width < 0 || len(v.Targets)%width != 0:
		return fmt.Errorf("%d targets with %d values an item: a multiple expected", len(v.Targets), v.Width)
	}
	return nil
}

// each calls f with each prediction and its target. It leaves out targets that are NaN. `column`
// is the index of the value in its item. each returns an error if the lengths do not fit.
func (v Values) each(f func(column int, predicted, target float64)) error {
	if err := v.check(); err != nil {
		return err
	}
	for i, t := range v.Targets {
		if t == t {
			f(i%v.width(), float64(v.Predicted[i]), float64(t))
		}
	}
	return nil
}

// sameWidth returns an error if `width`, the number of values of an item, differs from `before`,
// the number in earlier outputs.
func sameWidth(width, before int) error {
	if width != before {
		return fmt.Errorf("%d values an item, but %d before", width, before)
	}
	return nil
}
