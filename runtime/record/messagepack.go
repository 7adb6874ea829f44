package record

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/burngen/burngen/runtime/rt"
)

// messagePack reads MessagePack (github.com/msgpack/msgpack). It rejects extensions.
type messagePack struct{ bigEndian }

// messagePackForms says what follows the first byte of a value: element b-0xc0 is for first byte b,
// from 0xc0 to 0xdf.
var messagePackForms = [32]struct {
	kind kind
	// bytes of the number that follows, or -1 if the value is rejected
	width int
}{
	{null, 0}, {null, -1}, {boolean, 0}, {boolean, 0},
	{blob, 1}, {blob, 2}, {blob, 4},
	{null, -1}, {null, -1}, {null, -1},
	{single, 4}, {double, 8},
	{integer, 1}, {integer, 2}, {integer, 4}, {integer, 8},
	{integer, 1}, {integer, 2}, {integer, 4}, {integer, 8},
	{null, -1}, {null, -1}, {null, -1}, {null, -1}, {null, -1},
	{text, 1}, {text, 2}, {text, 4},
	{list, 2}, {list, 4}, {table, 2}, {table, 4},
}

// signedFrom is the smallest first byte of signed integers. Smaller bytes begin unsigned integers.
const signedFrom = 0xd0

func (m *messagePack) next() (token, error) {
	head, err := m.number(1)
	if err != nil {
		return token{}, err
	}
	switch {
	case head < 0x80:
		return token{kind: integer, bits: head}, nil
	case head < 0x90:
		return m.container(table, head&0x0f)
	case head < 0xa0:
		return m.container(list, head&0x0f)
	case head < 0xc0:
		return m.string(text, head&0x1f)
	case head >= 0xe0:
		return token{kind: integer, bits: uint64(int64(int8(head))), negative: true}, nil
	}
	form := messagePackForms[head-0xc0]
	if form.width < 0 {
		return token{}, m.errorf("values that begin with %#x are not read", head)
	}
	bits, err := m.number(form.width)
	if err != nil {
		return token{}, err
	}
	t := token{kind: form.kind, bits: bits}
	switch {
	case form.kind == boolean:
		t.bits = head & 1
	case form.kind == list || form.kind == table:
		return m.container(form.kind, bits)
	case form.kind == text || form.kind == blob:
		return m.string(form.kind, bits)
	case form.kind == integer && head >= signedFrom:
		unused := 64 - 8*form.width
		t.bits = uint64(int64(bits<<unused) >> unused)
		t.negative = int64(t.bits) < 0
	}
	return t, nil
}

func (m *messagePack) more(container token, i int) (bool, error) { return i < container.n, nil }

func (m *messagePack) key() (string, error) { return keyOf(m.next()) }

// keyOf returns the text of t, a token that must be a key. It returns err if err is not nil, and an
// error if t is not a text.
func keyOf(t token, err error) (string, error) {
	if err == nil && t.kind != text {
		err = fmt.Errorf("a key is a %v, want a string", t.kind)
	}
	return string(t.text), err
}

// messagePackSink writes MessagePack. Lengths take as few bytes as possible. An integer takes 1 byte
// if it is from 0 to 127, otherwise 9.
type messagePackSink struct{ out *bufio.Writer }

func (m messagePackSink) table(n int) { m.sized(n, 0x80, 15, 0, 0xde, 0xdf) }
func (m messagePackSink) list(n int)  { m.sized(n, 0x90, 15, 0, 0xdc, 0xdd) }
func (m messagePackSink) end()        {}

func (m messagePackSink) text(s string) {
	m.sized(len(s), 0xa0, 31, 0xd9, 0xda, 0xdb)
	m.out.WriteString(s)
}

func (m messagePackSink) key(s string) { m.text(s) }

func (m messagePackSink) integer(x int) {
	if x >= 0 && x < 0x80 {
		m.out.WriteByte(byte(x))
		return
	}
	m.out.WriteByte(0xd3)
	m.out.Write(binary.BigEndian.AppendUint64(nil, uint64(x)))
}

func (m messagePackSink) data(info rt.Info, raw []byte) error {
	if int64(len(raw)) > math.MaxUint32 {
		return fmt.Errorf("%.100q has %d bytes, MessagePack allows less than 2^32", info.Name, len(raw))
	}
	m.sized(len(raw), 0, -1, 0xc4, 0xc5, 0xc6)
	m.out.Write(raw)
	return nil
}

// sized writes the length n of a list, table, text or blob. If n is at most `most`, it writes one
// byte that combines n and `short`. If n is larger, it writes of8, of16 or of32, followed by n in 8,
// 16 or 32 bits. If of8 is 0, the type has no 8-bit form.
func (m messagePackSink) sized(n int, short byte, most int, of8, of16, of32 byte) {
	switch {
	case n <= most:
		m.out.WriteByte(short | byte(n))
	case n <= math.MaxUint8 && of8 != 0:
		m.out.Write([]byte{of8, byte(n)})
	case n <= math.MaxUint16:
		m.out.Write([]byte{of16, byte(n >> 8), byte(n)})
	default:
		m.out.WriteByte(of32)
		m.out.Write(binary.BigEndian.AppendUint32(nil, uint32(n)))
	}
}

func newMessagePackSink(out io.Writer) sink { return messagePackSink{bufio.NewWriter(out)} }

func (m messagePackSink) flush() error { return m.out.Flush() }
