package text

import "slices"

// Encoding holds the tokens of one or two texts. Each slice has one element for each token.
type Encoding struct {
	IDs       []int64  // numbers of the tokens
	TypeIDs   []int64  // 0, or 1 for tokens of the second text, or what the template says
	Attention []int64  // 1, or 0 for padding
	Special   []bool   // whether the token is not of a text: it was added around it, or is padding
	Tokens    []string // the tokens themselves
	Offsets   []Span   // bytes of the text that the token stands for; {0, 0} if Special
	Words     []int    // which word of the pre-tokenizer the token is of; -1 if Special
	Texts     []int    // which text the token is of, 0 or 1; -1 if Special

	source string // the text, as long as there is only one
}

// Len returns the number of tokens.
func (e *Encoding) Len() int { return len(e.IDs) }

func (e *Encoding) add(id, typeID int64, token string, offset Span, word, text int) {
	e.IDs, e.TypeIDs, e.Attention = append(e.IDs, id), append(e.TypeIDs, typeID), append(e.Attention, 1)
	e.Special, e.Tokens, e.Offsets = append(e.Special, text < 0), append(e.Tokens, token), append(e.Offsets, offset)
	e.Words, e.Texts = append(e.Words, word), append(e.Texts, text)
}

func (e *Encoding) slice(start, end int) *Encoding {
	return &Encoding{
		e.IDs[start:end], e.TypeIDs[start:end], e.Attention[start:end], e.Special[start:end],
		e.Tokens[start:end], e.Offsets[start:end], e.Words[start:end], e.Texts[start:end], e.source,
	}
}

// concat concatenates encodings and their source texts. It does not shift offsets: if several
// parts have a source, the offsets of the result are wrong.
func concat(parts ...*Encoding) *Encoding {
	e := &Encoding{}
	for _, p := range parts {
		e.IDs, e.TypeIDs, e.Attention = append(e.IDs, p.IDs...), append(e.TypeIDs, p.TypeIDs...), append(e.Attention, p.Attention...)
		e.Special, e.Tokens, e.Offsets = append(e.Special, p.Special...), append(e.Tokens, p.Tokens...), append(e.Offsets, p.Offsets...)
		e.Words, e.Texts = append(e.Words, p.Words...), append(e.Texts, p.Texts...)
		e.source += p.source
	}
	return e
}

func (e *Encoding) withType(id int64) *Encoding {
	c := *e
	c.TypeIDs = slices.Repeat([]int64{id}, e.Len())
	return &c
}
