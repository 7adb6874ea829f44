package rt

// asFloat32 returns a tensor of w as floats of 32 bits, what it is trained as whatever
// its own type. Those of 32 bits are the tensor's own and must not be written. Errors
// are those of [WeightsOf]; a type that is not trained is one.
func asFloat32(w *Weights, dtype, name string, shape []int) []float32 {
	switch dtype {
	case "f16":
		return converted(WeightsOf[Float16](w, name, shape...), Float16.Float32)
	case "bf16":
		return converted(WeightsOf[BFloat16](w, name, shape...), BFloat16.Float32)
	case "f64":
		return converted(WeightsOf[float64](w, name, shape...), func(x float64) float32 { return float32(x) })
	}
	return WeightsOf[float32](w, name, shape...)
}

// addFloat32 adds a copy of x to w as a tensor of another type.
func addFloat32(w *Weights, dtype, name string, x []float32, shape []int) {
	switch dtype {
	case "f16":
		Add(w, name, converted(x, ToFloat16), shape...)
	case "bf16":
		Add(w, name, converted(x, ToBFloat16), shape...)
	case "f64":
		Add(w, name, converted(x, func(x float32) float64 { return float64(x) }), shape...)
	default:
		Add(w, name, converted(x, func(x float32) float32 { return x }), shape...)
	}
}

// converted returns what f makes of each element.
func converted[T, U any](x []T, f func(T) U) []U {
	out := make([]U, len(x))
	for i, v := range x {
		out[i] = f(v)
	}
	return out
}
