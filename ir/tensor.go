package ir

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/runtime/rt"
)

// Tensor is a value of the evaluator: a tensor in row-major order, or a container. Floats are
// stored as float64 values that DType can represent. Integers and bools are stored as int64; a u64
// has the same bits as its int64. A splat stores a single element, which stands for all elements.
type Tensor struct {
	Kind  Kind
	DType DType // element type; for a map, the type of its keys
	Shape []int // extents of a tensor

	Elem  Type      // element type of a container
	Items []*Tensor // elements of a sequence, at most one element of an optional, values of a map
	Keys  *Tensor   // keys of a map, in increasing order

	floats []float64
	ints   []int64
	texts  []string
	splat  bool
}

// NewTensor returns a tensor of zeros (false, empty strings).
func NewTensor(d DType, shape ...int) *Tensor {
	t := &Tensor{DType: d, Shape: slices.Clone(shape)}
	t.alloc(t.Len())
	return t
}

func (t *Tensor) alloc(n int) {
	switch {
	case t.DType == String:
		t.texts = make([]string, n)
	case t.DType.IsFloat():
		t.floats = make([]float64, n)
	default:
		t.ints = make([]int64, n)
	}
}

// Splat returns a tensor with the given shape, whose elements all equal the only element of v. It
// stores the element once.
func Splat(v *Tensor, shape ...int) *Tensor {
	t := &Tensor{DType: v.DType, Shape: slices.Clone(shape), splat: true}
	t.alloc(1)
	t.Copy(0, v, 0)
	return t
}

// Scalar returns a tensor of rank 0 and element type d. Its element is v, converted as by
// [Tensor.SetNumber].
func Scalar(d DType, v float64) *Tensor {
	t := NewTensor(d)
	t.SetNumber(0, v)
	return t
}

// IntTensor returns a rank-1 tensor of integers.
func IntTensor(d DType, v ...int64) *Tensor {
	t := NewTensor(d, len(v))
	for i, x := range v {
		t.SetInt(i, x)
	}
	return t
}

// FloatTensor returns a rank-1 tensor of floats, rounded to d.
func FloatTensor(d DType, v ...float64) *Tensor {
	t := NewTensor(d, len(v))
	for i, x := range v {
		t.SetFloat(i, x)
	}
	return t
}

// Len returns the number of elements of a tensor.
func (t *Tensor) Len() int {
	n := 1
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// Rank returns the number of dimensions.
func (t *Tensor) Rank() int { return len(t.Shape) }

// Type returns the type of t.
func (t *Tensor) Type() Type {
	if t.Kind != TensorKind {
		return t.containerType()
	}
	return StaticTensor(t.DType, t.Shape...)
}

// IsSplat reports whether t stores a single element that stands for all of its elements.
func (t *Tensor) IsSplat() bool { return t.splat }

// Stored returns the number of stored elements: 1 for a splat.
func (t *Tensor) Stored() int { return len(t.floats) + len(t.ints) + len(t.texts) }

func (t *Tensor) at(i int) int {
	if t.splat {
		return 0
	}
	return i
}

// Float returns element i of a float tensor.
func (t *Tensor) Float(i int) float64 { return t.floats[t.at(i)] }

// Int returns element i of an integer or boolean tensor.
func (t *Tensor) Int(i int) int64 { return t.ints[t.at(i)] }

// Text returns element i of a string tensor.
func (t *Tensor) Text(i int) string { return t.texts[t.at(i)] }

// Bool reports whether element i of an integer or bool tensor is nonzero.
func (t *Tensor) Bool(i int) bool { return t.Int(i) != 0 }

// Number returns element i as a float64, for all element types except strings.
func (t *Tensor) Number(i int) float64 {
	switch {
	case t.DType.IsFloat():
		return t.Float(i)
	case t.DType == U64:
		return float64(uint64(t.Int(i)))
	}
	return float64(t.Int(i))
}

// SetFloat stores v, rounded to the element type, as element i.
func (t *Tensor) SetFloat(i int, v float64) { t.floats[i] = RoundFloat(t.DType, v) }

// SetInt stores v, wrapped to the element type's width, as element i.
func (t *Tensor) SetInt(i int, v int64) { t.ints[i] = WrapInt(t.DType, v) }

// SetBool stores v as element i, 1 for true and 0 for false.
func (t *Tensor) SetBool(i int, v bool) {
	t.ints[i] = 0
	if v {
		t.ints[i] = 1
	}
}

// SetText stores v as element i of a string tensor.
func (t *Tensor) SetText(i int, v string) { t.texts[i] = v }

// SetNumber stores v as element i of a tensor of any type except strings. Integer types truncate v
// toward zero. In a u64 tensor, numbers of 2⁶⁴ and more become 0.
func (t *Tensor) SetNumber(i int, v float64) {
	switch {
	case t.DType.IsFloat():
		t.SetFloat(i, v)
	case t.DType == U64 && v >= 1<<64:
		t.SetInt(i, 0)
	case t.DType == U64 && v >= 1<<63:
		t.SetInt(i, int64(uint64(v)))
	default:
		t.SetInt(i, int64(v))
	}
}

// Copy stores element j of u, a tensor of the same element type, as element i.
func (t *Tensor) Copy(i int, u *Tensor, j int) {
	j = u.at(j)
	switch {
	case t.DType == String:
		t.texts[i] = u.texts[j]
	case t.DType.IsFloat():
		t.floats[i] = u.floats[j]
	default:
		t.ints[i] = u.ints[j]
	}
}

// Reshape returns a tensor with another shape and the same elements. It shares the elements with t.
func (t *Tensor) Reshape(shape ...int) *Tensor {
	u := *t
	u.Shape = slices.Clone(shape)
	return &u
}

// Equal reports whether t and u have the same type and equal elements. NaN equals NaN, but −0 does
// not equal 0.
func (t *Tensor) Equal(u *Tensor) bool {
	if t == nil || u == nil {
		return t == u
	}
	if t.Kind != TensorKind || u.Kind != TensorKind {
		return t.equalItems(u)
	}
	if t.DType != u.DType || !slices.Equal(t.Shape, u.Shape) {
		return false
	}
	n := t.Len()
	if t.splat && u.splat {
		n = min(n, 1)
	}
	for i := range n {
		switch {
		case t.DType == String:
			if t.Text(i) != u.Text(i) {
				return false
			}
		case t.DType.IsFloat():
			a, b := t.Float(i), u.Float(i)
			if math.Float64bits(a) != math.Float64bits(b) && (a == a || b == b) {
				return false
			}
		default:
			if t.Int(i) != u.Int(i) {
				return false
			}
		}
	}
	return true
}

// RoundFloat returns v rounded to the float element type d, ties to even. A value beyond the
// largest number of d becomes infinite, NaN or the largest number, depending on d.
func RoundFloat(d DType, v float64) float64 {
	switch d {
	case F64:
		return v
	case F32:
		return float64(float32(v))
	}
	return float64(floatOfBits(d, floatBits(d, v)))
}

// WrapInt returns v wrapped to the width of the integer element type d. If d is Bool, it returns 1
// for every nonzero v.
func WrapInt(d DType, v int64) int64 {
	if d == Bool {
		if v != 0 {
			return 1
		}
		return 0
	}
	shift := 64 - d.Bits()
	if d.Class() == Signed {
		return v << shift >> shift
	}
	return int64(uint64(v) << shift >> shift)
}

// floatBits returns the encoding of v in the float type d, which has at most 16 bits. v is rounded
// only once. If d has at most 8 bits, a value beyond its largest number becomes this number.
// floatBits panics for other types.
func floatBits(d DType, v float64) uint16 {
	f := rt.RoundToOdd(v)
	switch d {
	case F16:
		return uint16(rt.ToFloat16(f))
	case BF16:
		return uint16(rt.ToBFloat16(f))
	case F8E4M3FN:
		return uint16(rt.ToFloat8E4M3FN(f, true))
	case F8E4M3FNUZ:
		return uint16(rt.ToFloat8E4M3FNUZ(f, true))
	case F8E5M2:
		return uint16(rt.ToFloat8E5M2(f, true))
	case F8E5M2FNUZ:
		return uint16(rt.ToFloat8E5M2FNUZ(f, true))
	case F8E8M0:
		return uint16(rt.ToFloat8E8M0(f, true, rt.RoundNearest))
	case F4E2M1:
		return uint16(rt.ToFloat4E2M1(f))
	}
	panic("ir: no encoding for " + d.String())
}

func floatOfBits(d DType, b uint16) float32 {
	switch d {
	case F16:
		return rt.Float16(b).Float32()
	case BF16:
		return rt.BFloat16(b).Float32()
	case F8E4M3FN:
		return rt.Float8E4M3FN(b).Float32()
	case F8E4M3FNUZ:
		return rt.Float8E4M3FNUZ(b).Float32()
	case F8E5M2:
		return rt.Float8E5M2(b).Float32()
	case F8E5M2FNUZ:
		return rt.Float8E5M2FNUZ(b).Float32()
	case F8E8M0:
		return rt.Float8E8M0(b).Float32()
	case F4E2M1:
		return rt.Float4E2M1(b).Float32()
	}
	panic("ir: no encoding for " + d.String())
}

// DecodeTensor returns a tensor whose elements are read from data: little-endian, d.Size() bytes
// each. Strings have the format of [rt.Weights]. It returns an error if the length of data does not
// fit the shape, or if elements of type d have no size in whole bytes.
func DecodeTensor(d DType, shape []int, data []byte) (*Tensor, error) {
	n, err := CheckedLen(shape)
	if err != nil {
		return nil, err
	}
	if d == String {
		return decodeTexts(shape, data)
	}
	if d.Size() == 0 {
		return nil, fmt.Errorf("%s has no byte form", d)
	}
	if len(data)/d.Size() != n || len(data)%d.Size() != 0 {
		return nil, fmt.Errorf("%d bytes for %s", len(data), StaticTensor(d, shape...))
	}
	t := NewTensor(d, shape...)
	for i := range n {
		var bits uint64
		switch d.Size() {
		case 1:
			bits = uint64(data[i])
		case 2:
			bits = uint64(binary.LittleEndian.Uint16(data[2*i:]))
		case 4:
			bits = uint64(binary.LittleEndian.Uint32(data[4*i:]))
		case 8:
			bits = binary.LittleEndian.Uint64(data[8*i:])
		}
		switch {
		case d == F64:
			t.floats[i] = math.Float64frombits(bits)
		case d == F32:
			t.floats[i] = float64(math.Float32frombits(uint32(bits)))
		case d.IsFloat():
			t.floats[i] = float64(floatOfBits(d, uint16(bits)))
		default:
			t.SetInt(i, int64(bits))
		}
	}
	return t, nil
}

// Bytes returns the elements in little-endian order, t.DType.Size() bytes each. Strings have the
// format of [rt.Weights].
func (t *Tensor) Bytes() []byte {
	d, n := t.DType, t.Len()
	if d == String {
		return t.encodeTexts()
	}
	data := make([]byte, 0, n*d.Size())
	for i := range n {
		var bits uint64
		switch {
		case d == F64:
			bits = math.Float64bits(t.Float(i))
		case d == F32:
			bits = uint64(math.Float32bits(float32(t.Float(i))))
		case d == F8E5M2: // a type with infinities
			bits = uint64(rt.ToFloat8E5M2(float32(t.Float(i)), false))
		case d.IsFloat():
			bits = uint64(floatBits(d, t.Float(i)))
		default:
			bits = uint64(t.Int(i))
		}
		switch d.Size() {
		case 1:
			data = append(data, byte(bits))
		case 2:
			data = binary.LittleEndian.AppendUint16(data, uint16(bits))
		case 4:
			data = binary.LittleEndian.AppendUint32(data, uint32(bits))
		case 8:
			data = binary.LittleEndian.AppendUint64(data, bits)
		}
	}
	return data
}

// textWeight is the weight name that is used to encode and decode strings.
const textWeight = "texts"

func (t *Tensor) encodeTexts() []byte {
	texts := make([]string, t.Len())
	for i := range texts {
		texts[i] = t.Text(i)
	}
	w := rt.NewWeights()
	rt.Add(w, textWeight, texts, t.Shape...)
	return w.Raw(textWeight)
}

func decodeTexts(shape []int, data []byte) (*Tensor, error) {
	w := rt.NewWeights()
	w.AddRaw(textWeight, String.String(), shape, data)
	texts := rt.WeightsOf[string](w, textWeight, shape...)
	if err := w.Err(); err != nil {
		return nil, err
	}
	return &Tensor{DType: String, Shape: slices.Clone(shape), texts: slices.Clone(texts)}, nil
}

// CheckedLen returns the number of elements of a tensor with the given shape. It returns an error
// if an extent is negative, or if the number overflows an int.
func CheckedLen(shape []int) (int, error) {
	n := 1
	for _, d := range shape {
		if d < 0 {
			return 0, fmt.Errorf("negative extent %d", d)
		}
		if d > 0 && n > math.MaxInt/d {
			return 0, errTooLarge
		}
		n *= d
	}
	return n, nil
}
