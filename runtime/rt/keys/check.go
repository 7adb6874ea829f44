package keys

import (
	"errors"
	"fmt"
	"slices"

	"github.com/burngen/burngen/runtime/rt"
)

// Check returns an error if w does not hold a model's weights under the model's own names. The
// error lists all tensors that are missing and not Optional, that have another type or shape, or
// that cannot be read.
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
			errs = append(errs, fmt.Errorf("weights: %.100q: %v expected, file has no such tensor", x.Name, x))
		case info.DType != x.DType || !slices.Equal(info.Shape, x.Shape):
			errs = append(errs, fmt.Errorf("weights: %.100q: %v expected, file has %v", x.Name, x, info))
		default:
			own.Raw(x.Name) // own.Err returns its error
		}
	}
	return errors.Join(append(errs, own.Err())...)
}
