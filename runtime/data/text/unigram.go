package text

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"unicode/utf8"
)

// unknownPenalty is how much the score of an unknown character is below the lowest score of a
// token, as in SentencePiece.
const unknownPenalty = 10

// unigram splits a word so that the sum of the scores of its tokens is maximal. Scores are log
// probabilities. See Kudo, "Subword Regularization: Improving Neural Network Translation Models
// with Multiple Subword Candidates", arXiv:1804.10959.
type unigram struct {
	vocabulary
	// score of each id
	scores []float64
	// token of each id; tokens may be equal
	names        []string
	sorted       []string
	unknown      int64 // -1 if there is none
	lowest       float64
	byteFallback bool
}

func readUnigram(o *object) model {
	m := &unigram{unknown: get(o, "unk_id", int64(-1)), byteFallback: get(o, "byte_fallback", false), lowest: math.Inf(1)}
	m.ids = map[string]int64{}
	for i, raw := range need[[]json.RawMessage](o, "vocab") {
		var pair []json.RawMessage
		var s string
		var score float64
		err := json.Unmarshal(raw, &pair)
		if err == nil && len(pair) != 2 {
			err = errors.New("a token and its score expected")
		}
		if err == nil {
			err = errors.Join(json.Unmarshal(pair[0], &s), json.Unmarshal(pair[1], &score))
		}
		if err != nil {
			o.fail(o.element("vocab", i).errorf("%w", err))
			return m
		}
		m.ids[s] = int64(len(m.names))
		m.names, m.scores = append(m.names, s), append(m.scores, score)
		m.lowest = min(m.lowest, score)
	}
	if u := o.at("unk_id"); !u.missing() && (m.unknown < 0 || m.unknown >= int64(len(m.names))) {
		o.fail(u.errorf("%d: the vocabulary has %d tokens", m.unknown, len(m.names)))
	}
	for s := range m.ids {
		if s != "" {
			m.sorted = append(m.sorted, s)
		}
	}
	slices.Sort(m.sorted)
	return m
}

func (m *unigram) token(id int64) (string, bool) {
	if id < 0 || id >= int64(len(m.names)) {
		return "", false
	}
	return m.names[id], true
}

func (m *unigram) size() int { return len(m.names) }

func (m *unigram) last() int64 { return int64(len(m.names)) - 1 }

// prefixes calls f with the tokens that are prefixes of text, the shortest first.
func (m *unigram) prefixes(text string, f func(token string)) {
	candidates := m.sorted
	for n := 1; n <= len(text) && len(candidates) > 0; n++ {
		b := text[n-1]
		from, _ := slices.BinarySearchFunc(candidates, b, func(s string, b byte) int { return byteAt(s, n-1) - int(b) })
		to, _ := slices.BinarySearchFunc(candidates[from:], b, func(s string, b byte) int { return byteAt(s, n-1) - int(b) - 1 })
		candidates = candidates[from : from+to]
		if len(candidates) > 0 && len(candidates[0]) == n {
			f(candidates[0])
		}
	}
}

// byteAt returns byte i of s, or -1 after the end.
func byteAt(s string, i int) int {
	if i >= len(s) {
		return -1
	}
	return int(s[i])
}

// path is the best tokenization that ends at a position.
type path struct {
	score float64
	// start of its last token, or -1 if there is no tokenization yet
	start int
	// id of its last token
	id int64
}

func (m *unigram) tokenize(dst []token, word string) ([]token, error) {
	best := make([]path, len(word)+1)
	for i := range best {
		best[i].start = -1
	}
	consider := func(start, end int, id int64, score float64) {
		if p := &best[end]; p.start < 0 || score > p.score {
			*p = path{score, start, id}
		}
	}
	for at := 0; at < len(word); {
		_, size := utf8.DecodeRuneInString(word[at:])
		single, here := false, best[at].score
		m.prefixes(word[at:], func(s string) {
			id := m.ids[s]
			consider(at, at+len(s), id, here+m.scores[id])
			single = single || len(s) == size
		})
		if !single {
			if m.unknown < 0 {
				return dst, errors.New("a character is not in the vocabulary, and the model has no unknown token")
			}
			consider(at, at+size, m.unknown, here+m.lowest-unknownPenalty)
		}
		at += size
	}
	var parts []Span // from the end
	fuse := false    // the last part is unknown, and grows
	for end := len(word); end > 0; {
		p := best[end]
		unknown := p.id == m.unknown
		if unknown && fuse {
			parts[len(parts)-1].Start = p.start
		} else {
			parts = append(parts, Span{p.start, end})
		}
		fuse, end = unknown, p.start
	}
	for _, s := range slices.Backward(parts) {
		dst = m.append(dst, word[s.Start:s.End], s.Start)
	}
	return dst, nil
}

// append appends the token s. If the vocabulary lacks s, it appends the tokens of the bytes of s if
// byteFallback is true and they exist, otherwise the unknown token. start is the position of s in
// the word.
func (m *unigram) append(dst []token, s string, start int) []token {
	id, ok := m.ids[s]
	if !ok && m.byteFallback {
		if ids, ok := byteTokens(m.vocabulary, s); ok {
			for i, id := range ids {
				dst = append(dst, token{id, byteNames[s[i]], start, start + len(s)})
			}
			return dst
		}
	}
	if !ok {
		id = m.unknown
	}
	return append(dst, token{id, s, start, start + len(s)})
}

func (m *unigram) json() (json.RawMessage, error) {
	vocab := make([][2]any, len(m.names))
	for i, s := range m.names {
		vocab[i] = [2]any{s, m.scores[i]}
	}
	var unknown *int64
	if m.unknown >= 0 {
		unknown = &m.unknown
	}
	return marshal(struct {
		Type         string   `json:"type"`
		Unknown      *int64   `json:"unk_id"`
		Vocabulary   [][2]any `json:"vocab"`
		ByteFallback bool     `json:"byte_fallback"`
	}{"Unigram", unknown, vocab, m.byteFallback})
}
