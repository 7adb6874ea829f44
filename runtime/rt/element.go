package rt

// Number lists the Go types of the elements of a numeric tensor.
type Number interface {
	float32 | float64 | Float16 | BFloat16 |
		Float8E4M3FN | Float8E4M3FNUZ | Float8E5M2 | Float8E5M2FNUZ | Float8E8M0 | Float4E2M1 |
		int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

// Element lists the Go types of the elements of a tensor. An int8 or uint8 also holds one integer
// of 4 or 2 bits.
type Element interface{ Number | bool | string }

// DTypeOf returns burngen's name of the element type T: "f32" for float32, "bf16" for [BFloat16],
// "f8e4m3fn" for [Float8E4M3FN], "i64", "u8", "bool", "string".
func DTypeOf[T Element]() string {
	var zero T
	switch any(zero).(type) {
	case float32:
		return "f32"
	case float64:
		return "f64"
	case Float16:
		return "f16"
	case BFloat16:
		return "bf16"
	case Float8E4M3FN:
		return "f8e4m3fn"
	case Float8E4M3FNUZ:
		return "f8e4m3fnuz"
	case Float8E5M2:
		return "f8e5m2"
	case Float8E5M2FNUZ:
		return "f8e5m2fnuz"
	case Float8E8M0:
		return "f8e8m0"
	case Float4E2M1:
		return "f4e2m1"
	case int8:
		return "i8"
	case int16:
		return "i16"
	case int32:
		return "i32"
	case int64:
		return "i64"
	case uint8:
		return "u8"
	case uint16:
		return "u16"
	case uint32:
		return "u32"
	case uint64:
		return "u64"
	case bool:
		return "bool"
	}
	return "string"
}
