package main

import "google.golang.org/protobuf/encoding/protowire"

// fields maps the field numbers of a protobuf message to their values, in encoded order.
type fields map[protowire.Number][]field

// field is the value of a protobuf field: number for a varint, bytes for a length-delimited value. Both are zero for
// other wire types.
type field struct {
	number uint64
	bytes  []byte
}

func parse(b []byte) (fields, error) {
	m := fields{}
	for len(b) > 0 {
		n, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			return nil, protowire.ParseError(size)
		}
		b = b[size:]
		var f field
		switch kind {
		case protowire.VarintType:
			f.number, size = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			f.bytes, size = protowire.ConsumeBytes(b)
		default:
			size = protowire.ConsumeFieldValue(n, kind, b)
		}
		if size < 0 {
			return nil, protowire.ParseError(size)
		}
		b = b[size:]
		m[n] = append(m[n], f)
	}
	return m, nil
}

func (m fields) text(n protowire.Number) string {
	for _, f := range m[n] {
		return string(f.bytes)
	}
	return ""
}

func (m fields) number(n protowire.Number) uint64 {
	for _, f := range m[n] {
		return f.number
	}
	return 0
}

// varints returns the values of a repeated varint field, packed or not.
func (m fields) varints(n protowire.Number) ([]int, error) {
	var all []int
	for _, f := range m[n] {
		if f.bytes == nil {
			all = append(all, int(f.number))
		}
		for b := f.bytes; len(b) > 0; {
			v, size := protowire.ConsumeVarint(b)
			if size < 0 {
				return nil, protowire.ParseError(size)
			}
			all, b = append(all, int(v)), b[size:]
		}
	}
	return all, nil
}

// ints returns the elements of a TensorProto of type int64.
func (m fields) ints() ([]int, error) {
	raw := []byte(m.text(tensorRaw))
	if len(raw) == 0 {
		return m.varints(tensorInts)
	}
	var all []int
	for len(raw) > 0 {
		v, size := protowire.ConsumeFixed64(raw)
		if size < 0 {
			return nil, protowire.ParseError(size)
		}
		all, raw = append(all, int(v)), raw[size:]
	}
	return all, nil
}
