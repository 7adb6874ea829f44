package text

import (
	"unicode"
	"unicode/utf8"
)

// These are the classes of characters in grapheme clusters; see Unicode Standard Annex 29, table
// 2.
const (
	clusterOther = iota
	clusterControl
	clusterExtend
	clusterJoiner
	clusterSpacing
	clusterPrepend
	clusterL
	clusterV
	clusterT
	clusterLV
	clusterLVT
)

// cluster returns the length in bytes of the first extended grapheme cluster of a text, which must
// not be empty. It leaves out the rules GB9c, GB12 and GB13, which join Indic conjuncts and pairs
// of regional indicators. It returns only the length of the first part of such a cluster. The
// result of [precompiled] is right anyway: the whole cluster has at least maxCluster bytes, so its
// characters are looked up one by one. The same happens to the part, because it has at least
// maxCluster bytes or is one character.
func cluster(text string) int {
	c, size := utf8.DecodeRuneInString(text)
	if c == '\r' && len(text) > 1 && text[1] == '\n' {
		return 2
	}
	last, picture := clusterClass(c), pictographs().contains(c)
	for size < len(text) {
		c, width := utf8.DecodeRuneInString(text[size:])
		next, isPicture := clusterClass(c), pictographs().contains(c)
		if !unbroken(last, next) && !(picture && last == clusterJoiner && isPicture) { // the latter is GB11
			break
		}
		if next != clusterExtend && next != clusterJoiner {
			picture = isPicture
		}
		size, last = size+width, next
	}
	return size
}

// unbroken reports whether rules GB4 to GB9b forbid a boundary between a character of class last
// and the following one, of class next.
func unbroken(last, next int) bool {
	switch {
	case last == clusterControl || next == clusterControl:
		return false
	case next == clusterExtend, next == clusterJoiner, next == clusterSpacing, last == clusterPrepend:
		return true
	}
	switch last {
	case clusterL:
		return next == clusterL || next == clusterV || next == clusterLV || next == clusterLVT
	case clusterLV, clusterV:
		return next == clusterV || next == clusterT
	case clusterLVT, clusterT:
		return next == clusterT
	}
	return false
}

func clusterClass(c rune) int {
	switch {
	case c < 0x300:
		if c < ' ' || 0x7f <= c && c < 0xa0 || c == 0xad {
			return clusterControl
		}
		return clusterOther
	case c == '\u200d':
		return clusterJoiner
	case unicode.In(c, unicode.Prepended_Concatenation_Mark) || prepended().contains(c):
		return clusterPrepend
	case unicode.In(c, unicode.Mn, unicode.Me, unicode.Other_Grapheme_Extend) || 0x1f3fb <= c && c <= 0x1f3ff:
		return clusterExtend
	case c == '\u0e33', c == '\u0eb3', unicode.Is(unicode.Mc, c) && !unspaced().contains(c):
		return clusterSpacing
	case unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp) || ignorable().contains(c):
		return clusterControl
	case 0x1100 <= c && c <= 0x115f, 0xa960 <= c && c <= 0xa97c:
		return clusterL
	case 0x1160 <= c && c <= 0x11a7, 0xd7b0 <= c && c <= 0xd7c6:
		return clusterV
	case 0x11a8 <= c && c <= 0x11ff, 0xd7cb <= c && c <= 0xd7fb:
		return clusterT
	case 0xac00 <= c && c <= 0xd7a3 && (c-0xac00)%28 == 0:
		return clusterLV
	case 0xac00 <= c && c <= 0xd7a3:
		return clusterLVT
	}
	return clusterOther
}

var (
	// prepended returns the characters whose Indic_Syllabic_Category is Consonant_Preceding_Repha
	// or Consonant_Prefixed.
	prepended = ranges(`d4e 111c2-111c3 1193f 11941 11a3a 11a84-11a89 11d46 11f02`)
	// unspaced returns the spacing marks that table 2 lists as exceptions.
	unspaced = ranges(`102b-102c 1038 1062-1064 1067-106d 1083 1087-108c 108f 109a-109c 1a61 1a63-1a64 aa7b aa7d 11720-11721`)
	// ignorable returns the unassigned characters with the property Default_Ignorable_Code_Point.
	ignorable = ranges(`2065 fff0-fff8 e0000 e0002-e001f e0080-e00ff e01f0-e0fff`)
	// pictographs returns the characters with the property Extended_Pictographic.
	pictographs = ranges(`
		a9 ae 203c 2049 2122 2139 2194-2199 21a9-21aa 231a-231b 2328 23cf 23e9-23f3 23f8-23fa 24c2
		25aa-25ab 25b6 25c0 25fb-25fe 2600-2604 260e 2611 2614-2615 2618 261d 2620 2622-2623 2626 262a
		262e-262f 2638-263a 2640 2642 2648-2653 265f-2660 2663 2665-2666 2668 267b 267e-267f 2692-2697
		2699 269b-269c 26a0-26a1 26a7 26aa-26ab 26b0-26b1 26bd-26be 26c4-26c5 26c8 26ce-26cf 26d1
		26d3-26d4 26e9-26ea 26f0-26f5 26f7-26fa 26fd 2702 2705 2708-270d 270f 2712 2714 2716 271d 2721
		2728 2733-2734 2744 2747 274c 274e 2753-2755 2757 2763-2764 2795-2797 27a1 27b0 27bf 2934-2935
		2b05-2b07 2b1b-2b1c 2b50 2b55 3030 303d 3297 3299 1f004 1f02c-1f02f 1f094-1f09f 1f0af-1f0b0
		1f0c0 1f0cf-1f0d0 1f0f6-1f0ff 1f170-1f171 1f17e-1f17f 1f18e 1f191-1f19a 1f1ae-1f1e5 1f201-1f20f
		1f21a 1f22f 1f232-1f23a 1f23c-1f23f 1f249-1f25f 1f266-1f321 1f324-1f393 1f396-1f397 1f399-1f39b
		1f39e-1f3f0 1f3f3-1f3f5 1f3f7-1f3fa 1f400-1f4fd 1f4ff-1f53d 1f549-1f54e 1f550-1f567 1f56f-1f570
		1f573-1f57a 1f587 1f58a-1f58d 1f590 1f595-1f596 1f5a4-1f5a5 1f5a8 1f5b1-1f5b2 1f5bc 1f5c2-1f5c4
		1f5d1-1f5d3 1f5dc-1f5de 1f5e1 1f5e3 1f5e8 1f5ef 1f5f3 1f5fa-1f64f 1f680-1f6c5 1f6cb-1f6d2
		1f6d5-1f6e5 1f6e9 1f6eb-1f6f0 1f6f3-1f6ff 1f7da-1f7ff 1f80c-1f80f 1f848-1f84f 1f85a-1f85f
		1f888-1f88f 1f8ae-1f8af 1f8bc-1f8bf 1f8c2-1f8cf 1f8d9-1f8ff 1f90c-1f93a 1f93c-1f945 1f947-1f9ff
		1fa58-1fa5f 1fa6e-1faff 1fc00-1fffd`)
)
