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

// Weights are named tensors: a safetensors file in memory, or what a program put
// together. Generated code reads them with [WeightsOf] and asks once, at the end,
// what went wrong. All methods may be called from several goroutines at once.
//
// Tensors are used where they lie as far as that is possible, and must not be
// written. A nil Weights and the zero Weights have no tensors and take none; that none
// are given is what their Err says.
type Weights struct {
	*tensors

	failed sync.Mutex
	errs   []error
}

// tensors are what the handles of Weights share.
type tensors struct {
	mu       sync.RWMutex
	byName   map[string]*tensor
	metadata map[string]string
	late     map[string]late // metadata, too
	digest   string          // as the file records it

	broken error        // why there are no tensors
	refs   atomic.Int64 // handles not closed and owners that keep them
	closed atomic.Bool
	unmap  func() error // gives the mapped memory back, once; nil if there is none
}

// tensor is one of them. Elements are stored as in a file; see store.
type tensor struct {
	Info
	raw  []byte
	lazy *lazy    // what raw will be, nil if it is there
	home *tensors // in whose memory it lies
}

// lazy is the bytes of a tensor that are made when they are asked for.
type lazy struct {
	mu   sync.Mutex
	read func(room []byte) ([]byte, error)
	fill bool // read uses the capacity of room where that is enough
	made bool // raw and err are there
	raw  []byte
	err  error
}

// bytes returns the elements as they are stored, and keeps them.
func (t *tensor) bytes() ([]byte, error) {
	l := t.lazy
	if l == nil {
		return t.raw, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.made {
		l.raw, l.err = t.make(l.read, nil)
		l.read, l.made = nil, true
	}
	return l.raw, l.err
}

// once returns the elements as they are stored, but does not keep them for others: those
// that have to be made may lie in the capacity of room.
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

// make returns what read does, which has to have the size of the tensor.
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
	DType string // as [DTypeOf] spells it, and "i4", "u4", "i2", "u2"
	Shape []int  // empty for a scalar
	Bytes int64  // as stored
}

// String returns "f32[8,1,3,3]".
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

// OpenWeights returns the weights in data, the text of a safetensors file, as
// generated code has it from go:embed.
func OpenWeights(data string) *Weights { return ParseWeights(bytesOf(data)) }

// ParseWeights returns the weights in data, a whole safetensors file, which must
// not change as long as they are used. What is wrong with the file shows in Err.
func ParseWeights(data []byte) *Weights {
	w := NewWeights()
	if err := w.parse(data); err != nil {
		return broken(fmt.Errorf("weights: %w", err))
	}
	return w
}

// NewWeights returns weights without tensors, to [Add] to.
func NewWeights() *Weights {
	t := &tensors{byName: map[string]*tensor{}, metadata: map[string]string{}, late: map[string]late{}}
	t.refs.Store(1)
	return &Weights{tensors: t}
}

// broken returns weights that could not be opened.
func broken(err error) *Weights {
	w := NewWeights()
	w.broken = err
	return w
}

// parse fills t with what data holds.
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

// Fork returns another handle on the same tensors, with no errors of its own
// yet. LoadFrom works on a fork, so that weights which do not fit one model can
// still be loaded into another.
func (w *Weights) Fork() *Weights {
	if w.none() {
		return nil
	}
	return &Weights{tensors: w.tensors}
}

// Without returns another handle on the tensors whose names begin with none of the
// prefixes, without what metadata say of the sources of others, and closes w.
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

// none reports whether there are no weights to speak of: they were not made by a function
// of this package.
func (w *Weights) none() bool { return w == nil || w.tensors == nil }

// fail records an error of the weights.
func (w *Weights) fail(err error) { w.blame(fmt.Errorf("weights: %w", err)) }

// blame records an error that says where it comes from.
func (w *Weights) blame(err error) {
	w.failed.Lock()
	w.errs = append(w.errs, err)
	w.failed.Unlock()
}

// Err returns everything that went wrong in opening the weights and with this
// handle, joined, or nil.
func (w *Weights) Err() error {
	if w.none() {
		return errors.New("weights: none given")
	}
	w.failed.Lock()
	defer w.failed.Unlock()
	return errors.Join(append([]error{w.broken}, w.errs...)...)
}

// find returns the tensor of a name, nil if there is none.
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

// Info describes the tensor of a name and reports whether there is one.
func (w *Weights) Info(name string) (Info, bool) {
	t := w.find(name)
	if t == nil {
		return Info{}, false
	}
	info := t.Info
	info.Shape = slices.Clone(info.Shape)
	return info, true
}

// Raw returns the bytes of a tensor as they are stored, little-endian, nil if
// there is no tensor of that name or the weights are closed. Bytes that cannot be
// read are an error that Err returns; the result is then nil.
func (w *Weights) Raw(name string) []byte { return w.raw(name, (*tensor).bytes) }

// RawOnce is Raw for who needs the bytes once: those that have to be made of others
// are not kept, so that memory for one tensor is enough to go through all.
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
