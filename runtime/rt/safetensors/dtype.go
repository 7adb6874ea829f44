package safetensors

// DType is an element type as the header spells it, such as "F32".
type DType string

// The element types of the format.
const (
	Bool       DType = "BOOL"
	F4         DType = "F4" // two to a byte
	F6E2M3     DType = "F6_E2M3"
	F6E3M2     DType = "F6_E3M2"
	U8         DType = "U8"
	I8         DType = "I8"
	F8E5M2     DType = "F8_E5M2"
	F8E4M3     DType = "F8_E4M3" // finite, with NaN: f8e4m3fn elsewhere in burngen
	F8E8M0     DType = "F8_E8M0"
	F8E4M3FNUZ DType = "F8_E4M3FNUZ"
	F8E5M2FNUZ DType = "F8_E5M2FNUZ"
	I16        DType = "I16"
	U16        DType = "U16"
	F16        DType = "F16"
	BF16       DType = "BF16"
	I32        DType = "I32"
	U32        DType = "U32"
	F32        DType = "F32"
	Complex64  DType = "C64" // two F32
	I64        DType = "I64"
	U64        DType = "U64"
	F64        DType = "F64"
)

var widths = map[DType]int{
	F4: 4, F6E2M3: 6, F6E3M2: 6,
	Bool: 8, U8: 8, I8: 8, F8E5M2: 8, F8E4M3: 8, F8E8M0: 8, F8E4M3FNUZ: 8, F8E5M2FNUZ: 8,
	I16: 16, U16: 16, F16: 16, BF16: 16,
	I32: 32, U32: 32, F32: 32,
	I64: 64, U64: 64, F64: 64, Complex64: 64,
}

// Bits returns the width of an element in bits, or 0 if d is not an element type.
func (d DType) Bits() int { return widths[d] }
