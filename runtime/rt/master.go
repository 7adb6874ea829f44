package rt

// asFloat32 returns the elements of a tensor of w as float32, the type in which weights are
// trained. dtype is the type of the tensor: "f16", "bf16" or "f64"; any other dtype stands for f32.
// An f32 tensor is not copied, and its elements must not be written. w.Err returns the errors of
// [WeightsOf].
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

// addFloat32 adds x to w as a tensor of type dtype, which is "f16", "bf16" or "f64". Any other dtype
// stands for f32. addFloat32 copies x.
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

func converted[T, U any](x []T, f func(T) U) []U {
	out := make([]U, len(x))
	for i, v := range x {
		out[i] = f(v)
	}
	return out
}
