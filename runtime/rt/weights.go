package rt

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/burngen/burngen/runtime/rt/safetensors"
)

// Weights are named tensors: a safetensors file in memory, or tensors that a program added.
// Generated code reads all of them with [WeightsOf] and then checks Err once. All methods are safe
// for use by several goroutines at once.
//
// Tensors are used in place if possible and must not be modified. A nil Weights and the zero
// Weights have no tensors, and tensors cannot be added to them. Their Err returns an error that
// says so.
type Weights struct {
	*tensors

	failed sync.Mutex
	errs   []error
}

type tensors struct {
	mu       sync.RWMutex
	byName   map[string]*tensor
	metadata map[string]string
	late     map[string]late // metadata that is not yet computed
	digest   string          // digest that the file records

	broken error        // why the weights could not be opened
	refs   atomic.Int64 // owners that keep the memory, reads under way, and 1 until Close
	closed atomic.Bool
	unmap  func() error // releases the mapped memory, once; nil if none is mapped
}

type tensor struct {
	Info
	raw  []byte
	lazy *lazy    // computes raw; nil if raw is set
	home *tensors // the weights that own its memory
}

type lazy struct {
	mu   sync.Mutex
	read func(room []byte) ([]byte, error) // nil once raw and err are set
	fill bool                              // read uses the capacity of room if that suffices
	raw  []byte
	err  error
}

// bytes returns the elements as they are stored. It computes lazy elements once and caches them.
func (t *tensor) bytes() ([]byte, error) {
	l := t.lazy
	if l == nil {
		return t.raw, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.read != nil {
		l.raw, l.err = t.make(l.read, nil)
		l.read = nil
	}
	return l.raw, l.err
}

// once is like [tensor.bytes], but does not cache its result. Elements that have to be computed may
// be stored in the capacity of `room`.
func (t *tensor) once(room []byte) ([]byte, error) {
	l := t.lazy
	if l == nil {
		return t.raw, nil
	}
	l.mu.Lock()
	read := l.read
	l.mu.Unlock()
	if read == nil {
		return t.bytes()
	}
	return t.make(read, room)
}

// make returns the bytes that read(room) computes. read may store them in the capacity of room. It
// returns an error if their number is not the size of the tensor.
func (t *tensor) make(read func(room []byte) ([]byte, error), room []byte) ([]byte, error) {
	raw, err := read(room)
	if err == nil && int64(len(raw)) != t.Bytes {
		err = fmt.Errorf("%v is not %d bytes", t.Info, len(raw))
	}
	return raw, err
}

// Info describes a tensor.
type Info struct {
	Name  string
	DType string // as [DTypeOf] spells it, or a type of files only: i4, u4, i2, u2, c64, f6e2m3, f6e3m2
	Shape []int  // empty for a scalar
	Bytes int64  // as stored
}

// String returns the type and shape as text, such as "f32[8,1,3,3]".
func (i Info) String() string { return formatType(i.DType, i.Shape) }

func formatType(dtype string, shape []int) string {
	b := append([]byte(dtype), '[')
	for k, n := range shape {
		if k > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return string(append(b, ']'))
}

// OpenWeights returns the weights in data, the contents of a safetensors file. Generated code gets
// data from an embedded file.
func OpenWeights(data string) *Weights { return ParseWeights(bytesOf(data)) }

// ParseWeights returns the weights in data, a complete safetensors file. data must not change while
// the weights are in use. Err returns errors of the file.
func ParseWeights(data []byte) *Weights {
	w := NewWeights()
	if err := w.parse(data); err != nil {
		return broken(fmt.Errorf("weights: %w", err))
	}
	return w
}

// NewWeights returns empty weights, for use with [Add].
func NewWeights() *Weights {
	t := &tensors{byName: map[string]*tensor{}, metadata: map[string]string{}, late: map[string]late{}}
	t.refs.Store(1)
	return &Weights{tensors: t}
}

func broken(err error) *Weights {
	w := NewWeights()
	w.broken = err
	return w
}

func (t *tensors) parse(data []byte) error {
	h, err := safetensors.Parse(data)
	if err != nil {
		return err
	}
	for _, e := range h.Tensors {
		shape := make([]int, len(e.Shape))
		for i, n := range e.Shape {
			if n > math.MaxInt {
				return fmt.Errorf("%.100q: extent %d does not fit an int", e.Name, n)
			}
			shape[i] = int(n)
		}
		raw := data[h.Data+e.Begin : h.Data+e.End : h.Data+e.End]
		t.byName[e.Name] = &tensor{Info: Info{e.Name, dtypeOf[e.DType], shape, int64(len(raw))}, raw: raw, home: t}
	}
	for _, key := range slices.Sorted(maps.Keys(h.Metadata)) {
		value := h.Metadata[key]
		switch name, isNote := strings.CutPrefix(key, notePrefix); {
		case isNote:
			if err := t.note(name, value); err != nil {
				return err
			}
		case key == digestKey:
			t.digest = value
		default:
			t.metadata[key] = value
		}
	}
	return nil
}

// Fork returns another handle on the same tensors. The new handle does not have the errors that
// uses of w have caused: weights that do not fit one model can still be loaded into another.
// LoadFrom works on a fork. Fork of nil or zero Weights returns nil.
func (w *Weights) Fork() *Weights {
	if w.none() {
		return nil
	}
	return &Weights{tensors: w.tensors}
}

// Without returns the weights of w without the tensors whose names start with one of the prefixes.
// The result shares the memory of w, which Without closes. For each prefix it also drops the
// metadata entry with the key SourcesPrefix+prefix. The result's method Err returns the errors of
// w. Without of nil or zero Weights returns nil.
func (w *Weights) Without(prefixes ...string) *Weights {
	if w.none() {
		return nil
	}
	out := NewWeights()
	out.broken = w.Err()
	for _, name := range w.Names() {
		begins := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
		if t := w.find(name); t != nil && !slices.ContainsFunc(prefixes, begins) {
			out.byName[name] = t
		}
	}
	w.mu.RLock()
	out.metadata, out.late = maps.Clone(w.metadata), maps.Clone(w.late)
	w.mu.RUnlock()
	for _, prefix := range prefixes {
		out.DropMetadata(SourcesPrefix + prefix)
	}
	Keep(out.tensors, w)
	w.Close()
	return out
}

func (w *Weights) none() bool { return w == nil || w.tensors == nil }

// fail records an error of the weights, prefixed with "weights".
func (w *Weights) fail(err error) { w.blame(fmt.Errorf("weights: %w", err)) }

func (w *Weights) blame(err error) {
	w.failed.Lock()
	w.errs = append(w.errs, err)
	w.failed.Unlock()
}

// Err returns one error with all errors of opening the weights and of using this handle, or nil.
func (w *Weights) Err() error {
	if w.none() {
		return errors.New("weights: none given")
	}
	w.failed.Lock()
	defer w.failed.Unlock()
	return errors.Join(append([]error{w.broken}, w.errs...)...)
}

func (w *Weights) find(name string) *tensor {
	if w.none() {
		return nil
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.byName[name]
}

// Names returns the names of all tensors, sorted.
func (w *Weights) Names() []string {
	if w.none() {
		return nil
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	return slices.Sorted(maps.Keys(w.byName))
}

// Info returns the description of the tensor called name, and whether it exists.
func (w *Weights) Info(name string) (Info, bool) {
	t := w.find(name)
	if t == nil {
		return Info{}, false
	}
	info := t.Info
	info.Shape = slices.Clone(info.Shape)
	return info, true
}

// Raw returns the bytes of a tensor as they are stored, little-endian. It returns nil if there is
// no such tensor or the weights are closed. If the bytes cannot be read it returns nil, and Err
// returns the error.
func (w *Weights) Raw(name string) []byte { return w.raw(name, (*tensor).bytes) }

// RawOnce is like Raw for a caller that needs the bytes only once. It does not cache bytes that
// have to be computed, so that a loop over all tensors needs memory for only one at a time.
func (w *Weights) RawOnce(name string) []byte {
	return w.raw(name, func(t *tensor) ([]byte, error) { return t.once(nil) })
}

func (w *Weights) raw(name string, bytes func(*tensor) ([]byte, error)) []byte {
	t := w.find(name)
	if t == nil || w.closed.Load() || !w.retain() {
		return nil
	}
	defer w.release()
	raw, err := bytes(t)
	if err != nil {
		w.fail(fmt.Errorf("%.100q: %w", name, err))
		return nil
	}
	return raw
}
