package keys

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/burngen/burngen/runtime/rt"
)

// Fit says which differences between a file and a model are accepted.
type Fit struct {
	AllowMissing bool // use the model's own tensors for those that the file lacks
	AllowUnused  bool // ignore tensors of the file that the model does not want
	AsIs         bool // never transpose matrices
}

// Fitted holds the tensors of a model that were taken from a file, and how they were obtained.
type Fitted struct {
	*rt.Weights
	// Own lists the tensors taken from the model itself.
	Own []string
	// Transposed lists the tensors that are transposed when they are first used. Converted lists
	// the tensors whose element type is converted.
	Transposed, Converted []string
	// Unused lists the tensors of the file that the model does not want. It leaves out constants and
	// packed weights of burngen and batch counters of normalisation layers.
	Unused []string
}

// synonyms translates the last element of a name in a normalisation layer between PyTorch and TensorFlow, in both
// directions.
var synonyms = map[string]string{
	"weight": "gamma", "bias": "beta", "running_mean": "moving_mean", "running_var": "moving_variance",
	"gamma": "weight", "beta": "bias", "moving_mean": "running_mean", "moving_variance": "running_var",
}

// ignored reports whether an unused tensor is acceptable in any file: the constants and packed
// weights that burngen writes beside the model's own weights, and the batch counters of PyTorch's
// normalisation layers.
func ignored(name string) bool {
	return strings.HasPrefix(name, rt.ConstPrefix) || strings.HasPrefix(name, rt.PreparedPrefix) || name[strings.LastIndexByte(name, '.')+1:] == "num_batches_tracked"
}

// Match returns the tensors that a model wants, with the wanted names and types, in the memory of w. If AllowMissing
// is set, or a tensor is optional, a missing tensor comes from own(). own may be nil; it is called only if a tensor
// is missing. The caller may close w before the result. Floats are converted to another floating-point type if
// necessary, and integers to another integer type. If "x.weight" is missing, "x.gamma" is used. The same holds for
// the other parameters of normalisation layers.
//
// Unless AsIs is set, a matrix of a product is transposed if its shape is the transpose of the wanted one. A square
// matrix is transposed if there are non-square matrices with the same [Layout] and all of them are transposed.
//
// Match returns an error with a line for each of these problems: a tensor is missing (the line has the most similar
// names); a tensor has another shape, or a type that cannot be converted; two wanted tensors match the same tensor
// of w; aliases have different elements; a matrix is square, and of the other matrices of its layout some are
// transposed and some are not; a tensor is unused, and AllowUnused is not set. If tensors are missing in a file that
// was prepared for one package, the error only says that.
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
		m.fail("%d are missing, and the model does not have them either: %s", len(missing), listOf(missing))
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

// prepared returns an error if wanted weights are missing and the file has packed weights.
func prepared(w *rt.Weights, missing []Want) error {
	isPrepared := func(name string) bool { return strings.HasPrefix(name, rt.PreparedPrefix) }
	if len(missing) == 0 || !slices.ContainsFunc(w.Names(), isPrepared) {
		return nil
	}
	return fmt.Errorf("weights: the file is prepared for one package: it has what kernels read (%s…) in place of %d weights of the model: %s; "+
		"open it with that package's Load, or give the source model's weights, which -weights-keep raw or both stores",
		rt.PreparedPrefix, len(missing), listOf(missing))
}

type matching struct {
	Fit
	w          *rt.Weights
	names      map[string]string // wanted names, keyed by name in the file
	types      map[string]string // types to convert to, keyed by wanted name
	transposed []string
	model      *rt.Weights // the model's own tensors, once requested
	own        []string
	unused     []string
	again      []string // further names in the file of tensors that are matched already
	errs       []error

	evidence map[Layout]evidence
	square   []Want
}

// evidence says how the non-square matrices of a layout are stored. transposed is true if some are transposed, and
// asIs if some are not.
type evidence struct{ transposed, asIs bool }

func (m *matching) fail(format string, args ...any) {
	m.errs = append(m.errs, fmt.Errorf("weights: "+format, args...))
}

// has reports whether the model's own weights have a tensor called name. own returns these weights.
func (m *matching) has(own func() *rt.Weights, name string) bool {
	if m.model == nil && own != nil {
		m.model = own()
	}
	_, ok := m.model.Info(name)
	return ok
}

// take decides which tensor of the file becomes the wanted tensor x, and whether to transpose and convert it.
// `found` has the names of the tensors that match x. take records an error if a tensor does not fit.
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

// squares decides for each square matrix whether to transpose it. It transposes the matrix if there are non-square
// matrices of the same layout and all of these are transposed. It records an error if only some of these are
// transposed.
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

// Variant returns the index of the first variant of a model whose wanted tensors are all in w. Types
// may differ if they can be converted, matrices of products may be transposed, and optional tensors
// may be missing. If there is no such variant, it returns an error that names for each variant the
// first tensor that w lacks.
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

// isIn reports whether w has a tensor that can be used for x.
func (x Want) isIn(w *rt.Weights) bool {
	found := find(w, x)
	if len(found) == 0 {
		return false
	}
	info, _ := w.Info(found[0])
	return rt.Convertible(info.DType, x.DType) &&
		(slices.Equal(info.Shape, x.Shape) || x.Layout != "" && isTranspose(info.Shape, x.Shape))
}

// find returns the names in w that match the wanted tensor x: its name, its aliases, and the [synonyms] of these.
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

// isTranspose reports whether a and b are shapes of matrices and each is the transpose of the other.
func isTranspose(a, b []int) bool {
	return len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
}

// explained is the largest number of missing tensors that an error explains in detail.
const explained = 20

// absent returns an error for each of the first [explained] missing tensors, and one error for the
// others.
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
		errs = append(errs, fmt.Errorf("weights: %.100q: %v expected, file has no such tensor%s", x.Name, x, near))
	}
	return errs
}

// nearest returns the unused names that are most similar to a wanted name. If there are unused tensors of the wanted
// shape, it considers only those.
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

func listOf(wanted []Want) string {
	names := make([]string, len(wanted))
	for i, x := range wanted {
		names[i] = x.Name
	}
	return list(names)
}
