package rt

import (
	"fmt"
	"slices"
)

// Initial describes a weight of a described model: its name, type, shape and initialisation.
type Initial struct {
	Name  string
	DType string // in the spelling of [DTypeOf]
	Shape []int
	Init  Init
}

// InitialWeights returns the weights of a model before training. seed determines the random
// weights. `given` holds the elements of InitGiven weights, and may be nil if list has no such
// weights. The result's method Err returns an error if `given` lacks a weight, if the type or
// kind of a weight cannot be initialised, or if a shape is too large.
func InitialWeights(seed uint64, list []Initial, given *Weights) *Weights {
	w := NewWeights()
	for _, n := range list {
		if err := n.add(w, seed, given); err != nil {
			w.fail(fmt.Errorf("%.100q: %w", n.Name, err))
		}
	}
	if given != nil {
		Keep(w, given)
	}
	return w
}

// add adds the initialised weight to w. given has the elements of weights of kind [InitGiven].
func (n Initial) add(w *Weights, seed uint64, given *Weights) error {
	if n.Init.Kind == InitGiven {
		info, ok := given.Info(n.Name)
		if !ok || info.DType != n.DType || !slices.Equal(info.Shape, n.Shape) {
			return fmt.Errorf("%s is to begin with elements that are missing", formatType(n.DType, n.Shape))
		}
		w.AddRaw(n.Name, n.DType, n.Shape, given.Raw(n.Name))
		return nil
	}
	size, err := Elems(n.Shape)
	if err != nil {
		return err
	}
	if err := CheckSize[float64](size); err != nil {
		return err
	}
	switch {
	case n.DType == "f32":
		x := Make[float32](size)
		if err := n.Init.Fill(x, seed, n.Name, n.Shape...); err != nil {
			return err
		}
		Add(w, n.Name, x, n.Shape...)
	case n.Init.Kind != InitConstant:
		return fmt.Errorf("only f32 weights can be random, not %s", formatType(n.DType, n.Shape))
	case n.DType == "f64":
		Add(w, n.Name, slices.Repeat([]float64{n.Init.A}, size), n.Shape...)
	case n.DType == "i64":
		Add(w, n.Name, slices.Repeat([]int64{int64(n.Init.A)}, size), n.Shape...)
	case n.DType == "bool":
		Add(w, n.Name, slices.Repeat([]bool{n.Init.A != 0}, size), n.Shape...)
	default:
		return fmt.Errorf("%s is not made", formatType(n.DType, n.Shape))
	}
	return nil
}
