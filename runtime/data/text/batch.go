package text

import "fmt"

// Batch encodes each text into a row of ids, which has len(ids)/len(texts) tokens. Longer encodings
// are shortened to that, and shorter ones filled. The mask is 1 for tokens and 0 for padding; types
// are the types of the tokens. Both are as long as ids, or nil. Slices of arrays, as generated
// packages take them, become such slices by rt.Flat.
//
// Tokens are removed and padding is added as the tokenizer's truncation and padding say, apart from
// their lengths; without them the end of a text is removed, and number 0 fills the end of a row. It
// returns an error if the lengths do not fit, or as [Tokenizer.Encode] does; the rows before it are
// filled then.
func (t *Tokenizer) Batch(texts []string, ids, mask, types []int64) error {
	return t.rows(len(texts), func(i int) []string { return texts[i : i+1] }, ids, mask, types)
}

// BatchPairs is like [Tokenizer.Batch] for pairs of texts.
func (t *Tokenizer) BatchPairs(pairs [][2]string, ids, mask, types []int64) error {
	return t.rows(len(pairs), func(i int) []string { return pairs[i][:] }, ids, mask, types)
}

func (t *Tokenizer) rows(n int, texts func(int) []string, ids, mask, types []int64) error {
	for _, s := range [][]int64{mask, types} {
		if s != nil && len(s) != len(ids) {
			return fmt.Errorf("batch: %d numbers, but a mask or types of %d", len(ids), len(s))
		}
	}
	switch {
	case n == 0 && len(ids) == 0:
		return nil
	case n == 0 || len(ids)%n != 0:
		return fmt.Errorf("batch: %d numbers for %d texts", len(ids), n)
	}
	length := len(ids) / n
	truncation, padding := Truncation{Length: length}, Padding{}
	if t.truncation != nil {
		truncation = *t.truncation
		truncation.Length = min(truncation.Length, length)
	}
	if t.padding != nil {
		padding = *t.padding
	}
	for i := range n {
		e, err := t.encode(&truncation, texts(i)...)
		if err != nil {
			return fmt.Errorf("batch: text %d: %w", i, err)
		}
		padding.write(e, row(ids, i, length), row(mask, i, length), row(types, i, length))
	}
	return nil
}

// row returns a row of a matrix, or nil if the matrix is nil.
func row(s []int64, i, length int) []int64 {
	if s == nil {
		return nil
	}
	return s[i*length : (i+1)*length]
}

// write writes an encoding and padding into rows, which are at least as long, or nil.
func (p *Padding) write(e *Encoding, ids, mask, types []int64) {
	at := 0
	if p.Left {
		at = len(ids) - e.Len()
	}
	for _, r := range []struct {
		to, from []int64
		fill     int64
	}{{ids, e.IDs, p.ID}, {mask, e.Attention, 0}, {types, e.TypeIDs, p.TypeID}} {
		if r.to == nil {
			continue
		}
		for i := range r.to {
			r.to[i] = r.fill
		}
		copy(r.to[at:], r.from)
	}
}
