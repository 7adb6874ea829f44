package text

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

type normalizer func(aligned) (aligned, error)

// readNormalizer reads a normaliser of a tokenizer file. depth is the number of sequences of
// normalisers in which it is nested.
func readNormalizer(n node, depth int) (normalizer, error) {
	o, kind, err := n.kind(depth)
	if err != nil {
		return nil, err
	}
	var f normalizer
	switch kind {
	case "NFC":
		f = normalForm(norm.NFC)
	case "NFD":
		f = normalForm(norm.NFD)
	case "NFKC":
		f = normalForm(norm.NFKC)
	case "NFKD":
		f = normalForm(norm.NFKD)
	case "Lowercase":
		f = lowercase
	case "StripAccents":
		f = func(a aligned) (aligned, error) { return a.kept(func(c rune) bool { return !isMark(c) }), nil }
	case "BertNormalizer":
		f = bertNormalizer(o)
	case "Replace":
		f = replaceNormalizer(o)
	case "Prepend":
		prefix := need[string](o, "prepend")
		f = func(a aligned) (aligned, error) { return a.prepended(prefix), a.grow(len(prefix) + len(a.text)) }
	case "Strip":
		left, right := need[bool](o, "strip_left"), need[bool](o, "strip_right")
		f = func(a aligned) (aligned, error) { return stripped(a, left, right), nil }
	case "Nmt":
		f = nmt
	case "Precompiled":
		f = precompiled(o)
	case "ByteLevel":
		f = func(a aligned) (aligned, error) { return byteLevel(a), nil }
	case "Sequence":
		f = sequence(readAll(o, "normalizers", depth, readNormalizer))
	default:
		return nil, o.unknown(kind)
	}
	return f, o.err
}

// sequence returns the composition of steps, the first applied first.
func sequence[F ~func(T) (T, error), T any](steps []F) F {
	return func(x T) (T, error) {
		for _, f := range steps {
			var err error
			if x, err = f(x); err != nil {
				return x, err
			}
		}
		return x, nil
	}
}

func lowercase(a aligned) (aligned, error) {
	changes := make([]change, 0, len(a.text))
	for _, c := range a.text {
		changes = lower(changes, c)
	}
	return a.transformed(changes, 0), nil
}

func replaceNormalizer(o *object) normalizer {
	pattern, content := readPattern(o), need[string](o, "content")
	return func(a aligned) (aligned, error) {
		matches, err := pattern(a.text)
		if err == nil {
			err = a.grow(replacedSize(matches, content))
		}
		if err != nil {
			return a, err
		}
		return a.replaced(matches, content), nil
	}
}

// stripped removes white space at the beginning if left is true, and at the end if right is true.
func stripped(a aligned, left, right bool) aligned {
	start, end := 0, len(a.text)
	if left {
		start = end - len(strings.TrimLeftFunc(a.text, unicode.IsSpace))
	}
	if right {
		end = max(start, len(strings.TrimRightFunc(a.text, unicode.IsSpace)))
	}
	return aligned{a.text[start:end], a.from[start:end], a.base, a.room}
}

// nmt removes some control characters and replaces others by spaces, as the rule nmt_nfkc of
// SentencePiece does.
func nmt(a aligned) (aligned, error) {
	a = a.kept(func(c rune) bool {
		return !(1 <= c && c <= 8 || c == 0xb || 0xe <= c && c <= 0x1f || c == 0x7f || c == 0x8f || c == 0x9f)
	})
	return a.mapped(func(c rune) rune {
		switch {
		case c == '\t', c == '\n', c == '\f', c == '\r', c == 0x1680, 0x200b <= c && c <= 0x200f,
			c == 0x2028, c == 0x2029, c == 0x2581, c == 0xfeff, c == unicode.ReplacementChar:
			return ' '
		}
		return c
	}), nil
}

// bertNormalizer returns BERT's normaliser. The fields of o select what the normaliser does: remove
// control characters, put spaces around ideographs, remove accents, and lower the case. If the
// field strip_accents is null, it has the value of the field lowercase.
func bertNormalizer(o *object) normalizer {
	clean, ideographs := need[bool](o, "clean_text"), need[bool](o, "handle_chinese_chars")
	lowers := need[bool](o, "lowercase")
	accents := get(o, "strip_accents", lowers)
	decompose := normalForm(norm.NFD)
	return func(a aligned) (aligned, error) {
		if clean {
			a = a.kept(func(c rune) bool { return c != 0 && c != unicode.ReplacementChar && !isControl(c) })
			a = a.mapped(func(c rune) rune {
				if unicode.IsSpace(c) {
					return ' '
				}
				return c
			})
		}
		if ideographs {
			changes := make([]change, 0, len(a.text))
			for _, c := range a.text {
				if isIdeograph(c) {
					changes = append(changes, change{' ', 0}, change{c, 1}, change{' ', 1})
				} else {
					changes = append(changes, change{c, 0})
				}
			}
			a = a.transformed(changes, 0)
		}
		if accents {
			var err error
			if a, err = decompose(a); err != nil {
				return a, err
			}
			a = a.kept(func(c rune) bool { return !isAccent(c) })
		}
		if lowers {
			return lowercase(a)
		}
		return a, nil
	}
}
