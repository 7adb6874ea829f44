package rt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
)

// floatKind reads and writes one element of a floating-point type, little-endian.
type floatKind struct {
	// in bytes
	width int
	get   func([]byte) float64
	put   func([]byte, float64)
}

// floatKinds are the floating-point types that [Weights.Convert] accepts. A conversion goes through
// float64, which holds every value of these types exactly. It rounds once, to nearest, ties to
// even.
var floatKinds = map[string]floatKind{
	"f64": {8, func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) },
		func(b []byte, x float64) { binary.LittleEndian.PutUint64(b, math.Float64bits(x)) }},
	"f32": {4, func(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) },
		func(b []byte, x float64) { binary.LittleEndian.PutUint32(b, math.Float32bits(float32(x))) }},
	"f16": {2, func(b []byte) float64 { return float64(Float16(binary.LittleEndian.Uint16(b)).Float32()) },
		func(b []byte, x float64) { binary.LittleEndian.PutUint16(b, uint16(ToFloat16(RoundToOdd(x)))) }},
	"bf16": {2, func(b []byte) float64 { return float64(BFloat16(binary.LittleEndian.Uint16(b)).Float32()) },
		func(b []byte, x float64) { binary.LittleEndian.PutUint16(b, uint16(ToBFloat16(RoundToOdd(x)))) }},
}

// intKind reads and writes one element of an integer type, little-endian. It passes a number as 64
// bits in two's complement, with a flag that is true if the number is negative.
type intKind struct {
	// in bytes
	width  int
	signed bool
}

var intKinds = map[string]intKind{
	"i64": {8, true}, "i32": {4, true}, "i16": {2, true}, "i8": {1, true},
	"u64": {8, false}, "u32": {4, false}, "u16": {2, false}, "u8": {1, false},
}

func (k intKind) get(b []byte) (bits uint64, negative bool) {
	for i, c := range b[:k.width] {
		bits |= uint64(c) << (8 * i)
	}
	if unused := 64 - 8*k.width; k.signed {
		bits = uint64(int64(bits<<unused) >> unused)
	}
	return bits, k.signed && int64(bits) < 0
}

// put stores a number and reports whether the type can hold it.
func (k intKind) put(b []byte, bits uint64, negative bool) bool {
	for i := range b[:k.width] {
		b[i] = byte(bits >> (8 * i))
	}
	again, below := k.get(b)
	return again == bits && below == negative
}

// Convertible reports whether [Weights.Convert] can convert one type to the other: the types are
// equal, or both are floats of 16 to 64 bits, or both are integers of 8 to 64 bits.
func Convertible(from, to string) bool {
	return from == to || floatKinds[from].width > 0 && floatKinds[to].width > 0 ||
		intKinds[from].width > 0 && intKinds[to].width > 0
}

// Convert changes the types of tensors. types maps names of tensors to their new types. Elements
// are converted when a tensor is first used; that use returns an error if an integer does not fit.
// Convert returns one error that lists all tensors that do not exist and all types that are not
// [Convertible]. If there is an error, it changes nothing.
func (w *Weights) Convert(types map[string]string) error {
	if err := w.Err(); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(types)) {
		switch t, to := w.byName[name], types[name]; {
		case t == nil:
			errs = append(errs, fmt.Errorf("weights: %.100q: no such tensor", name))
		case !Convertible(t.DType, to):
			errs = append(errs, fmt.Errorf("weights: %.100q: %v cannot be converted to %.100s", name, t.Info, to))
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	for name, to := range types {
		if t := w.byName[name]; t.DType != to {
			w.byName[name] = t.converted(to)
		}
	}
	return nil
}

// converted returns the tensor with its elements converted to type `to`. The conversion is done
// when the elements are first used.
func (t *tensor) converted(to string) *tensor {
	from, as := kinds[t.DType].bits/8, kinds[to].bits/8
	n := int(t.Bytes / int64(from))
	info := Info{t.Name, to, t.Shape, int64(n) * int64(as)}
	return &tensor{Info: info, home: t.home, lazy: &lazy{fill: true, read: func(room []byte) ([]byte, error) {
		raw, err := t.once(nil)
		if err != nil {
			return nil, err
		}
		out := bytesIn(room, n*as)
		if floats, ok := floatKinds[t.DType]; ok {
			for i := range n {
				floatKinds[to].put(out[i*as:], floats.get(raw[i*from:]))
			}
			return out, nil
		}
		for i := range n {
			bits, negative := intKinds[t.DType].get(raw[i*from:])
			if !intKinds[to].put(out[i*as:], bits, negative) {
				return nil, fmt.Errorf("element %d of %v does not fit %s", i, t.Info, to)
			}
		}
		return out, nil
	}}}
}
