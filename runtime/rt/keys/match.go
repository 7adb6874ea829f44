package keys

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/burngen/burngen/runtime/rt"
)

// Fit says how weights may differ from what a model wants.
type Fit struct {
	AllowMissing bool // tensors that are wanted and not there are left out
	AllowUnused  bool // tensors that are there and not wanted are left out
}

// aliases are other names of a tensor's last part: those of normalisations in models
// that come from TensorFlow.
var aliases = map[string]string{"weight": "gamma", "bias": "beta"}

// Match returns the tensors of w that a model wants, under the names and with the
// types it wants, in the same memory, and closes w. Floats and integers of another width
// are converted when they are read. Where "x.weight" or "x.bias" is not there, "x.gamma"
// or "x.beta" stands for it. Errors, all at once, a line each: tensors missing,
// with the names that are nearest, tensors of another shape or of a type that is not
// converted, and tensors not used.
func (f Fit) Match(w *rt.Weights, want []rt.Info) (*rt.Weights, error) {
	if err := w.Err(); err != nil {
		return nil, err
	}
	names, types := map[string]string{}, map[string]string{}
	var errs []error
	var missing []rt.Info
	for _, x := range want {
		old, info, ok := find(w, x.Name)
		switch {
		case !ok:
			missing = append(missing, x)
			continue
		case names[old] != "":
			errs = append(errs, fmt.Errorf("weights: %.100q: already used as %.100q", x.Name, names[old]))
		case !slices.Equal(info.Shape, x.Shape):
			errs = append(errs, fmt.Errorf("weights: %.100q: %v expected, file has %v%s", x.Name, x, info, transposed(x.Shape, info.Shape)))
		case info.DType != x.DType && !rt.Convertible(info.DType, x.DType):
			errs = append(errs, fmt.Errorf("weights: %.100q: %v expected, file has %v", x.Name, x, info))
		case info.DType != x.DType:
			types[x.Name] = x.DType
		}
		names[old] = x.Name
	}
	var unused []string
	for _, name := range w.Names() {
		if names[name] == "" {
			unused = append(unused, name)
		}
	}
	if !f.AllowMissing {
		errs = append(errs, absent(missing, unused)...)
	}
	if !f.AllowUnused && len(unused) > 0 {
		errs = append(errs, fmt.Errorf("weights: %d not used: %s", len(unused), list(unused)))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	fitting, err := w.Renamed(names)
	if err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return fitting, fitting.Convert(types)
}

// Variant returns the first of several lists of wanted tensors, of which each is a
// variant of a model, that are all in w with their shapes. Errors: that there is
// none, with what is wrong with each.
func Variant(w *rt.Weights, variants ...[]rt.Info) (int, error) {
	if err := w.Err(); err != nil {
		return 0, err
	}
	var errs []error
	for i, want := range variants {
		at := slices.IndexFunc(want, func(x rt.Info) bool {
			_, info, ok := find(w, x.Name)
			return !ok || !slices.Equal(info.Shape, x.Shape) || !rt.Convertible(info.DType, x.DType)
		})
		if at < 0 {
			return i, nil
		}
		errs = append(errs, fmt.Errorf("weights: variant %d: %.100q: %v expected, file has no such tensor", i, want[at].Name, want[at]))
	}
	return 0, errors.Join(errs...)
}

// find returns the tensor of a name, or of another name for it.
func find(w *rt.Weights, name string) (string, rt.Info, bool) {
	if info, ok := w.Info(name); ok {
		return name, info, true
	}
	at := strings.LastIndexByte(name, '.') + 1
	if alias := aliases[name[at:]]; alias != "" {
		name = name[:at] + alias
		info, ok := w.Info(name)
		return name, info, ok
	}
	return "", rt.Info{}, false
}

// transposed says so if two shapes are each other's transpose.
func transposed(a, b []int) string {
	if len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0] {
		return ", its transpose"
	}
	return ""
}

// explained is how many missing tensors an error has a line for.
const explained = 20

// absent returns an error for every missing tensor.
func absent(missing []rt.Info, unused []string) []error {
	var errs []error
	for i, x := range missing {
		if i == explained {
			errs = append(errs, fmt.Errorf("weights: %d more are missing", len(missing)-i))
			break
		}
		near := ""
		if names := Nearest(x.Name, unused); len(names) > 0 {
			near = "; nearest: " + list(names)
		}
		errs = append(errs, fmt.Errorf("weights: %.100q: %v expected, file has none of that name%s", x.Name, x, near))
	}
	return errs
}
