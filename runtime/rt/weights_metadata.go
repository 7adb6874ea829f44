package rt

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

type late struct {
	size  int
	value func() (string, error)
}

// Metadata returns a copy of the metadata: named strings, without the reserved keys of
// [Weights.SetMetadata]. It leaves out strings that cannot be computed, and w.Err returns the errors.
func (w *Weights) Metadata() map[string]string {
	if w.none() {
		return nil
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	all, err := w.allMetadata()
	if err != nil {
		w.fail(err)
	}
	return all
}

// SetMetadata sets a metadata string. The key "burngen.digest" and keys that start with
// "burngen.dtype:" are reserved: nothing is set then, and w.Err returns an error.
func (w *Weights) SetMetadata(key, value string) {
	if w.set(key) {
		defer w.mu.Unlock()
		w.metadata[key] = value
		delete(w.late, key)
	}
}

// SetMetadataFunc is like [Weights.SetMetadata], but the function value returns the string on
// demand. The string must consist of letters, digits and other characters that JSON does not
// escape. size is its length in bytes. value is called when the metadata is read, and by
// [Weights.WriteFile] after all tensors are computed. It may be called from any goroutine, and from
// several at once. A use of the string returns the error of value, or an error if the string has
// another length.
func (w *Weights) SetMetadataFunc(key string, size int, value func() (string, error)) {
	if !w.none() && (value == nil || size < 0) {
		w.fail(fmt.Errorf("metadata %.100q: no function that returns it, or %d bytes", key, size))
		return
	}
	if w.set(key) {
		defer w.mu.Unlock()
		w.late[key] = late{size, value}
		delete(w.metadata, key)
	}
}

// set locks w for setting the metadata of key. It returns false, and does not lock, if key is
// reserved or w is unusable.
func (w *Weights) set(key string) bool {
	if w.none() {
		return false
	}
	if key == digestKey || strings.HasPrefix(key, notePrefix) {
		w.fail(fmt.Errorf("metadata %.100q: key is taken", key))
		return false
	}
	w.mu.Lock()
	return true
}

// DropMetadata removes the metadata whose keys start with prefix.
func (w *Weights) DropMetadata(prefix string) {
	if w.none() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	maps.DeleteFunc(w.metadata, func(key, _ string) bool { return strings.HasPrefix(key, prefix) })
	maps.DeleteFunc(w.late, func(key string, _ late) bool { return strings.HasPrefix(key, prefix) })
}

// allMetadata returns the metadata. It returns one error with the errors of all strings that cannot
// be computed. The caller holds t.mu.
func (t *tensors) allMetadata() (map[string]string, error) {
	all := maps.Clone(t.metadata)
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(t.late)) {
		l := t.late[key]
		value, err := l.value()
		if err == nil && len(value) != l.size {
			err = fmt.Errorf("%d bytes, %d expected", len(value), l.size)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("metadata %.100q: %w", key, err))
			continue
		}
		all[key] = value
	}
	return all, errors.Join(errs...)
}

// laidMetadata returns the metadata for computing the layout of a file. A string that is not yet
// computed is replaced by zeros of the same length. The caller holds t.mu.
func (t *tensors) laidMetadata() map[string]string {
	all := maps.Clone(t.metadata)
	for key, l := range t.late {
		all[key] = strings.Repeat("0", l.size)
	}
	return all
}
