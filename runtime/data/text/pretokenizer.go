package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// preTokenizer splits pieces of a text into words, which the model tokenizes one by one.
type preTokenizer func([]piece) ([]piece, error)

func each(f func(piece) ([]piece, error)) preTokenizer {
	return func(pieces []piece) ([]piece, error) {
		out := make([]piece, 0, len(pieces))
		for _, p := range pieces {
			if p.tokens != nil {
				out = append(out, p)
				continue
			}
			parts, err := f(p)
			if err != nil {
				return nil, err
			}
			out = append(out, parts...)
		}
		return out, nil
	}
}

// splitting returns a pre-tokenizer that splits pieces at the matches of a pattern. behavior says
// what becomes of the matches.
func splitting(cuts pattern, behavior int) preTokenizer {
	return each(func(p piece) ([]piece, error) { return p.split(cuts, behavior) })
}

// readPreTokenizer reads a pre-tokenizer of a tokenizer file. depth is the number of sequences of
// pre-tokenizers in which it is nested.
func readPreTokenizer(n node, depth int) (preTokenizer, error) {
	o, kind, err := n.kind(depth)
	if err != nil {
		return nil, err
	}
	var f preTokenizer
	switch kind {
	case "ByteLevel":
		f = byteLevelPreTokenizer(need[bool](o, "add_prefix_space"), get(o, "use_regex", true))
	case "Whitespace":
		other := func(c rune) bool { return !isWord(c) && !unicode.IsSpace(c) }
		f = splitting(inverted(runsOf(isWord, other)), removed)
	case "WhitespaceSplit":
		f = splitting(charactersIn(unicode.IsSpace), removed)
	case "BertPreTokenizer":
		f = sequence([]preTokenizer{
			splitting(charactersIn(unicode.IsSpace), removed),
			splitting(charactersIn(isPunctuation), isolated),
		})
	case "Metaspace":
		m := readMetaspace(o)
		f = m.preTokenize
	case "Punctuation":
		f = splitting(charactersIn(isPunctuation), choice(o, "behavior", isolated, behaviors...))
	case "Digits":
		behavior := contiguous
		if need[bool](o, "individual_digits") {
			behavior = isolated
		}
		f = splitting(charactersIn(unicode.IsNumber), behavior)
	case "CharDelimiterSplit":
		delimiter := character(o, "delimiter")
		f = splitting(charactersIn(func(c rune) bool { return c == delimiter }), removed)
	case "FixedLength":
		length := get(o, "length", 5)
		if length < 1 {
			o.fail(o.at("length").errorf("%d: at least 1 expected", length))
		}
		f = fixedLength(length)
	case "Split":
		cuts, behavior := readPattern(o), choice(o, "behavior", -1, behaviors...)
		if need[bool](o, "invert") {
			cuts = inverted(cuts)
		}
		f = splitting(cuts, behavior)
	case "Sequence":
		f = sequence(readAll(o, "pretokenizers", depth, readPreTokenizer))
	default:
		return nil, o.unknown(kind)
	}
	return f, o.err
}

// fixedLength returns a pre-tokenizer that splits pieces into parts of `length` characters. The
// last part may be shorter.
func fixedLength(length int) preTokenizer {
	return each(func(p piece) ([]piece, error) {
		var parts []match
		count := 0
		for i := 0; i < len(p.text); count++ {
			if count%length == 0 {
				parts = append(parts, match{start: i})
			}
			_, size := utf8.DecodeRuneInString(p.text[i:])
			i += size
			parts[len(parts)-1].end = i
		}
		return p.pieces(parts), nil
	})
}

// metaspace replaces spaces by another character and puts that character before words.
type metaspace struct {
	replacement string
	// index in schemes
	prepend int
	split   bool
}

var schemes = []string{"always", "first", "never"}

const (
	prependAlways = iota // to each piece
	prependFirst         // to the piece at the beginning of the text
	prependNever
)

// readMetaspace reads the fields that the pre-tokenizer and the decoder share.
func readMetaspace(o *object) metaspace {
	m := metaspace{
		replacement: string(character(o, "replacement")),
		prepend:     choice(o, "prepend_scheme", prependAlways, schemes...),
		split:       get(o, "split", true),
	}
	if !get(o, "add_prefix_space", true) {
		if m.prepend != prependNever && !o.at("prepend_scheme").missing() {
			o.fail(o.at("add_prefix_space").errorf("false, but prepend_scheme is %q", schemes[m.prepend]))
		}
		m.prepend = prependNever
	}
	return m
}

func (m metaspace) preTokenize(pieces []piece) ([]piece, error) {
	space, replacement := literal(" "), literal(m.replacement)
	return each(func(p piece) ([]piece, error) {
		matches, err := space(p.text)
		if err != nil {
			return nil, err
		}
		p.aligned = p.replaced(matches, m.replacement)
		if m.prepend == prependAlways || m.prepend == prependFirst && p.base == 0 {
			if !strings.HasPrefix(p.text, m.replacement) {
				p.aligned = p.prepended(m.replacement)
			}
		}
		if !m.split {
			return []piece{p}, nil
		}
		return p.split(replacement, withNext)
	})(pieces)
}
