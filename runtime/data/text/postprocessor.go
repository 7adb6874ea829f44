package text

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// postProcessor adds special tokens to the encodings of one or two texts.
type postProcessor interface {
	// added returns the number of special tokens that are added to one text, or to two if pair is true.
	added(pair bool) int
	// process returns the processed encodings. It adds special tokens only if special is true.
	process(parts []*Encoding, special bool) ([]*Encoding, error)
}

// readPostProcessor reads a post-processor of a tokenizer file. depth is the number of sequences of
// post-processors in which it is nested.
func readPostProcessor(n node, depth int) (postProcessor, error) {
	o, kind, err := n.kind(depth)
	if err != nil {
		return nil, err
	}
	var p postProcessor
	switch kind {
	case "TemplateProcessing":
		p = readTemplate(o)
	case "BertProcessing":
		cls, sep := readSpecial(o, "cls"), readSpecial(o, "sep")
		p = around{
			first:  [2][]special{{cls}, {sep}},
			second: [2][]special{nil, {sep.ofType(1)}},
		}
	case "RobertaProcessing":
		cls, sep := readSpecial(o, "cls"), readSpecial(o, "sep")
		p = processors{
			trimming{need[bool](o, "trim_offsets"), need[bool](o, "add_prefix_space")},
			around{
				first:  [2][]special{{cls}, {sep}},
				second: [2][]special{{sep}, {sep}},
				single: true,
			},
		}
	case "ByteLevel":
		p = trimming{need[bool](o, "trim_offsets"), need[bool](o, "add_prefix_space")}
	case "Sequence":
		p = processors(readAll(o, "processors", depth, readPostProcessor))
	default:
		return nil, o.unknown(kind)
	}
	return p, o.err
}

// processors applies post-processors one after the other.
type processors []postProcessor

func (all processors) added(pair bool) int {
	n := 0
	for _, p := range all {
		n += p.added(pair)
	}
	return n
}

func (all processors) process(parts []*Encoding, special bool) ([]*Encoding, error) {
	for _, p := range all {
		var err error
		if parts, err = p.process(parts, special); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

type special struct {
	id, typeID int64
	text       string
}

// ofType returns the token with another type id.
func (s special) ofType(id int64) special {
	s.typeID = id
	return s
}

func encode(tokens []special) *Encoding {
	e := &Encoding{}
	for _, t := range tokens {
		e.add(t.id, t.typeID, t.text, Span{}, -1, -1)
	}
	return e
}

// readSpecial reads a field that is a pair of a token and its id.
func readSpecial(o *object, name string) special {
	n := o.at(name)
	var s special
	pair := need[[]json.RawMessage](o, name)
	if len(pair) != 2 || json.Unmarshal(pair[0], &s.text) != nil || json.Unmarshal(pair[1], &s.id) != nil {
		o.fail(n.errorf("a token and its number expected"))
	}
	return s
}

// around puts special tokens around each text.
type around struct {
	// [0] before and [1] after each text
	first, second [2][]special
	single        bool // all tokens have type 0
}

func (a around) added(pair bool) int {
	n := len(a.first[0]) + len(a.first[1])
	if pair {
		n += len(a.second[0]) + len(a.second[1])
	}
	return n
}

func (a around) process(parts []*Encoding, add bool) ([]*Encoding, error) {
	out := make([]*Encoding, len(parts))
	for i, p := range parts {
		tokens := a.first
		if i > 0 {
			tokens = a.second
		}
		if a.single {
			p = p.withType(0)
		}
		if out[i] = p; add {
			out[i] = concat(encode(tokens[0]), p, encode(tokens[1]))
		}
	}
	return out, nil
}

// trimming shortens the offsets of byte-level tokens: the white space at both ends of a token no
// longer belongs to them.
type trimming struct {
	on bool
	// the first token may begin with a space that is not in the text
	prefix bool
}

func (trimming) added(bool) int { return 0 }

func (t trimming) process(parts []*Encoding, _ bool) ([]*Encoding, error) {
	if !t.on {
		return parts, nil
	}
	for _, p := range parts {
		for i, s := range p.Tokens {
			t.trim(s, p.source, &p.Offsets[i], i == 0)
		}
	}
	return parts, nil
}

// trim removes white space from the offsets o of a token in text. For each white-space character at the start of
// the token, o.Start moves right by one character of text. For each one at the end of the token, o.End moves left
// by one character. If t.prefix is true and the token is the first one or begins at byte 0, a single leading
// white-space character does not count.
func (t trimming) trim(token, text string, o *Span, first bool) {
	leading := utf8.RuneCountInString(token) - utf8.RuneCountInString(strings.TrimLeftFunc(token, isTokenSpace))
	if leading == 1 && t.prefix && (first || o.Start == 0) {
		leading = 0
	}
	for ; leading > 0 && o.Start < o.End; leading-- {
		_, size := utf8.DecodeRuneInString(text[o.Start:o.End])
		o.Start += size
	}
	trailing := utf8.RuneCountInString(token) - utf8.RuneCountInString(strings.TrimRightFunc(token, isTokenSpace))
	for ; trailing > 0 && o.Start < o.End; trailing-- {
		_, size := utf8.DecodeLastRuneInString(text[o.Start:o.End])
		o.End -= size
	}
}

func isTokenSpace(c rune) bool { return c == spaceChar || unicode.IsSpace(c) }
