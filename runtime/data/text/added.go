package text

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// addedToken is a token that is found in a text before the model tokenizes the text. The fields are
// named as in the file.
type addedToken struct {
	ID         int64  `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	LeftStrip  bool   `json:"lstrip"`
	RightStrip bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
	Special    bool   `json:"special"`
}

type addedTokens struct {
	list []addedToken
	ids  map[string]int64
	byID map[int64]int // index in list
	// for each token, its content, normalised if the token is found in normalised text
	normalized []string
	special    map[string]bool
	// tokens that are found in the text before normalisation
	before tokenTrie
	// tokens that are found in normalised text
	after tokenTrie
}

// readAdded reads the added tokens of a tokenizer file. A token that is in the vocabulary of m
// keeps its id there. Any other token gets the next id after the vocabulary. readAdded returns an
// error if the file gives a token another id. It applies normalize to the contents of tokens that
// are looked for in normalised text.
func readAdded(o *object, m model, normalize normalizer) (*addedTokens, error) {
	a := &addedTokens{ids: map[string]int64{}, byID: map[int64]int{}, special: map[string]bool{}}
	if o.at("added_tokens").missing() {
		return a, nil
	}
	next := int64(m.size())
	for _, n := range list(o, "added_tokens") {
		f, err := n.object()
		if err != nil {
			return nil, err
		}
		t := addedToken{
			ID: need[int64](f, "id"), Content: need[string](f, "content"), SingleWord: need[bool](f, "single_word"),
			LeftStrip: need[bool](f, "lstrip"), RightStrip: need[bool](f, "rstrip"),
			Normalized: need[bool](f, "normalized"), Special: need[bool](f, "special"),
		}
		if f.err != nil {
			return nil, f.err
		}
		if t.Content == "" {
			return nil, n.errorf("the token is empty")
		}
		id, known := m.id(t.Content)
		if !known {
			id = next
			next++
		}
		if id != t.ID {
			return nil, f.at("id").errorf("%d: the vocabulary gives %q the number %d", t.ID, t.Content, id)
		}
		if _, twice := a.ids[t.Content]; twice {
			return nil, f.at("content").errorf("%q is in the list twice", t.Content)
		}
		if err := a.add(t, normalize); err != nil {
			return nil, n.errorf("%w", err)
		}
	}
	return a, o.err
}

// add adds a token. No earlier token may have its content.
func (a *addedTokens) add(t addedToken, normalize normalizer) error {
	index, pattern, trie := len(a.list), t.Content, &a.before
	if t.Normalized {
		trie = &a.after
		if normalize != nil {
			n, err := normalize(alignedOf(t.Content))
			if err != nil {
				return err
			}
			pattern = n.text
		}
	}
	if pattern == "" {
		return fmt.Errorf("the token %q is empty when it is normalised", t.Content)
	}
	if !trie.add(pattern, index) {
		return fmt.Errorf("the token %q equals another one when it is normalised", t.Content)
	}
	a.list, a.normalized = append(a.list, t), append(a.normalized, pattern)
	a.ids[t.Content], a.byID[t.ID] = t.ID, index
	if t.Special {
		a.special[t.Content] = true
	}
	return nil
}

// each divides a text into added tokens and the text between them, and calls f for each part in
// order. index is the index of the token, or -1 for text between tokens. If several tokens begin at
// the same byte, the longest one is taken. trie holds the contents of the tokens.
func (a *addedTokens) each(trie *tokenTrie, text string, f func(m match, index int)) {
	last := 0
	for at := 0; at < len(text); {
		index, size := trie.longest(text[at:])
		if size == 0 {
			at++
			continue
		}
		start, end := at, at+size
		at = end
		t := a.list[index]
		if t.SingleWord {
			before, _ := utf8.DecodeLastRuneInString(text[:start])
			after, _ := utf8.DecodeRuneInString(text[end:])
			if start > 0 && isWord(before) || end < len(text) && isWord(after) {
				continue
			}
		}
		if t.LeftStrip {
			start = min(end, max(last, len(strings.TrimRightFunc(text[:start], unicode.IsSpace))))
		}
		if t.RightStrip {
			end = len(text) - len(strings.TrimLeftFunc(text[end:], unicode.IsSpace))
		}
		if last < start {
			f(match{last, start, false}, -1)
		}
		f(match{start, end, true}, index)
		last = end
	}
	if last < len(text) {
		f(match{last, len(text), false}, -1)
	}
}

// split splits a text at its added tokens, normalises the text between them, and splits the
// normalised text at the tokens that are found there.
func (a *addedTokens) split(text string, normalize normalizer) ([]piece, error) {
	whole := piece{aligned: alignedOf(text)}
	var out []piece
	var failed error
	cutAt := func(p piece, trie *tokenTrie, rest func(piece)) {
		a.each(trie, p.text, func(m match, index int) {
			part := piece{aligned: p.slice(m.start, m.end)}
			if index < 0 {
				rest(part)
				return
			}
			part.tokens = []token{{id: a.list[index].ID, text: part.text, end: len(part.text)}}
			out = append(out, part)
		})
	}
	cutAt(whole, &a.before, func(p piece) {
		if normalize != nil {
			var err error
			if p.aligned, err = normalize(p.aligned); err != nil {
				failed = err
				return
			}
		}
		cutAt(p, &a.after, func(p piece) { out = append(out, p) })
	})
	return out, failed
}

// text returns the content of a token, and whether id is an added token. The content is normalised
// if the token is looked for in normalised text.
func (a *addedTokens) text(id int64) (string, bool) {
	index, ok := a.byID[id]
	if !ok {
		return "", false
	}
	return a.normalized[index], true
}

func (a *addedTokens) json() (json.RawMessage, error) {
	if a.list == nil {
		return json.RawMessage("[]"), nil
	}
	return marshal(a.list)
}

// tokenTrie finds the longest string at the beginning of a text, out of a set of strings. The first
// node is the root.
type tokenTrie struct{ nodes []trieNode }

type trieNode struct {
	children map[byte]int
	index    int // of the string that ends here, plus one
}

// add adds the string s. [tokenTrie.longest] returns index when it finds s. add returns false if
// the trie has s already.
func (t *tokenTrie) add(s string, index int) bool {
	if t.nodes == nil {
		t.nodes = []trieNode{{}}
	}
	at := 0
	for i := range len(s) {
		next, ok := t.nodes[at].children[s[i]]
		if !ok {
			next = len(t.nodes)
			if t.nodes[at].children == nil {
				t.nodes[at].children = map[byte]int{}
			}
			t.nodes[at].children[s[i]] = next
			t.nodes = append(t.nodes, trieNode{})
		}
		at = next
	}
	isNew := t.nodes[at].index == 0
	t.nodes[at].index = index + 1
	return isNew
}

// longest returns the index and the length of the longest string of the trie that is a prefix of
// text. size is 0 if there is no such string.
func (t *tokenTrie) longest(text string) (index, size int) {
	if t.nodes == nil {
		return 0, 0
	}
	at := 0
	for i := range len(text) {
		next, ok := t.nodes[at].children[text[i]]
		if !ok {
			break
		}
		if at = next; t.nodes[at].index > 0 {
			index, size = t.nodes[at].index-1, i+1
		}
	}
	return index, size
}
