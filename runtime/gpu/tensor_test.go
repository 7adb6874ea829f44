package gpu

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

// tensorOn returns a tensor of numbers on the device of a run.
func tensorOn(t *testing.T, r *Run, x ...float32) *Tensor[float32] {
	t.Helper()
	made, err := NewTensor[float32](r.Instance(), len(x))
	if err == nil {
		err = made.Upload(x)
	}
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func numbers(t *testing.T, x *Tensor[float32]) []float32 {
	t.Helper()
	out := make([]float32, x.Shape()[0])
	if err := x.Download(out); err != nil {
		t.Fatal(err)
	}
	return out
}

// doubledOnDevice calls the schedule of [doubled] on tensors, as a generated method does.
func doubledOnDevice(r *Run, arena []byte, w *nothing, y, x *Tensor[float32]) (replayed bool, err error) {
	v := ViewsOn(r, "doubled")
	defer v.Done()
	dst, src := Elems(&v, Write, "dst", y), Elems(&v, Read, "x", x)
	if err := v.Err(); err != nil {
		return false, err
	}
	call := func() (err error) {
		if err := Begin(r, context.Background(), arena, w, In(src), Out(dst)); err != nil {
			return err
		}
		defer r.End(&err)
		if replayed = r.Replays("doubled", len(src)); replayed {
			return nil
		}
		middle := unsafe.Slice((*float32)(unsafe.Pointer(&arena[0])), len(src))
		r.Launch(double, 1, 1, 1, Int(len(src)), In(src), Out(middle))
		r.Launch(double, 1, 1, 1, Int(len(src)), In(middle), Out(dst))
		return nil
	}
	return replayed, call()
}

// TestTensorsAreNotCopied chains calls on the device. A recording is used again only for the same tensors.
func TestTensorsAreNotCopied(t *testing.T) {
	f, r := opened(t)
	arena, w := make([]byte, 4096), &nothing{}
	x, y, z := tensorOn(t, r, 1, 2, 3), tensorOn(t, r, 0, 0, 0), tensorOn(t, r, 0, 0, 0)
	copies := f.counts["upload"] + f.counts["download"]
	for round := range 3 {
		for _, c := range [][2]*Tensor[float32]{{y, x}, {z, y}} {
			replayed, err := doubledOnDevice(r, arena, w, c[0], c[1])
			if err != nil || replayed != (round > 0) {
				t.Fatalf("round %d: replayed %v, %v", round, replayed, err)
			}
		}
	}
	if n := f.counts["upload"] + f.counts["download"] - copies; n != 0 {
		t.Errorf("%d copies between the host and the device", n)
	}
	if got := numbers(t, z); !slices.Equal(got, []float32{16, 32, 48}) {
		t.Errorf("%v", got)
	}
	if got, replayed := doubled(t, r, arena, w, []float32{1, 2, 3}); replayed || !slices.Equal(got, []float32{4, 8, 12}) {
		t.Errorf("on the host %v, replayed %v", got, replayed)
	}
}

// TestHostReadsTensors lets the host take part in a call: it reads an argument and writes a result.
func TestHostReadsTensors(t *testing.T) {
	_, r := opened(t)
	x, y, w := tensorOn(t, r, 1, 2), tensorOn(t, r, 0, 0), &nothing{}
	for _, first := range []float32{1, 5} {
		if err := x.Upload([]float32{first, 2}); err != nil {
			t.Fatal(err)
		}
		v := ViewsOn(r, "sum")
		dst, src := Elems(&v, Write, "dst", y), Elems(&v, Read, "x", x)
		call := func() (err error) {
			if err := Begin(r, nil, nil, w, In(src), Out(dst)); err != nil {
				return err
			}
			defer r.End(&err)
			for range 2 {
				if err := r.Fetch(In(src[:1])); err != nil {
					return err
				}
			}
			dst[0] = src[0] + src[1]
			dst[1] = -src[0]
			r.Send(Out(dst))
			return nil
		}
		err := errors.Join(v.Err(), call())
		v.Done()
		if got := numbers(t, y); err != nil || !slices.Equal(got, []float32{first + 2, -first}) {
			t.Errorf("%v, %v", got, err)
		}
	}
}

// TestTensorErrors refuses tensors that cannot take part in a call.
func TestTensorErrors(t *testing.T) {
	_, r := opened(t)
	_, other := opened(t)
	arena, w := make([]byte, 4096), &nothing{}
	x, y, away := tensorOn(t, r, 1), tensorOn(t, r, 0), tensorOn(t, other, 1)
	closed := tensorOn(t, r, 1)
	closed.Close()
	closed.Close()
	for want, c := range map[string][2]*Tensor[float32]{
		"doubled: x: the tensor is nil":                      {y, nil},
		"doubled: dst: the tensor is nil":                    {new(Tensor[float32]), x},
		"doubled: x: the tensor is on another device, fake":  {y, away},
		"doubled: x: the tensor is closed":                   {y, closed},
		"doubled: x: the tensor is an argument and a result": {x, x},
	} {
		if _, err := doubledOnDevice(r, arena, w, c[0], c[1]); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if _, err := doubledOnDevice(r, arena, w, y, x); err != nil {
		t.Errorf("after errors: %v", err)
	}
	for want, err := range map[string]error{
		"gpu: Upload: the tensor is closed":                            closed.Upload([]float32{1}),
		"gpu: Download: the tensor is closed":                          closed.Download([]float32{1}),
		"gpu: Upload: the tensor has 1 elements, got 2":                x.Upload([]float32{1, 2}),
		"gpu: Download: the tensor is nil":                             (*Tensor[float32])(nil).Download(nil),
		"gpu.NewTensor: shape [-1] has a negative extent":              second(NewTensor[float32](r.Instance(), -1)),
		"gpu.NewTensor: the model is nil":                              second(NewTensor[float32](nil, 1)),
		"gpu.NewTensor: elements of type string cannot be on a device": second(NewTensor[string](r.Instance(), 1)),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if _, err := NewTensor[float32](r.Instance(), math.MaxInt, math.MaxInt); !errors.Is(err, ErrMemory) {
		t.Errorf("error %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestTensorShapes compares the shapes of tensors with those of arrays.
func TestTensorShapes(t *testing.T) {
	_, r := opened(t)
	x, err := NewTensor[float32](r.Instance(), 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	v := ViewsOn(r, "net")
	if rows := Items[[3]float32](&v, Read, "x", x, 3); len(rows) != 2 || v.Err() != nil {
		t.Errorf("%d rows, %v", len(rows), v.Err())
	}
	if all := Array[[2][3]float32](&v, Read, "x", x, 2, 3); all == nil || v.Err() != nil {
		t.Errorf("%v, %v", all, v.Err())
	}
	v.Done()
	for want, view := range map[string]func(*Views){
		"net: x: the tensor has shape [2 3], want [N 2]": func(v *Views) { Items[[2]float32](v, Read, "x", x, 2) },
		"net: x: the tensor has shape [2 3], want [N]":   func(v *Views) { Items[float32](v, Read, "x", x) },
		"net: x: the tensor has shape [2 3], want [3 2]": func(v *Views) { Array[[3][2]float32](v, Read, "x", x, 3, 2) },
		"net: y: the tensor has shape [2 3], want [4 3]": func(v *Views) { CheckShape(v, "y", x, []int{4, 3}) },
	} {
		v := ViewsOn(r, "net")
		view(&v)
		v.Done()
		if err := v.Err(); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	empty, err := NewTensor[float32](r.Instance(), 0, 3)
	if err != nil {
		t.Fatal(err)
	}
	v = ViewsOn(r, "net")
	if rows := Items[[3]float32](&v, Read, "x", empty, 3); len(rows) != 0 || v.Err() != nil {
		t.Errorf("%d rows, %v", len(rows), v.Err())
	}
	v.Done()
}

// TestTensorsInUse refuses a tensor that another call writes, and frees a closed one when the call ends.
func TestTensorsInUse(t *testing.T) {
	f, r := opened(t)
	x := tensorOn(t, r, 1)
	live := f.pieces()
	write := ViewsOn(r, "writer")
	Elems(&write, Write, "dst", x)
	if err := x.Download(make([]float32, 1)); !errors.Is(err, ErrTensorBusy) {
		t.Errorf("error %v", err)
	}
	write.Done()
	read := ViewsOn(r, "reader")
	Elems(&read, Read, "x", x)
	if err := x.Download(make([]float32, 1)); err != nil {
		t.Errorf("readers may overlap: %v", err)
	}
	if err := x.Upload([]float32{2}); !errors.Is(err, ErrTensorBusy) || !strings.HasPrefix(err.Error(), "gpu: Upload: ") {
		t.Errorf("error %v", err)
	}
	x.Close()
	if f.pieces() != live {
		t.Error("the memory is freed while a call reads it")
	}
	read.Done()
	if f.pieces() != live-1 {
		t.Error("the memory is not freed")
	}
}

// TestTensorsOfGoroutines makes, uses and closes tensors at once.
func TestTensorsOfGoroutines(t *testing.T) {
	i := &tensorTable{}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for n := 1; n < 50; n++ {
				m := &tensorMemory{counterpart: make([]byte, 8*n)}
				i.add(m)
				if i.find(Arg{memory: unsafe.Pointer(&m.counterpart[0]), bytes: n}) != m {
					t.Error("a tensor is not found")
				}
				i.remove(m)
			}
		})
	}
	wg.Wait()
}
