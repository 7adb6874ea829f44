package text

import "encoding/json"

// wordLevel has a token for each word in the vocabulary, and the unknown token for all other words.
type wordLevel struct {
	vocabulary
	unknown token
}

func readWordLevel(o *object) model {
	m := &wordLevel{vocabulary: readVocabulary(o)}
	m.unknown = unknownToken(o, m.vocabulary, need[string](o, "unk_token"))
	return m
}

func (m *wordLevel) tokenize(dst []token, word string) ([]token, error) {
	t := m.unknown
	if id, ok := m.ids[word]; ok {
		t = token{id: id, text: word}
	}
	t.end = len(word)
	return append(dst, t), nil
}

func (m *wordLevel) json() (json.RawMessage, error) {
	return marshal(struct {
		Type       string     `json:"type"`
		Vocabulary vocabulary `json:"vocab"`
		Unknown    string     `json:"unk_token"`
	}{"WordLevel", m.vocabulary, m.unknown.text})
}
