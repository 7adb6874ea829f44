package text

import "unicode"

// isPunctuation reports whether c is ASCII punctuation, or has general category P in Unicode 8, the
// version of the reference implementation.
func isPunctuation(c rune) bool {
	if c < unicode.MaxASCII {
		return '!' <= c && c <= '/' || ':' <= c && c <= '@' || '[' <= c && c <= '`' || '{' <= c && c <= '~'
	}
	return c == '\u166d' || c == '\U000111c9' || unicode.IsPunct(c) && !newPunctuation().contains(c)
}

// isWord reports whether c matches \w in Rust's regular expressions: letters, marks, decimal numbers,
// connectors and joiners. See Unicode Technical Standard 18, annex C.
func isWord(c rune) bool {
	return unicode.In(c, unicode.L, unicode.Nl, unicode.Other_Alphabetic, unicode.M, unicode.Nd, unicode.Pc, unicode.Join_Control)
}

// isIdeograph reports whether c is in one of the blocks of CJK ideographs that BERT treats as words
// of one character.
func isIdeograph(c rune) bool {
	return 0x4e00 <= c && c <= 0x9fff || 0x3400 <= c && c <= 0x4dbf || 0x20000 <= c && c <= 0x2a6df ||
		0x2a700 <= c && c <= 0x2b81f || 0x2b920 <= c && c <= 0x2ceaf || 0xf900 <= c && c <= 0xfaff || 0x2f800 <= c && c <= 0x2fa1f
}

// isControl reports whether c has general category Cc, Cf or Co in Unicode 8 and is not a tab, line
// feed or carriage return.
func isControl(c rune) bool {
	if c == '\t' || c == '\n' || c == '\r' {
		return false
	}
	return unicode.In(c, unicode.Cc, unicode.Cf, unicode.Co) && !newFormat().contains(c)
}

// isAccent reports whether c is a nonspacing mark (Mn) in Unicode 8.
func isAccent(c rune) bool {
	return c == '\u1734' || unicode.Is(unicode.Mn, c) && !newAccents().contains(c)
}

// isMark reports whether c is a combining mark (M) in Unicode 9.
func isMark(c rune) bool {
	return c == '\u1cf2' || c == '\u1cf3' || unicode.Is(unicode.M, c) && !newMarks().contains(c)
}

// lower appends the lower case of c, one or two characters.
func lower(dst []change, c rune) []change {
	if c == 'İ' {
		return append(dst, change{'i', 0}, change{'\u0307', 1})
	}
	return append(dst, change{unicode.ToLower(c), 0})
}
