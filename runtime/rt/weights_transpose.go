package rt

import (
	"errors"
	"fmt"
)

// Transpose swaps the two axes of matrices, whose elements are moved when they are
// first used. Errors, all of them at once: a tensor that is not there, one of another
// rank, and strings and elements of less than a byte. Nothing is changed then.
func (w *Weights) Transpose(names ...string) error {
	if err := w.Err(); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var errs []error
	for _, name := range names {
		switch t := w.byName[name]; {
		case t == nil:
			errs = append(errs, fmt.Errorf("weights: %.100q: no such tensor", name))
		case len(t.Shape) != 2 || kinds[t.DType].bits < 8:
			errs = append(errs, fmt.Errorf("weights: %.100q: %v is no matrix that can be transposed", name, t.Info))
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	for _, name := range names {
		w.byName[name] = w.byName[name].transposed()
	}
	return nil
}

// transposed returns the transpose of a matrix.
func (t *tensor) transposed() *tensor {
	rows, columns, width := t.Shape[0], t.Shape[1], kinds[t.DType].bits/8
	info := Info{t.Name, t.DType, []int{columns, rows}, t.Bytes}
	return &tensor{Info: info, home: t.home, lazy: &lazy{read: func() ([]byte, error) {
		raw, err := t.once()
		if err != nil {
			return nil, err
		}
		out := make([]byte, 0, len(raw))
		for j := range columns {
			for i := range rows {
				at := (i*columns + j) * width
				out = append(out, raw[at:at+width]...)
			}
		}
		return out, nil
	}}}
}
