package text

import (
	"container/heap"
	"fmt"
	"iter"
	"strings"
)

// BPEOptions configure the training of byte-level BPE.
type BPEOptions struct {
	Size    int      // tokens of the vocabulary; 0 means 30,000
	Count   int      // a pair that occurs less often is not merged; 0 means 1
	Special []string // tokens with the first numbers, which are found in text but not learnt
	Prefix  bool     // add a space before a text that does not begin with one
}

// TrainBPE learns a vocabulary of byte-level BPE from texts. It turns the most frequent pair of
// neighbouring tokens into a new token, and repeats this until the vocabulary has o.Size tokens or
// no pair occurs at least o.Count times. Among pairs that occur equally often, it takes the pair
// whose left token has the lowest id. If several pairs remain, it takes the one whose right token
// has the lowest id. The vocabulary has the special tokens, the 256 bytes, and then the merged
// tokens in the order in which they were found. The same texts give the same tokenizer. Training
// takes memory for each distinct word of the texts.
//
// It returns an error if o.Size is too small for the special tokens and the bytes, or if a special
// token is empty or given twice.
func TrainBPE(texts iter.Seq[string], o BPEOptions) (*Tokenizer, error) {
	if o.Size == 0 {
		o.Size = 30_000
	}
	if least := len(o.Special) + len(byteChars); o.Size < least {
		return nil, fmt.Errorf("train: a vocabulary of %d tokens: the special tokens and the bytes need %d", o.Size, least)
	}
	t := &trainer{ids: map[string]int64{}, counts: map[pairOf]int{}, places: map[pairOf]map[int]bool{}, merges: [][2]string{}, least: max(o.Count, 1)}
	var added []addedToken
	for i, s := range o.Special {
		if _, twice := t.ids[s]; s == "" || twice {
			return nil, fmt.Errorf("train: the special token %q is empty or given twice", s)
		}
		t.token(s)
		added = append(added, addedToken{ID: int64(i), Content: s, Special: true})
	}
	for c := range rune(256 + 69) { // in the order of the characters
		if _, ok := charByte(c); ok {
			t.token(string(c))
		}
	}
	t.read(texts, byteLevelPreTokenizer(o.Prefix, true))
	for len(t.names) < o.Size && t.merge() {
	}
	return byteLevelBPE(map[string]any{"vocab": t.ids, "merges": t.merges}, added, o.Prefix)
}

type trainer struct {
	ids map[string]int64
	// token of each id
	names  []string
	words  []trainWord
	counts map[pairOf]int
	// for each pair, the words in which it has appeared since the last fill
	places map[pairOf]map[int]bool
	queue  trainQueue
	merges [][2]string
	// smallest count of a pair that is merged
	least int
	// number of calls of the method fill
	fills int
}

type trainWord struct {
	tokens []int64
	count  int
}

func (t *trainer) token(s string) int64 {
	id, ok := t.ids[s]
	if !ok {
		id = int64(len(t.names))
		t.ids[s], t.names = id, append(t.names, s)
	}
	return id
}

// read counts the words of the texts, and the pairs of adjacent tokens in the words. cut splits a
// text into words.
func (t *trainer) read(texts iter.Seq[string], cut preTokenizer) {
	index := map[string]int{}
	for text := range texts {
		pieces, _ := cut([]piece{{aligned: alignedOf(text)}}) // it has no expression that may fail
		for _, p := range pieces {
			i, ok := index[p.text]
			if !ok {
				i = len(t.words)
				index[strings.Clone(p.text)] = i
				w := trainWord{}
				for _, c := range p.text {
					w.tokens = append(w.tokens, t.ids[string(c)])
				}
				t.words = append(t.words, w)
			}
			t.words[i].count++
		}
	}
	for i, w := range t.words {
		for k := range len(w.tokens) - 1 {
			t.change(pairOf{w.tokens[k], w.tokens[k+1]}, i, 1)
		}
	}
	t.fill()
}

// change adds delta·n to the count of a pair, where n is how often the word occurs in the texts.
// delta is 1 if a merge makes the pair appear in the word, and -1 if it makes the pair disappear.
func (t *trainer) change(p pairOf, word, delta int) {
	t.counts[p] += delta * t.words[word].count
	if delta > 0 {
		if t.places[p] == nil {
			t.places[p] = map[int]bool{}
		}
		t.places[p][word] = true
	}
}

// fill adds pairs to the queue: the pairs that have appeared since the last call of this method.
func (t *trainer) fill() {
	for p, words := range t.places {
		if t.counts[p] > 0 {
			heap.Push(&t.queue, candidate{p, t.counts[p], t.fills, words})
		}
	}
	clear(t.places)
	t.fills++
}

// merge merges the most frequent pair. It returns false if no pair is left with at least t.least
// occurrences.
func (t *trainer) merge() bool {
	for len(t.queue) > 0 {
		top := heap.Pop(&t.queue).(candidate)
		if now := t.counts[top.pairOf]; now != top.count { // merges of others have changed it
			top.count = now
			heap.Push(&t.queue, top)
			continue
		}
		if top.count < t.least {
			return false
		}
		left, right := t.names[top.left], t.names[top.right]
		id := t.token(left + right)
		t.merges = append(t.merges, [2]string{left, right})
		for word := range top.words {
			t.join(word, top.pairOf, id)
		}
		t.fill()
		return true
	}
	return false
}

// join replaces the occurrences of pair p in a word by token id, and updates the counts of the
// pairs around them.
func (t *trainer) join(word int, p pairOf, id int64) {
	tokens := t.words[word].tokens
	for i := 0; i+1 < len(tokens); i++ {
		if tokens[i] != p.left || tokens[i+1] != p.right {
			continue
		}
		if i > 0 {
			t.change(pairOf{tokens[i-1], p.left}, word, -1)
			t.change(pairOf{tokens[i-1], id}, word, 1)
		}
		tokens[i] = id
		tokens = append(tokens[:i+1], tokens[i+2:]...)
		if i+1 < len(tokens) {
			t.change(pairOf{p.right, tokens[i+1]}, word, -1)
			t.change(pairOf{id, tokens[i+1]}, word, 1)
		}
	}
	t.words[word].tokens = tokens
}

type candidate struct {
	pairOf
	count int
	fill  int // when it was put into the queue: a pair may come to be again, in other words
	words map[int]bool
}

type trainQueue []candidate

func (q trainQueue) Len() int { return len(q) }
func (q trainQueue) Less(i, j int) bool {
	a, b := q[i], q[j]
	switch {
	case a.count != b.count:
		return a.count > b.count
	case a.left != b.left:
		return a.left < b.left
	case a.right != b.right:
		return a.right < b.right
	}
	return a.fill < b.fill
}
func (q trainQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *trainQueue) Push(x any)   { *q = append(*q, x.(candidate)) }
func (q *trainQueue) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}
