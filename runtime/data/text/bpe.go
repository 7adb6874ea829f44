package text

import (
	"container/heap"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// bpe is byte-pair encoding: it splits a word into characters and merges pairs of neighbours in the
// order in which training found the pairs. See Sennrich, Haddow and Birch, "Neural Machine
// Translation of Rare Words with Subword Units", arXiv:1508.07909.
type bpe struct {
	vocabulary
	merges   map[pairOf]merge
	settings bpeSettings
	// id of the unknown token, if settings.Unknown is not nil
	unknown int64
}

type bpeSettings struct {
	Unknown      *string `json:"unk_token"`
	Prefix       *string `json:"continuing_subword_prefix"`
	Suffix       *string `json:"end_of_word_suffix"`
	FuseUnknown  bool    `json:"fuse_unk"`
	ByteFallback bool    `json:"byte_fallback"`
	IgnoreMerges bool    `json:"ignore_merges"`
}

type pairOf struct{ left, right int64 }

// merge is the token that replaces a pair, and the rank of the pair. Lower ranks are merged first.
type merge struct {
	rank int
	id   int64
}

func readBPE(o *object) model {
	m := &bpe{vocabulary: readVocabulary(o), settings: bpeSettings{
		Unknown:      get[*string](o, "unk_token", nil),
		Prefix:       affix(o, "continuing_subword_prefix", get[*string](o, "continuing_subword_prefix", nil)),
		Suffix:       affix(o, "end_of_word_suffix", get[*string](o, "end_of_word_suffix", nil)),
		FuseUnknown:  get(o, "fuse_unk", false),
		ByteFallback: get(o, "byte_fallback", false), IgnoreMerges: get(o, "ignore_merges", false),
	}}
	if dropout := get(o, "dropout", 0.0); dropout != 0 {
		o.fail(o.at("dropout").errorf("%v: tokens at random are not supported; set it to null", dropout))
	}
	if u := m.settings.Unknown; u != nil {
		id, ok := m.ids[*u]
		if !ok {
			o.fail(o.at("unk_token").errorf("%q is not in the vocabulary", *u))
		}
		m.unknown = id
	}
	m.readMerges(o)
	return m
}

// readMerges reads the field "merges". Its elements are pairs of strings, or strings with a space
// between the two tokens.
func (m *bpe) readMerges(o *object) {
	prefix := 0
	if p := m.settings.Prefix; p != nil {
		prefix = len(*p)
	}
	all := need[[]json.RawMessage](o, "merges")
	m.merges = make(map[pairOf]merge, len(all))
	rank := 0
	for i, raw := range all {
		var pair []string
		var line string
		if json.Unmarshal(raw, &line) == nil {
			if strings.HasPrefix(line, "#version") {
				continue
			}
			pair = strings.Split(line, " ")
		} else if err := json.Unmarshal(raw, &pair); err != nil {
			o.fail(o.element("merges", i).errorf("%w", err))
			return
		}
		if len(pair) != 2 || len(pair[1]) < prefix {
			o.fail(o.element("merges", i).errorf("%q is not a pair of tokens", pair))
			return
		}
		joined := pair[0] + pair[1][prefix:]
		var ids [3]int64
		for k, s := range []string{pair[0], pair[1], joined} {
			id, ok := m.ids[s]
			if !ok {
				o.fail(o.element("merges", i).errorf("%q is not in the vocabulary", s))
				return
			}
			ids[k] = id
		}
		m.merges[pairOf{ids[0], ids[1]}] = merge{rank, ids[2]}
		rank++
	}
}

// symbol is a token of a word during merging. Symbols are a linked list.
type symbol struct {
	id         int64
	start, end int
	// indices of the neighbours, or -1
	prev, next int
	merged     bool
}

func (m *bpe) tokenize(dst []token, word string) ([]token, error) {
	if m.settings.IgnoreMerges {
		if id, ok := m.ids[word]; ok {
			return append(dst, token{id, word, 0, len(word)}), nil
		}
	}
	symbols := m.symbols(word)
	m.merge(symbols)
	for _, s := range symbols {
		if !s.merged {
			dst = append(dst, token{s.id, m.tokens[s.id], s.start, s.end})
		}
	}
	return dst, nil
}

// symbols returns the characters of a word as symbols. A character that is not in the vocabulary
// becomes the tokens of its bytes, if the settings allow it and the tokens exist. Otherwise it
// becomes the unknown token or, if the settings name no such token, is dropped.
func (m *bpe) symbols(word string) []symbol {
	symbols := make([]symbol, 0, len(word))
	add := func(id int64, start, end int) {
		last := len(symbols) - 1
		symbols = append(symbols, symbol{id: id, start: start, end: end, prev: last, next: -1})
		if last >= 0 {
			symbols[last].next = last + 1
		}
	}
	unknown, from, to := false, 0, 0 // an unknown token that is not added yet
	flush := func() {
		if unknown {
			add(m.unknown, from, to)
			unknown = false
		}
	}
	for at := 0; at < len(word); {
		_, size := utf8.DecodeRuneInString(word[at:])
		start, end := at, at+size
		s := word[start:end]
		if p := m.settings.Prefix; p != nil && start > 0 {
			s = *p + s
		}
		if p := m.settings.Suffix; p != nil && end == len(word) {
			s += *p
		}
		at = end
		if id, ok := m.ids[s]; ok {
			flush()
			add(id, start, end)
			continue
		}
		if m.settings.ByteFallback {
			if ids, ok := byteTokens(m.vocabulary, s); ok {
				for i, id := range ids {
					add(id, min(start+i, end), min(start+i+1, end))
				}
				continue
			}
		}
		if m.settings.Unknown == nil {
			continue
		}
		if unknown && m.settings.FuseUnknown {
			to = end
			continue
		}
		flush()
		unknown, from, to = true, start, end
	}
	flush()
	return symbols
}

// byteTokens returns the tokens of the bytes of s. It returns false if the vocabulary lacks one of
// them.
func byteTokens(v vocabulary, s string) ([]int64, bool) {
	ids := make([]int64, len(s))
	for i := range len(s) {
		id, ok := v.ids[byteNames[s[i]]]
		if !ok {
			return nil, false
		}
		ids[i] = id
	}
	return ids, true
}

// byteNames is indexed by byte. It has the tokens for single bytes.
var byteNames = func() (names [256]string) {
	for b := range names {
		names[b] = fmt.Sprintf("<0x%02X>", b)
	}
	return names
}()

// merge repeatedly merges the pair with the lowest rank, until no pair can be merged. If several
// pairs have this rank, it merges the leftmost one first.
func (m *bpe) merge(symbols []symbol) {
	var q mergeQueue
	candidate := func(at int) {
		if at < 0 || symbols[at].next < 0 {
			return
		}
		if to, ok := m.merges[pairOf{symbols[at].id, symbols[symbols[at].next].id}]; ok {
			q = append(q, mergeAt{to, at})
		}
	}
	for i := range symbols {
		candidate(i)
	}
	heap.Init(&q)
	for len(q) > 0 {
		top := heap.Pop(&q).(mergeAt)
		left := &symbols[top.at]
		if left.merged || left.next < 0 {
			continue
		}
		right := &symbols[left.next]
		if to, ok := m.merges[pairOf{left.id, right.id}]; !ok || to.id != top.id {
			continue // one of the two has become another token
		}
		left.id, left.end, left.next, right.merged = top.id, right.end, right.next, true
		if left.next >= 0 {
			symbols[left.next].prev = top.at
		}
		for _, at := range []int{left.prev, top.at} {
			old := len(q)
			if candidate(at); len(q) > old {
				heap.Fix(&q, old)
			}
		}
	}
}

// mergeAt is a merge of symbol `at` with the next one.
type mergeAt struct {
	merge
	at int
}

type mergeQueue []mergeAt

func (q mergeQueue) Len() int { return len(q) }
func (q mergeQueue) Less(i, j int) bool {
	return q[i].rank < q[j].rank || q[i].rank == q[j].rank && q[i].at < q[j].at
}
func (q mergeQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *mergeQueue) Push(x any)   { *q = append(*q, x.(mergeAt)) }
func (q *mergeQueue) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}

func (m *bpe) json() (json.RawMessage, error) {
	pairs := slices.SortedFunc(maps.Keys(m.merges), func(a, b pairOf) int { return m.merges[a].rank - m.merges[b].rank })
	merges := make([][2]string, len(pairs))
	for i, p := range pairs {
		merges[i] = [2]string{m.tokens[p.left], m.tokens[p.right]}
	}
	return marshal(struct {
		Type    string   `json:"type"`
		Dropout *float64 `json:"dropout"`
		bpeSettings
		Vocabulary vocabulary  `json:"vocab"`
		Merges     [][2]string `json:"merges"`
	}{Type: "BPE", bpeSettings: m.settings, Vocabulary: m.vocabulary, Merges: merges})
}
