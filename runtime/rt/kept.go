package rt

// Kept is a tensor that calls of a session leave to the next, such as a cache of keys and
// values. Generated code reads Now and writes Next in a call, and turns when it has ended
// without an error.
type Kept[T Element] struct {
	Now, Next Tensor[T]
	begun     bool
}

// Begin makes Now, before the first call, zeros of a shape as [Symbols.CheckShape] takes
// it: an extent of [Sym](k) is what symbol k is bound to, and 0 where it is not, as is
// [AnyDim]. Error: a shape of more elements than memory holds.
func (k *Kept[T]) Begin(where string, symbols *Symbols, want ...int) error {
	if k.begun {
		return nil
	}
	shape := make([]int, len(want))
	for i, w := range want {
		switch {
		case w >= 0:
			shape[i] = w
		case w != AnyDim:
			shape[i] = max(0, symbols.Value(Sym(w))) // the inverse of Sym is Sym
		}
	}
	if err := k.Now.Resize(where, shape...); err != nil {
		return err
	}
	clear(k.Now.Data)
	return nil
}

// Turn makes what a call wrote what the next one reads.
func (k *Kept[T]) Turn() {
	k.Now, k.Next = k.Next, k.Now
	k.begun = true
}

// Reset makes the next call the first.
func (k *Kept[T]) Reset() { k.begun = false }
