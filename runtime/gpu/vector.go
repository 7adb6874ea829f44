package gpu

import (
	"cmp"
	"context"
	"slices"
)

// vector is host memory with a copy on the device. The copy persists between calls. At least one of
// the two is valid. Before an invalid one is used, the other is copied to it.
type vector struct {
	region
	memory buffer
	// the device memory is valid
	onDevice bool
}

// vector returns the vector that contains argument a, or nil.
func (h *held) vector(a Arg) *vector {
	i, exact := slices.BinarySearchFunc(h.vectors, uintptr(a.memory), func(v *vector, start uintptr) int { return cmp.Compare(v.start, start) })
	if !exact {
		i--
	}
	if i < 0 {
		return nil
	}
	if _, ok := h.vectors[i].address(a); !ok {
		return nil
	}
	return h.vectors[i]
}

// hold returns the vector that contains argument a. If no vector contains a, it makes one of a's
// memory; only the host memory is then valid.
func (h *held) hold(a Arg) (*vector, error) {
	if v := h.vector(a); v != nil {
		return v, nil
	}
	v := &vector{}
	if err := v.memory.grow(h.device, int64(a.bytes)); err != nil {
		return nil, err
	}
	v.region = regionOf(a, v.memory.at)
	v.onHost = true
	i, _ := slices.BinarySearchFunc(h.vectors, v.start, func(v *vector, start uintptr) int { return cmp.Compare(v.start, start) })
	h.vectors = slices.Insert(h.vectors, i, v)
	return v, nil
}

// toDevice makes the device memory valid.
func (v *vector) toDevice(q Queue) error {
	if v.onDevice {
		return nil
	}
	if err := q.Upload(v.at, v.host); err != nil {
		return err
	}
	v.onDevice = true
	return nil
}

// Hold implements rt.Mirror. It gives each vector a copy on the device. If an argument of a kernel
// is a slice of a vector, the kernel works on the same slice of the copy. This ends with Drop.
func (r *Run) Hold(vectors ...[]float32) error {
	for _, x := range vectors {
		if len(x) == 0 {
			continue
		}
		if _, err := r.hold(Out(x)); err != nil {
			return err
		}
	}
	return nil
}

// Drop implements rt.Mirror. It does not copy the vectors to the host.
func (r *Run) Drop(vectors ...[]float32) error {
	if err := r.queue.Wait(context.Background()); err != nil {
		return err
	}
	r.forget()
	for _, x := range vectors {
		a := Out(x)
		if v := r.vector(a); v != nil && len(x) > 0 {
			v.memory.free(r.device)
			r.vectors = slices.DeleteFunc(r.vectors, func(other *vector) bool { return other == v })
		}
	}
	return nil
}

// ToHost implements rt.Mirror. It waits for the copies. Afterwards the host may change the vectors:
// they are copied to the device again before the device uses them.
func (r *Run) ToHost(vectors ...[]float32) error {
	wait := false
	for _, x := range vectors {
		v := r.vector(Out(x))
		if v == nil || len(x) == 0 || v.onHost {
			continue
		}
		if err := r.queue.Download(v.host, v.at); err != nil {
			return err
		}
		wait = true
	}
	if wait {
		if err := r.queue.Wait(context.Background()); err != nil {
			return err
		}
	}
	for _, x := range vectors {
		if v := r.vector(Out(x)); v != nil && len(x) > 0 {
			v.onHost, v.onDevice = true, false
		}
	}
	return nil
}

// ready copies the vector that contains argument a to the device, if its device memory is not
// valid. If a kernel will write a, ready marks the host memory as invalid.
func (r *Run) ready(a Arg) error {
	v, err := r.hold(a)
	if err != nil {
		return err
	}
	if err := v.toDevice(r.queue); err != nil {
		return err
	}
	if a.kind == isWritten {
		v.onHost = false
	}
	return nil
}

// Assign implements rt.Mirror. It does not wait for the copy.
func (r *Run) Assign(dst, src []float32) error {
	target, source := Out(dst), In(src)
	if len(dst) == 0 {
		return nil
	}
	if err := r.ready(source); err != nil {
		return err
	}
	if err := r.ready(target); err != nil {
		return err
	}
	into, _ := r.vector(target).address(target)
	with, _ := r.vector(source).address(source)
	return r.queue.Copy(into, with, target.bytes)
}
