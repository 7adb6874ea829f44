package text

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Span is a range of bytes, from Start up to but not including End.
type Span struct{ Start, End int }

// aligned is a piece of text during normalisation. Each byte is aligned with the bytes of the
// original text from which it was made.
type aligned struct {
	text string
	from []Span // for each byte of text
	// start of the piece in the original text
	base int
	// largest number of bytes that normalisation may make of the piece
	room int
}

// room returns the largest number of bytes that the steps of a tokenizer may make of `size` bytes
// of text. Real files need far less. The limit keeps a hostile file from exhausting memory.
func room(size int) int { return 256*size + 1<<16 }

// grow returns an error if the piece must not have `size` bytes.
func (a aligned) grow(size int) error {
	if size > a.room {
		return fmt.Errorf("normalisation makes more than %d bytes of a part of the text", a.room)
	}
	return nil
}

// alignedOf returns text before normalisation. Each byte is aligned with the bytes of the character
// that contains it.
func alignedOf(text string) aligned {
	from := make([]Span, 0, len(text))
	for at := 0; at < len(text); {
		_, size := utf8.DecodeRuneInString(text[at:])
		for range size {
			from = append(from, Span{at, at + size})
		}
		at += size
	}
	return aligned{text: text, from: from, room: room(len(text))}
}

// span returns the bytes of the original text with which bytes [start, end) are aligned. If no
// bytes of the original text are aligned with them, the span is empty and at the start of the
// piece.
func (a aligned) span(start, end int) Span {
	end = min(end, len(a.from))
	if start >= end {
		return Span{a.base, a.base}
	}
	return Span{a.from[start].Start, a.from[end-1].End}
}

func (a aligned) slice(start, end int) aligned {
	return aligned{a.text[start:end], a.from[start:end], a.span(start, end).Start, room(end - start)}
}

// change is a character of normalised text.
type change struct {
	char rune
	// If skip is 1, char is inserted. Otherwise char replaces the next character of the text, and
	// the next -skip characters are removed.
	skip int
}

// transformed deletes the first `removed` characters of a's text and then applies the changes. A
// new character is aligned with the character that it replaces or, if it replaces several, with the
// first of them. An inserted character is aligned with the old character before it.
func (a aligned) transformed(changes []change, removed int) aligned {
	at := 0 // in the old text
	next := func() {
		_, size := utf8.DecodeRuneInString(a.text[at:])
		at += size
	}
	for range removed {
		next()
	}
	var b strings.Builder
	b.Grow(len(a.text))
	from := make([]Span, 0, len(a.from))
	for _, c := range changes {
		at0 := at
		if c.skip > 0 {
			at0--
		} else {
			for range 1 - c.skip {
				next()
			}
		}
		span := Span{a.base, a.base}
		if at0 = min(at0, len(a.from)-1); at0 >= 0 {
			span = a.from[at0]
		}
		size, _ := b.WriteRune(c.char)
		for range size {
			from = append(from, span)
		}
	}
	return aligned{b.String(), from, a.base, a.room}
}

func (a aligned) mapped(f func(rune) rune) aligned {
	changes := make([]change, 0, len(a.text))
	for _, c := range a.text {
		changes = append(changes, change{f(c), 0})
	}
	return a.transformed(changes, 0)
}

// kept removes the characters for which the function `keep` returns false.
func (a aligned) kept(keep func(rune) bool) aligned {
	changes := make([]change, 0, len(a.text))
	removed, first := 0, 0
	for _, c := range a.text {
		if !keep(c) {
			removed++
			continue
		}
		if len(changes) == 0 {
			first = removed
		} else {
			changes[len(changes)-1].skip = -removed
		}
		changes, removed = append(changes, change{c, 0}), 0
	}
	if len(changes) > 0 {
		changes[len(changes)-1].skip = -removed
	}
	return a.transformed(changes, first)
}

// prepended returns the text with a prefix before it. The prefix is aligned with the first
// character of the text. An empty text gets no prefix.
func (a aligned) prepended(prefix string) aligned {
	if a.text == "" {
		return a
	}
	from := make([]Span, 0, len(prefix)+len(a.from))
	for range len(prefix) {
		from = append(from, a.from[0])
	}
	return aligned{prefix + a.text, append(from, a.from...), a.base, a.room}
}

// replaced replaces each match by content, which is aligned with the last byte of the match.
func (a aligned) replaced(matches []match, content string) aligned {
	var b strings.Builder
	from := make([]Span, 0, len(a.from))
	for _, m := range matches {
		if !m.found {
			b.WriteString(a.text[m.start:m.end])
			from = append(from, a.from[m.start:m.end]...)
			continue
		}
		span := Span{a.base, a.base}
		if m.end > 0 {
			span = a.from[m.end-1]
		}
		b.WriteString(content)
		for range len(content) {
			from = append(from, span)
		}
	}
	return aligned{b.String(), from, a.base, a.room}
}
