package pytorch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/burngen/burngen/pytorch/pickle"
)

// numpyType is a NumPy dtype, such as "f8", and its byte order.
type numpyType struct {
	name string
	// big-endian
	big bool
}

// newNumpyType implements numpy.dtype(name, align, copy).
func newNumpyType(_ *loader, args []pickle.Value) (pickle.Value, error) {
	if len(args) == 0 {
		return nil, errors.New("want the name of a type")
	}
	name, ok := args[0].(string)
	if !ok {
		return nil, errors.New("want the name of a type")
	}
	return &numpyType{name: name}, nil
}

// SetState implements [pickle.Stateful]. It sets the byte order, which is the second value of state.
func (t *numpyType) SetState(state pickle.Value) error {
	list, _ := items(state)
	if len(list) > 1 {
		t.big = list[1] == ">"
	}
	return nil
}

// numpyNumbers lists the types of NumPy scalars that become numbers. width is in bytes.
var numpyNumbers = map[string]struct {
	width int
	value func(bits uint64) pickle.Value
}{
	"f8": {8, func(b uint64) pickle.Value { return math.Float64frombits(b) }},
	"f4": {4, func(b uint64) pickle.Value { return float64(math.Float32frombits(uint32(b))) }},
	"i8": {8, func(b uint64) pickle.Value { return int64(b) }},
	"i4": {4, func(b uint64) pickle.Value { return int64(int32(b)) }},
	"i2": {2, func(b uint64) pickle.Value { return int64(int16(b)) }},
	"i1": {1, func(b uint64) pickle.Value { return int64(int8(b)) }},
	"u4": {4, func(b uint64) pickle.Value { return int64(b) }},
	"u2": {2, func(b uint64) pickle.Value { return int64(b) }},
	"u1": {1, func(b uint64) pickle.Value { return int64(b) }},
	"b1": {1, func(b uint64) pickle.Value { return b != 0 }},
}

// newNumpyScalar implements numpy.core.multiarray.scalar(dtype, bytes). It returns a number.
func newNumpyScalar(_ *loader, args []pickle.Value) (pickle.Value, error) {
	if len(args) != 2 {
		return nil, errors.New("want a type and bytes")
	}
	t, ok := args[0].(*numpyType)
	raw, ok2 := args[1].(pickle.Bytes)
	if !ok || !ok2 {
		return nil, errors.New("want a type and bytes")
	}
	number, ok := numpyNumbers[t.name]
	if !ok || len(raw) != number.width {
		return nil, fmt.Errorf("NumPy values of type %[2]q, %[1]d bytes, are refused: save a Python number", len(raw), t.name)
	}
	whole := make([]byte, 8)
	if t.big {
		copy(whole[8-len(raw):], raw)
		return number.value(binary.BigEndian.Uint64(whole)), nil
	}
	copy(whole, raw)
	return number.value(little.Uint64(whole)), nil
}
