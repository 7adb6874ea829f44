package kernels

import "github.com/burngen/burngen/ir/kernel"

// element is a store that has not been emitted yet: it makes x the element of the tensor at the index.
type element struct {
	tensor   *Tensor
	index, x *kernel.Value
}

// waiting has the stores that are emitted last. Until then no memory changes, so code in a block loads each element
// only once.
type waiting struct {
	stores []element
	loaded map[loaded]*kernel.Value
}

// loaded names an element that is loaded in a block.
type loaded struct {
	block          *kernel.Block
	pointer, index *kernel.Value
}

func (w *waiting) load(t *Tensor, i *kernel.Value) *kernel.Value {
	key := loaded{t.e.Current(), t.pointer, i}
	if w.loaded[key] == nil {
		w.loaded[key] = t.e.Load(t.pointer, i)
	}
	return w.loaded[key]
}

// storesLast calls the function `fill`, and moves all stores of `fill` by [Tensor.Set] and [Tensor.SetRaw] to the
// end. So all elements are computed before the first one is stored. Then loads of adjacent elements can become one
// load, and stores of adjacent elements one store.
func (e *Emitter) storesLast(fill func()) {
	w := &waiting{loaded: map[loaded]*kernel.Value{}}
	e.waiting = w
	fill()
	e.waiting = nil
	for _, s := range w.stores {
		e.Store(s.tensor.pointer, s.index, s.x)
	}
}

// together calls element(lane, first + lane) for lane = 0 … count−1. first + lane is the index of an element. The
// stores of all elements are emitted last.
func (e *Emitter) together(first *kernel.Value, count int, element func(lane int, i *kernel.Value)) {
	e.storesLast(func() {
		for lane := range count {
			element(lane, e.Add(first, e.Int(lane)))
		}
	})
}
