package dim

import (
	"fmt"
	"strconv"
)

// Parse parses an expression and brings it to canonical form. It reads what [Dim.String] prints,
// and returns an error for other text. An expression consists of integers, symbols, + - * / %,
// parentheses, floor(a/b), ceil(a/b), min(a,b,…) and max(a,b,…). / and % round towards −∞ and have
// the precedence of *. A word that a poisoned Dim prints, such as overflow, gives a poisoned Dim.
func Parse(s string) (Dim, error) {
	if s == Any.String() {
		return Any, nil
	}
	p := parser{text: s}
	d := p.sum()
	if p.skip(); p.err == nil && p.at < len(s) {
		p.fail("unexpected %s", p.next())
	}
	if p.err != nil {
		return Dim{}, p.err
	}
	return d, nil
}

// maxNesting exceeds the nesting that String prints for any Dim.
const maxNesting = 4 * maxDepth

// parser is a recursive-descent parser. It is at the end of the text after the first error.
type parser struct {
	text  string
	at    int
	depth int
	err   error
}

func (p *parser) fail(format string, args ...any) Dim {
	if p.err == nil {
		p.err = fmt.Errorf("dim: offset %d: %s", p.at, fmt.Sprintf(format, args...))
	}
	p.at = len(p.text)
	return Dim{}
}

func (p *parser) skip() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
}

func (p *parser) next() string {
	for _, r := range p.text[p.at:] {
		return strconv.QuoteRune(r)
	}
	return "end"
}

func (p *parser) peek() byte {
	if p.skip(); p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *parser) accept(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.at++
	return true
}

func (p *parser) expect(c byte) {
	if !p.accept(c) {
		p.fail("want %q, not %s", c, p.next())
	}
}

func (p *parser) sum() Dim {
	d := p.product()
	for {
		switch {
		case p.accept('+'):
			d = d.Add(p.product())
		case p.accept('-'):
			d = d.Sub(p.product())
		default:
			return d
		}
	}
}

func (p *parser) product() Dim {
	d := p.factor()
	for {
		switch {
		case p.accept('*'):
			d = d.Mul(p.factor())
		case p.accept('/'):
			d = d.FloorDiv(p.factor())
		case p.accept('%'):
			d = d.Mod(p.factor())
		default:
			return d
		}
	}
}

func (p *parser) factor() Dim {
	if p.depth++; p.depth > maxNesting {
		return p.fail("nested more than %d deep", maxNesting)
	}
	defer func() { p.depth-- }()
	switch c := p.peek(); {
	case '0' <= c && c <= '9':
		return p.integer("")
	case c == '-':
		p.at++
		if c := p.peek(); '0' <= c && c <= '9' {
			return p.integer("-")
		}
		return p.factor().Neg()
	case c == '(':
		p.at++
		d := p.sum()
		p.expect(')')
		return d
	}
	name := p.word()
	if !isName(name) {
		return p.fail("want an integer or a symbol, not %s", p.next())
	}
	if p.peek() == '(' {
		return p.call(name)
	}
	if f := faultNamed(name); f != noFault {
		return poison(f)
	}
	return Sym(name)
}

func (p *parser) word() string {
	start := p.at
	for p.at < len(p.text) && isNameByte(p.text[p.at]) {
		p.at++
	}
	return p.text[start:p.at]
}

func (p *parser) integer(sign string) Dim {
	start := p.at
	word := p.word()
	n, err := strconv.ParseInt(sign+word, 10, 64)
	if err != nil {
		p.at = start
		return p.fail("%.40q is not a 64-bit integer", sign+word)
	}
	return Dim{c: n}
}

func (p *parser) call(name string) Dim {
	start := p.at
	p.at++
	var d Dim
	switch name {
	case "floor":
		d = p.quotient(Dim.FloorDiv)
	case "ceil":
		d = p.quotient(Dim.CeilDiv)
	case "min":
		d = p.arguments(Dim.Min)
	case "max":
		d = p.arguments(Dim.Max)
	default:
		p.at = start
		return p.fail("no function %.40q", name)
	}
	p.expect(')')
	return d
}

func (p *parser) quotient(divide func(a, b Dim) Dim) Dim {
	d := p.factor()
	for p.accept('*') {
		d = d.Mul(p.factor())
	}
	p.expect('/')
	return divide(d, p.factor())
}

func (p *parser) arguments(join func(a, b Dim) Dim) Dim {
	d := p.sum()
	for p.accept(',') {
		d = join(d, p.sum())
	}
	return d
}
