package load

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// signature is the type of a method as written in its directive: the types of its parameters and
// results.
type signature struct {
	params, results []declared
	// open is set if the results are omitted.
	open bool
}

// declared is the type of a tensor as written in a directive.
type declared struct {
	text string
	// at is the index of the first byte of text in the signature.
	at int
	// pieces are the parts of the text: literal text and Go expressions.
	pieces []piece
	// dims are the extents, with "{…}" for Go expressions.
	dims []string
	// dtype is the element type.
	dtype string
}

// piece is a part of a type's text.
type piece struct {
	text string
	// at is the index of the first byte of text in the signature.
	at int
	// expr is set for a Go expression; text does not include the braces.
	expr bool
}

// same reports whether d and o have the same element type and the same extents. Any two symbols count as
// the same.
func (d declared) same(o declared) bool {
	if d.dtype != o.dtype || len(d.dims) != len(o.dims) {
		return false
	}
	for i, a := range d.dims {
		if b := o.dims[i]; a != b && !(isSymbol(a) && isSymbol(b)) {
			return false
		}
	}
	return true
}

func isSymbol(dim string) bool {
	return strings.IndexFunc(dim, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) < 0 && dim[0] > '9'
}

// fault is a mistake in a signature.
type fault struct {
	// at is the index of the byte where the mistake begins.
	at   int
	text string
}

// sigParser parses the signature src.
type sigParser struct {
	src string
	// at is the index of the next byte.
	at     int
	faults []fault
}

// parseSignature parses "(f32[N,28,28], i64[N]) -> f32[]". The arrow and the results may be missing.
// The whole signature may be missing if the types are declared elsewhere. The second result lists the
// mistakes.
func parseSignature(src string) (signature, []fault) {
	p := &sigParser{src: src}
	var s signature
	if p.skip(); p.peek() == '(' {
		s.params = p.tuple()
	} else if !p.arrow() && p.at < len(src) {
		p.fault(p.at, "( expected: a signature such as (f32[N,4]) -> f32[N]")
		return s, p.faults
	}
	p.skip()
	switch {
	case len(p.faults) > 0:
	case p.arrow():
		p.at += 2
		if p.skip(); p.peek() == '(' {
			s.results = p.tuple()
		} else {
			s.results = p.types("")
		}
	case p.at < len(src):
		p.fault(p.at, "-> expected, not %q", src[p.at:])
	default:
		s.open = true
	}
	if p.skip(); p.at < len(src) && len(p.faults) == 0 {
		p.fault(p.at, "%q after the signature", src[p.at:])
	}
	return s, p.faults
}

func parseDeclared(src string) (declared, []fault) {
	p := &sigParser{src: src}
	list := p.types("")
	if len(p.faults) == 0 && len(list) != 1 {
		p.fault(0, "a type such as f32[N,4] expected")
	}
	if len(p.faults) > 0 {
		return declared{}, p.faults
	}
	return list[0], nil
}

func (p *sigParser) fault(at int, format string, args ...any) {
	p.faults = append(p.faults, fault{at, fmt.Sprintf(format, args...)})
}

func (p *sigParser) peek() byte {
	if p.at < len(p.src) {
		return p.src[p.at]
	}
	return 0
}

func (p *sigParser) arrow() bool { return strings.HasPrefix(p.src[p.at:], "->") }

func (p *sigParser) skip() {
	for p.at < len(p.src) && (p.src[p.at] == ' ' || p.src[p.at] == '\t') {
		p.at++
	}
}

func (p *sigParser) tuple() []declared {
	open := p.at
	p.at++
	list := p.types(")")
	if p.peek() != ')' {
		p.fault(open, "this ( is not closed")
		return list
	}
	p.at++
	return list
}

func (p *sigParser) types(end string) []declared {
	var list []declared
	for {
		p.skip()
		start := p.at
		if p.at == len(p.src) || strings.IndexByte(end, p.src[p.at]) >= 0 && len(list) == 0 {
			if len(list) > 0 {
				p.fault(p.at, "a type expected after the comma")
			}
			return list
		}
		if !p.word(end) {
			return list
		}
		d, ok := p.declared(start)
		if ok {
			list = append(list, d)
		} else if len(p.faults) == 0 {
			return list
		}
		if p.skip(); p.peek() != ',' {
			return list
		}
		p.at++
	}
}

// word skips one type. The type ends at a comma, a blank, a byte in `end`, or the end of the text. The first three do
// not end it inside brackets. word returns false if brackets do not match.
func (p *sigParser) word(end string) bool {
	var open []int
	for ; p.at < len(p.src); p.at++ {
		c := p.src[p.at]
		switch {
		case len(open) == 0 && (c == ',' || strings.IndexByte(end, c) >= 0 || c == ' ' || c == '\t'):
			return true
		case c == '[' || c == '{' || c == '(':
			open = append(open, p.at)
		case c == ']' || c == '}' || c == ')':
			if len(open) == 0 || !strings.Contains("[]{}()", string(p.src[open[len(open)-1]])+string(c)) {
				p.fault(p.at, "this %c closes nothing", c)
				return false
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		p.fault(open[0], "this %c is not closed", p.src[open[0]])
		return false
	}
	return true
}

// declared parses the type between the byte `start` and the current position. It returns false if
// the text is not a type.
func (p *sigParser) declared(start int) (declared, bool) {
	d := declared{text: p.src[start:p.at], at: start}
	before := len(p.faults)
	name, rest, ok := strings.Cut(d.text, "[")
	d.dtype = name
	switch {
	case name == "":
		p.fault(start, "a type such as f32[N,4] expected, not %q", d.text)
		return d, false
	case !ok:
		p.fault(start, "type %q has no extents: write %[1]s[] for a scalar, %[1]s[N,4] for a matrix", name)
		return d, false
	case !strings.HasSuffix(rest, "]"):
		p.fault(start+len(name)+1+strings.LastIndexByte(rest, ']')+1, "%q after the type", rest[strings.LastIndexByte(rest, ']')+1:])
		return d, false
	}
	if t, err := ir.ParseDType(name); err != nil || t == ir.String {
		p.fault(start, "unknown element type %q", name)
	}
	d.pieces = append(d.pieces, piece{text: name + "[", at: start})
	rest = strings.TrimSuffix(rest, "]")
	at := start + len(name) + 1
	if strings.TrimSpace(rest) != "" {
		for i, dim := range splitDims(rest) {
			if i > 0 {
				d.pieces = append(d.pieces, piece{text: ",", at: at})
				at++
			}
			p.dim(&d, dim, at)
			at += len(dim)
		}
	}
	d.pieces = append(d.pieces, piece{text: "]", at: at})
	return d, len(p.faults) == before
}

// splitDims splits extents at the commas outside of brackets.
func splitDims(text string) []string {
	var dims []string
	depth, start := 0, 0
	for i := range len(text) {
		switch c := text[i]; {
		case c == '{' || c == '(' || c == '[':
			depth++
		case c == '}' || c == ')' || c == ']':
			depth--
		case c == ',' && depth == 0:
			dims = append(dims, text[start:i])
			start = i + 1
		}
	}
	return append(dims, text[start:])
}

func (p *sigParser) dim(d *declared, text string, offset int) {
	var plain strings.Builder // with a number in place of each expression
	for rest, from := text, offset; rest != ""; {
		before, after, ok := strings.Cut(rest, "{")
		if before != "" {
			d.pieces = append(d.pieces, piece{text: before, at: from})
			plain.WriteString(before)
		}
		if !ok {
			break
		}
		end := closing(after)
		if end < 0 {
			p.fault(from+len(before), "this { is not closed")
			return
		}
		d.pieces = append(d.pieces, piece{text: after[:end], at: from + len(before) + 1, expr: true})
		plain.WriteString("1")
		from += len(before) + end + 2
		rest = after[end+1:]
	}
	d.dims = append(d.dims, strings.TrimSpace(text))
	trimmed := strings.TrimSpace(plain.String())
	lead := len(text) - len(strings.TrimLeft(text, " \t"))
	if trimmed == "" {
		p.fault(offset, "an extent is missing")
		return
	}
	dim, err := dim.Parse(trimmed)
	if err != nil {
		p.fault(offset+lead, "extent %q: %v", strings.TrimSpace(text), err)
		return
	}
	for _, s := range dim.Symbols() {
		if r, _ := utf8.DecodeRuneInString(s); !unicode.IsUpper(r) {
			p.fault(offset+lead, "symbol %s begins with a small letter; write %s, or {%[1]s} for a Go expression", s, strings.ToUpper(s[:1])+s[1:])
		}
	}
}

// closing returns the index in text of the brace that closes an expression, or −1. text begins after
// the opening brace.
func closing(text string) int {
	depth := 1
	for i := range len(text) {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}
