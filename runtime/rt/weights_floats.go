package rt

import "fmt"

// ConvertFloats converts all tensors of 64, 32 and 16-bit floats to the element type dtype, as
// [Weights.Convert] does. It returns an error if dtype is not "f64", "f32", "f16" or "bf16", and the
// errors of w.
func (w *Weights) ConvertFloats(dtype string) error {
	if floatKinds[dtype].width == 0 {
		return fmt.Errorf("weights: floats cannot be converted to %.100s", dtype)
	}
	types := map[string]string{}
	for _, name := range w.Names() {
		if info, _ := w.Info(name); Convertible(info.DType, dtype) {
			types[name] = dtype
		}
	}
	return w.Convert(types)
}
