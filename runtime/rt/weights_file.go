package rt

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"runtime"
	"sync"
	"unsafe"
)

// OpenWeightsFile returns the weights in a safetensors file. On Unix and Windows
// the file is mapped, so that processes share its memory and only what is used
// is read; it must not be cut short while it is. Elsewhere it is read whole. What
// is wrong shows in Err. Close gives the memory back.
func OpenWeightsFile(path string) *Weights {
	return ReadWeightsFile(path, func(w *Weights, file []byte) error { return w.parse(file) })
}

// ReadWeightsFile returns the weights that read adds from a whole file, mapped as
// [OpenWeightsFile] does, which it must not write nor use after Close. The error of
// read shows in Err, after the path.
func ReadWeightsFile(path string, read func(w *Weights, file []byte) error) *Weights {
	data, unmap, err := openFile(path)
	if err != nil {
		return broken(fmt.Errorf("weights: %w", err))
	}
	w := NewWeights()
	if err := read(w, data); err != nil {
		unmap()
		return broken(fmt.Errorf("weights: %s: %w", path, err))
	}
	w.mapped(unmap)
	return w
}

// OpenWeightsFS returns the weights in a safetensors file of a file system, such as one
// that is built into the program, which is read whole. What is wrong shows in Err.
func OpenWeightsFS(files fs.FS, name string) *Weights {
	if files == nil {
		return broken(fmt.Errorf("weights: %s: no file system given", name))
	}
	data, err := fs.ReadFile(files, name)
	if err != nil {
		return broken(fmt.Errorf("weights: %w", err))
	}
	w := NewWeights()
	if err := w.parse(data); err != nil {
		return broken(fmt.Errorf("weights: %s: %w", name, err))
	}
	return w
}

func openFile(path string) ([]byte, func() error, error) {
	info, err := os.Stat(path) // before it is opened: opening a pipe waits for its other end
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s: not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, nil, err
	}
	if info.Size() > math.MaxInt {
		return nil, nil, fmt.Errorf("%s: %d bytes: more than the address space holds", path, info.Size())
	}
	if info.Size() == 0 {
		return nil, func() error { return nil }, nil
	}
	data, unmap, err := mapFile(f, int(info.Size()))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: map: %w", path, err)
	}
	return data, unmap, nil
}

// Close ends the use of the weights: reading them is an error from now on. The
// memory of a mapped file is given back when the last owner that [Keep] named is
// garbage, at once if there is none. Closing again does nothing.
func (w *Weights) Close() error {
	if w.none() || w.closed.Swap(true) {
		return nil
	}
	return w.release()
}

// Keep keeps the memory of w mapped until owner is garbage, even after Close.
// Generated code calls it before it reads w, with the struct that will hold the
// tensors, and a session holds that struct in a field from Guard.Enter to
// Guard.Leave. Closed weights are an error that w.Err returns.
func Keep[T any](owner *T, w *Weights) {
	if w.none() || owner == nil {
		return
	}
	if w.closed.Load() || !w.retain() {
		w.fail(ErrClosed)
		return
	}
	runtime.AddCleanup(owner, func(t *tensors) { t.release() }, w.tensors)
}

// Abandon ends the use of the handle without closing the weights: the memory of a mapped
// file is given back when no handle is left, and the last owner that [Keep] named is
// garbage. Tensors that were read are to be kept so.
func (w *Weights) Abandon() {
	if w.none() {
		return
	}
	if w.unmap != nil {
		runtime.AddCleanup(w.tensors, func(unmap func() error) { unmap() }, w.unmap)
	}
}

// mapped says how the memory is given back, which is done once.
func (t *tensors) mapped(unmap func() error) { t.unmap = sync.OnceValue(unmap) }

// retain takes a reference that release gives back and reports whether the
// memory was still there.
func (t *tensors) retain() bool {
	for {
		n := t.refs.Load()
		if n == 0 {
			return false
		}
		if t.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// release gives a reference back, and with the last one the memory.
func (t *tensors) release() error {
	if t.refs.Add(-1) > 0 || t.unmap == nil {
		return nil
	}
	if err := t.unmap(); err != nil {
		return errors.Join(errors.New("weights: unmap"), err)
	}
	return nil
}

// bytesOf returns the bytes of s, which must not be written.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
