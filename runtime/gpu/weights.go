package gpu

import (
	"context"
	"reflect"
	"runtime"
	"unsafe"
	"weak"
)

// table holds a model's weights on the device.
type table struct {
	regions []region
	memory  buffer
}

// slicesOf returns the slices in the struct *w as arguments, without empty slices and slices of
// strings. kind says whether kernels read or write them. It returns nil if w is a nil pointer.
func slicesOf(w any, kind argKind) []Arg {
	v := reflect.ValueOf(w)
	if v.IsNil() {
		return nil
	}
	v = v.Elem()
	var out []Arg
	for i := range v.NumField() {
		f := v.Field(i)
		if f.Kind() != reflect.Slice || f.Len() == 0 || f.Type().Elem().Kind() == reflect.String {
			continue
		}
		out = append(out, Arg{memory: unsafe.Pointer(f.UnsafePointer()), bytes: f.Len() * int(f.Type().Elem().Size()), kind: kind})
	}
	return out
}

// tableOf returns the device copy of the weights in *w, a struct of slices. The first call with w
// copies them. They are freed when w becomes unreachable.
func tableOf[W any](p *Instance, q Queue, w *W) (*table, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var key any = weak.Make(w) // an address would also be that of the next struct there
	if t := p.weights[key]; t != nil {
		return t, nil
	}
	t := &table{}
	if err := t.fill(p.device, q, slicesOf(w, isRead)); err != nil {
		return nil, err
	}
	p.weights[key] = t
	runtime.AddCleanup(w, p.forget, key)
	return t, nil
}

// fill allocates device memory for the arguments in list and copies the arguments to the device.
func (t *table) fill(d Opened, q Queue, list []Arg) error {
	total := int64(0)
	for _, a := range list {
		total += rounded(a.bytes)
	}
	if err := t.memory.grow(d, total); err != nil {
		return err
	}
	at := t.memory.at
	for _, a := range list {
		t.regions = append(t.regions, regionOf(a, at))
		if err := q.Upload(at, a.host()); err != nil {
			return err
		}
		at += Address(rounded(a.bytes))
	}
	sortRegions(t.regions)
	return q.Wait(context.Background())
}

// forget frees the device copy of the weights with this key.
func (p *Instance) forget(key any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.weights[key]; t != nil {
		t.memory.free(p.device)
		t.regions = nil // a recording may keep the table
		delete(p.weights, key)
	}
}
