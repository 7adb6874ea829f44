package text

import (
	"encoding/base64"
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

// A grapheme cluster is looked up as a whole only if it has fewer than maxCluster bytes, as in
// SentencePiece. In other clusters, each character is looked up.
const maxCluster = 6

// precompiled returns SentencePiece's normaliser: a double-array trie of strings, with a
// replacement for each. The trie has the format of the library Darts; see its function
// commonPrefixSearch.
func precompiled(o *object) normalizer {
	n := o.at("precompiled_charsmap")
	data, err := base64.StdEncoding.DecodeString(need[string](o, "precompiled_charsmap"))
	if err != nil {
		o.fail(n.errorf("%w", err))
		return nil
	}
	if len(data) < 4 {
		o.fail(n.errorf("%d bytes: the size of the trie is missing", len(data)))
		return nil
	}
	size := uint64(binary.LittleEndian.Uint32(data))
	data = data[4:]
	if size > uint64(len(data)) || size%4 != 0 {
		o.fail(n.errorf("a trie of %d bytes in %d bytes", size, len(data)))
		return nil
	}
	c := charsMap{make([]uint32, size/4), string(data[size:])}
	for i := range c.trie {
		c.trie[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	return c.normalize
}

// charsMap maps strings to replacements.
type charsMap struct {
	trie []uint32
	// each replacement ends with a zero byte
	replacements string
}

func (m charsMap) normalize(a aligned) (aligned, error) {
	changes := make([]change, 0, len(a.text))
	for at := 0; at < len(a.text); {
		if err := a.grow(len(changes)); err != nil {
			return a, err
		}
		size := cluster(a.text[at:])
		if size < maxCluster {
			if r, ok := m.replacement(a.text[at : at+size]); ok {
				changes = exchange(changes, a.text[at:at+size], r)
				at += size
				continue
			}
		}
		for end := at + size; at < end; {
			c, width := utf8.DecodeRuneInString(a.text[at:])
			if r, ok := m.replacement(a.text[at : at+width]); ok {
				changes = exchange(changes, a.text[at:at+width], r)
			} else {
				changes = append(changes, change{c, 0})
			}
			at += width
		}
	}
	return a.transformed(changes, 0), nil
}

// exchange appends the changes that replace `old` by `replacement`. If `old` has more characters
// than `replacement`, the last change of the list also removes the remaining characters. If
// `replacement` is empty, this is a change that an earlier call appended.
func exchange(changes []change, old, replacement string) []change {
	added := utf8.RuneCountInString(replacement) - utf8.RuneCountInString(old)
	for _, c := range replacement {
		changes = append(changes, change{c, 0})
	}
	for i := len(changes) - 1; added > 0 && i >= 0; i, added = i-1, added-1 {
		changes[i].skip = 1
	}
	if added < 0 && len(changes) > 0 {
		changes[len(changes)-1].skip += added
	}
	return changes
}

// replacement returns the replacement of the shortest string in the map that is a prefix of key. It
// returns false if there is no such string or its replacement is not UTF-8.
func (m charsMap) replacement(key string) (string, bool) {
	if len(m.trie) == 0 {
		return "", false
	}
	at := offset(m.trie[0])
	for i := range len(key) {
		at ^= uint32(key[i])
		if uint64(at) >= uint64(len(m.trie)) {
			return "", false
		}
		unit := m.trie[at]
		if unit&(1<<31|0xff) != uint32(key[i]) || key[i] == 0 {
			return "", false
		}
		at ^= offset(unit)
		if unit>>8&1 == 0 {
			continue
		}
		if uint64(at) >= uint64(len(m.trie)) {
			return "", false
		}
		start := uint64(m.trie[at] &^ (1 << 31))
		if start > uint64(len(m.replacements)) {
			return "", false
		}
		r, _, _ := strings.Cut(m.replacements[start:], "\x00")
		return r, utf8.ValidString(r)
	}
	return "", false
}

// offset decodes the offset from a node to its children.
func offset(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }
