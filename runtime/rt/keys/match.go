package keys

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/burngen/burngen/runtime/rt"
)

// Fit says how weights may differ from what a model wants.
type Fit struct {
	AllowMissing bool // tensors that are wanted and not there are the model's own
	AllowUnused  bool // tensors that are there and not wanted are passed over
	AsIs         bool // matrices are in the model's layouts
}

// Fitted are the tensors that a model wants, and how they came about.
type Fitted struct {
	*rt.Weights
	// Own are the names of tensors that are the model's own.
	Own []string
	// Transposed and Converted are the names of tensors that are put into another layout,
	// or to floats of another width, when they are first used.
	Transposed, Converted []string
	// Unused are the names of tensors that were passed over.
	Unused []string
}

// synonyms are other names of a tensor's last part: those of normalisations in models
// that come from TensorFlow.
var synonyms = map[string]string{
	"weight": "gamma", "bias": "beta", "running_mean": "moving_mean", "running_var": "moving_variance",
	"gamma": "weight", "beta": "bias", "moving_mean": "running_mean", "moving_variance": "running_var",
}

// ignored reports whether a tensor may be passed over in any file: constants, and what
// kernels read, beside the weights that burngen writes, and the counters of PyTorch's
// normalisations, which nothing reads.
func ignored(name string) bool {
	return strings.HasPrefix(name, rt.ConstPrefix) || strings.HasPrefix(name, rt.PreparedPrefix) || name[strings.LastIndexByte(name, '.')+1:] == "num_batches_tracked"
}

// Match returns the tensors of w that a model wants, under the names and with the
// types it wants, in the same memory; those that w lacks and need not have are taken from
// what own returns, which is asked once and may be nil. w may be closed before the result
// is. Floats and integers of another width are converted. Where "x.weight" is not there,
// "x.gamma" stands for it, and so on for the parameters of normalisations.
//
// A matrix of a product whose shape is the transpose of the one that is wanted is
// transposed. A square one is, if those of other shapes with its [Layout] all are.
//
// Errors, all at once, a line each: tensors missing, with the names that are nearest,
// tensors of another shape or of a type that is not converted, aliases with different
// elements, square matrices beside some that are transposed and some that are not, and
// tensors not used. A file that was prepared for one package is one error that says so.
func (f Fit) Match(w *rt.Weights, own func() *rt.Weights, wanted []Want) (*Fitted, error) {
	if err := w.Err(); err != nil {
		return nil, err
	}
	m := &matching{Fit: f, w: w, names: map[string]string{}, types: map[string]string{}, evidence: map[Layout]evidence{}}
	var missing []Want
	for _, x := range wanted {
		switch found := find(w, x); {
		case len(found) > 0:
			m.take(x, found)
		case (f.AllowMissing || x.Optional) && m.has(own, x.Name):
			m.own = append(m.own, x.Name)
		case x.Optional:
		default:
			missing = append(missing, x)
		}
	}
	if err := prepared(w, missing); err != nil {
		return nil, err
	}
	m.squares()
	for _, name := range w.Names() {
		if m.names[name] == "" && !ignored(name) {
			m.unused = append(m.unused, name)
		}
	}
	if f.AllowMissing && len(missing) > 0 {
		m.fail("%d are missing, and there are none of the model's own in their place: %s", len(missing), listOf(missing))
	} else {
		m.errs = append(m.errs, m.absent(missing)...)
	}
	if !f.AllowUnused && len(m.unused) > 0 {
		m.fail("%d not used: %s", len(m.unused), list(m.unused))
	}
	if err := errors.Join(m.errs...); err != nil {
		return nil, err
	}
	return m.fitted()
}

// prepared returns an error if weights are missing in a file that has what kernels read in
// their place.
func prepared(w *rt.Weights, missing []Want) error {
	isPrepared := func(name string) bool { return strings.HasPrefix(name, rt.PreparedPrefix) }
	if len(missing) == 0 || !slices.ContainsFunc(w.Names(), isPrepared) {
		return nil
	}
	return fmt.Errorf("weights: the file is prepared for one package: it has what kernels read (%s…) in place of %d weights of the model: %s; "+
		"open it with that package's Load, or give the source model's weights, which -weights-keep raw or both stores",
		rt.PreparedPrefix, len(missing), listOf(missing))
}

// matching is what there is of a match.
type matching struct {
	Fit
	w          *rt.Weights
	names      map[string]string // of tensors in the file: what they are wanted as
	types      map[string]string // to convert to, by wanted name
	transposed []string
	model      *rt.Weights // the model's own, once they were asked for
	own        []string
	unused     []string
	again      []string // names in the file of tensors that were taken by another
	errs       []error

	evidence map[Layout]evidence
	square   []Want
}

// evidence is what matrices that are not square tell of a layout.
type evidence struct{ transposed, asIs bool }

func (m *matching) fail(format string, args ...any) {
	m.errs = append(m.errs, fmt.Errorf("weights: "+format, args...))
}

// has reports whether the model has a tensor of its own.
func (m *matching) has(own func() *rt.Weights, name string) bool {
	if m.model == nil && own != nil {
		m.model = own()
	}
	_, ok := m.model.Info(name)
	return ok
}

// take takes a wanted tensor out of the file, where it has one or more names.
func (m *matching) take(x Want, found []string) {
	info, _ := m.w.Info(found[0])
	for _, name := range found {
		if as := m.names[name]; as != "" {
			m.fail("%.100q: already used as %.100q", x.Name, as)
			return
		}
	}
	for _, name := range found {
		m.names[name] = x.Name
	}
	for _, name := range found[1:] {
		m.again = append(m.again, name)
		other, _ := m.w.Info(name)
		if other.String() != info.String() || !bytes.Equal(m.w.Raw(found[0]), m.w.Raw(name)) {
			m.fail("%.100q and %.100q are one tensor in the model, and differ in the file", found[0], name)
		}
	}
	turned := isTranspose(x.Shape, info.Shape)
	matrix := x.Layout != "" && !m.AsIs
	switch e := m.evidence[x.Layout]; {
	case slices.Equal(x.Shape, info.Shape):
		if matrix && turned {
			m.square = append(m.square, x)
		} else if matrix {
			e.asIs = true
			m.evidence[x.Layout] = e
		}
	case turned && matrix:
		e.transposed = true
		m.evidence[x.Layout] = e
		m.transposed = append(m.transposed, x.Name)
	default:
		why := ""
		if turned {
			why = ", its transpose"
		}
		m.fail("%.100q: %v expected, file has %v%s", x.Name, x, info, why)
		return
	}
	switch {
	case info.DType == x.DType:
	case rt.Convertible(info.DType, x.DType):
		m.types[x.Name] = x.DType
	default:
		m.fail("%.100q: %v expected, file has %v", x.Name, x, info)
	}
}

// squares decides for square matrices whether they are transposed.
func (m *matching) squares() {
	for _, x := range m.square {
		switch e := m.evidence[x.Layout]; {
		case e.transposed && e.asIs:
			m.fail("%.100q: is square, and of the others some are transposed and some are not: say which to transpose", x.Name)
		case e.transposed:
			m.transposed = append(m.transposed, x.Name)
		}
	}
}

// fitted returns the tensors.
func (m *matching) fitted() (*Fitted, error) {
	for _, name := range m.again {
		delete(m.names, name)
	}
	w, err := m.w.Renamed(m.names)
	if err != nil {
		return nil, err
	}
	w.Share(m.model, m.own...)
	err = errors.Join(w.Transpose(m.transposed...), w.Convert(m.types), w.Err())
	if err != nil {
		w.Close()
		return nil, err
	}
	out := &Fitted{Weights: w, Own: m.own, Transposed: m.transposed, Unused: m.unused}
	for _, name := range w.Names() {
		if m.types[name] != "" {
			out.Converted = append(out.Converted, name)
		}
	}
	return out, nil
}

// Variant returns the first of several lists of wanted tensors, of which each is a
// variant of a model, that are all in w with their shapes. Errors: that there is
// none, with what is wrong with each.
func Variant(w *rt.Weights, variants ...[]Want) (int, error) {
	if err := w.Err(); err != nil {
		return 0, err
	}
	var errs []error
	for i, wanted := range variants {
		at := slices.IndexFunc(wanted, func(x Want) bool { return !x.Optional && !x.isIn(w) })
		if at < 0 {
			return i, nil
		}
		errs = append(errs, fmt.Errorf("weights: variant %d: %.100q: %v expected, file has no such tensor", i, wanted[at].Name, wanted[at]))
	}
	return 0, errors.Join(errs...)
}

// isIn reports whether there is a tensor that can be taken.
func (x Want) isIn(w *rt.Weights) bool {
	found := find(w, x)
	if len(found) == 0 {
		return false
	}
	info, _ := w.Info(found[0])
	return rt.Convertible(info.DType, x.DType) &&
		(slices.Equal(info.Shape, x.Shape) || x.Layout != "" && isTranspose(info.Shape, x.Shape))
}

// find returns the names that a file has for a wanted tensor.
func find(w *rt.Weights, x Want) []string {
	var found []string
	for _, name := range append([]string{x.Name}, x.Aliases...) {
		if _, ok := w.Info(name); ok {
			found = append(found, name)
			continue
		}
		at := strings.LastIndexByte(name, '.') + 1
		if other, ok := synonyms[name[at:]]; ok {
			if _, ok := w.Info(name[:at] + other); ok {
				found = append(found, name[:at]+other)
			}
		}
	}
	return found
}

// isTranspose reports whether two shapes are of matrices that are each other's transpose.
func isTranspose(a, b []int) bool {
	return len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
}

// explained is how many missing tensors an error has a line for.
const explained = 20

// absent returns an error for every missing tensor.
func (m *matching) absent(missing []Want) []error {
	var errs []error
	for i, x := range missing {
		if i == explained {
			errs = append(errs, fmt.Errorf("weights: %d more are missing", len(missing)-i))
			break
		}
		near := ""
		if names := m.nearest(x); len(names) > 0 {
			near = "; nearest: " + list(names)
		}
		errs = append(errs, fmt.Errorf("weights: %.100q: %v expected, file has none of that name%s", x.Name, x, near))
	}
	return errs
}

// nearest returns the unused names that a tensor is most likely called by: of tensors with
// its shape, where there are such.
func (m *matching) nearest(x Want) []string {
	alike := slices.DeleteFunc(slices.Clone(m.unused), func(name string) bool {
		info, _ := m.w.Info(name)
		return !slices.Equal(info.Shape, x.Shape)
	})
	if names := Nearest(x.Name, alike); len(names) > 0 {
		return names
	}
	return Nearest(x.Name, m.unused)
}

// listOf returns the names of tensors for an error.
func listOf(wanted []Want) string {
	names := make([]string, len(wanted))
	for i, x := range wanted {
		names[i] = x.Name
	}
	return list(names)
}
