package rt

// Tail is a stack of memory for tensors whose sizes are known only while the model runs. Each call
// of the model fills it anew, and the memory is reused.
type Tail struct {
	chunk []byte
	used  int64 // height of the stack, counted as if its chunk were large enough
	need  int64 // largest height since Reset
}

// Reset empties the stack for the next call. It grows the stack to the size that the last call
// needed, if [NewArena] can allocate so much.
func (t *Tail) Reset() {
	if t.need > int64(len(t.chunk)) {
		t.chunk = nil // allows the old memory to be freed first
		t.chunk, _ = NewArena(t.need)
	}
	t.used, t.need = 0, 0
}

// Place sets *dst to `bytes` bytes of memory. The memory is from the stack, or separate if the stack
// is too small. It is valid until the next Reset, or until a Release that frees it. Its values are
// undefined. Place returns the errors of [NewArena]. It also returns the errors of z, which was used
// to compute `bytes`.
func (t *Tail) Place(dst *[]byte, bytes int64, z *Sizes, where string) error {
	if err := z.Err(where); err != nil {
		return err
	}
	rounded := z.Align(bytes, alignment)
	if err := z.Err(where); err != nil {
		return err
	}
	at := t.used
	if bytes >= 0 && at+rounded <= int64(len(t.chunk)) {
		*dst = t.chunk[at : at+bytes : at+rounded]
	} else {
		*dst = nil // allows the memory of the last call to be freed first
		arena, err := NewArena(bytes)
		if err != nil {
			return err
		}
		*dst = arena
	}
	t.used += rounded
	t.need = max(t.need, t.used)
	return nil
}

// Mark returns the height of the stack, to pass to [Tail.Release].
func (t *Tail) Mark() int64 { return t.used }

// Release frees the memory that was placed since [Tail.Mark] returned mark.
func (t *Tail) Release(mark int64) { t.used = mark }
