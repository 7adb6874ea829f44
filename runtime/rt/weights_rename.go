package rt

import (
	"fmt"
	"maps"
	"slices"
)

// Renamed returns the tensors of w that names has, under the name it gives them, in
// the same memory. w may be closed before the result is. Errors: those of w, a tensor
// that is not there, and two of one name.
func (w *Weights) Renamed(names map[string]string) (*Weights, error) {
	if err := w.Err(); err != nil {
		return nil, err
	}
	if w.closed.Load() || !w.retain() {
		return nil, fmt.Errorf("weights: %w", ErrClosed)
	}
	r := NewWeights()
	r.unmap = w.release
	w.mu.RLock()
	defer w.mu.RUnlock()
	r.metadata = maps.Clone(w.metadata)
	from := map[string]string{}
	for _, old := range slices.Sorted(maps.Keys(names)) {
		name := names[old]
		t := w.byName[old]
		if t == nil {
			r.Close()
			return nil, fmt.Errorf("weights: %.100q: no such tensor", old)
		}
		if first, twice := from[name]; twice {
			r.Close()
			return nil, fmt.Errorf("weights: %.100q and %.100q are both called %.100q", first, old, name)
		}
		from[name] = old
		if name != old {
			t = t.called(name)
		}
		r.byName[name] = t
	}
	return r, nil
}

// called returns a tensor of another name with the same bytes.
func (t *tensor) called(name string) *tensor {
	other := *t
	other.Name = name
	return &other
}
