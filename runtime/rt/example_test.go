package rt_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/burngen/burngen/runtime/rt"
)

// Weights are added, written as a safetensors file, and read again. Errors are checked once, at the
// end.
func ExampleWeights() {
	w := rt.NewWeights()
	rt.Add(w, "fc.weight", []float32{1, 2, 3, 4, 5, 6}, 2, 3)
	rt.Add(w, "fc.bias", []float32{0.5, -0.5}, 2)
	var file bytes.Buffer
	if _, err := w.WriteTo(&file); err != nil {
		fmt.Println(err)
		return
	}

	again := rt.ParseWeights(file.Bytes())
	for _, name := range again.Names() {
		info, _ := again.Info(name)
		fmt.Println(name, info)
	}
	fmt.Println(rt.WeightsOf[float32](again, "fc.bias", 2))
	rt.WeightsOf[float32](again, "fc.bias", 3)
	fmt.Println(again.Err())
	// Output:
	// fc.bias f32[2]
	// fc.weight f32[2,3]
	// [0.5 -0.5]
	// weights: "fc.bias": f32[3] expected, file has f32[2]
}

// A view has some of the parameters, for an optimizer of their own.
func ExampleParams_Match() {
	p, err := rt.NewParams([]rt.Param{
		{Name: "body.0.weight", Shape: []int{2, 2}},
		{Name: "body.0.bias", Shape: []int{2}, Off: 16},
		{Name: "head.weight", Shape: []int{3, 2}, Off: 32},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, it := range p.Match("**.weight").Except("head").Items {
		fmt.Println(it.Name, it.Shape)
	}
	fmt.Println(p.Match("tail").Err())
	// Output:
	// body.0.weight [2 2]
	// params: pattern "tail" matches no parameter
}

// counter counts batches.
type counter struct{ batches int64 }

// State registers what is saved.
func (c *counter) State(s *rt.State) { rt.StateScalar(s, "batches", &c.batches) }

// Everything that says State is saved together and restored bit for bit.
func ExampleSaveState() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "run.safetensors")
	if err := rt.SaveState(path, map[string]rt.Stater{"progress": &counter{42}}); err != nil {
		fmt.Println(err)
	}
	var c counter
	if err := rt.LoadState(path, map[string]rt.Stater{"progress": &c}); err != nil {
		fmt.Println(err)
	}
	fmt.Println(c.batches)
	// Output: 42
}

// positive returns the numbers above a threshold; how many there are it decides.
func positive(c *rt.Call) error {
	var kept []float32
	for _, x := range rt.Data[float32](c.In[0]) {
		if x > c.Attrs.Float("above", 0) {
			kept = append(kept, x)
		}
	}
	c.Out[0].Resize(len(kept))
	copy(rt.Data[float32](c.Out[0]), kept)
	return nil
}

// The function of a custom operator, f32[N] -> f32[K], is called as a test calls it.
func ExampleCall() {
	c := rt.NewCall("acme.Positive", 1, 1, []string{"K"}, rt.Attr{Name: "above", Value: float32(1)})
	var y rt.Tensor[float32]
	rt.CallIn(c, 0, []float32{3, -1, 1, 2}, 4)
	rt.CallOpen(c, 0, &y, rt.Sym(0))
	if err := c.Run(positive); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(y.Shape, y.Data)
	// Output: [2] [3 2]
}
