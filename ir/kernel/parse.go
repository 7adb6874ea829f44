package kernel

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/burngen/burngen/ir"
)

// Parse reads the text form of a kernel and verifies it. It reads what [Kernel.String] prints:
//
//	// y = x, or n numbers of it
//	kernel copy(%x: global f32, %y: global f32 written, %n: i32) block 256, 1, 1 {
//	  %0 = block x : i32
//	  %1 = lt %0, %n : bool
//	  if %1 {
//	    %2 = load %x[%0] : f32
//	    store %y[%0], %2
//	  }
//	}
//
// Its grammar is this. Blanks and ends of lines separate words.
//
//	text    = ["//" line] "kernel" name "(" [param {"," param}] ")" "block" int "," int "," int "{" {array} block "}"
//	param   = value ":" ["global" | "map"] type [extents "box" extents] ["written"]
//	array   = "shared" value ":" type "[" int "]" ["written"]
//	        | "phases" value "[" int "]" "of" int
//	        | "sums" value ":" type "[" int "]"
//	block   = {[values "="] instr} ["yield" values]
//	instr   = "const" number ":" type
//	        | ("thread" | "block") ("x" | "y" | "z") ":" type
//	        | "load" element ":" type
//	        | ("store" | "atomic_add" | "arrive" | …) element "," values [types]
//	        | ("multiply_tiles" | "multiply_held") element "," values ["across_a"] ["across_b"]
//	        | ("registers" | "drain") int
//	        | "sum" value "[" int "]" types
//	        | "set_sum" value "[" int "]" "," value
//	        | "shuffle" value "by" int types
//	        | "for" value "=" value "to" value "by" value [carry] ["unroll" int] [types] body
//	        | "if" value [types] body ["else" body]
//	        | "while" [carry] [types] body "do" [values] body
//	        | name [values] [types]
//	element = value "[" value "]"
//	extents = "[" int {"," int} "]"
//	carry   = "carry" value "=" value {"," value "=" value}
//	body    = "{" block "}"
//	types   = ":" type {"," type}
//	values  = value {"," value}
//	value   = "%" name
//
// The types are the types of the results. All results of a load have one type, which is said once.
// A name is a word of letters, digits and underscores. A number is true, false, a decimal number,
// inf, -inf, or the bits of a float in hexadecimal after 0x.
func Parse(text string) (*Kernel, error) {
	p := &parser{src: text, values: map[string]*Value{}}
	k, err := p.parse()
	if err != nil {
		return nil, fmt.Errorf("line %d: %w", 1+strings.Count(text[:p.word], "\n"), err)
	}
	if err := k.Verify(); err != nil {
		return nil, err
	}
	return k, nil
}

type parser struct {
	src    string
	at     int // offset of the text that is not parsed yet
	word   int // offset of the last word
	depth  int
	values map[string]*Value
}

func (p *parser) skip() {
	for p.at < len(p.src) && strings.IndexByte(" \t\r\n", p.src[p.at]) >= 0 {
		p.at++
	}
}

// run skips blanks. It then consumes bytes up to the first one for which the function `belongs` returns false, and
// returns the consumed bytes.
func (p *parser) run(belongs func(c byte) bool) string {
	p.skip()
	p.word = p.at
	for p.at < len(p.src) && belongs(p.src[p.at]) {
		p.at++
	}
	return p.src[p.word:p.at]
}

func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func (p *parser) name() string {
	name := p.run(isWordByte)
	if name == "" {
		fail("a word expected")
	}
	return name
}

func (p *parser) accept(word string) bool {
	p.skip()
	rest, ok := strings.CutPrefix(p.src[p.at:], word)
	if !ok || isWordByte(word[0]) && rest != "" && isWordByte(rest[0]) {
		return false
	}
	p.word = p.at
	p.at += len(word)
	return true
}

func (p *parser) expect(word string) {
	if !p.accept(word) {
		p.word = p.at
		fail("%q expected", word)
	}
}

func (p *parser) int() int {
	word := p.run(isWordByte)
	n, err := strconv.ParseInt(word, 10, 32)
	if err != nil {
		fail("%q is not a number", word)
	}
	return int(n)
}

func (p *parser) dtype() ir.DType {
	d, err := ir.ParseDType(p.name())
	if err != nil {
		fail("%w", err)
	}
	return d
}

func (p *parser) parse() (k *Kernel, err error) {
	defer catch(&err)
	k = &Kernel{Body: &Block{}}
	if p.accept("//") {
		line, _, _ := strings.Cut(p.src[p.at:], "\n")
		p.at += len(line)
		k.Doc = strings.TrimPrefix(line, " ")
	}
	p.expect("kernel")
	k.Name = p.name()
	p.expect("(")
	for !p.accept(")") {
		if len(k.Params) > 0 {
			p.expect(",")
		}
		v := p.fresh(nil)
		p.expect(":")
		switch {
		case p.accept("global"):
			v.Type.Space = Global
		case p.accept("map"):
			v.Type.Space = Mapped
		}
		v.Type.DType = p.dtype()
		if v.Type.Space == Mapped {
			v.Map = p.mapped()
		}
		v.Written = p.accept("written")
		p.define(v)
		k.Params = append(k.Params, v)
	}
	k.Early = p.accept("early")
	p.expect("block")
	for i := range k.Block {
		if i > 0 {
			p.expect(",")
		}
		k.Block[i] = p.int()
	}
	p.expect("{")
	for p.array(k) {
	}
	p.block(k.Body)
	if p.skip(); p.at < len(p.src) {
		p.word = p.at
		fail("the kernel has ended")
	}
	return k, nil
}

// array parses the declaration of an array, of phase barriers or of sums, and adds it to k. It returns false if no
// such declaration begins at the current word.
func (p *parser) array(k *Kernel) bool {
	var space Space
	switch {
	case p.accept("shared"):
		space = Shared
	case p.accept("phases"):
		space = Phases
	case p.accept("sums"):
		space = Sums
	default:
		return false
	}
	v := p.fresh(nil)
	v.Type.Space = space
	if space != Phases {
		p.expect(":")
		v.Type.DType = p.dtype()
	}
	p.expect("[")
	v.Len = p.int()
	p.expect("]")
	if space == Phases {
		p.expect("of")
		v.Arrivals = p.int()
	}
	v.Written = p.accept("written")
	p.define(v)
	if space == Sums {
		k.Sums = append(k.Sums, v)
	} else {
		k.Shared = append(k.Shared, v)
	}
	return true
}

func (p *parser) mapped() *Map {
	m := &Map{}
	p.expect("[")
	if p.skip(); strings.HasPrefix(p.src[p.at:], "%") {
		m.Outer = p.value()
		p.expect(",")
		m.Extents = append([]int{0}, p.rest()...)
	} else {
		m.Extents = p.rest()
	}
	p.expect("box")
	m.Box = p.extents()
	if p.accept("windows") {
		w := &Windows{First: p.extents()}
		p.expect("to")
		w.Last = p.extents()
		p.expect("by")
		w.Step = p.extents()
		m.Windows = w
	}
	return m
}

func (p *parser) extents() []int {
	p.expect("[")
	return p.rest()
}

// rest parses the rest of a list of numbers, after "[".
func (p *parser) rest() (list []int) {
	for {
		sign := 1
		if p.accept("-") {
			sign = -1
		}
		list = append(list, sign*p.int())
		if !p.accept(",") {
			p.expect("]")
			return list
		}
	}
}

func (p *parser) fresh(def *Instr) *Value {
	p.expect("%")
	return &Value{Name: p.name(), Def: def}
}

func (p *parser) define(v *Value) {
	if p.values[v.Name] != nil {
		fail("%s is defined twice", v)
	}
	p.values[v.Name] = v
}

func (p *parser) value() *Value {
	p.expect("%")
	name := p.name()
	v := p.values[name]
	if v == nil {
		fail("%%%s is not defined", name)
	}
	return v
}

func (p *parser) list() (list []*Value) {
	if p.skip(); p.at == len(p.src) || p.src[p.at] != '%' {
		return nil
	}
	for {
		list = append(list, p.value())
		if !p.accept(",") {
			return list
		}
	}
}

func (p *parser) block(b *Block) {
	if p.depth++; p.depth > maxNesting {
		fail("blocks are nested deeper than %d", maxNesting)
	}
	for !p.accept("}") {
		if p.accept("yield") {
			b.Yields = p.list()
			p.expect("}")
			break
		}
		b.Instrs = append(b.Instrs, p.instr())
	}
	p.depth--
}

func (p *parser) body(params []*Value) *Block {
	b := &Block{Params: params}
	p.expect("{")
	p.block(b)
	return b
}

func (p *parser) instr() *Instr {
	in := &Instr{}
	for {
		if p.skip(); p.at == len(p.src) || p.src[p.at] != '%' {
			break
		}
		in.Results = append(in.Results, p.fresh(in))
		if !p.accept(",") {
			p.expect("=")
			break
		}
	}
	in.Op = p.op()
	switch {
	case in.Op == Const:
		text := p.run(func(c byte) bool { return isWordByte(c) || c == '+' || c == '-' || c == '.' })
		p.types(in)
		if len(in.Results) != 1 {
			fail("a constant is one value")
		}
		in.Bits = bitsOf(in.Results[0].Type.DType, text)
	case in.Op == ThreadIdx || in.Op == BlockIdx:
		if in.Dim = slices.Index([]string{"x", "y", "z"}, p.name()); in.Dim < 0 {
			fail("x, y or z expected")
		}
		p.types(in)
	case in.Op == Registers || in.Op == Drain:
		in.Count = p.int()
	case in.Op == Sum || in.Op == SetSum:
		in.Args = []*Value{p.value()}
		p.expect("[")
		in.Count = p.int()
		p.expect("]")
		if p.accept(",") {
			in.Args = append(in.Args, p.value())
		}
		p.types(in)
	case in.Op == Shuffle:
		in.Args = []*Value{p.value()}
		p.expect("by")
		in.Count = p.int()
		p.types(in)
	case accesses(in.Op):
		in.Args = []*Value{p.value()}
		p.expect("[")
		in.Args = append(in.Args, p.value())
		p.expect("]")
		if p.accept(",") {
			in.Args = append(in.Args, p.list()...)
		}
		in.AcrossA, in.AcrossB = p.accept("across_a"), p.accept("across_b")
		p.types(in)
	case in.Op == MatMulAdd:
		in.Args = p.list()
		p.types(in)
	case in.Op == For:
		p.forLoop(in)
	case in.Op == If:
		in.Args = []*Value{p.value()}
		p.types(in)
		in.Blocks = []*Block{p.body(nil), {}}
		if p.accept("else") {
			in.Blocks[1] = p.body(nil)
		}
	case in.Op == While:
		p.whileLoop(in)
	default:
		for i := range arity(in.Op) {
			if i > 0 {
				p.expect(",")
			}
			in.Args = append(in.Args, p.value())
		}
		p.types(in)
	}
	for _, r := range in.Results {
		p.define(r)
	}
	return in
}

func (p *parser) op() Op {
	name := p.name()
	for o := NoOp + 1; o < numOps; o++ {
		if ops[o].name == name {
			return o
		}
	}
	fail("unknown operation %q", name)
	return NoOp
}

func (p *parser) types(in *Instr) {
	for i, r := range in.Results {
		if i > 0 && in.Op == Load {
			r.Type = in.Results[0].Type
			continue
		}
		p.expect([]string{":", ","}[min(i, 1)])
		r.Type.DType = p.dtype()
	}
}

func (p *parser) forLoop(in *Instr) {
	i := p.fresh(nil)
	i.Type.DType = ir.I32
	for _, word := range []string{"=", "to", "by"} {
		p.expect(word)
		in.Args = append(in.Args, p.value())
	}
	params, first := p.carry()
	in.Args = append(in.Args, first...)
	if p.accept("unroll") {
		in.Unroll = p.int()
	}
	p.types(in)
	p.define(i)
	for _, v := range params {
		p.define(v)
	}
	in.Blocks = []*Block{p.body(append([]*Value{i}, params...))}
}

func (p *parser) whileLoop(in *Instr) {
	var params, again []*Value
	params, in.Args = p.carry()
	p.types(in)
	for _, v := range params {
		p.define(v)
	}
	test := p.body(params)
	p.expect("do")
	for i, v := range in.Args {
		if i > 0 {
			p.expect(",")
		}
		next := p.fresh(nil)
		next.Type = v.Type
		p.define(next)
		again = append(again, next)
	}
	in.Blocks = []*Block{test, p.body(again)}
}

// carry parses the carried values of a loop. It returns the parameters of the body, and their initial values.
func (p *parser) carry() (params, first []*Value) {
	if !p.accept("carry") {
		return nil, nil
	}
	for {
		v := p.fresh(nil)
		p.expect("=")
		x := p.value()
		v.Type = x.Type
		params, first = append(params, v), append(first, x)
		if !p.accept(",") {
			return params, first
		}
	}
}

func bitsOf(d ir.DType, text string) uint64 {
	var bits uint64
	var err error
	hex, isHex := strings.CutPrefix(text, "0x")
	switch {
	case d == ir.Bool && (text == "true" || text == "false"):
		return truth(text == "true")
	case d.IsFloat() && isHex:
		bits, err = strconv.ParseUint(hex, 16, d.Bits())
	case d.Class() == ir.Unsigned:
		bits, err = strconv.ParseUint(text, 10, d.Bits())
	case d.Class() == ir.Signed:
		var n int64
		n, err = strconv.ParseInt(text, 10, d.Bits())
		bits = mask(uint64(n), d)
	case classOf(d) == floats:
		var x float64
		x, err = strconv.ParseFloat(text, d.Bits())
		bits = floatBits(d, x)
	default:
		err = strconv.ErrSyntax
	}
	if err != nil {
		fail("%q is not a number of type %s", text, d)
	}
	return bits
}
