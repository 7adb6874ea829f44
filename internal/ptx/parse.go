package ptx

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Limits on what a text declares, so that a hostile text cannot exhaust memory.
const (
	maxRegisters = 1 << 16
	maxShared    = 1 << 20
)

type parser struct {
	lexer
	version float64
	target  int    // sm_<target>
	outer   *scope // names of the module
	entry   *entry
	names   *scope
}

// scope maps names to their meaning. A name that it lacks is looked up in outer.
type scope struct {
	symbols map[string]symbol
	outer   *scope
}

func (s *scope) find(name string) (symbol, bool) {
	for ; s != nil; s = s.outer {
		if found, ok := s.symbols[name]; ok {
			return found, true
		}
	}
	return symbol{}, false
}

// Parse reads a module. It returns the errors of [Check].
func Parse(text string) (m *Module, err error) {
	defer func() {
		if r := recover(); r != nil {
			bad, ok := r.(mistake)
			if !ok {
				panic(r)
			}
			m, err = nil, bad.error
		}
	}()
	p := &parser{lexer: lexer{source: text, line: 1}, outer: &scope{symbols: map[string]symbol{}}}
	p.advance()
	p.header()
	m = &Module{entries: map[string]*entry{}}
	for p.next.text != "" {
		switch first := p.take(); first.text {
		case ".extern":
			p.names = p.outer
			p.expect(".shared")
			p.align()
			p.expect(".b8")
			p.declare(p.name(), symbol{what: dynamic})
			p.expect("[")
			p.expect("]")
			p.expect(";")
		case ".visible":
			p.expect(".entry")
			p.kernel(m)
		case ".entry":
			p.kernel(m)
		default:
			failAt(first.line, "unexpected %q", first.text)
		}
	}
	return m, nil
}

func (p *parser) header() {
	p.expect(".version")
	if !versionNumber.MatchString(p.next.text) {
		p.fail("%q is not a version", p.next.text)
	}
	p.version, _ = strconv.ParseFloat(p.take().text, 64)
	p.expect(".target")
	if !targetName.MatchString(p.next.text) {
		p.fail("%q is not a target", p.next.text)
	}
	p.target, _ = strconv.Atoi(strings.Trim(p.take().text, "sm_af"))
	p.expect(".address_size")
	p.expect("64")
}

var (
	versionNumber = regexp.MustCompile(`^\d\.\d$`)
	targetName    = regexp.MustCompile(`^sm_\d{2,3}[af]?$`)
	plainName     = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_$]*|[_$][A-Za-z0-9_$]+)$`)
	registerName  = regexp.MustCompile(`^%[A-Za-z0-9_$]+$`)
)

// name reads the name of a kernel, parameter, array or label.
func (p *parser) name() string { return checkName(p.take()) }

func checkName(t token) string {
	if !plainName.MatchString(t.text) {
		failAt(t.line, "%q is not a name", t.text)
	}
	if instructions[t.text] != nil {
		failAt(t.line, "%q names an instruction", t.text)
	}
	return t.text
}

// declare gives a name its meaning. It panics with a [mistake] if the scope, or one around it, has the
// name already.
func (p *parser) declare(name string, s symbol) {
	if _, ok := p.names.find(name); ok {
		p.fail("%s is declared twice", name)
	}
	p.names.symbols[name] = s
}

func (p *parser) number(lo, hi int) int {
	n, err := strconv.Atoi(p.next.text)
	if err != nil || n < lo || n > hi {
		p.fail("%q where a number from %d to %d is expected", p.next.text, lo, hi)
	}
	p.take()
	return n
}

// typ reads a type such as ".u32".
func (p *parser) typ() typ {
	t, ok := typeOf(strings.TrimPrefix(p.next.text, "."))
	if !ok || p.next.text[0] != '.' {
		p.fail("%q where a type is expected", p.next.text)
	}
	p.take()
	return t
}

// align reads an alignment, if there is one. It accepts powers of 2 up to 16, the alignment that
// arrays have here.
func (p *parser) align() {
	if !p.accept(".align") {
		return
	}
	if n := p.number(1, 16); n&(n-1) != 0 {
		p.fail("alignment %d is not a power of 2", n)
	}
}

func (p *parser) kernel(m *Module) {
	p.names = p.outer
	name := p.name()
	p.declare(name, symbol{})
	e := &entry{name: name, most: 1024}
	p.entry = e
	p.names = &scope{map[string]symbol{}, p.outer}
	p.expect("(")
	for !p.accept(")") {
		if len(e.params) > 0 {
			p.expect(",")
		}
		p.expect(".param")
		t := p.typ()
		if t == pred {
			p.fail("a parameter cannot be a predicate")
		}
		name := p.name()
		p.declare(name, symbol{parameter, len(e.params)})
		e.params = append(e.params, variable{name, t})
	}
	p.directives()
	p.expect("{")
	var steps []pendingStep
	for !p.accept("}") {
		steps = p.statement(steps)
	}
	p.decode(steps)
	checkAssigned(e)
	m.entries[name] = e
	m.names = append(m.names, name)
}

// directives reads the directives about the blocks of a kernel.
func (p *parser) directives() {
	for {
		switch p.next.text {
		case ".reqntid", ".maxntid":
			required := p.take().text == ".reqntid"
			n := [3]int{1, 1, 1}
			for i := range n {
				if i > 0 && !p.accept(",") {
					break
				}
				n[i] = p.number(1, 1024)
			}
			if n[0]*n[1]*n[2] > 1024 {
				p.fail("blocks of %d threads", n[0]*n[1]*n[2])
			}
			if required {
				p.entry.threads = n
			} else {
				p.entry.most = n[0] * n[1] * n[2]
			}
		case ".minnctapersm":
			p.take()
			p.number(1, 64)
		default:
			return
		}
	}
}

// pendingStep is an instruction that is decoded when all labels are known.
type pendingStep struct {
	op      token
	text    string
	guard   string // a register, or ""
	negated bool
	args    []operand
}

func (p *parser) statement(steps []pendingStep) []pendingStep {
	switch p.next.text {
	case ".reg":
		p.take()
		p.registers()
		return steps
	case ".shared":
		p.take()
		p.array()
		return steps
	case ".pragma":
		p.take()
		if p.take().text != `"nounroll"` {
			p.fail("unknown pragma")
		}
		p.expect(";")
		return steps
	}
	s := pendingStep{}
	first := p.next
	if p.accept("@") {
		s.negated = p.accept("!")
		s.guard = p.take().text
	}
	s.op = p.take()
	if s.guard == "" && p.accept(":") {
		p.declare(checkName(s.op), symbol{label, len(steps)})
		return steps
	}
	for p.next.text != ";" {
		if len(s.args) > 0 {
			p.expect(",")
		}
		s.args = append(s.args, p.operand())
	}
	s.text = p.source[first.start:p.next.start]
	p.expect(";")
	return append(steps, s)
}

// registers reads a declaration of registers: a list of names, or one name with a count.
func (p *parser) registers() {
	t := p.typ()
	if t.bits == 8 || t.kind == 'h' {
		p.fail("a register cannot be .%s", t)
	}
	for {
		name := p.take().text
		if !registerName.MatchString(name) {
			p.fail("%q cannot name a register", name)
		}
		if p.accept("<") {
			for i := range p.number(1, maxRegisters) {
				p.register(name+strconv.Itoa(i), t)
			}
			p.expect(">")
		} else {
			p.register(name, t)
		}
		if !p.accept(",") {
			p.expect(";")
			return
		}
	}
}

func (p *parser) register(name string, t typ) {
	if len(p.entry.registers) == maxRegisters {
		p.fail("more than %d registers", maxRegisters)
	}
	if specials[name] {
		p.fail("%s is a register of the machine", name)
	}
	p.declare(name, symbol{register, len(p.entry.registers)})
	p.entry.registers = append(p.entry.registers, t)
}

// array reads the declaration of an array in shared memory. Arrays begin at multiples of 16 bytes.
func (p *parser) array() {
	p.align()
	t := p.typ()
	name := p.name()
	p.expect("[")
	n := p.number(1, maxShared)
	p.expect("]")
	p.expect(";")
	e := p.entry
	at := (e.shared + 15) &^ 15
	if e.shared = at + n*max(1, t.bits/8); e.shared > maxShared || t == pred {
		p.fail("array %s is too large", name)
	}
	p.declare(name, symbol{array, at})
}

// operand is an operand of an instruction, as the text writes it.
type operand struct {
	form   form
	name   string    // of a register or symbol, also of the base of an address
	bits   uint64    // of an immediate value; an integer has 64 bits
	signed bool      // the immediate is negative
	offset int64     // of an address
	list   []operand // of a vector
}

type form uint8

const (
	named form = iota + 1
	integer
	float32Bits
	float64Bits
	address
	vector
)

func (p *parser) operand() operand {
	switch {
	case p.accept("["):
		o := operand{form: address, name: p.take().text}
		if p.accept("+") {
			o.offset = int64(p.integer().bits)
			if o.offset != int64(int32(o.offset)) {
				p.fail("the offset of an address is not an integer of 32 bits")
			}
		}
		p.expect("]")
		return o
	case p.accept("{"):
		o := operand{form: vector}
		for !p.accept("}") {
			if len(o.list) > 0 {
				p.expect(",")
			}
			o.list = append(o.list, operand{form: named, name: p.take().text})
		}
		return o
	}
	switch text := p.next.text; {
	case strings.HasPrefix(text, "0f"):
		p.take()
		return operand{form: float32Bits, bits: p.hex(text[2:], 8)}
	case strings.HasPrefix(text, "0d"):
		p.take()
		return operand{form: float64Bits, bits: p.hex(text[2:], 16)}
	case text == "-" || text != "" && text[0] >= '0' && text[0] <= '9':
		return p.integer()
	}
	return operand{form: named, name: p.take().text}
}

func (p *parser) integer() operand {
	minus := p.accept("-")
	t := p.take()
	n, err := strconv.ParseUint(strings.TrimSuffix(t.text, "U"), 0, 64)
	if err != nil || strings.Contains(t.text, "_") || minus && n > 1<<63 {
		failAt(t.line, "%q is not an integer", t.text)
	}
	if minus {
		n = -n
	}
	return operand{form: integer, bits: n, signed: minus}
}

// hex returns the bits of a float, written as n hexadecimal digits.
func (p *parser) hex(digits string, n int) uint64 {
	bits, err := strconv.ParseUint(digits, 16, 64)
	if err != nil || len(digits) != n {
		p.fail("a float of %q, want %d digits", digits, n)
	}
	return bits
}

// inRange reports whether type t can represent the integer o. An integer with a minus sign is read
// as signed, and any other as unsigned.
func (o operand) inRange(t typ) bool {
	switch {
	case t == pred:
		return !o.signed && o.bits <= 1
	case o.signed:
		return int64(o.bits) >= math.MinInt64>>(64-t.bits)
	}
	return o.bits <= t.mask()
}
