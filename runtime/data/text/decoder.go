package text

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// decoder rewrites tokens so that their concatenation is the decoded text. It returns an error if
// the text would have more than limit bytes.
type decoder func(tokens []string, limit int) ([]string, error)

// step is a decoder that cannot fail. If its input has n tokens with b bytes in all, its output has
// at most 2·b + n bytes.
type step func(tokens []string) []string

// bounded turns a step into a decoder that checks the limit.
func bounded(f step) decoder {
	return func(tokens []string, limit int) ([]string, error) {
		tokens = f(tokens)
		if size := sizeOf(tokens); size > limit {
			return nil, errDecoded(limit)
		}
		return tokens, nil
	}
}

func sizeOf(tokens []string) int {
	size := 0
	for _, t := range tokens {
		size += len(t)
	}
	return size
}

func errDecoded(limit int) error {
	return fmt.Errorf("decoding makes more than %d bytes of the tokens", limit)
}

// readDecoder reads a decoder of a tokenizer file. depth is the number of sequences of decoders in
// which it is nested.
func readDecoder(n node, depth int) (decoder, error) {
	o, kind, err := n.kind(depth)
	if err != nil {
		return nil, err
	}
	var f step
	switch kind {
	case "ByteLevel":
		f = func(tokens []string) []string { return []string{decodeBytes(tokens)} }
	case "WordPiece":
		f = wordPieceDecoder(need[string](o, "prefix"), need[bool](o, "cleanup"))
	case "Metaspace":
		f = readMetaspace(o).decode
	case "BPEDecoder":
		suffix := need[string](o, "suffix")
		f = func(tokens []string) []string {
			for i, t := range tokens {
				space := " "
				if i == len(tokens)-1 {
					space = ""
				}
				tokens[i] = strings.ReplaceAll(t, suffix, space)
			}
			return tokens
		}
	case "CTC":
		f = ctcDecoder(need[string](o, "pad_token"), need[string](o, "word_delimiter_token"), need[bool](o, "cleanup"))
	case "Replace":
		return replaceDecoder(readPattern(o), need[string](o, "content")), o.err
	case "Fuse":
		f = func(tokens []string) []string { return []string{strings.Join(tokens, "")} }
	case "Strip":
		f = stripDecoder(character(o, "content"), need[int](o, "start"), need[int](o, "stop"))
	case "ByteFallback":
		f = decodeByteTokens
	case "Sequence":
		return decoders(readAll(o, "decoders", depth, readDecoder)).decode, o.err
	default:
		return nil, o.unknown(kind)
	}
	return bounded(f), o.err
}

type decoders []decoder

func (all decoders) decode(tokens []string, limit int) ([]string, error) {
	for _, f := range all {
		var err error
		if tokens, err = f(tokens, limit); err != nil {
			return nil, err
		}
	}
	return tokens, nil
}

// decodeBytes decodes byte-level tokens. Tokens with other characters stand for themselves.
func decodeBytes(tokens []string) string {
	var out []byte
	for _, t := range tokens {
		start := len(out)
		for _, c := range t {
			b, ok := charByte(c)
			if !ok {
				out = append(out[:start], t...)
				break
			}
			out = append(out, b)
		}
	}
	return lossy(out)
}

// lossy returns b as UTF-8. Where b is ill-formed, each maximal subpart of a character becomes one
// U+FFFD (Unicode Standard, section 3.9).
func lossy(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	var out strings.Builder
	for len(b) > 0 {
		c, size := utf8.DecodeRune(b)
		if c == utf8.RuneError && size == 1 {
			size = beginning(b)
		}
		out.WriteRune(c)
		b = b[size:]
	}
	return out.String()
}

// beginning returns the length of the maximal subpart (see [lossy]) at the beginning of b, at least
// 1. b must begin with an ill-formed sequence.
func beginning(b []byte) int {
	low, high, more := byte(0x80), byte(0xbf), 0
	switch first := b[0]; {
	case 0xc2 <= first && first <= 0xdf:
		more = 1
	case 0xe0 <= first && first <= 0xef:
		more = 2
		switch first {
		case 0xe0:
			low = 0xa0
		case 0xed:
			high = 0x9f
		}
	case 0xf0 <= first && first <= 0xf4:
		more = 3
		switch first {
		case 0xf0:
			low = 0x90
		case 0xf4:
			high = 0x8f
		}
	}
	n := 1
	for n < len(b) && n <= more && low <= b[n] && b[n] <= high {
		low, high = 0x80, 0xbf
		n++
	}
	return n
}

func wordPieceDecoder(prefix string, clean bool) step {
	return func(tokens []string) []string {
		for i, t := range tokens {
			if i > 0 {
				rest, ok := strings.CutPrefix(t, prefix)
				if t = rest; !ok {
					t = " " + t
				}
			}
			if clean {
				t = cleaned(t)
			}
			tokens[i] = t
		}
		return tokens
	}
}

// cleaned removes the spaces before English punctuation and contractions. It also replaces " do
// not" by " don't".
func cleaned(t string) string {
	for _, r := range [][2]string{
		{" .", "."}, {" ?", "?"}, {" !", "!"}, {" ,", ","}, {" ' ", "'"}, {" n't", "n't"}, {" 'm", "'m"},
		{" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
	} {
		t = strings.ReplaceAll(t, r[0], r[1])
	}
	return t
}

// decode replaces m.replacement by a space in each token. If m.prepend is not prependNever, it
// deletes m.replacement in the first token instead.
func (m metaspace) decode(tokens []string) []string {
	for i, t := range tokens {
		space := " "
		if i == 0 && m.prepend != prependNever {
			space = ""
		}
		tokens[i] = strings.ReplaceAll(t, m.replacement, space)
	}
	return tokens
}

// ctcDecoder returns a decoder for models that were trained with connectionist temporal
// classification (CTC). It drops tokens that repeat the token before them, and then deletes the
// text `pad` in all tokens. If clean is true, it also applies [cleaned] and replaces delimiter by a
// space.
func ctcDecoder(pad, delimiter string, clean bool) step {
	return func(tokens []string) []string {
		var out []string
		for _, t := range slices.Compact(tokens) {
			t = strings.ReplaceAll(t, pad, "")
			if clean {
				t = strings.ReplaceAll(cleaned(t), delimiter, " ")
			}
			if t != "" {
				out = append(out, t)
			}
		}
		return out
	}
}

func replaceDecoder(cuts pattern, content string) decoder {
	return func(tokens []string, limit int) ([]string, error) {
		total := 0
		for i, t := range tokens {
			matches, err := cuts(t)
			if err != nil {
				return nil, err
			}
			if total += replacedSize(matches, content); total > limit {
				return nil, errDecoded(limit)
			}
			var b strings.Builder
			for _, m := range matches {
				if m.found {
					b.WriteString(content)
				} else {
					b.WriteString(t[m.start:m.end])
				}
			}
			tokens[i] = b.String()
		}
		return tokens, nil
	}
}

// stripDecoder returns a step that removes `content` at the ends of each token: up to `start` times
// at its beginning and up to `stop` times at its end.
func stripDecoder(content rune, start, stop int) step {
	s := string(content)
	return func(tokens []string) []string {
		for i, t := range tokens {
			for range start {
				rest, ok := strings.CutPrefix(t, s)
				if t = rest; !ok {
					break
				}
			}
			for range stop {
				rest, ok := strings.CutSuffix(t, s)
				if t = rest; !ok {
					break
				}
			}
			tokens[i] = t
		}
		return tokens
	}
}

// decodeByteTokens replaces each sequence of byte tokens by the text of its bytes. If the bytes are
// not UTF-8, each byte becomes U+FFFD.
func decodeByteTokens(tokens []string) []string {
	var out []string
	var bytes []byte
	flush := func() {
		switch {
		case len(bytes) == 0:
		case utf8.Valid(bytes):
			out = append(out, string(bytes))
		default:
			out = append(out, slices.Repeat([]string{"\ufffd"}, len(bytes))...)
		}
		bytes = bytes[:0]
	}
	for _, t := range tokens {
		if len(t) == 6 && strings.HasPrefix(t, "<0x") && t[5] == '>' {
			if b, err := strconv.ParseUint(t[3:5], 16, 8); err == nil {
				bytes = append(bytes, byte(b))
				continue
			}
		}
		flush()
		out = append(out, t)
	}
	flush()
	return out
}
