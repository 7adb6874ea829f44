package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// byteChars maps a byte to its character in byte-level tokens. Printable characters of Latin-1
// stand for themselves; the other bytes, in order, have the characters from U+0100 on.
var byteChars = func() (chars [256]rune) {
	next := rune(256)
	for b := range chars {
		if '!' <= b && b <= '~' || 0xa1 <= b && b <= 0xac || 0xae <= b {
			chars[b] = rune(b)
		} else {
			chars[b] = next
			next++
		}
	}
	return chars
}()

// charByte is the inverse of byteChars. It returns false if c is not in byteChars.
func charByte(c rune) (byte, bool) {
	switch {
	case c < 0:
		return 0, false
	case c < 256:
		return byte(c), byteChars[c] == c
	case c < 256+33:
		return byte(c - 256), true
	case c < 256+33+34:
		return byte(c - 256 - 33 + 0x7f), true
	}
	return 0xad, c == 256+33+34
}

// spaceChar is byteChars[' '].
const spaceChar = 'Ġ'

// byteLevel replaces each byte by its character in byteChars.
func byteLevel(a aligned) aligned {
	var b strings.Builder
	b.Grow(2 * len(a.text))
	from := make([]Span, 0, len(a.from))
	for i := range len(a.text) {
		size, _ := b.WriteRune(byteChars[a.text[i]])
		for range size {
			from = append(from, a.from[i])
		}
	}
	return aligned{b.String(), from, a.base, a.room}
}

// byteLevelPreTokenizer returns a pre-tokenizer that replaces bytes by their byte-level characters.
// If words is true, it first splits the text into words of GPT-2. If prefix is true, it adds a
// space to pieces that do not begin with one.
func byteLevelPreTokenizer(prefix, words bool) preTokenizer {
	return each(func(p piece) ([]piece, error) {
		if prefix && !strings.HasPrefix(p.text, " ") {
			p.aligned = p.prepended(" ")
		}
		pieces := []piece{p}
		if words {
			pieces = p.pieces(gptWords(p.text))
		}
		for i := range pieces {
			pieces[i].aligned = byteLevel(pieces[i].aligned)
		}
		return pieces, nil
	})
}

// gptWords splits text as GPT-2 does, by the expression
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
func gptWords(text string) []match {
	var words []match
	for at := 0; at < len(text); {
		size := gptWord(text[at:])
		words = append(words, match{at, at + size, true})
		at += size
	}
	return words
}

// gptWord returns the length in bytes of the first word of text. text must not be empty.
func gptWord(text string) int {
	for _, ending := range []string{"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"} {
		if strings.HasPrefix(text, ending) {
			return len(ending)
		}
	}
	start := 0
	if text[0] == ' ' {
		start = 1
	}
	other := func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsNumber(c) && !unicode.IsSpace(c) }
	for _, in := range []func(rune) bool{unicode.IsLetter, unicode.IsNumber, other} {
		if size := run(text[start:], in); size > 0 {
			return start + size
		}
	}
	size := run(text, unicode.IsSpace)
	if size == len(text) {
		return size
	}
	_, last := utf8.DecodeLastRuneInString(text[:size]) // the last space may belong to the next word
	if last < size {
		size -= last
	}
	return size
}

// run returns the length in bytes of the longest prefix of text whose characters all satisfy `in`.
func run(text string, in func(rune) bool) int {
	return len(text) - len(strings.TrimLeftFunc(text, in))
}
