package pickle

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// Reader reads pickles. Its functions define which names and identifiers a pickle may contain.
type Reader struct {
	// Global resolves a name in a module. It is called for each mention of the name in the pickle.
	// An error rejects the pickle.
	Global func(module, name string) (*Class, error)

	// Persistent returns the object for a persistent identifier. If it is nil, identifiers are
	// errors.
	Persistent func(id Value) (Value, error)
}

// These constants define the memory limit of a pickle. It is freeMemory bytes, plus memoryPerByte
// bytes for each byte of the pickle.
const (
	freeMemory    = 24 << 20
	memoryPerByte = 12
)

// These are the costs of values in bytes. They include the values' entries in the stack and in the
// memo.
const (
	slotCost  = 48  // an entry of a stack, list, tuple or memo, with spare capacity
	keyCost   = 160 // an entry of a dict
	boxCost   = 32  // a number or a string's header
	valueCost = 96  // an empty container
)

type machine struct {
	*Reader
	data  []byte
	at    int
	stack []Value
	// heights of the stack at the open MARKs
	marks []int
	memo  map[uint64]Value
	// number of bytes that may still be allocated
	left int64
	done bool
}

// Read reads the pickle at the start of data. It returns the pickled value and the pickle's length
// in bytes. The value does not share memory with data. Errors contain the position in the pickle.
func (r *Reader) Read(data []byte) (Value, int, error) {
	m := &machine{Reader: r, data: data, memo: map[uint64]Value{}, left: freeMemory}
	for !m.done {
		start := m.at
		if err := m.step(); err != nil {
			return nil, 0, fmt.Errorf("pickle: byte %d: %w", start, err)
		}
	}
	return m.stack[0], m.at, nil
}

func (m *machine) step() error {
	code, err := m.take(1)
	if err != nil {
		return err
	}
	op := &opcodes[code[0]]
	if op.run == nil {
		if op.name != "" {
			return fmt.Errorf("%s: objects from outside the pickle are refused", op.name)
		}
		return fmt.Errorf("%#02x is not an opcode", code[0])
	}
	if err := op.run(m); err != nil {
		return fmt.Errorf("%s: %w", op.name, err)
	}
	if m.left < 0 {
		return fmt.Errorf("%s: %d bytes of pickle need more than %d bytes of memory", op.name, m.at, freeMemory+memoryPerByte*m.at)
	}
	return nil
}

// take consumes and returns the next n bytes.
func (m *machine) take(n uint64) ([]byte, error) {
	if n > uint64(len(m.data)-m.at) {
		return nil, fmt.Errorf("want %d bytes, the pickle has %d left", n, len(m.data)-m.at)
	}
	m.at += int(n)
	m.left += memoryPerByte * int64(n)
	return m.data[m.at-int(n) : m.at], nil
}

// uint reads a little-endian number of width bytes, at most 8.
func (m *machine) uint(width uint64) (uint64, error) {
	b, err := m.take(width)
	if err != nil {
		return 0, err
	}
	var whole [8]byte
	copy(whole[:], b)
	return binary.LittleEndian.Uint64(whole[:]), nil
}

// sized reads a length n, an integer of `width` bytes, and then n bytes. It returns the n bytes.
func (m *machine) sized(width uint64) ([]byte, error) {
	n, err := m.uint(width)
	if err != nil {
		return nil, err
	}
	return m.take(n)
}

func (m *machine) line() ([]byte, error) {
	n := slices.Index(m.data[m.at:], '\n')
	if n < 0 {
		return nil, fmt.Errorf("a line does not end")
	}
	b, err := m.take(uint64(n) + 1)
	return b[:n], err
}

// push pushes v. It charges the memory of the stack entry and `extra` bytes more. If this exceeds
// the limit, push does not push v, and [machine.step] reports the error. push itself always returns
// nil.
func (m *machine) push(v Value, extra int) error {
	m.left -= slotCost + int64(extra)
	if m.left < 0 {
		return nil // step reports the error
	}
	m.stack = append(m.stack, v)
	return nil
}

// floor returns the smallest height that the stack may have: opcodes must not pop values below it.
func (m *machine) floor() int {
	if len(m.marks) == 0 {
		return 0
	}
	return m.marks[len(m.marks)-1]
}

func (m *machine) need(n int) error {
	if have := len(m.stack) - m.floor(); have < n {
		return fmt.Errorf("want %d values on the stack, have %d", n, have)
	}
	return nil
}

// pop pops n values. The result is valid until the next push.
func (m *machine) pop(n int) ([]Value, error) {
	if err := m.need(n); err != nil {
		return nil, err
	}
	values := m.stack[len(m.stack)-n:]
	m.stack = m.stack[:len(m.stack)-n]
	return values, nil
}

// popMark pops the values above the last mark, and the mark. The result is valid until the next
// push.
func (m *machine) popMark() ([]Value, error) {
	if len(m.marks) == 0 {
		return nil, fmt.Errorf("the stack has no mark")
	}
	values, _ := m.pop(len(m.stack) - m.floor())
	m.marks = m.marks[:len(m.marks)-1]
	return values, nil
}

// top returns the value on top of the stack without popping it.
func (m *machine) top() (Value, error) {
	if err := m.need(1); err != nil {
		return nil, err
	}
	return m.stack[len(m.stack)-1], nil
}

// keep returns a copy of values, which were popped.
func (m *machine) keep(values []Value) []Value {
	m.left -= int64(len(values)) * slotCost
	if m.left < 0 {
		return nil
	}
	return slices.Clone(values)
}

func (m *machine) call(class Value, args []Value) error {
	c, ok := class.(*Class)
	if !ok {
		return fmt.Errorf("%s is not a function", kindOf(class))
	}
	if c.New == nil {
		return &CallError{c}
	}
	v, err := c.New(args)
	if err != nil {
		return fmt.Errorf("%v: %w", c, err)
	}
	return m.push(v, valueCost)
}

// global pushes the class that [Reader.Global] returns for `name` in a module.
func (m *machine) global(module, name string) error {
	c, err := m.Global(module, name)
	if err != nil {
		return err
	}
	return m.push(c, valueCost)
}

// remember stores the top of the stack in the memo.
func (m *machine) remember(key uint64) error {
	v, err := m.top()
	if err != nil {
		return err
	}
	m.left -= 2 * slotCost
	if m.left >= 0 {
		m.memo[key] = v
	}
	return nil
}

// recall pushes an entry of the memo.
func (m *machine) recall(key uint64) error {
	v, ok := m.memo[key]
	if !ok {
		return fmt.Errorf("the memo has no value %d", key)
	}
	return m.push(v, 0)
}

func kindOf(v Value) string {
	switch v.(type) {
	case nil:
		return "None"
	case string:
		return "a string"
	case *Tuple:
		return "a tuple"
	case *List:
		return "a list"
	case *Dict:
		return "a dict"
	case bool, int64, float64:
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("a %T", v)
}
