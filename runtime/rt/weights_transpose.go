package rt

import (
	"errors"
	"fmt"
)

// Transpose swaps the two axes of matrices. Elements are moved when they are first used. It returns
// one error that lists all tensors that do not exist, that are not matrices, or whose elements are
// strings or narrower than a byte. If there is an error, it changes nothing.
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
			errs = append(errs, fmt.Errorf("weights: %.100q: %v is not a matrix that can be transposed", name, t.Info))
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

// transposed returns the transpose of a matrix. Its elements are moved when they are first used.
func (t *tensor) transposed() *tensor {
	rows, columns, width := t.Shape[0], t.Shape[1], kinds[t.DType].bits/8
	info := Info{t.Name, t.DType, []int{columns, rows}, t.Bytes}
	return &tensor{Info: info, home: t.home, lazy: &lazy{fill: true, read: func(room []byte) ([]byte, error) {
		raw, err := t.once(nil)
		if err != nil {
			return nil, err
		}
		out := bytesIn(room, len(raw))
		transpose(out, raw, rows, columns, width)
		return out, nil
	}}}
}

// transposeSide is the number of rows and of columns of the tiles in which a matrix is transposed.
// The cache lines of a tile this small stay in a near cache.
const transposeSide = 16

// transpose writes the transpose of src to dst. src has the given rows and columns, with elements
// of `width` bytes.
func transpose(dst, src []byte, rows, columns, width int) {
	for top := 0; top < rows; top += transposeSide {
		for left := 0; left < columns; left += transposeSide {
			for j := left; j < min(left+transposeSide, columns); j++ {
				for i := top; i < min(top+transposeSide, rows); i++ {
					copy(dst[(j*rows+i)*width:][:width], src[(i*columns+j)*width:])
				}
			}
		}
	}
}
