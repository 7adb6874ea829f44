package rt

// Tail is memory for what has a size that is known only while a model runs: a
// stack that a call of the model fills and the next call uses again.
type Tail struct {
	chunk []byte
	used  int64 // the stack's height, that it would have in a chunk that is large enough
	need  int64 // the greatest height since Reset
}

// Reset empties the stack for the next call and makes it as large as the last
// one needed, if [NewArena] gives that much.
func (t *Tail) Reset() {
	if t.need > int64(len(t.chunk)) {
		t.chunk = nil // may be freed first
		t.chunk, _ = NewArena(t.need)
	}
	t.used, t.need = 0, 0
}

// Place makes *dst memory of a number of bytes that z has computed: from the
// stack, or of its own where the stack is too small, until the next Reset. Its
// values are undefined. Errors are those of z and of [NewArena].
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
		*dst = nil // what the last call placed may be freed first
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

// Mark returns the stack's height, for [Tail.Release].
func (t *Tail) Mark() int64 { return t.used }

// Release takes from the stack what was placed since [Tail.Mark] returned mark.
func (t *Tail) Release(mark int64) { t.used = mark }
