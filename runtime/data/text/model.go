package text

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

type token struct {
	id   int64
	text string
	// the range of bytes of the word for which the token stands
	start, end int
}

type model interface {
	// tokenize appends the tokens of a word, which is not empty. It returns an error if a part of
	// the word has no token and the model has no unknown token.
	tokenize(dst []token, word string) ([]token, error)
	// id returns the id of a token. It returns false if the model does not have the token.
	id(token string) (int64, bool)
	// token returns the token of a number. It returns false if no token has this number.
	token(id int64) (string, bool)
	// size returns the number of tokens.
	size() int
	// last returns the largest id of a token, or -1 if there are no tokens.
	last() int64
	// json returns the value of the field "model" of a tokenizer.json.
	json() (json.RawMessage, error)
}

// readModel reads the model of a tokenizer file. It infers the type of models in old files, which
// do not name it.
func readModel(n node) (model, error) {
	o, err := n.object()
	if err != nil {
		return nil, err
	}
	kind := get(o, "type", "")
	if o.at("type").missing() {
		switch {
		case !o.at("merges").missing():
			kind = "BPE"
		case !o.at("max_input_chars_per_word").missing():
			kind = "WordPiece"
		case bytes.HasPrefix(o.at("vocab").raw, []byte("[")):
			kind = "Unigram"
		default:
			kind = "WordLevel"
		}
	}
	var m model
	switch kind {
	case "BPE":
		m = readBPE(o)
	case "WordPiece":
		m = readWordPiece(o)
	case "Unigram":
		m = readUnigram(o)
	case "WordLevel":
		m = readWordLevel(o)
	default:
		return nil, o.unknown(kind)
	}
	return m, o.err
}

// affix returns s, the value of the field called name. It is an error of o if s has more than
// maxAffix bytes, because a model may add s to each character of a text.
func affix(o *object, name string, s *string) *string {
	if s != nil && len(*s) > maxAffix {
		o.fail(o.at(name).errorf("%d bytes: at most %d expected", len(*s), maxAffix))
	}
	return s
}

const maxAffix = 256

const maxID = 1<<31 - 1

type vocabulary struct {
	ids    map[string]int64
	tokens map[int64]string
	// length in bytes of the longest token
	longest int
	// largest id, or -1
	largest int64
}

// readVocabulary reads the field "vocab", an object of tokens and their ids.
func readVocabulary(o *object) vocabulary {
	n := o.at("vocab")
	v := vocabulary{ids: need[map[string]int64](o, "vocab"), largest: -1}
	v.tokens = make(map[int64]string, len(v.ids))
	for _, s := range slices.Sorted(maps.Keys(v.ids)) {
		id := v.ids[s]
		other, twice := v.tokens[id]
		switch {
		case id < 0 || id > maxID:
			o.fail(n.errorf("%q has the number %d, which is not from 0 to %d", s, id, maxID))
		case twice:
			o.fail(n.errorf("%q and %q have the same number %d", other, s, id))
		}
		v.tokens[id] = s
		v.longest, v.largest = max(v.longest, len(s)), max(v.largest, id)
	}
	return v
}

func (v vocabulary) id(token string) (int64, bool) {
	id, ok := v.ids[token]
	return id, ok
}

func (v vocabulary) token(id int64) (string, bool) {
	s, ok := v.tokens[id]
	return s, ok
}

func (v vocabulary) size() int { return len(v.ids) }

func (v vocabulary) last() int64 { return v.largest }

// MarshalJSON writes the tokens in the order of their numbers.
func (v vocabulary) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, id := range slices.Sorted(maps.Keys(v.tokens)) {
		if i > 0 {
			b = append(b, ',')
		}
		s, err := marshal(v.tokens[id])
		if err != nil {
			return nil, err
		}
		b = append(append(b, s...), ':')
		number, err := marshal(id)
		if err != nil {
			return nil, err
		}
		b = append(b, number...)
	}
	return append(b, '}'), nil
}

// marshal returns v as JSON without escapes for HTML.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
