package wire

import (
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
)

// table is the schema of one message: its fields by number.
type table[M any] []spec[M]

// spec describes one field of message M: its name in the schema, its wire type, and how to store it
// in an M.
type spec[M any] struct {
	name string
	typ  protowire.Type
	list bool // values of typ may be packed
	put  func(r *reader, m *M, f field) error
	grow func(r *reader, m *M, n int) error // for repeated fields: charges the memory of n more elements and allocates it
}

func (t table[M]) at(num protowire.Number) *spec[M] {
	if int64(num) >= int64(len(t)) || t[num].put == nil {
		return nil
	}
	return &t[num]
}

func (t table[M]) label(num protowire.Number) string {
	if num == 0 {
		return ""
	}
	if s := t.at(num); s != nil {
		return " in " + s.name
	}
	return fmt.Sprintf(" in field %d", num)
}

// maxField is larger than all field numbers of the schema.
const maxField = 32

// merge reads the message b into m. A first pass checks the wire types of the fields and counts the
// elements of repeated fields. It thereby checks the limits before memory is allocated. A second
// pass fills m.
func merge[M any](r *reader, t table[M], m *M, b []byte) error {
	var counts [maxField]int
	for rest := b; len(rest) > 0; {
		f, tail, err := next(rest)
		if err != nil {
			return &Error{Reason: err.Error() + t.label(f.num)}
		}
		if s := t.at(f.num); s != nil {
			if !s.accepts(f.typ) {
				return &Error{Reason: fmt.Sprintf("wire type %d for %s", f.typ, s.name)}
			}
			counts[f.num] += s.elements(f)
		}
		rest = tail
	}
	for num, n := range counts[:len(t)] {
		if grow := t[num].grow; n > 0 && grow != nil {
			if err := grow(r, m, n); err != nil {
				return err
			}
		}
	}
	for rest := b; len(rest) > 0; {
		f, tail, err := next(rest)
		if err != nil {
			return &Error{Reason: err.Error()}
		}
		if s := t.at(f.num); s != nil && s.accepts(f.typ) {
			if err := s.put(r, m, f); err != nil {
				return err
			}
		}
		rest = tail
	}
	return nil
}

func (s *spec[M]) accepts(typ protowire.Type) bool {
	return typ == s.typ || s.list && typ == protowire.BytesType
}

// elements returns the number of values in f, an occurrence of the field that s describes: 1, or the length of a
// packed list. A repeated field occurs several times.
func (s *spec[M]) elements(f field) int {
	if f.typ == s.typ {
		return 1
	}
	return packed(s.typ, f.data)
}

// packed counts the values of a packed list. An incomplete last value is reported later, when the
// values are read.
func packed(typ protowire.Type, b []byte) int {
	switch typ {
	case protowire.Fixed32Type:
		return len(b) / 4
	case protowire.Fixed64Type:
		return len(b) / 8
	}
	n := 0
	for _, c := range b {
		if c < 0x80 {
			n++
		}
	}
	return n
}

// each calls yield with each value of f, as the bits of the value. f has wire type typ, or is a
// packed list of values of this type. each returns an error if a packed value is incomplete or
// damaged.
func each(typ protowire.Type, f field, yield func(bits uint64)) error {
	if f.typ == typ {
		yield(f.bits)
		return nil
	}
	for v, b := (field{typ: typ}), f.data; len(b) > 0; {
		var err error
		if b, err = v.value(b); err != nil {
			return err
		}
		yield(v.bits)
	}
	return nil
}

// message is a Go struct into which a message of the file can be merged.
type message[S any] interface {
	*S
	merge(r *reader, b []byte) error
}

// one returns the spec of a field that is one message. The function `at` returns the address of
// the pointer to the message in an M. If the field occurs several times, the messages are merged.
func one[M, S any, P message[S]](name string, at func(*M) **S) spec[M] {
	return spec[M]{name: name, typ: protowire.BytesType, put: func(r *reader, m *M, f field) error {
		p := at(m)
		if *p == nil {
			if err := r.charge(1, unsafe.Sizeof(**p)); err != nil {
				return err
			}
			*p = new(S)
		}
		return under(name, P(*p).merge(r, f.data))
	}}
}

// many returns the spec of a field that is a list of messages. The function `at` returns the address
// of the slice in an M.
func many[M, S any, P message[S]](name string, at func(*M) *[]S) spec[M] {
	return spec[M]{name: name, typ: protowire.BytesType, grow: growth(at), put: func(r *reader, m *M, f field) error {
		p := at(m)
		i := len(*p)
		*p = append(*p, *new(S))
		if err := P(&(*p)[i]).merge(r, f.data); err != nil {
			return under(element(name, i), err)
		}
		return nil
	}}
}

// within returns a spec like s whose elements also count toward budget b.
func (s spec[M]) within(b budget) spec[M] {
	grow := s.grow
	s.grow = func(r *reader, m *M, n int) error {
		if err := r.count(b, n); err != nil {
			return err
		}
		return grow(r, m, n)
	}
	return s
}

// growth returns a function that allocates memory for n more elements of a slice, and charges the
// budget for it. `at` returns the address of the slice in an M.
func growth[M, S any](at func(*M) *[]S) func(r *reader, m *M, n int) error {
	return func(r *reader, m *M, n int) error {
		if err := r.charge(n, unsafe.Sizeof(*new(S))); err != nil {
			return err
		}
		p := at(m)
		*p = slices.Grow(*p, n)
		return nil
	}
}

// nest returns the spec of a field that is a message whose fields are stored in M itself. `begin`
// is called before they are read.
func nest[M any](name string, begin func(*M), fields *table[M]) spec[M] {
	return spec[M]{name: name, typ: protowire.BytesType, put: func(r *reader, m *M, f field) error {
		begin(m)
		return under(name, merge(r, *fields, m, f.data))
	}}
}

// str returns the spec of a string that must be UTF-8. `at` returns its address in an M.
func str[M any](name string, at func(*M) *string) spec[M] {
	return spec[M]{name: name, typ: protowire.BytesType, put: func(r *reader, m *M, f field) error {
		if !utf8.Valid(f.data) {
			return &Error{Reason: "invalid UTF-8 in " + name}
		}
		if err := r.charge(len(f.data), 1); err != nil {
			return err
		}
		*at(m) = string(f.data)
		return nil
	}}
}

// strs returns the spec of a list of strings that must be UTF-8. `at` returns the address of the
// slice in an M.
func strs[M any](name string, at func(*M) *[]string) spec[M] {
	return spec[M]{name: name, typ: protowire.BytesType, grow: growth(at), put: func(r *reader, m *M, f field) error {
		p := at(m)
		if !utf8.Valid(f.data) {
			return &Error{Reason: "invalid UTF-8 in " + element(name, len(*p))}
		}
		if err := r.charge(len(f.data), 1); err != nil {
			return err
		}
		*p = append(*p, string(f.data))
		return nil
	}}
}

// raw returns the spec of a string of arbitrary bytes. `at` returns its address in an M.
func raw[M any](name string, at func(*M) *string) spec[M] {
	return spec[M]{name: name, typ: protowire.BytesType, put: func(_ *reader, m *M, f field) error {
		*at(m) = view(f.data)
		return nil
	}}
}

// raws returns the spec of a list of strings of arbitrary bytes. `at` returns the address of the
// slice in an M.
func raws[M any](name string, at func(*M) *[]string) spec[M] {
	return spec[M]{name: name, typ: protowire.BytesType, grow: growth(at), put: func(_ *reader, m *M, f field) error {
		p := at(m)
		*p = append(*p, view(f.data))
		return nil
	}}
}

// num returns the spec of a field that is an integer or an enumerator. `at` returns its address in
// an M. Bits that do not fit I are dropped, as protocol buffers define.
func num[M any, I ~int32 | ~int64](name string, at func(*M) *I) spec[M] {
	return spec[M]{name: name, typ: protowire.VarintType, put: func(_ *reader, m *M, f field) error {
		*at(m) = I(f.bits)
		return nil
	}}
}

// nums returns the spec of a list of integers. `at` returns the address of the slice in an M.
func nums[M any](name string, at func(*M) *[]int64) spec[M] {
	return values(name, protowire.VarintType, at, func(bits uint64) int64 { return int64(bits) })
}

// float returns the spec of a 32-bit float. `at` returns its address in an M.
func float[M any](name string, at func(*M) *float32) spec[M] {
	return spec[M]{name: name, typ: protowire.Fixed32Type, put: func(_ *reader, m *M, f field) error {
		*at(m) = math.Float32frombits(uint32(f.bits))
		return nil
	}}
}

// floats returns the spec of a list of 32-bit floats. `at` returns the address of the slice in an
// M.
func floats[M any](name string, at func(*M) *[]float32) spec[M] {
	return values(name, protowire.Fixed32Type, at, func(bits uint64) float32 { return math.Float32frombits(uint32(bits)) })
}

// values returns the spec of a field that is a list of numbers of wire type typ. `at` returns the
// address of the list in an M. `decode` converts the bits of a number to a V.
func values[M, V any](name string, typ protowire.Type, at func(*M) *[]V, decode func(bits uint64) V) spec[M] {
	return spec[M]{name: name, typ: typ, list: true, grow: growth(at), put: func(_ *reader, m *M, f field) error {
		p := at(m)
		if err := each(typ, f, func(bits uint64) { *p = append(*p, decode(bits)) }); err != nil {
			return &Error{Reason: fmt.Sprintf("%v in %s", err, element(name, len(*p)))}
		}
		return nil
	}}
}

// view returns b as a string that shares its bytes.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
