package rt

import (
	"encoding/binary"
	"fmt"
	"math"
)

// floatKind reads and writes one element of a type of floatKinds, little-endian.
type floatKind struct {
	width int
	get   func([]byte) float64
	put   func([]byte, float64)
}

// floatKinds are the types that [Weights.Convert] converts between. Narrower elements are
// rounded to nearest, ties to even, once, of the float64 that any of them is exactly.
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

// Convertible reports whether [Weights.Convert] converts between two types.
func Convertible(from, to string) bool {
	return from == to || floatKinds[from].width > 0 && floatKinds[to].width > 0
}

// Convert changes the types of tensors: those that types has, to the one it gives.
// Elements are converted when a tensor is first used. Errors: a tensor that is not
// there, and types that are not [Convertible]. Nothing is changed then.
func (w *Weights) Convert(types map[string]string) error {
	if err := w.Err(); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, to := range types {
		t := w.byName[name]
		if t == nil {
			return fmt.Errorf("weights: %.100q: no such tensor", name)
		}
		if !Convertible(t.DType, to) {
			return fmt.Errorf("weights: %.100q: %v cannot be converted to %.100s", name, t.Info, to)
		}
	}
	for name, to := range types {
		if t := w.byName[name]; t.DType != to {
			w.byName[name] = t.converted(to)
		}
	}
	return nil
}

// converted returns t as floats of another type.
func (t *tensor) converted(to string) *tensor {
	from, as := floatKinds[t.DType], floatKinds[to]
	n := int(t.Bytes / int64(from.width))
	info := Info{t.Name, to, t.Shape, int64(n) * int64(as.width)}
	return &tensor{Info: info, lazy: &lazy{read: func() ([]byte, error) {
		raw, err := t.bytes()
		if err != nil {
			return nil, err
		}
		out := make([]byte, n*as.width)
		for i := range n {
			as.put(out[i*as.width:], from.get(raw[i*from.width:]))
		}
		return out, nil
	}}}
}
