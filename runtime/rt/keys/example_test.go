package keys_test

import (
	"fmt"

	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/rt/keys"
)

// A checkpoint's names and types become those that a model wants.
func ExampleLoad() {
	file := rt.NewWeights()
	rt.Add(file, "model.module.fc.weight", []float32{1, 2}, 2)
	wanted := []keys.Want{{Name: "head.weight", DType: "f64", Shape: []int{2}}}

	w, err := keys.Load(file, nil, wanted, keys.TopKey("model"), keys.Remap(`^module\.fc=>head`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rt.WeightsOf[float64](w, "head.weight", 2), w.Err())
	_, err = keys.Load(file, nil, wanted, keys.TopKey("model"))
	fmt.Println(err)
	// Output:
	// [1 2] <nil>
	// weights: "head.weight": f64[2] expected, file has no such tensor; nearest: "module.fc.weight"
	// weights: 1 not used: "module.fc.weight"
}
