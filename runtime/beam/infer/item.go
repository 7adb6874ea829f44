package infer

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/rt/untyped"
)

// Item is an element of a collection: what a model computes for one call, or one item of a batch.
type Item struct {
	// Key says which item it is, such as a file and a line. An item of results has the key of its inputs.
	Key string
	// Tensors has a tensor for each input or output of the model, in their order.
	Tensors []Tensor
}

// Tensor is an input or an output. Its element type is that of the model's port.
type Tensor struct {
	// Shape has the extents. The batch axis is left out.
	Shape []int
	// Data has the elements in the byte order of the workers, unless they are strings. A bool is a byte, 0 or 1.
	Data []byte
	// Texts has the elements that are strings.
	Texts []string
}

// TensorOf returns a tensor with this shape and a copy of these elements.
func TensorOf[T rt.Element](elements []T, shape ...int) Tensor {
	t := Tensor{Shape: shape}
	if texts, ok := any(elements).([]string); ok {
		t.Texts = slices.Clone(texts)
		return t
	}
	t.Data = untyped.Alloc(len(elements) * int(unsafe.Sizeof(*new(T))))
	copy(untyped.View[T](t.Data), elements)
	return t
}

// Elements returns a copy of the elements of t. It returns an error if their bytes are not a whole number of
// elements of type T.
func Elements[T rt.Element](t Tensor) ([]T, error) {
	if texts, ok := any(t.Texts).([]T); ok {
		return slices.Clone(texts), nil
	}
	if size := int(unsafe.Sizeof(*new(T))); len(t.Data)%size != 0 {
		return nil, fmt.Errorf("%d bytes are not a whole number of elements of %d bytes", len(t.Data), size)
	}
	aligned := untyped.Alloc(len(t.Data))
	copy(aligned, t.Data)
	return untyped.View[T](aligned), nil
}

// Check returns an error if it is not an item of inputs for the model: a tensor is missing, its shape does not fit,
// or it does not have as many elements as its shape.
func (l *Loaded) Check(it Item) error {
	in, err := l.tensors(it)
	if err != nil {
		return err
	}
	return untyped.CheckShapes(in)
}

// tensors returns the item as a batch of one.
func (l *Loaded) tensors(it Item) ([]untyped.Tensor, error) {
	if len(it.Tensors) != len(l.method.In) {
		return nil, fmt.Errorf("the item has %d tensors, and the model has %d inputs", len(it.Tensors), len(l.method.In))
	}
	in := make([]untyped.Tensor, len(it.Tensors))
	for k, t := range it.Tensors {
		p := l.method.In[k]
		shape := t.Shape
		if l.Batched() {
			shape = append([]int{1}, shape...)
		}
		n, err := untyped.Elements(shape, p.Size)
		if err != nil {
			return nil, fmt.Errorf("input %q: %w", p.Name, err)
		}
		have, other := len(t.Texts), len(t.Data)
		if !p.IsText() {
			have, other = len(t.Data)/p.Size, len(t.Data)%p.Size+len(t.Texts)
		}
		if have != n || other != 0 {
			return nil, fmt.Errorf("input %q has %d elements of %s, want %d for shape %v", p.Name, have, p.DType, n, t.Shape)
		}
		in[k] = untyped.Tensor{Port: p, Shape: shape, Data: t.Data, Texts: t.Texts}
	}
	return in, nil
}

// join joins batches of one. They have the same shapes.
func join(items [][]untyped.Tensor) []untyped.Tensor {
	out := make([]untyped.Tensor, len(items[0]))
	for k, first := range items[0] {
		x := untyped.Tensor{Port: first.Port, Shape: slices.Clone(first.Shape)}
		if len(items) > 1 {
			x.Shape[0] = len(items)
		}
		x.Data = untyped.Alloc(len(items) * len(first.Data))
		for i, it := range items {
			copy(x.Data[i*len(first.Data):], it[k].Data)
			x.Texts = append(x.Texts, it[k].Texts...)
		}
		if x.Port.DType == "bool" {
			untyped.NormaliseBools(x.Data)
		}
		out[k] = x
	}
	return out
}

// part returns item i of the results of n items.
func (l *Loaded) part(out []untyped.Tensor, i, n int, key string) (Item, error) {
	it := Item{Key: key}
	for _, t := range out {
		if l.Batched() {
			if len(t.Shape) == 0 || t.Shape[0] != n {
				return Item{}, fmt.Errorf("output %q has shape %v for a batch of %d", t.Port.Name, t.Shape, n)
			}
			t = t.Items(i, i+1)
			t.Shape = t.Shape[1:]
		}
		it.Tensors = append(it.Tensors, Tensor{Shape: t.Shape, Data: t.Data, Texts: t.Texts})
	}
	if len(it.Tensors) == 0 {
		return Item{}, errors.New("the model has no outputs")
	}
	return it, nil
}
