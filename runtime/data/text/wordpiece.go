package text

import (
	"encoding/json"
	"unicode/utf8"
)

// wordPiece splits a word from left to right into the longest tokens of its vocabulary. A word that
// cannot be split becomes one unknown token. See Devlin and others, "BERT: Pre-training of Deep
// Bidirectional Transformers for Language Understanding", arXiv:1810.04805.
type wordPiece struct {
	vocabulary
	settings wordPieceSettings
	unknown  token
}

// wordPieceSettings holds the fields of a WordPiece model in a tokenizer file, without the
// vocabulary.
type wordPieceSettings struct {
	Unknown    string `json:"unk_token"`
	Prefix     string `json:"continuing_subword_prefix"`
	Characters int    `json:"max_input_chars_per_word"` // longer words are unknown
}

func readWordPiece(o *object) model {
	m := &wordPiece{vocabulary: readVocabulary(o), settings: wordPieceSettings{
		need[string](o, "unk_token"), need[string](o, "continuing_subword_prefix"), need[int](o, "max_input_chars_per_word"),
	}}
	affix(o, "continuing_subword_prefix", &m.settings.Prefix)
	m.unknown = unknownToken(o, m.vocabulary, m.settings.Unknown)
	return m
}

// unknownToken returns the token for unknown words: the token s of vocabulary v. It is an error of
// o if v does not have it.
func unknownToken(o *object, v vocabulary, s string) token {
	id, ok := v.ids[s]
	if !ok {
		o.fail(o.at("unk_token").errorf("%q is not in the vocabulary", s))
	}
	return token{id: id, text: s}
}

func (m *wordPiece) tokenize(dst []token, word string) ([]token, error) {
	unknown := m.unknown
	unknown.end = len(word)
	if utf8.RuneCountInString(word) > m.settings.Characters {
		return append(dst, unknown), nil
	}
	first := len(dst)
	var buffer []byte
	for start := 0; start < len(word); {
		buffer = buffer[:0]
		if start > 0 {
			buffer = append(buffer, m.settings.Prefix...)
		}
		prefix := len(buffer)
		end := min(len(word), start+max(0, m.longest-prefix))
		for end < len(word) && end > start && !utf8.RuneStart(word[end]) {
			end--
		}
		buffer = append(buffer, word[start:end]...)
		for end > start {
			if _, ok := m.ids[string(buffer)]; ok {
				break
			}
			_, size := utf8.DecodeLastRuneInString(word[start:end])
			end -= size
			buffer = buffer[:len(buffer)-size]
		}
		if end == start {
			return append(dst[:first], unknown), nil
		}
		s := string(buffer)
		dst = append(dst, token{m.ids[s], s, start, end})
		start = end
	}
	return dst, nil
}

func (m *wordPiece) json() (json.RawMessage, error) {
	return marshal(struct {
		Type string `json:"type"`
		wordPieceSettings
		Vocabulary vocabulary `json:"vocab"`
	}{"WordPiece", m.settings, m.vocabulary})
}
