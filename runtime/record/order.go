package record

import (
	"errors"
	"fmt"
	"slices"

	"github.com/burngen/burngen/runtime/rt"
)

// InOrder gives the tensors of w the names of `want`, in order, and closes w. The first tensor gets the first name,
// and so on. Use it for burn's binary records, whose tensors have no names and are in the order of the model's
// fields. It returns an error if the number of tensors or a shape differs; the error lists all shapes that differ.
// It also returns the errors of w. After an error w stays open.
func InOrder(w *rt.Weights, want []rt.Info) (*rt.Weights, error) {
	if err := w.Err(); err != nil {
		return nil, err
	}
	names := w.Names()
	if len(names) != len(want) {
		return nil, fmt.Errorf("weights: want %d tensors, the file has %d", len(want), len(names))
	}
	became := map[string]string{}
	var errs []error
	for i, x := range want {
		info, _ := w.Info(names[i])
		if !slices.Equal(info.Shape, x.Shape) {
			errs = append(errs, fmt.Errorf("weights: %.100q: want %v, tensor %d of the file is %v", x.Name, x, i, info))
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
