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

// OpenWeightsFile returns the weights in a safetensors file. On Unix and Windows it maps the file,
// so that processes share its memory and only the parts in use are read. The file must not be
// truncated while it is mapped. On other systems it reads the whole file. Err returns errors of the
// file. Close unmaps it.
func OpenWeightsFile(path string) *Weights {
	return ReadWeightsFile(path, func(w *Weights, file []byte) error { return w.parse(file) })
}

// ReadWeightsFile maps the file at path, as [OpenWeightsFile] does. It calls `read` with new weights
// w and the contents of the file. read adds tensors to w. It must not write to the contents, and must
// not use them after w is closed. ReadWeightsFile returns w. If the file cannot be mapped, or if the
// function read returns an error, it returns weights whose Err returns the error with the path.
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

// OpenWeightsFS reads the weights in a safetensors file of a file system, such as an embed.FS, into
// memory. Err returns errors of the file.
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
	info, err := os.Stat(path) // checked before opening, because opening a pipe waits for its other end
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

// Close ends the use of the weights. Later, [WeightsOf] fails with [ErrClosed], and Raw returns nil.
// The memory of a mapped file is released when the garbage collector has found all owners passed to
// [Keep] unreachable. If there is no owner, Close releases it at once and returns the error. Closing
// again does nothing.
func (w *Weights) Close() error {
	if w.none() || w.closed.Swap(true) {
		return nil
	}
	return w.release()
}

// Keep keeps the memory of w mapped while `owner` is reachable, even after Close. owner is the struct
// that will hold the tensors. Generated code calls Keep before it reads w. A session keeps owner
// reachable during a call: a field holds it from Guard.Enter to Guard.Leave. If the weights are
// closed, w.Err returns an error.
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

// Abandon ends the use of the handle without closing the weights. The memory of a mapped file is
// released when the garbage collector has found all handles and all owners passed to [Keep]
// unreachable. To use tensors longer than the handle, call Keep first.
func (w *Weights) Abandon() {
	if w.none() {
		return
	}
	if w.unmap != nil {
		runtime.AddCleanup(w.tensors, func(unmap func() error) { unmap() }, w.unmap)
	}
}

// mapped sets t.unmap to a function that calls `unmap` only the first time. `unmap` must release the
// memory of the tensors.
func (t *tensors) mapped(unmap func() error) { t.unmap = sync.OnceValue(unmap) }

// retain takes a reference to the memory; [tensors.release] drops the reference. retain returns
// false if the memory is already released.
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

// release drops a reference. With the last reference it releases the memory, and returns an error if
// that fails.
func (t *tensors) release() error {
	if t.refs.Add(-1) > 0 || t.unmap == nil {
		return nil
	}
	if err := t.unmap(); err != nil {
		return errors.Join(errors.New("weights: unmap"), err)
	}
	return nil
}

// bytesOf returns the bytes of s, which must not be modified.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
