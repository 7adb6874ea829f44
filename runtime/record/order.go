package record

import (
	"errors"
	"fmt"
	"slices"

	"github.com/burngen/burngen/runtime/rt"
)

// InOrder returns the tensors of w under the names of want, one after the other in the
// order of their names, and closes w: what a model has, in the order in which its fields
// are declared, names the tensors of a binary record of burn. Errors, all at once: another
// number of tensors, and tensors of another shape.
func InOrder(w *rt.Weights, want []rt.Info) (*rt.Weights, error) {
	if err := w.Err(); err != nil {
		return nil, err
	}
	names := w.Names()
	if len(names) != len(want) {
		return nil, fmt.Errorf("weights: %d tensors expected, file has %d", len(want), len(names))
	}
	became := map[string]string{}
	var errs []error
	for i, x := range want {
		info, _ := w.Info(names[i])
		if !slices.Equal(info.Shape, x.Shape) {
			errs = append(errs, fmt.Errorf("weights: %.100q: %v expected, tensor %d of the file is %v", x.Name, x, i, info))
		}
		became[names[i]] = x.Name
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	named, err := w.Renamed(became)
	if err != nil {
		return nil, err
	}
	return named, w.Close()
}
