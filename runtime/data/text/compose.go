package text

import (
	"slices"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// normalForm returns a normaliser that brings text into a Unicode normalisation form (Unicode
// Standard Annex 15). Sequences of combining marks may have any length.
func normalForm(form norm.Form) normalizer {
	decomposing, composing := form, false
	switch form {
	case norm.NFC:
		decomposing, composing = norm.NFD, true
	case norm.NFKC:
		decomposing, composing = norm.NFKD, true
	}
	return func(a aligned) (aligned, error) {
		if isASCII(a.text) {
			return a, nil
		}
		changes := decomposed(a.text, decomposing)
		if composing {
			changes = composed(changes)
		}
		return a.transformed(changes, 0), nil
	}
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func decomposed(text string, form norm.Form) []change {
	changes := make([]change, 0, len(text))
	var buffer []byte
	for _, c := range text {
		if c < utf8.RuneSelf || newDecompositions(form).contains(c) {
			changes = append(changes, change{c, 0})
			continue
		}
		buffer = form.AppendString(buffer[:0], string(c))
		for i, d := range string(buffer) {
			changes = append(changes, change{d, min(i, 1)})
		}
	}
	for i := 0; i < len(changes); i++ {
		from := i
		for i < len(changes) && class(changes[i].char) != 0 {
			i++
		}
		slices.SortStableFunc(changes[from:i], func(x, y change) int { return int(class(x.char)) - int(class(y.char)) })
	}
	return changes
}

func class(c rune) uint8 {
	if c < 0x300 || newMarks().contains(c) {
		return 0
	}
	return norm.NFD.PropertiesString(string(c)).CCC()
}

// composed composes characters canonically, as Unicode's form NFC does. The change to a composed
// character replaces all characters of the text that the changes to its parts replaced.
func composed(changes []change) []change {
	out := make([]change, 0, len(changes))
	starter, last := -1, uint8(0) // where the starter is in out; class of what was kept after it
	for _, c := range changes {
		ccc := class(c.char)
		if starter >= 0 {
			if adjacent := starter == len(out)-1; adjacent || last < ccc {
				if r, ok := pair(out[starter].char, c.char); ok {
					out[starter].char = r
					out[starter].skip += c.skip - 1
					continue
				}
			}
		}
		if ccc == 0 {
			starter = len(out)
		}
		last = ccc
		out = append(out, c)
	}
	return out
}

// pair returns the primary composite of two characters, and whether there is one.
func pair(first, second rune) (rune, bool) {
	if second < 0x300 {
		return 0, false
	}
	s := norm.NFC.String(string([]rune{first, second}))
	c, size := utf8.DecodeRuneInString(s)
	return c, size == len(s) && !newDecompositions(norm.NFC).contains(c)
}
