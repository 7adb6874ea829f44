package ir

import "fmt"

// DType is the element type of a tensor.
type DType uint8

// The element types, named as in the text form.
const (
	Invalid DType = iota
	F64
	F32
	F16
	BF16
	F8E4M3FN
	F8E4M3FNUZ
	F8E5M2
	F8E5M2FNUZ
	F8E8M0
	F4E2M1
	I64
	I32
	I16
	I8
	I4
	I2
	U64
	U32
	U16
	U8
	U4
	U2
	Bool
	String
	numDTypes
)

// Class is a group of element types with the same kind of arithmetic, such as signed integers.
type Class uint8

// The classes of element types.
const (
	NoClass Class = iota
	Float
	Signed
	Unsigned
	Logical
	Text
)

var dtypes = [numDTypes]struct {
	name  string
	class Class
	bits  int
}{
	Invalid:    {"invalid", NoClass, 0},
	F64:        {"f64", Float, 64},
	F32:        {"f32", Float, 32},
	F16:        {"f16", Float, 16},
	BF16:       {"bf16", Float, 16},
	F8E4M3FN:   {"f8e4m3fn", Float, 8},
	F8E4M3FNUZ: {"f8e4m3fnuz", Float, 8},
	F8E5M2:     {"f8e5m2", Float, 8},
	F8E5M2FNUZ: {"f8e5m2fnuz", Float, 8},
	F8E8M0:     {"f8e8m0", Float, 8},
	F4E2M1:     {"f4e2m1", Float, 4},
	I64:        {"i64", Signed, 64},
	I32:        {"i32", Signed, 32},
	I16:        {"i16", Signed, 16},
	I8:         {"i8", Signed, 8},
	I4:         {"i4", Signed, 4},
	I2:         {"i2", Signed, 2},
	U64:        {"u64", Unsigned, 64},
	U32:        {"u32", Unsigned, 32},
	U16:        {"u16", Unsigned, 16},
	U8:         {"u8", Unsigned, 8},
	U4:         {"u4", Unsigned, 4},
	U2:         {"u2", Unsigned, 2},
	Bool:       {"bool", Logical, 8},
	String:     {"string", Text, 0},
}

var dtypeByName = func() map[string]DType {
	m := map[string]DType{}
	for d := F64; d < numDTypes; d++ {
		m[dtypes[d].name] = d
	}
	return m
}()

// String returns the name of d in the text form, such as "f32".
func (d DType) String() string {
	if d >= numDTypes {
		return fmt.Sprintf("dtype(%d)", uint8(d))
	}
	return dtypes[d].name
}

// ParseDType returns the element type that has a name such as "f32". It returns an error if there
// is no such type.
func ParseDType(name string) (DType, error) {
	if d, ok := dtypeByName[name]; ok {
		return d, nil
	}
	return Invalid, fmt.Errorf("unknown element type %q", name)
}

// DTypes lists the element types a tensor may have.
func DTypes() []DType {
	all := make([]DType, 0, numDTypes-1)
	for d := F64; d < numDTypes; d++ {
		all = append(all, d)
	}
	return all
}

// Class returns the class of d, or NoClass.
func (d DType) Class() Class { return dtypes[d].class }

// Bits returns the width of an element in bits as stored in a model file, or 0 for strings.
func (d DType) Bits() int { return dtypes[d].bits }

// Size returns the bytes of an element in memory, or 0 for strings. Elements narrower than a byte
// take one byte each.
func (d DType) Size() int { return (dtypes[d].bits + 7) / 8 }

// IsFloat reports whether d is a floating-point type.
func (d DType) IsFloat() bool { return d.Class() == Float }

// IsInt reports whether d is a signed or unsigned integer type.
func (d DType) IsInt() bool { return d.Class() == Signed || d.Class() == Unsigned }
