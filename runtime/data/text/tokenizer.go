package text

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Tokenizer converts texts to tokens, and tokens to text. It is immutable: several goroutines may
// call its methods at once.
type Tokenizer struct {
	model       model
	added       *addedTokens
	normalize   normalizer    // may be nil
	preTokenize preTokenizer  // may be nil
	post        postProcessor // may be nil
	decode      decoder       // may be nil
	truncation  *Truncation
	padding     *Padding
	plain       bool                       // adds no special tokens around a text
	sections    map[string]json.RawMessage // of the file, which saving keeps as they are
}

// WithTruncation returns a copy of the tokenizer that truncates encodings as `truncation` says. A
// nil truncation turns truncation off. It returns an error if Length is negative or Strategy is
// unknown.
func (t *Tokenizer) WithTruncation(truncation *Truncation) (*Tokenizer, error) {
	c := *t
	if c.truncation = nil; truncation != nil {
		if err := truncation.check(); err != nil {
			return nil, err
		}
		own := *truncation
		c.truncation = &own
	}
	return &c, nil
}

// WithPadding returns a copy of the tokenizer that pads encodings as `padding` says. A nil padding
// turns padding off. It returns an error if Length or Multiple is negative or exceeds 1048576.
func (t *Tokenizer) WithPadding(padding *Padding) (*Tokenizer, error) {
	c := *t
	if c.padding = nil; padding != nil {
		if err := padding.check(); err != nil {
			return nil, err
		}
		own := *padding
		c.padding = &own
	}
	return &c, nil
}

// WithoutSpecial returns a copy of the tokenizer whose encodings have no special tokens around the
// texts. It still finds special tokens that are written in a text.
func (t *Tokenizer) WithoutSpecial() *Tokenizer {
	c := *t
	c.plain = true
	return &c
}

// Size returns the number of rows that an embedding needs: the largest id of a token, plus 1.
func (t *Tokenizer) Size() int {
	size := t.model.last() + 1
	for _, a := range t.added.list {
		size = max(size, a.ID+1)
	}
	return int(size)
}

// ID returns the id of a token. ok is false if there is no such token.
func (t *Tokenizer) ID(token string) (id int64, ok bool) {
	if id, ok = t.added.ids[token]; ok {
		return id, true
	}
	return t.model.id(token)
}

// Token returns the token with an id. For an added token that is looked for in normalised text, it
// returns the normalised form. ok is false if no token has this id.
func (t *Tokenizer) Token(id int64) (token string, ok bool) {
	if token, ok = t.added.text(id); ok {
		return token, true
	}
	return t.model.token(id)
}

// Encode returns the tokens of a text. It truncates them, adds special tokens, and pads the result, as the settings
// of the tokenizer say. It returns an error if the model lacks a token for an unknown word, or if the truncated
// length is too small for the special tokens. It also returns an error if a regular expression takes too long, or
// if the normalised text is much longer than the text.
func (t *Tokenizer) Encode(text string) (*Encoding, error) { return t.encodePadded(text) }

// EncodePair is like [Tokenizer.Encode] for two texts in one encoding, such as a question and an
// answer.
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

// EncodeAll encodes each text, like [Tokenizer.Encode]. If the tokenizer pads without a fixed
// length, the encodings are padded to the length of the longest. The error of a text names its
// index.
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

// encode encodes one or two texts: it truncates and adds special tokens, but does not pad.
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

// tokens returns the tokens of a text before truncation and special tokens. index is 0 for the
// first text, 1 for the second.
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

// Decode returns the text of tokens. Ids without a token and special tokens are left out. It returns an error if a
// regular expression takes too long, or if the decoded text is much longer than the tokens.
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
