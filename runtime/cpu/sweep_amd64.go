//go:build !noasm

package cpu

import (
	"unsafe"

	"github.com/burngen/burngen/runtime/rt"
)

// compareFast prepares a comparison of elements of x's type where there is assembly for
// it.
func compareFast[T any](x []T, r relation) (s sweep, ok bool) {
	if level == Generic {
		return s, false
	}
	s.kind = int(r)
	switch any(x).(type) {
	case []float32:
		s.do = compareFloat32
	case []int32:
		s.do = compareInt32
	case []int64:
		s.do = compareInt64
	}
	return s, s.do != nil
}

func compareFloat32(s *sweep, at *[4]unsafe.Pointer, n int) {
	dst, a, b, aStep, bStep := (*bool)(at[0]), (*float32)(at[1]), (*float32)(at[2]), int(32*s.size[1]), int(32*s.size[2])
	if level == AVX512 {
		compareFloat32AVX512(dst, a, b, aStep, bStep, n, s.kind)
	} else {
		compareFloat32AVX2(dst, a, b, aStep, bStep, n, s.kind)
	}
}

func compareInt32(s *sweep, at *[4]unsafe.Pointer, n int) {
	dst, a, b, aStep, bStep := (*bool)(at[0]), (*int32)(at[1]), (*int32)(at[2]), int(32*s.size[1]), int(32*s.size[2])
	if level == AVX512 {
		compareInt32AVX512(dst, a, b, aStep, bStep, n, s.kind)
	} else {
		compareInt32AVX2(dst, a, b, aStep, bStep, n, s.kind)
	}
}

func compareInt64(s *sweep, at *[4]unsafe.Pointer, n int) {
	dst, a, b, aStep, bStep := (*bool)(at[0]), (*int64)(at[1]), (*int64)(at[2]), int(32*s.size[1]), int(32*s.size[2])
	if level == AVX512 {
		compareInt64AVX512(dst, a, b, aStep, bStep, n, s.kind)
	} else {
		compareInt64AVX2(dst, a, b, aStep, bStep, n, s.kind)
	}
}

// whereFast prepares a choice between elements of dst's type where there is assembly
// for it.
func whereFast[T any](dst []T) (s sweep, ok bool) {
	if level == Generic {
		return s, false
	}
	switch unsafe.Sizeof(*new(T)) {
	case 4:
		s.do = where32
	case 8:
		s.do = where64
	}
	return s, s.do != nil
}

func where32(s *sweep, at *[4]unsafe.Pointer, n int) {
	cond, xStep, yStep := (*bool)(at[3]), int(32*s.size[1]), int(32*s.size[2])
	if level == AVX512 {
		where32AVX512(at[0], cond, at[1], at[2], xStep, yStep, n)
	} else {
		where32AVX2(at[0], cond, at[1], at[2], xStep, yStep, n)
	}
}

func where64(s *sweep, at *[4]unsafe.Pointer, n int) {
	cond, xStep, yStep := (*bool)(at[3]), int(32*s.size[1]), int(32*s.size[2])
	if level == AVX512 {
		where64AVX512(at[0], cond, at[1], at[2], xStep, yStep, n)
	} else {
		where64AVX2(at[0], cond, at[1], at[2], xStep, yStep, n)
	}
}

// conversion names a conversion that there is assembly for.
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

// conversionOf returns the conversion between the types of two slices.
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

// convertFast converts the first elements where there is assembly for it, and returns
// how many that are.
func convertFast[D, S any](dst []D, src []S) int {
	kind := conversionOf(dst, src)
	if level == Generic || kind == noConversion || level == AVX2 && (kind == float32ToInt64 || kind == int64ToFloat32) {
		return 0
	}
	s := sweep{kind: int(kind), do: convert}
	operand(&s, 0, dst)
	operand(&s, 1, src)
	return s.run(len(dst))
}

func convert(s *sweep, at *[4]unsafe.Pointer, n int) {
	dst, src := at[0], at[1]
	if level == AVX512 {
		switch conversion(s.kind) {
		case float32ToInt32:
			float32ToInt32AVX512(dst, src, n)
		case int32ToFloat32:
			int32ToFloat32AVX512(dst, src, n)
		case float32ToInt64:
			float32ToInt64AVX512(dst, src, n)
		case int64ToFloat32:
			int64ToFloat32AVX512(dst, src, n)
		case float32ToFloat64:
			float32ToFloat64AVX512(dst, src, n)
		case float64ToFloat32:
			float64ToFloat32AVX512(dst, src, n)
		case float16ToFloat32:
			float16ToFloat32AVX512(dst, src, n)
		case float32ToFloat16:
			float32ToFloat16AVX512(dst, src, n)
		case uint8ToFloat32:
			uint8ToFloat32AVX512(dst, src, n)
		case int8ToFloat32:
			int8ToFloat32AVX512(dst, src, n)
		case float32ToInt8:
			float32ToInt8AVX512(dst, src, n)
		case uint8ToInt32:
			uint8ToInt32AVX512(dst, src, n)
		case uint8ToInt64:
			uint8ToInt64AVX512(dst, src, n)
		case int32ToInt64:
			int32ToInt64AVX512(dst, src, n)
		case int64ToInt32:
			int64ToInt32AVX512(dst, src, n)
		}
		return
	}
	switch conversion(s.kind) {
	case float32ToInt32:
		float32ToInt32AVX2(dst, src, n)
	case int32ToFloat32:
		int32ToFloat32AVX2(dst, src, n)
	case float32ToFloat64:
		float32ToFloat64AVX2(dst, src, n)
	case float64ToFloat32:
		float64ToFloat32AVX2(dst, src, n)
	case float16ToFloat32:
		float16ToFloat32AVX2(dst, src, n)
	case float32ToFloat16:
		float32ToFloat16AVX2(dst, src, n)
	case uint8ToFloat32:
		uint8ToFloat32AVX2(dst, src, n)
	case int8ToFloat32:
		int8ToFloat32AVX2(dst, src, n)
	case float32ToInt8:
		float32ToInt8AVX2(dst, src, n)
	case uint8ToInt32:
		uint8ToInt32AVX2(dst, src, n)
	case uint8ToInt64:
		uint8ToInt64AVX2(dst, src, n)
	case int32ToInt64:
		int32ToInt64AVX2(dst, src, n)
	case int64ToInt32:
		int64ToInt32AVX2(dst, src, n)
	}
}
