package pytorch

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/burngen/burngen/pytorch/pickle"
	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/rt/keys"
)

// Option selects and renames the tensors that [Open] returns. LoadFrom of a generated package takes
// the same options.
type Option = keys.Option

// TopKey selects the tensors below a key, such as "model_state_dict" or "state.model". It removes
// the key from their names.
func TopKey(key string) Option { return keys.TopKey(key) }

// Remap renames tensors by a rule "regex=>replacement"; see [keys.ParseRule]. Several rules are
// applied one after the other.
func Remap(rule string) Option { return keys.Remap(rule) }

// Renumber closes gaps in indices: "fc.0", "fc.2" and "fc.4" become "fc.0", "fc.1" and "fc.2".
func Renumber() Option { return keys.Renumber() }

// Transpose transposes the matrices whose rewritten names match a regular expression.
func Transpose(pattern string) Option { return keys.Transpose(pattern) }

// Open returns the weights in a file that PyTorch saved. The file is mapped and must not be
// truncated while the weights are in use. Closing the weights unmaps it. A tensor that burngen
// cannot hold, such as a sparse or quantised one, is listed as u8[0], and its use is an error.
//
// Open returns an error if the file has another format, is damaged, or mentions a Python name that
// is not allowed. The error is one line that starts with the path.
func Open(path string, options ...Option) (*rt.Weights, error) {
	return finish(rt.ReadWeightsFile(path, load), options)
}

// OpenIndex returns the weights of a model that is saved in several PyTorch files. `path` is the
// path of the index file, "pytorch_model.bin.index.json", which is in the same folder. OpenIndex
// returns the errors of [Open] and [rt.OpenWeightsIndex].
func OpenIndex(path string, options ...Option) (*rt.Weights, error) {
	return finish(rt.ReadWeightsIndex(path, func(file string) *rt.Weights { return rt.ReadWeightsFile(file, load) }), options)
}

// Parse returns the weights in data, the contents of a file. data must not change while the weights
// are in use. Parse returns the errors of [Open].
func Parse(data []byte, options ...Option) (*rt.Weights, error) {
	w := rt.NewWeights()
	if err := load(w, data); err != nil {
		return nil, fmt.Errorf("weights: %w", err)
	}
	return finish(w, options)
}

// finish applies options to w. It returns an error if an option says that tensors may be missing or
// unused, because only LoadFrom can check that. If finish returns an error, it closes w.
func finish(w *rt.Weights, options []Option) (*rt.Weights, error) {
	if err := w.Err(); err != nil {
		w.Close()
		return nil, err
	}
	o, err := keys.NewOptions(options...)
	if err == nil && o.Fit != (keys.Fit{}) {
		err = errors.New("weights: what may be missing or unused is for LoadFrom to know")
	}
	var renamed *rt.Weights
	if err == nil {
		renamed, err = o.Apply(w)
	}
	if err != nil {
		w.Close()
		return nil, err
	}
	return renamed, nil
}

func load(w *rt.Weights, file []byte) error {
	l, top, err := read(file)
	if err != nil {
		return err
	}
	if err := l.check(); err != nil {
		return err
	}
	return l.name(top, func(name string, t *tensor) error {
		if t.refused != nil {
			w.AddFunc(name, "u8", []int{0}, func() ([]byte, error) { return nil, t.refused })
		} else {
			w.AddFunc(name, t.element.dtype, t.shape, t.read)
		}
		return w.Err()
	})
}

type loader struct {
	// the file is a TorchScript archive
	script bool
	// remaining memory, in units of about 64 bytes
	budget int

	// returns the storage of a key; numel is the number of elements that the pickle declares
	find     func(key string, e element, numel int64) (*storage, error)
	storages map[string]*storage
	// mentioned classes whose names are unknown
	inert map[*pickle.Class]bool

	// records whose checksums are verified
	records []*record
}

// forms lists the file formats. The first form for which is(file) is true reads the file.
var forms = []struct {
	is   func(file []byte) bool
	read func(l *loader, file []byte) (pickle.Value, error)
}{
	{func(f []byte) bool { return bytes.HasPrefix(f, []byte("PK")) }, (*loader).zip},
	{isTar, (*loader).tar},
	{isLegacy, (*loader).legacy},
}

// read unpickles a file of any of the forms. It returns the loader and the unpickled value.
func read(file []byte) (*loader, pickle.Value, error) {
	l := &loader{storages: map[string]*storage{}}
	for _, form := range forms {
		if form.is(file) {
			top, err := form.read(l, file)
			if err == nil {
				err = l.useless()
			}
			return l, top, err
		}
	}
	return nil, nil, errors.New("PyTorch did not save this file: it is not an archive, and does not start with the magic number")
}

// spend deducts units from the memory budget. A unit is about 64 bytes. spend returns an error if
// the budget is exhausted.
func (l *loader) spend(units int) error {
	if l.budget -= units; l.budget < 0 {
		return errors.New("the values of the pickle take too much memory")
	}
	return nil
}

// freeUnits is the smallest memory budget for reading one pickle, in units of [loader.spend]. The
// budget is one unit larger for every four bytes of the pickle. Bytes beyond countedPickle do not
// count.
const (
	freeUnits     = 1 << 17
	countedPickle = 16 << 20
)

// unpickle reads the pickle at the start of data. It returns the pickled value and the pickle's
// length in bytes. persistent returns the object with a persistent id, which is how a pickle refers
// to a storage.
func (l *loader) unpickle(data []byte, persistent func(pickle.Value) (pickle.Value, error)) (pickle.Value, int, error) {
	l.budget = freeUnits + min(len(data), countedPickle)/4
	r := pickle.Reader{Global: l.global, Persistent: persistent}
	v, n, err := r.Read(data)
	var call *pickle.CallError
	if errors.As(err, &call) {
		if strings.HasPrefix(call.Class.Module, "torch.nn.") {
			err = fmt.Errorf("%w: %w", err, errWhole)
		} else {
			err = fmt.Errorf("%w: if %w", err, errWhole)
		}
	}
	return v, n, err
}

// errWhole is the error of a file that torch.save(model) wrote.
var errWhole = errors.New("the file has a whole model; save only its weights: torch.save(model.state_dict(), FILE)")

// storageOf returns a storage. v is the storage itself, or its persistent id.
func (l *loader) storageOf(v pickle.Value) (*storage, error) {
	switch v := v.(type) {
	case *storage:
		return v, nil
	case *pickle.Tuple:
		got, err := l.persistent(v)
		if s, ok := got.(*storage); ok {
			return s, err
		}
		return nil, err
	}
	return nil, errors.New("want a storage")
}

// persistent returns the storage with a persistent id. The id is ("storage", class, key, location,
// numel, view). view may be missing or None, or is (key, offset, numel).
func (l *loader) persistent(id pickle.Value) (pickle.Value, error) {
	list, ok := items(id)
	if len(list) > 0 && list[0] == "module" { // for legacy files
		return nil, errWhole
	}
	if !ok || len(list) < 5 || list[0] != "storage" {
		return nil, errors.New(`the identifier is not ("storage", class, key, location, size)`)
	}
	e, ok := elementOf(list[1])
	if !ok {
		return nil, errors.New("want a class of storages")
	}
	key, ok := keyOf(list[2])
	numel, ok2 := list[4].(int64)
	if !ok || !ok2 || numel < 0 || numel > math.MaxInt64/e.width {
		return nil, errors.New("the key or the size of a storage has the wrong type")
	}
	s := l.storages[key]
	if s == nil {
		if err := l.spend(8); err != nil {
			return nil, err
		}
		var err error
		if s, err = l.find(key, e, numel); err != nil {
			return nil, fmt.Errorf("storage %.100q: %w", key, err)
		}
		l.storages[key] = s
	}
	if s.element.width != e.width || s.element.dtype != e.dtype || s.numel != numel {
		return nil, fmt.Errorf("storage %.100q has %d elements %s here, %d %s elsewhere", key, numel, e.name, s.numel, s.element.name)
	}
	if len(list) < 6 || list[5] == nil {
		return s, nil
	}
	view, _ := items(list[5])
	if len(view) != 3 {
		return nil, errors.New("a view of a storage is not (key, offset, size)")
	}
	offset, ok := view[1].(int64)
	size, ok2 := view[2].(int64)
	if !ok || !ok2 {
		return nil, errors.New("a view of a storage is not (key, offset, size)")
	}
	return s.sub(offset, size)
}

// keyOf returns the key of a storage as text. v is a string, or an int in old files. keyOf returns
// false for other values.
func keyOf(v pickle.Value) (string, bool) {
	switch v.(type) {
	case string, int64:
		return fmt.Sprint(v), true
	}
	return "", false
}

// checkedAtOnce is the maximum number of bytes of records that are verified when a file is opened.
// The other records are verified when they are first used.
const checkedAtOnce = 64 << 20

// check verifies the checksums of records, in order, up to checkedAtOnce bytes in total.
func (l *loader) check() error {
	var total uint64
	for _, r := range l.records {
		if total += r.size; total > checkedAtOnce {
			return nil
		}
		if err := r.check(); err != nil {
			return fmt.Errorf("record %.100q: %w", r.name, err)
		}
	}
	return nil
}
