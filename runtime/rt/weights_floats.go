package rt

import "fmt"

// ConvertFloats converts all tensors of 64, 32 and 16-bit floats to type to, as [Weights.Convert]
// does. It returns an error if to is not such a type.
func (w *Weights) ConvertFloats(to string) error {
	if floatKinds[to].width == 0 {
		return fmt.Errorf("weights: floats cannot be converted to %.100s", to)
	}
	types := map[string]string{}
	for _, name := range w.Names() {
		if info, _ := w.Info(name); Convertible(info.DType, to) {
			types[name] = to
		}
	}
	return w.Convert(types)
}
