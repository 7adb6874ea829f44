package text

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Tokenizer turns text into tokens, and tokens into text. It does not change after it is made:
// methods may be called by several goroutines at a time.
type Tokenizer struct {
	model       model
	added       *addedTokens
	normalize   normalizer    // may be nil
	preTokenize preTokenizer  // may be nil
	post        postProcessor // may be nil
	decode      decoder       // may be nil
	truncation  *Truncation
	padding     *Padding
	plain       bool                       // adds no tokens around a text
	sections    map[string]json.RawMessage // of the file, which saving keeps as they are
}

// WithTruncation returns a tokenizer that shortens encodings; nil means that it does not. It returns
// an error if the truncation has a negative length or an unknown strategy.
func (t *Tokenizer) WithTruncation(to *Truncation) (*Tokenizer, error) {
	c := *t
	if c.truncation = nil; to != nil {
		if err := to.check(); err != nil {
			return nil, err
		}
		own := *to
		c.truncation = &own
	}
	return &c, nil
}

// WithPadding returns a tokenizer that fills encodings up to the same length; nil means that it does
// not. It returns an error if the padding has a negative or huge length.
func (t *Tokenizer) WithPadding(by *Padding) (*Tokenizer, error) {
	c := *t
	if c.padding = nil; by != nil {
		if err := by.check(); err != nil {
			return nil, err
		}
		own := *by
		c.padding = &own
	}
	return &c, nil
}

// WithoutSpecial returns a tokenizer that adds no tokens around a text.
func (t *Tokenizer) WithoutSpecial() *Tokenizer {
	c := *t
	c.plain = true
	return &c
}

// Size returns how many tokens an embedding has to have: the largest number of a token, plus 1.
func (t *Tokenizer) Size() int {
	size := t.model.last() + 1
	for _, a := range t.added.list {
		size = max(size, a.ID+1)
	}
	return int(size)
}

// ID returns the number of a token. ok is false if there is no such token.
func (t *Tokenizer) ID(token string) (id int64, ok bool) {
	if id, ok = t.added.ids[token]; ok {
		return id, true
	}
	return t.model.id(token)
}

// Token returns the token of a number. For an added token that is looked for in normalised text, it
// returns the normalised form. ok is false if no token has this number.
func (t *Tokenizer) Token(id int64) (token string, ok bool) {
	if token, ok = t.added.text(id); ok {
		return token, true
	}
	return t.model.token(id)
}

// Encode returns the tokens of a text: with the tokens around it, shortened and filled as the
// tokenizer says. It returns an error if the model lacks a token for an unknown word, truncation
// leaves no room, a regular expression takes too long, or normalisation makes too many bytes of the text.
func (t *Tokenizer) Encode(text string) (*Encoding, error) { return t.encodePadded(text) }

// EncodePair is like [Tokenizer.Encode] for two texts, such as a question and an answer.
func (t *Tokenizer) EncodePair(first, second string) (*Encoding, error) {
	return t.encodePadded(first, second)
}

func (t *Tokenizer) encodePadded(texts ...string) (*Encoding, error) {
	e, err := t.encode(t.truncation, texts...)
	if err != nil {
		return nil, err
	}
	all := []*Encoding{e}
	if t.padding != nil {
		t.padding.apply(all)
	}
	return all[0], nil
}

// EncodeAll encodes each text. Padding fills all encodings up to the same length.
func (t *Tokenizer) EncodeAll(texts []string) ([]*Encoding, error) {
	return t.encodeAll(len(texts), func(i int) []string { return texts[i : i+1] })
}

// EncodePairs is like [Tokenizer.EncodeAll] for pairs of texts.
func (t *Tokenizer) EncodePairs(pairs [][2]string) ([]*Encoding, error) {
	return t.encodeAll(len(pairs), func(i int) []string { return pairs[i][:] })
}

func (t *Tokenizer) encodeAll(n int, texts func(int) []string) ([]*Encoding, error) {
	all := make([]*Encoding, n)
	for i := range all {
		e, err := t.encode(t.truncation, texts(i)...)
		if err != nil {
			return nil, fmt.Errorf("text %d: %w", i, err)
		}
		all[i] = e
	}
	if t.padding != nil {
		t.padding.apply(all)
	}
	return all, nil
}

// encode encodes one or two texts, without padding.
func (t *Tokenizer) encode(truncation *Truncation, texts ...string) (*Encoding, error) {
	parts := make([]*Encoding, len(texts))
	for i, text := range texts {
		var err error
		if parts[i], err = t.tokens(text, i); err != nil {
			return nil, err
		}
	}
	if truncation != nil {
		added := 0
		if t.post != nil && !t.plain {
			added = t.post.added(len(parts) == 2)
		}
		if err := truncation.apply(parts, added); err != nil {
			return nil, err
		}
	}
	if t.post != nil {
		var err error
		if parts, err = t.post.process(parts, !t.plain); err != nil {
			return nil, err
		}
	}
	return concat(parts...), nil
}

// tokens returns the tokens of a text by itself. The index is 0 for the first text, 1 for the second.
func (t *Tokenizer) tokens(text string, index int) (*Encoding, error) {
	pieces, err := t.added.split(text, t.normalize)
	if err == nil && t.preTokenize != nil {
		pieces, err = t.preTokenize(pieces)
	}
	if err != nil {
		return nil, err
	}
	e := &Encoding{source: text}
	var tokens []token
	for word, p := range pieces {
		found := p.tokens
		if found == nil && p.text != "" {
			if tokens, err = t.model.tokenize(tokens[:0], p.text); err != nil {
				return nil, err
			}
			found = tokens
		}
		for _, k := range found {
			e.add(k.id, int64(index), k.text, p.span(k.start, k.end), word, index)
		}
	}
	return e, nil
}

// Decode returns the text of tokens. Numbers without a token and special tokens are left out. It
// returns an error if a regular expression takes too long, or the decoder makes too many bytes of the tokens.
func (t *Tokenizer) Decode(ids []int64) (string, error) { return t.text(ids, false) }

// DecodeSpecial is like [Tokenizer.Decode], but does not leave out special tokens.
func (t *Tokenizer) DecodeSpecial(ids []int64) (string, error) { return t.text(ids, true) }

func (t *Tokenizer) text(ids []int64, special bool) (string, error) {
	tokens := make([]string, 0, len(ids))
	for _, id := range ids {
		if s, ok := t.Token(id); ok && (special || !t.added.special[s]) {
			tokens = append(tokens, s)
		}
	}
	between := " "
	if t.decode != nil {
		var err error
		if tokens, err = t.decode(tokens, room(sizeOf(tokens))); err != nil {
			return "", err
		}
		between = ""
	}
	return strings.Join(tokens, between), nil
}
