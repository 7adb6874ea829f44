package wire

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// field is one record of a message: a number and a value in one of the wire types.
type field struct {
	num  protowire.Number
	typ  protowire.Type
	bits uint64 // a varint or fixed-width value
	data []byte // a length-delimited value, capped at its length
}

// next returns the first field of b, and the rest of b. A group is checked and skipped. If next
// returns an error after it has read the field's number, f still has that number.
func next(b []byte) (f field, rest []byte, err error) {
	if f.num, f.typ, b, err = tag(b); err != nil {
		return field{}, nil, err
	}
	if f.typ == protowire.StartGroupType {
		b, err = skipGroup(f.num, b)
		return f, b, err
	}
	b, err = f.value(b)
	return f, b, err
}

func tag(b []byte) (protowire.Number, protowire.Type, []byte, error) {
	v, n := protowire.ConsumeVarint(b)
	if n < 0 {
		return 0, 0, nil, wireError("field tag", n)
	}
	num, typ := protowire.DecodeTag(v)
	if !num.IsValid() {
		return 0, 0, nil, fmt.Errorf("field number %d", v>>3)
	}
	if typ > protowire.Fixed32Type {
		return 0, 0, nil, fmt.Errorf("wire type %d of field %d", typ, num)
	}
	return num, typ, b[n:], nil
}

func (f *field) value(b []byte) (rest []byte, err error) {
	var n int
	switch f.typ {
	case protowire.VarintType:
		f.bits, n = protowire.ConsumeVarint(b)
	case protowire.Fixed32Type:
		var v uint32
		v, n = protowire.ConsumeFixed32(b)
		f.bits = uint64(v)
	case protowire.Fixed64Type:
		f.bits, n = protowire.ConsumeFixed64(b)
	case protowire.BytesType:
		var size uint64
		if size, n = protowire.ConsumeVarint(b); n < 0 {
			return nil, wireError("length", n)
		}
		if b = b[n:]; size > uint64(len(b)) {
			return nil, fmt.Errorf("length %d with %d bytes left", size, len(b))
		}
		f.data, n = b[:size:size], int(size)
	default:
		return nil, errors.New("end of a group that did not begin")
	}
	if n < 0 {
		return nil, wireError("value", n)
	}
	return b[n:], nil
}

// maxGroups is the maximum nesting of groups; deeper groups are an error. ONNX does not use groups,
// but unknown fields may.
const maxGroups = 64

// skipGroup skips a group, and returns the bytes after it. b begins after the group's start tag.
// num is the group's field number.
func skipGroup(num protowire.Number, b []byte) (rest []byte, err error) {
	var open [maxGroups]protowire.Number
	open[0] = num
	for depth := 1; depth > 0; {
		var f field
		if f.num, f.typ, b, err = tag(b); err != nil {
			return nil, err
		}
		switch f.typ {
		case protowire.StartGroupType:
			if depth == maxGroups {
				return nil, fmt.Errorf("groups nested more than %d deep", maxGroups)
			}
			open[depth] = f.num
			depth++
		case protowire.EndGroupType:
			if depth--; f.num != open[depth] {
				return nil, fmt.Errorf("end of group %d inside group %d", f.num, open[depth])
			}
		default:
			if b, err = f.value(b); err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}

// wireError returns the error for a failed read by package protowire. n is the negative length that
// protowire returned, and `what` names what it read.
func wireError(what string, n int) error {
	if n == overflow {
		return fmt.Errorf("%s of more than 64 bits", what)
	}
	return fmt.Errorf("%s cut short", what)
}

// overflow is the code that protowire returns for a varint of more than ten bytes.
var _, overflow = protowire.ConsumeVarint([]byte{255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255})
