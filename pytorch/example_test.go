package pytorch_test

import (
	"fmt"

	"github.com/burngen/burngen/pytorch"
	"github.com/burngen/burngen/runtime/rt"
)

// The tensors of a checkpoint are named by their paths. TopKey removes the key above the model's
// tensors.
func ExampleOpen() {
	w, err := pytorch.Open("testdata/checkpoint_2.pt", pytorch.TopKey("model"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	fmt.Println(w.Names())
	info, _ := w.Info("2.weight")
	fmt.Println(info, len(rt.WeightsOf[float32](w, "2.weight", info.Shape...)), w.Err())
	// Output:
	// [0.bias 0.weight 1.bias 1.num_batches_tracked 1.running_mean 1.running_var 1.weight 2.bias 2.weight]
	// f32[2,4] 8 <nil>
}
