package ir

import (
	"fmt"
	"strconv"
	"strings"
)

// String returns the text of d, such as N, 2*S+1 or floor((H+1)/2), that
// [ParseDim] reads back. A poisoned Dim prints one word, such as overflow.
func (d Dim) String() string {
	if d.Overflow() {
		return dimFaults[d.p.fault].word
	}
	return foldDim(d, dimText{}).text
}

// dimPhrase is a piece of text and what it binds as.
type dimPhrase struct {
	text string
	kind dimPhraseKind
}

type dimPhraseKind uint8

const (
	dimSum dimPhraseKind = iota
	dimProduct
	dimFactor
)

// as returns the text, in parentheses where it binds less tightly than kind.
func (p dimPhrase) as(kind dimPhraseKind) string {
	if p.kind < kind {
		return "(" + p.text + ")"
	}
	return p.text
}

// dimText folds a Dim to its text.
type dimText struct{}

func (dimText) Sym(name string) dimPhrase { return dimPhrase{name, dimFactor} }

func (dimText) Const(n int64) dimPhrase {
	return dimPhrase{strconv.FormatInt(n, 10), dimFactor}
}

func (dimText) Add(a, b dimPhrase) dimPhrase { return dimPhrase{a.text + "+" + b.text, dimSum} }

func (dimText) Sub(a, b dimPhrase) dimPhrase {
	return dimPhrase{a.text + "-" + b.as(dimProduct), dimSum}
}

func (dimText) Mul(a, b dimPhrase) dimPhrase {
	if a.text == "-1" {
		return dimPhrase{"-" + b.as(dimFactor), dimProduct}
	}
	return dimPhrase{a.as(dimProduct) + "*" + b.as(dimFactor), dimProduct}
}

func (dimText) FloorDiv(a, b dimPhrase) dimPhrase {
	return dimPhrase{"floor(" + a.as(dimProduct) + "/" + b.as(dimFactor) + ")", dimFactor}
}

func (dimText) Min(args ...dimPhrase) dimPhrase { return dimCall("min", args) }
func (dimText) Max(args ...dimPhrase) dimPhrase { return dimCall("max", args) }

func dimCall(name string, args []dimPhrase) dimPhrase {
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = a.text
	}
	return dimPhrase{name + "(" + strings.Join(texts, ",") + ")", dimFactor}
}

// ParseDim reads an expression of integers, symbols, + - * / %, parentheses,
// floor(a/b), ceil(a/b), min(a,b,…) and max(a,b,…), and brings it to canonical
// form. / and % round towards −∞ and bind as * does. The quotient in floor and
// ceil is of a product by a factor. The words of poisoned Dims are read as
// such.
func ParseDim(s string) (Dim, error) {
	if s == AnyDim.String() {
		return AnyDim, nil
	}
	p := dimParser{text: s}
	d := p.sum()
	if p.skip(); p.err == nil && p.at < len(s) {
		p.fail("unexpected %s", p.next())
	}
	if p.err != nil {
		return Dim{}, p.err
	}
	return d, nil
}

// maxDimNesting exceeds what String prints for any depth a Dim may have.
const maxDimNesting = 4 * maxDimDepth

// dimParser reads an expression by recursive descent. After the first error,
// it stands at the end of the text.
type dimParser struct {
	text  string
	at    int
	depth int
	err   error
}

func (p *dimParser) fail(format string, args ...any) Dim {
	if p.err == nil {
		p.err = fmt.Errorf("dim: offset %d: %s", p.at, fmt.Sprintf(format, args...))
	}
	p.at = len(p.text)
	return Dim{}
}

func (p *dimParser) skip() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
}

// next describes what stands next, for an error.
func (p *dimParser) next() string {
	for _, r := range p.text[p.at:] {
		return strconv.QuoteRune(r)
	}
	return "end"
}

// peek returns the next byte after blanks, or 0 at the end.
func (p *dimParser) peek() byte {
	if p.skip(); p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *dimParser) accept(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.at++
	return true
}

func (p *dimParser) expect(c byte) {
	if !p.accept(c) {
		p.fail("want %q, not %s", c, p.next())
	}
}

func (p *dimParser) sum() Dim {
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

func (p *dimParser) product() Dim {
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

func (p *dimParser) factor() Dim {
	if p.depth++; p.depth > maxDimNesting {
		return p.fail("nested more than %d deep", maxDimNesting)
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
	if !isDimName(name) {
		return p.fail("want an integer or a symbol, not %s", p.next())
	}
	if p.peek() == '(' {
		return p.call(name)
	}
	if f := dimFaultNamed(name); f != dimOK {
		return poisonDim(f)
	}
	return Sym(name)
}

// word takes the longest run of the characters of integers and symbols.
func (p *dimParser) word() string {
	start := p.at
	for p.at < len(p.text) && isDimByte(p.text[p.at]) {
		p.at++
	}
	return p.text[start:p.at]
}

func (p *dimParser) integer(sign string) Dim {
	start := p.at
	word := p.word()
	n, err := strconv.ParseInt(sign+word, 10, 64)
	if err != nil {
		p.at = start
		return p.fail("%.40q is no 64-bit integer", sign+word)
	}
	return Dim{c: n}
}

func (p *dimParser) call(name string) Dim {
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

func (p *dimParser) quotient(divide func(a, b Dim) Dim) Dim {
	d := p.factor()
	for p.accept('*') {
		d = d.Mul(p.factor())
	}
	p.expect('/')
	return divide(d, p.factor())
}

func (p *dimParser) arguments(join func(a, b Dim) Dim) Dim {
	d := p.sum()
	for p.accept(',') {
		d = join(d, p.sum())
	}
	return d
}
