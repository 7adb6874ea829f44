package text

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/text/unicode/norm"
)

// The tables in this file list characters that Unicode 15 classifies otherwise than the tables of the
// reference do. These are of Unicode 8 for categories, and of Unicode 9 for combining marks and
// decompositions. Models were trained with the reference, so they need its classes.

// newPunctuation returns the characters with general category P in Unicode 15, but not in Unicode
// 8.
var newPunctuation = ranges(`
	61d 9fd a76 c77 c84 1b7d-1b7e 2e43-2e4f 2e52-2e5d 10ead 10f55-10f59 10f86-10f89 1144b-1144f
	1145a-1145b 1145d 11660-1166c 116b9 1183b 11944-11946 119e2 11a3f-11a46 11a9a-11a9c 11a9e-11aa2
	11b00-11b09 11c41-11c45 11c70-11c71 11ef7-11ef8 11f43-11f4f 11fff 12ff1-12ff2 16e97-16e9a 16fe2
	1e95e-1e95f`)

// newFormat returns the characters with general category Cf in Unicode 15, but not in Unicode 8.
var newFormat = ranges(`890-891 8e2 110cd 13430-1343f`)

// newAccents returns the characters with general category Mn in Unicode 15, but not in Unicode 8.
var newAccents = ranges(`
	7fd 898-89f 8ca-8e1 9fe afa-aff b55 c04 c3c d00 d3b-d3c d81 eba ece 180f 1885-1886 1abf-1ace
	1df6-1dfb a82c a8c5 a8ff a9bd 10d24-10d27 10eab-10eac 10efd-10eff 10f46-10f50 10f82-10f85 11070
	11073-11074 110c2 111c9 111cf 1123e 11241 1133b 11438-1143f 11442-11444 11446 1145e 1182f-11837
	11839-1183a 1193b-1193c 1193e 11943 119d4-119d7 119da-119db 119e0 11a01-11a0a 11a33-11a38
	11a3b-11a3e 11a47 11a51-11a56 11a59-11a5b 11a8a-11a96 11a98-11a99 11c30-11c36 11c38-11c3d 11c3f
	11c92-11ca7 11caa-11cb0 11cb2-11cb3 11cb5-11cb6 11d31-11d36 11d3a 11d3c-11d3d 11d3f-11d45 11d47
	11d90-11d91 11d95 11d97 11ef3-11ef4 11f00-11f01 11f36-11f3a 11f40 11f42 13440 13447-13455 16f4f
	16fe4 1cf00-1cf2d 1cf30-1cf46 1e000-1e006 1e008-1e018 1e01b-1e021 1e023-1e024 1e026-1e02a 1e08f
	1e130-1e136 1e2ae 1e2ec-1e2ef 1e4ec-1e4ef 1e944-1e94a`)

// newMarks returns the characters with general category M in Unicode 15, but not in Unicode 9.
var newMarks = ranges(`
	7fd 898-89f 8ca-8d3 9fe afa-aff b55 c04 c3c cf3 d00 d3b-d3c d81 eba ece 1715 180f 1abf-1ace
	1cf7 1df6-1dfa a82c a8ff 10d24-10d27 10eab-10eac 10efd-10eff 10f46-10f50 10f82-10f85 11070
	11073-11074 110c2 11145-11146 111c9 111ce-111cf 11241 1133b 1145e 1182c-1183a 11930-11935
	11937-11938 1193b-1193e 11940 11942-11943 119d1-119d7 119da-119e0 119e4 11a01-11a0a 11a33-11a39
	11a3b-11a3e 11a47 11a51-11a5b 11a8a-11a99 11d31-11d36 11d3a 11d3c-11d3d 11d3f-11d45 11d47
	11d8a-11d8e 11d90-11d91 11d93-11d97 11ef3-11ef6 11f00-11f01 11f03 11f34-11f3a 11f3e-11f42 13440
	13447-13455 16f4f 16f7f-16f87 16fe4 16ff0-16ff1 1cf00-1cf2d 1cf30-1cf46 1e08f 1e130-1e136 1e2ae
	1e2ec-1e2ef 1e4ec-1e4ef`)

// newDecompositions returns the characters that have a decomposition in Unicode 15, but not in
// Unicode 9. The decompositions are compatibility decompositions if form is NFKD, otherwise canonical
// ones.
func newDecompositions(form norm.Form) set {
	if form == norm.NFKD {
		return newCompatibility()
	}
	return newCanonical()
}

var (
	newCanonical     = ranges(`11938`)
	newCompatibility = ranges(`32ff a7f2-a7f4 ab69 10781-10785 10787-107b0 107b2-107ba 11938 1e030-1e06d 1f16c 1fbf0-1fbf9`)
)

// set is a sorted list of inclusive ranges of characters.
type set [][2]rune

func (s set) contains(c rune) bool {
	if len(s) == 0 || c < s[0][0] {
		return false
	}
	i, found := slices.BinarySearchFunc(s, c, func(r [2]rune, c rune) int { return int(r[0] - c) })
	return found || i > 0 && c <= s[i-1][1]
}

// ranges returns a function that parses text at its first call. text has ranges in hexadecimal,
// sorted, such as "61d 1b7d-1b7e".
func ranges(text string) func() set {
	return sync.OnceValue(func() set {
		var s set
		for _, field := range strings.Fields(text) {
			first, last, ok := strings.Cut(field, "-")
			if !ok {
				last = first
			}
			s = append(s, [2]rune{hexadecimal(first), hexadecimal(last)})
		}
		return s
	})
}

func hexadecimal(text string) rune {
	v, _ := strconv.ParseUint(text, 16, 21)
	return rune(v)
}
