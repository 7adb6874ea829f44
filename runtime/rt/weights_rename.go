package rt

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
)

// Renamed returns weights with tensors of w under new names, in the same memory. names maps old
// names to new ones. Tensors that it does not list are left out. The caller may close w before the
// result. Renamed returns the errors of w, and [ErrClosed] if w is closed. It also returns an error
// if a tensor does not exist or if two tensors get the same name.
func (w *Weights) Renamed(names map[string]string) (*Weights, error) {
	if err := w.Err(); err != nil {
		return nil, err
	}
	if w.closed.Load() || !w.retain() {
		return nil, fmt.Errorf("weights: %w", ErrClosed)
	}
	r := NewWeights()
	r.mapped(w.release)
	w.mu.RLock()
	defer w.mu.RUnlock()
	r.metadata, r.late = maps.Clone(w.metadata), maps.Clone(w.late)
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

func (t *tensor) called(name string) *tensor {
	other := *t
	other.Name = name
	return &other
}

// Share adds tensors of source to w without copying. Their memory stays as long as w is in use,
// even if source is closed. w.Err returns the errors of source, and an error if a tensor does not
// exist or a name is already taken.
func (w *Weights) Share(source *Weights, names ...string) {
	if w.none() || len(names) == 0 {
		return
	}
	if err := source.Err(); err != nil {
		w.blame(err)
		return
	}
	homes := map[*tensors]bool{}
	for _, name := range names {
		t := source.find(name)
		if t == nil {
			w.fail(fmt.Errorf("%.100q: no such tensor", name))
			continue
		}
		w.add(t)
		homes[t.home] = true
	}
	for home := range homes {
		if home.unmap == nil {
			continue
		}
		if !home.retain() {
			w.fail(ErrClosed)
			continue
		}
		runtime.AddCleanup(w.tensors, func(t *tensors) { t.release() }, home)
	}
}
