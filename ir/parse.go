package ir

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Parse parses the text form of a module and verifies it. ops are the operators that the text may use. Lines with
// comments may precede the module. The weights of the module have no data.
func Parse(text string, ops OpSet) (m *Module, err error) {
	p := &parser{src: text, ops: ops}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case syntaxError:
			m, err = nil, e.err
		default:
			panic(e)
		}
	}()
	p.skip()
	for p.peek("//") {
		line, _, _ := strings.Cut(p.src[p.at:], "\n")
		p.at += len(line)
		p.skip()
	}
	m = &Module{}
	for p.at < len(p.src) {
		switch word := p.ident(); word {
		case "weight":
			name := p.name()
			p.expect(":")
			m.Weights = append(m.Weights, &Weight{Name: name, Type: p.typ()})
		case "func":
			m.Funcs = append(m.Funcs, p.fun())
		default:
			p.fail("weight or func expected, found %q", word)
		}
	}
	return m, Verify(m)
}

type parser struct {
	src   string
	at    int
	ops   OpSet
	scope map[string]*Value
	depth int
	elems elemBudget
}

// syntaxError is what the methods of the parser panic with. Parse recovers from the panic and returns the error.
type syntaxError struct{ err error }

func (p *parser) fail(format string, args ...any) {
	line := 1 + strings.Count(p.src[:min(p.at, len(p.src))], "\n")
	panic(syntaxError{fmt.Errorf("line %d: %s", line, fmt.Sprintf(format, args...))})
}

const maxNesting = 200

func (p *parser) enter() {
	if p.depth++; p.depth > maxNesting {
		p.fail("nested deeper than %d", maxNesting)
	}
}

func (p *parser) leave() { p.depth-- }

func (p *parser) skip() {
	for p.at < len(p.src) && strings.IndexByte(" \t\r\n", p.src[p.at]) >= 0 {
		p.at++
	}
}

func (p *parser) peek(s string) bool { return strings.HasPrefix(p.src[p.at:], s) }

func (p *parser) accept(s string) bool {
	if !p.peek(s) {
		return false
	}
	p.at += len(s)
	p.skip()
	return true
}

func (p *parser) expect(s string) {
	if !p.accept(s) {
		p.fail("%q expected", s)
	}
}

func (p *parser) ident() string {
	start := p.at
	for p.at < len(p.src) && isWordByte(p.src[p.at]) {
		p.at++
	}
	if p.at == start {
		p.fail("a word expected")
	}
	word := p.src[start:p.at]
	p.skip()
	return word
}

func (p *parser) word() string {
	start := p.at
	for p.at < len(p.src) && (isWordByte(p.src[p.at]) || p.src[p.at] == '-' || p.src[p.at] == '+') && !p.peek("...") {
		p.at++
	}
	word := p.src[start:p.at]
	p.skip()
	return word
}

func (p *parser) quoted() string {
	prefix, err := strconv.QuotedPrefix(p.src[p.at:])
	if err != nil || prefix[0] != '"' {
		p.fail("a quoted text expected")
	}
	p.at += len(prefix)
	p.skip()
	s, err := strconv.Unquote(prefix)
	if err != nil {
		p.fail("%v", err)
	}
	return s
}

func (p *parser) name() string {
	if p.peek(`"`) {
		return p.quoted()
	}
	return p.ident()
}

func (p *parser) fun() *Func {
	p.scope = map[string]*Value{}
	p.expect("@")
	f := &Func{Name: p.name()}
	if p.accept("[") {
		for !p.accept("]") {
			if len(f.Scope) > 0 {
				p.expect(",")
			}
			f.Scope = append(f.Scope, p.ident())
		}
	}
	f.Params = p.params()
	p.expect("->")
	p.expect("(")
	var types []Type
	for !p.accept(")") {
		if len(types) > 0 {
			p.expect(",")
		}
		f.ResultNames = append(f.ResultNames, p.name())
		p.expect(":")
		types = append(types, p.typ())
	}
	p.body(&f.Block)
	if len(f.Results) != len(types) {
		p.fail("@%s returns %d values, %d declared", f.Name, len(f.Results), len(types))
	}
	for i, r := range f.Results {
		if !r.Type.Equal(types[i]) {
			p.fail("@%s: result %d is %s, declared %s", f.Name, i, r.Type, types[i])
		}
	}
	return f
}

func (p *parser) params() []*Value {
	p.expect("(")
	var params []*Value
	for !p.accept(")") {
		if len(params) > 0 {
			p.expect(",")
		}
		p.expect("%")
		v := &Value{Name: p.name(), Index: len(params)}
		p.expect(":")
		v.Type = p.typ()
		p.define(v)
		params = append(params, v)
	}
	return params
}

func (p *parser) define(v *Value) {
	if p.scope[v.Name] != nil {
		p.fail("%s is defined twice", v)
	}
	p.scope[v.Name] = v
}

// body parses nodes and results up to the closing brace. Values that are defined inside cannot be used outside, but
// their names stay in use.
func (p *parser) body(b *Block) {
	p.enter()
	defer p.leave()
	p.expect("{")
	for {
		if p.accept("return") {
			break
		}
		b.Nodes = append(b.Nodes, p.node())
	}
	if p.peek("%") {
		b.Results = p.operands()
	}
	for _, r := range b.Results {
		if r == nil {
			p.fail("an absent result")
		}
	}
	p.expect("}")
}

func (p *parser) operands() []*Value {
	var values []*Value
	for {
		if p.accept("_") {
			values = append(values, nil)
		} else {
			p.expect("%")
			name := p.name()
			v := p.scope[name]
			if v == nil {
				p.fail("%%%s is not defined", name)
			}
			values = append(values, v)
		}
		if !p.accept(",") {
			return values
		}
	}
}

func (p *parser) node() *Node {
	n := &Node{}
	for p.peek("%") {
		p.expect("%")
		n.Results = append(n.Results, &Value{Name: p.name(), Def: n, Index: len(n.Results)})
		if !p.accept(",") {
			p.expect("=")
			break
		}
	}
	name := p.ident()
	typ, ok := p.ops[name]
	if !ok {
		p.fail("unknown operator %q", name)
	}
	op := reflect.New(typ).Elem()
	if p.peek("%") || p.peek("_") {
		n.Args = p.operands()
	}
	if p.accept("{") {
		p.parseAttrs(op)
	}
	for i, r := range n.Results {
		p.expect([]string{":", ","}[min(i, 1)])
		r.Type = p.typ()
	}
	setResultTypes(op, n.ResultTypes())
	n.Op = op.Interface().(Op)
	if p.peek("//") {
		n.Pos = p.pos()
	}
	for p.accept("region") {
		b := &Block{Params: p.params()}
		p.body(b)
		n.Blocks = append(n.Blocks, b)
	}
	for _, r := range n.Results {
		p.define(r)
	}
	if types, err := Infer(n); err == nil && slices.EqualFunc(types, n.ResultTypes(), Type.Equal) {
		inferElems(n, &p.elems) // Verify reports errors of other nodes
	}
	return n
}

// pos parses a comment if one begins here. It returns its text, which is the source position of the node before the
// comment.
func (p *parser) pos() string {
	p.at += len("//")
	line, _, _ := strings.Cut(p.src[p.at:], "\n")
	p.at += len(line)
	p.skip()
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, `"`) {
		s, err := strconv.Unquote(line)
		if err != nil {
			p.fail("%v", err)
		}
		return s
	}
	return line
}
