package text

import "fmt"

// Batch encodes each text into a row of ids. A row has len(ids)/len(texts) tokens: longer encodings
// are truncated to this length, and shorter ones padded. mask is 1 for tokens and 0 for padding.
// types holds the type ids of the tokens. mask and types have the length of ids or are nil. If a
// generated package takes a slice of arrays, pass rt.Flat of this slice.
//
// Batch truncates and pads as the tokenizer does, but pads to the length of a row. It truncates to
// the tokenizer's length if that is shorter than a row. If the tokenizer has no truncation, Batch
// truncates at the end of a text, with the strategy [LongestFirst]. If it has no padding, Batch
// pads with id 0 at the end of a row. Batch returns an error if the lengths of the slices do not
// fit. It also returns the errors of [Tokenizer.Encode]; the rows of the texts before the error
// have then been written.
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

// row returns row i of a matrix with rows of `length` elements. A nil matrix has nil rows.
func row(s []int64, i, length int) []int64 {
	if s == nil {
		return nil
	}
	return s[i*length : (i+1)*length]
}

// write writes an encoding to ids, mask and types, which are rows of a batch, and pads them as p
// says. The rows have the same length, at least the length of the encoding. A nil row is skipped.
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
