package rt

import "fmt"

// ConvertFloats changes the types of all tensors of floats that are [Convertible] to one
// of them, as [Weights.Convert] does. Error: a type that is none.
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
