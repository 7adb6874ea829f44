package pickle

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// opcode describes an opcode. If run is nil, a pickle with the opcode is rejected.
type opcode struct {
	name string
	run  func(*machine) error
}

// opcodes is indexed by the opcode. The names are the names in Python's pickletools.
var opcodes = [256]opcode{
	// Control.
	0x80: {"PROTO", proto},
	0x95: {"FRAME", frame},
	'.':  {"STOP", stop},
	'(':  {"MARK", mark},
	'0':  {"POP", popOne},
	'1':  {"POP_MARK", func(m *machine) error { _, err := m.popMark(); return err }},
	'2':  {"DUP", dup},

	// Memo.
	'p':  {"PUT", memoLine((*machine).remember)},
	'q':  {"BINPUT", memoBinary((*machine).remember, 1)},
	'r':  {"LONG_BINPUT", memoBinary((*machine).remember, 4)},
	0x94: {"MEMOIZE", func(m *machine) error { return m.remember(uint64(len(m.memo))) }},
	'g':  {"GET", memoLine((*machine).recall)},
	'h':  {"BINGET", memoBinary((*machine).recall, 1)},
	'j':  {"LONG_BINGET", memoBinary((*machine).recall, 4)},

	// Numbers.
	'N':  {"NONE", constant(nil)},
	0x88: {"NEWTRUE", constant(true)},
	0x89: {"NEWFALSE", constant(false)},
	'I':  {"INT", intLine},
	'L':  {"LONG", longLine},
	'J':  {"BININT", binint},
	'K':  {"BININT1", unsigned(1)},
	'M':  {"BININT2", unsigned(2)},
	0x8a: {"LONG1", long(1)},
	0x8b: {"LONG4", long(4)},
	'F':  {"FLOAT", floatLine},
	'G':  {"BINFLOAT", binfloat},

	// Strings and bytes.
	'S':  {"STRING", stringLine},
	'V':  {"UNICODE", unicodeLine},
	'T':  {"BINSTRING", text(4, latin1)},
	'U':  {"SHORT_BINSTRING", text(1, latin1)},
	'X':  {"BINUNICODE", text(4, utf8Text)},
	0x8c: {"SHORT_BINUNICODE", text(1, utf8Text)},
	0x8d: {"BINUNICODE8", text(8, utf8Text)},
	'B':  {"BINBYTES", binbytes(4)},
	'C':  {"SHORT_BINBYTES", binbytes(1)},
	0x8e: {"BINBYTES8", binbytes(8)},
	0x96: {"BYTEARRAY8", binbytes(8)},

	// Containers.
	')':  {"EMPTY_TUPLE", func(m *machine) error { return m.push(&Tuple{}, valueCost) }},
	't':  {"TUPLE", marked(func(v []Value) Value { return &Tuple{v} })},
	0x85: {"TUPLE1", tupleOf(1)},
	0x86: {"TUPLE2", tupleOf(2)},
	0x87: {"TUPLE3", tupleOf(3)},
	']':  {"EMPTY_LIST", func(m *machine) error { return m.push(&List{}, valueCost) }},
	'l':  {"LIST", marked(func(v []Value) Value { return &List{v} })},
	'a':  {"APPEND", extend[*List](one)},
	'e':  {"APPENDS", extend[*List]((*machine).popMark)},
	'}':  {"EMPTY_DICT", func(m *machine) error { return m.push(&Dict{}, valueCost) }},
	'd':  {"DICT", dict},
	's':  {"SETITEM", extend[*Dict](two)},
	'u':  {"SETITEMS", extend[*Dict]((*machine).popMark)},
	0x8f: {"EMPTY_SET", func(m *machine) error { return m.push(&Set{}, valueCost) }},
	0x91: {"FROZENSET", marked(func(v []Value) Value { return &Set{v} })},
	0x90: {"ADDITEMS", extend[*Set]((*machine).popMark)},

	// Names and calls.
	'c':  {"GLOBAL", globalLine},
	0x93: {"STACK_GLOBAL", stackGlobal},
	'R':  {"REDUCE", reduce},
	0x81: {"NEWOBJ", reduce},
	0x92: {"NEWOBJ_EX", newobjEx},
	'i':  {"INST", inst},
	'o':  {"OBJ", obj},
	'b':  {"BUILD", build},
	'P':  {"PERSID", persistentLine},
	'Q':  {"BINPERSID", persistentTop},

	// Objects from outside the pickle.
	0x82: {"EXT1", nil},
	0x83: {"EXT2", nil},
	0x84: {"EXT4", nil},
	0x97: {"NEXT_BUFFER", nil},
	0x98: {"READONLY_BUFFER", nil},
}

func proto(m *machine) error {
	n, err := m.uint(1)
	if err == nil && n > 5 {
		err = fmt.Errorf("protocol %d is newer than 5", n)
	}
	return err
}

func frame(m *machine) error {
	n, err := m.uint(8)
	if err == nil && n > uint64(len(m.data)-m.at) {
		err = fmt.Errorf("a frame has %d bytes, the pickle has %d left", n, len(m.data)-m.at)
	}
	return err
}

func stop(m *machine) error {
	if len(m.marks) > 0 || len(m.stack) != 1 {
		return fmt.Errorf("the stack has %d values and %d marks at the end, want 1 and 0", len(m.stack), len(m.marks))
	}
	m.done = true
	return nil
}

func mark(m *machine) error {
	m.left -= slotCost
	if m.left >= 0 {
		m.marks = append(m.marks, len(m.stack))
	}
	return nil
}

// popOne pops the top of the stack, which is a value or a mark.
func popOne(m *machine) error {
	if n := len(m.marks); n > 0 && m.marks[n-1] == len(m.stack) {
		m.marks = m.marks[:n-1]
		return nil
	}
	_, err := m.pop(1)
	return err
}

func dup(m *machine) error {
	v, err := m.top()
	if err != nil {
		return err
	}
	return m.push(v, 0)
}

func memoLine(use func(*machine, uint64) error) func(*machine) error {
	return func(m *machine) error {
		b, err := m.line()
		if err != nil {
			return err
		}
		key, err := strconv.ParseUint(string(b), 10, 32)
		if err != nil {
			return fmt.Errorf("%.20q is not an index of the memo", b)
		}
		return use(m, key)
	}
}

func memoBinary(use func(*machine, uint64) error, width uint64) func(*machine) error {
	return func(m *machine) error {
		key, err := m.uint(width)
		if err != nil {
			return err
		}
		return use(m, key)
	}
}

func constant(v Value) func(*machine) error {
	return func(m *machine) error { return m.push(v, 0) }
}

func unsigned(width uint64) func(*machine) error {
	return func(m *machine) error {
		n, err := m.uint(width)
		if err != nil {
			return err
		}
		return m.push(int64(n), boxCost)
	}
}

func binint(m *machine) error {
	n, err := m.uint(4)
	if err != nil {
		return err
	}
	return m.push(int64(int32(n)), boxCost)
}

// longDigits is the maximum length of the text of a number; a longer text is an error. The time to
// convert the text of an integer is quadratic in its length.
const longDigits = 1000

// intLine reads a line with a decimal number and pushes the number. The lines "00" and "01" are the
// bools of protocol 1.
func intLine(m *machine) error {
	b, err := m.line()
	if err != nil {
		return err
	}
	switch string(b) {
	case "00":
		return m.push(false, 0)
	case "01":
		return m.push(true, 0)
	}
	return m.decimal(b)
}

func longLine(m *machine) error {
	b, err := m.line()
	if err != nil {
		return err
	}
	return m.decimal(bytes.TrimSuffix(b, []byte("L")))
}

func (m *machine) decimal(digits []byte) error {
	if len(digits) > longDigits {
		return fmt.Errorf("a number has %d digits, the limit is %d", len(digits), longDigits)
	}
	n, ok := new(big.Int).SetString(string(digits), 10)
	if !ok {
		return fmt.Errorf("%.20q is not a number", digits)
	}
	return m.push(small(n), boxCost+len(digits))
}

func small(n *big.Int) Value {
	if n.IsInt64() {
		return n.Int64()
	}
	return n
}

// long returns an opcode that pushes an integer. In the pickle, a number of `width` bytes holds the
// integer's length in bytes. The bytes of the integer, in two's complement, follow.
func long(width uint64) func(*machine) error {
	return func(m *machine) error {
		b, err := m.sized(width)
		if err != nil {
			return err
		}
		m.left -= int64(2 * len(b))
		if m.left < 0 {
			return nil
		}
		b = slices.Clone(b)
		slices.Reverse(b)
		n := new(big.Int).SetBytes(b)
		if len(b) > 0 && b[0] >= 0x80 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
		return m.push(small(n), boxCost+len(b))
	}
}

func floatLine(m *machine) error {
	b, err := m.line()
	if err != nil {
		return err
	}
	if len(b) > longDigits {
		return fmt.Errorf("a number has %d digits, the limit is %d", len(b), longDigits)
	}
	x, err := strconv.ParseFloat(string(b), 64)
	if err != nil && !math.IsInf(x, 0) {
		return fmt.Errorf("%.20q is not a number", b)
	}
	return m.push(x, boxCost)
}

func binfloat(m *machine) error {
	b, err := m.take(8)
	if err != nil {
		return err
	}
	return m.push(math.Float64frombits(binary.BigEndian.Uint64(b)), boxCost)
}

// text returns an opcode that pushes a string. In the pickle, a number of `width` bytes holds the
// string's length in bytes. The bytes of the string follow, and decode converts them.
func text(width uint64, decode func([]byte) (string, error)) func(*machine) error {
	return func(m *machine) error {
		b, err := m.sized(width)
		if err != nil {
			return err
		}
		return m.pushText(b, decode)
	}
}

func (m *machine) pushText(b []byte, decode func([]byte) (string, error)) error {
	m.left -= int64(2 * len(b))
	if m.left < 0 {
		return nil
	}
	s, err := decode(b)
	if err != nil {
		return err
	}
	return m.push(s, boxCost)
}

func utf8Text(b []byte) (string, error) {
	if !utf8.Valid(b) { // and so are the surrogates that Python writes
		return "", fmt.Errorf("%.20q is not UTF-8", b)
	}
	return string(b), nil
}

// latin1 decodes a string of Python 2, whose encoding is unknown. If it is valid UTF-8, it is
// decoded as UTF-8. Otherwise it is decoded as Latin-1.
func latin1(b []byte) (string, error) {
	if utf8.Valid(b) {
		return string(b), nil
	}
	var s strings.Builder
	for _, c := range b {
		s.WriteRune(rune(c))
	}
	return s.String(), nil
}

// stringLine reads a line with a quoted string, resolves the escapes of Python's repr, and pushes
// the string.
func stringLine(m *machine) error {
	b, err := m.line()
	if err != nil {
		return err
	}
	b = bytes.TrimSpace(b)
	if len(b) < 2 || b[0] != b[len(b)-1] || b[0] != '\'' && b[0] != '"' {
		return fmt.Errorf("%.20q is not a quoted string", b)
	}
	raw, err := unescape(b[1:len(b)-1], 'x')
	if err != nil {
		return err
	}
	return m.pushText(raw, latin1)
}

// unicodeLine reads a line, decodes it from raw-unicode-escape, and pushes the string.
func unicodeLine(m *machine) error {
	b, err := m.line()
	if err != nil {
		return err
	}
	m.left -= int64(2 * len(b))
	if m.left < 0 {
		return nil
	}
	var wide []byte
	for _, c := range b { // everything but the escapes is Latin-1
		wide = utf8.AppendRune(wide, rune(c))
	}
	raw, err := unescape(wide, 'u')
	if err != nil {
		return err
	}
	return m.pushText(raw, utf8Text)
}

// plainEscapes maps the character after a backslash in a repr to the byte that the escape denotes.
var plainEscapes = map[byte]byte{'\\': '\\', '\'': '\'', '"': '"', 'n': '\n', 'r': '\r', 't': '\t'}

// hexDigits maps the letter of an escape to the number of its hexadecimal digits.
var hexDigits = map[byte]int{'x': 2, 'u': 4, 'U': 8}

// unescape replaces the escape sequences in b. kind is 'x' for a repr and 'u' for
// raw-unicode-escape. For 'u', a backslash that does not begin \u or \U is kept.
func unescape(b []byte, kind byte) ([]byte, error) {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' || i+1 == len(b) {
			out = append(out, b[i])
			continue
		}
		next := b[i+1]
		if kind == 'x' {
			if c, ok := plainEscapes[next]; ok {
				out = append(out, c)
				i++
				continue
			}
		}
		n := hexDigits[next]
		if n == 0 || (next == 'x') != (kind == 'x') {
			out = append(out, b[i])
			continue
		}
		if i+2+n > len(b) {
			return nil, fmt.Errorf("the escape sequence %.20q is cut short", b[i:])
		}
		c, err := strconv.ParseUint(string(b[i+2:i+2+n]), 16, 32)
		if err != nil {
			return nil, fmt.Errorf("the escape sequence %.20q is not hexadecimal", b[i:i+2+n])
		}
		if kind == 'x' {
			out = append(out, byte(c))
		} else {
			out = utf8.AppendRune(out, rune(uint32(c)))
		}
		i += 1 + n
	}
	return out, nil
}

func binbytes(width uint64) func(*machine) error {
	return func(m *machine) error {
		b, err := m.sized(width)
		if err != nil {
			return err
		}
		m.left -= int64(len(b))
		if m.left < 0 {
			return nil
		}
		return m.push(Bytes(bytes.Clone(b)), boxCost)
	}
}

// marked returns an opcode that pops the values above the last mark, and pushes build(values).
func marked(build func(values []Value) Value) func(*machine) error {
	return func(m *machine) error {
		values, err := m.popMark()
		if err != nil {
			return err
		}
		return m.push(build(m.keep(values)), valueCost)
	}
}

func tupleOf(n int) func(*machine) error {
	return func(m *machine) error {
		values, err := m.pop(n)
		if err != nil {
			return err
		}
		return m.push(&Tuple{m.keep(values)}, valueCost)
	}
}

func dict(m *machine) error {
	values, err := m.popMark()
	if err != nil {
		return err
	}
	d := &Dict{}
	if err := d.extend(m, values); err != nil {
		return err
	}
	return m.push(d, valueCost)
}

func one(m *machine) ([]Value, error) { return m.pop(1) }
func two(m *machine) ([]Value, error) { return m.pop(2) }

type extendable interface {
	extend(m *machine, values []Value) error
}

// extend returns an opcode that pops values with `take`, and adds them to the container that is
// then on top of the stack. The container must be of type C.
func extend[C extendable](take func(*machine) ([]Value, error)) func(*machine) error {
	return func(m *machine) error {
		values, err := take(m)
		if err != nil {
			return err
		}
		to, err := m.top()
		if err != nil {
			return err
		}
		c, ok := to.(C)
		if !ok {
			return fmt.Errorf("%s cannot take items", kindOf(to))
		}
		return c.extend(m, values)
	}
}

func (l *List) extend(m *machine, values []Value) error {
	if m.left -= int64(len(values)) * slotCost; m.left >= 0 {
		l.Items = append(l.Items, values...)
	}
	return nil
}

func (s *Set) extend(m *machine, values []Value) error {
	if m.left -= int64(len(values)) * slotCost; m.left >= 0 {
		s.Items = append(s.Items, values...)
	}
	return nil
}

func (d *Dict) extend(m *machine, values []Value) error {
	if len(values)%2 != 0 {
		return fmt.Errorf("a key has no value")
	}
	if m.left -= int64(len(values)/2) * keyCost; m.left < 0 {
		return nil
	}
	for i := 0; i < len(values); i += 2 {
		switch values[i].(type) {
		case *List, *Dict, *Set:
			return fmt.Errorf("%s is not a key", kindOf(values[i]))
		}
		d.Set(values[i], values[i+1])
	}
	return nil
}

func globalLine(m *machine) error {
	module, err := m.line()
	if err != nil {
		return err
	}
	name, err := m.line()
	if err != nil {
		return err
	}
	return m.global(string(module), string(name))
}

func stackGlobal(m *machine) error {
	pair, err := m.pop(2)
	if err != nil {
		return err
	}
	module, ok := pair[0].(string)
	name, ok2 := pair[1].(string)
	if !ok || !ok2 {
		return fmt.Errorf("want a module and a name, have %s and %s", kindOf(pair[0]), kindOf(pair[1]))
	}
	return m.global(module, name)
}

// reduce pops a tuple of arguments and a class, calls the class, and pushes the result.
func reduce(m *machine) error {
	pair, err := m.pop(2)
	if err != nil {
		return err
	}
	args, ok := pair[1].(*Tuple)
	if !ok {
		return fmt.Errorf("want a tuple of arguments, have %s", kindOf(pair[1]))
	}
	return m.call(pair[0], args.Items)
}

func newobjEx(m *machine) error {
	values, err := m.pop(3)
	if err != nil {
		return err
	}
	args, ok := values[1].(*Tuple)
	named, ok2 := values[2].(*Dict)
	if !ok || !ok2 || len(named.Keys) > 0 {
		return fmt.Errorf("want a tuple of arguments without keyword arguments")
	}
	return m.call(values[0], args.Items)
}

func inst(m *machine) error {
	module, err := m.line()
	if err != nil {
		return err
	}
	name, err := m.line()
	if err != nil {
		return err
	}
	args, err := m.popMark()
	if err != nil {
		return err
	}
	c, err := m.Global(string(module), string(name))
	if err != nil {
		return err
	}
	return m.call(c, m.keep(args))
}

func obj(m *machine) error {
	values, err := m.popMark()
	if err != nil {
		return err
	}
	if len(values) == 0 {
		return fmt.Errorf("want a class above the mark")
	}
	values = m.keep(values)
	if m.left < 0 {
		return nil
	}
	return m.call(values[0], values[1:])
}

func build(m *machine) error {
	state, err := m.pop(1)
	if err != nil {
		return err
	}
	to, err := m.top()
	if err != nil {
		return err
	}
	s, ok := to.(Stateful)
	if !ok {
		return fmt.Errorf("%s takes no state", kindOf(to))
	}
	return s.SetState(state[0])
}

func persistentLine(m *machine) error {
	id, err := m.line()
	if err != nil {
		return err
	}
	return m.persistent(string(id))
}

func persistentTop(m *machine) error {
	id, err := m.pop(1)
	if err != nil {
		return err
	}
	return m.persistent(id[0])
}

func (m *machine) persistent(id Value) error {
	if m.Persistent == nil {
		return fmt.Errorf("this pickle may not have persistent objects")
	}
	v, err := m.Persistent(id)
	if err != nil {
		return err
	}
	return m.push(v, valueCost)
}
