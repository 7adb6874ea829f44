package keys

import (
	"errors"
	"fmt"
	"slices"

	"github.com/burngen/burngen/runtime/rt"
)

// Check returns what is wrong with weights that a model will be made of, under the names that
// it has itself: all at once, tensors that are missing, are of another type or shape, or have
// elements that cannot be read.
func Check(w *rt.Weights, wanted []Want) error {
	if err := w.Err(); err != nil {
		return err
	}
	own := w.Fork()
	var errs []error
	for _, x := range wanted {
		info, ok := w.Info(x.Name)
		switch {
		case !ok && x.Optional:
		case !ok:
			errs = append(errs, fmt.Errorf("weights: %.100q: %v expected, file has none of that name", x.Name, x))
		case info.DType != x.DType || !slices.Equal(info.Shape, x.Shape):
			errs = append(errs, fmt.Errorf("weights: %.100q: %v expected, file has %v", x.Name, x, info))
		default:
			own.Raw(x.Name) // own.Err has its error
		}
	}
	return errors.Join(append(errs, own.Err())...)
}
