package rt

// Kept is a tensor that a session keeps from one call to the next, such as a key-value cache.
// During a call, generated code reads Now and writes Next. After a successful call it calls Turn,
// which swaps them.
type Kept[T Element] struct {
	Now, Next Tensor[T]
	begun     bool
}

// Begin prepares Now for a call. As long as Turn has not been called, or has not been called since
// a Reset, Begin sets Now to zeros. want is a shape as in [Symbols.CheckShape]: [Sym](k) becomes
// the value of symbol k, or 0 if it is unbound, and [AnyDim] becomes 0. Begin returns the errors of
// [Tensor.Resize].
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

// Turn swaps Now and Next, so that the next call reads the values that this call wrote.
func (k *Kept[T]) Turn() {
	k.Now, k.Next = k.Next, k.Now
	k.begun = true
}

// Reset discards the values: the next call starts with zeros, like the first.
func (k *Kept[T]) Reset() { k.begun = false }
