package exec

import (
	"reflect"
	"unsafe"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/runtime/rt"
)

type element struct {
	typ  reflect.Type
	make func(n int) any
	view func(arena []byte, off, n int) any
	// of returns a slice of this type with the memory of another slice, whose elements have another type
	// of the same size. It is nil for strings.
	of func(slice reflect.Value) any
	// weights returns the elements of a tensor of a weights file. add adds a tensor to the file.
	weights func(w *rt.Weights, name string, shape []int) any
	add     func(w *rt.Weights, name string, data any, shape []int)
	// made adds a tensor whose elements the function make computes when the tensor is used. It is nil
	// for strings and packed types.
	made func(w *rt.Weights, name string, make func(dst any) error, shape []int)
	// sample condenses a result for the bundled test. check compares a result with a sample.
	// uniform fills an argument with random numbers. All three are nil for strings.
	sample  func(data any) rt.Sample
	check   func(data any, want rt.Sample) error
	uniform func(data any, lo, hi float64, seed uint32)
	// tensor is the Go type rt.Tensor of this element type.
	tensor reflect.Type
}

func text() element {
	return element{
		typ:     reflect.TypeFor[string](),
		tensor:  reflect.TypeFor[rt.Tensor[string]](),
		make:    func(n int) any { return make([]string, n) },
		weights: func(w *rt.Weights, name string, shape []int) any { return rt.WeightsOf[string](w, name, shape...) },
		add:     func(w *rt.Weights, name string, data any, shape []int) { rt.Add(w, name, data.([]string), shape...) },
	}
}

func number[T rt.Number | bool]() element {
	return element{
		typ:     reflect.TypeFor[T](),
		tensor:  reflect.TypeFor[rt.Tensor[T]](),
		make:    func(n int) any { return rt.Make[T](n) },
		view:    func(arena []byte, off, n int) any { return rt.View[T](arena, off, n) },
		of:      func(slice reflect.Value) any { return unsafe.Slice((*T)(slice.UnsafePointer()), slice.Len()) },
		weights: func(w *rt.Weights, name string, shape []int) any { return rt.WeightsOf[T](w, name, shape...) },
		add:     func(w *rt.Weights, name string, data any, shape []int) { rt.Add(w, name, data.([]T), shape...) },
		made: func(w *rt.Weights, name string, make func(dst any) error, shape []int) {
			rt.AddMade(w, name, func(dst []T) error { return make(dst) }, shape...)
		},
		sample:  func(data any) rt.Sample { return rt.SampleOf(data.([]T)) },
		check:   func(data any, want rt.Sample) error { return rt.CheckSample("", data.([]T), want) },
		uniform: func(data any, lo, hi float64, seed uint32) { rt.Uniform(data.([]T), lo, hi, seed) },
	}
}

// packed returns the operations for numbers of `bits` bits, fewer than 8, that are stored one per byte.
func packed[T int8 | uint8 | rt.Float4E2M1](bits int) element {
	e := number[T]()
	e.made = nil
	e.add = func(w *rt.Weights, name string, data any, shape []int) {
		rt.AddPacked(w, name, bits, data.([]T), shape...)
	}
	return e
}

var elements = map[ir.DType]element{
	ir.F64:        number[float64](),
	ir.F32:        number[float32](),
	ir.F16:        number[rt.Float16](),
	ir.BF16:       number[rt.BFloat16](),
	ir.F8E4M3FN:   number[rt.Float8E4M3FN](),
	ir.F8E4M3FNUZ: number[rt.Float8E4M3FNUZ](),
	ir.F8E5M2:     number[rt.Float8E5M2](),
	ir.F8E5M2FNUZ: number[rt.Float8E5M2FNUZ](),
	ir.F8E8M0:     number[rt.Float8E8M0](),
	ir.F4E2M1:     packed[rt.Float4E2M1](4),
	ir.I64:        number[int64](),
	ir.I32:        number[int32](),
	ir.I16:        number[int16](),
	ir.I8:         number[int8](),
	ir.I4:         packed[int8](4),
	ir.I2:         packed[int8](2),
	ir.U64:        number[uint64](),
	ir.U32:        number[uint32](),
	ir.U16:        number[uint16](),
	ir.U8:         number[uint8](),
	ir.U4:         packed[uint8](4),
	ir.U2:         packed[uint8](2),
	ir.Bool:       number[bool](),
	ir.String:     text(),
}

// GoType returns the Go type of an element of type d.
func GoType(d ir.DType) reflect.Type { return elements[d].typ }

// MakeSlice returns a slice of n zero elements.
func MakeSlice(d ir.DType, n int) any { return elements[d].make(n) }

// Draw fills a slice of elements with random numbers, as [rt.Uniform] does; strings stay empty.
func Draw(d ir.DType, data any, lo, hi float64, seed uint32) {
	if e := elements[d]; e.uniform != nil {
		e.uniform(data, lo, hi, seed)
	}
}

// Sample returns the sample of a slice of elements, as [rt.SampleOf] does. ok is false for strings.
func Sample(d ir.DType, data any) (s rt.Sample, ok bool) {
	e := elements[d]
	if e.sample == nil {
		return s, false
	}
	return e.sample(data), true
}

// CheckSample compares a slice of elements with the expected sample, as [rt.CheckSample] does. The
// elements must not be strings.
func CheckSample(d ir.DType, data any, want rt.Sample) error { return elements[d].check(data, want) }

func view(arena []byte, d ir.DType, off, n int) any { return elements[d].view(arena, off, n) }
