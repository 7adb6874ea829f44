package cpu

import "github.com/burngen/burngen/runtime/rt"

type conversion int

const (
	noConversion conversion = iota
	float32ToInt32
	int32ToFloat32
	float32ToInt64
	int64ToFloat32
	float32ToFloat64
	float64ToFloat32
	float16ToFloat32
	float32ToFloat16
	uint8ToFloat32
	int8ToFloat32
	float32ToInt8
	uint8ToInt32
	uint8ToInt64
	int32ToInt64
	int64ToInt32
)

// conversionOf returns the conversion from S to D, or noConversion if there is no assembly for it.
func conversionOf[D, S any](dst []D, src []S) conversion {
	switch any(src).(type) {
	case []float32:
		switch any(dst).(type) {
		case []int32:
			return float32ToInt32
		case []int64:
			return float32ToInt64
		case []float64:
			return float32ToFloat64
		case []rt.Float16:
			return float32ToFloat16
		case []int8, []uint8:
			return float32ToInt8
		}
	case []float64:
		if _, ok := any(dst).([]float32); ok {
			return float64ToFloat32
		}
	case []rt.Float16:
		if _, ok := any(dst).([]float32); ok {
			return float16ToFloat32
		}
	case []int32:
		switch any(dst).(type) {
		case []float32:
			return int32ToFloat32
		case []int64, []uint64:
			return int32ToInt64
		}
	case []int64:
		switch any(dst).(type) {
		case []float32:
			return int64ToFloat32
		case []int32, []uint32:
			return int64ToInt32
		}
	case []uint8, []bool:
		switch any(dst).(type) {
		case []float32:
			return uint8ToFloat32
		case []int32, []uint32:
			return uint8ToInt32
		case []int64, []uint64:
			return uint8ToInt64
		}
	case []int8:
		if _, ok := any(dst).([]float32); ok {
			return int8ToFloat32
		}
	}
	return noConversion
}

// convertFast converts the first elements of src with assembly. It returns the number of elements
// it converted, which is 0 if there is no assembly for the types.
func convertFast[D, S any](dst []D, src []S) int {
	kind := conversionOf(dst, src)
	if !hasConvert() || kind == noConversion || level == AVX2 && (kind == float32ToInt64 || kind == int64ToFloat32) {
		return 0
	}
	s := sweep{kind: int(kind), do: convert}
	operand(&s, 0, dst)
	operand(&s, 1, src)
	return s.run(len(dst))
}
