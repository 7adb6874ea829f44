package record_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/burngen/burngen/runtime/record"
	"github.com/burngen/burngen/runtime/rt"
)

// Weights are saved in half the space, and have the type they had when they are read.
func ExampleRecorder() {
	w := rt.NewWeights()
	rt.Add(w, "fc.weight", []float32{0.1, -2, 3}, 3)

	compact := record.Recorder{Format: record.MessagePack, Precision: record.Half}
	file, err := compact.Encode(w)
	if err != nil {
		fmt.Println(err)
		return
	}
	again, err := record.Parse(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rt.WeightsOf[float32](again, "fc.weight", 3))
	// Output: [0.099975586 -2 3]
}

// The state of anything is saved in one file.
func ExampleSaveState() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "run.json.gz")

	progress := struct {
		Epoch  int
		Losses []float64
	}{2, []float64{0.7, 0.4}}
	if err := record.SaveState(path, map[string]rt.Stater{"progress": record.Value(&progress)}); err != nil {
		fmt.Println(err)
	}
	progress.Epoch, progress.Losses = 0, nil
	if err := record.LoadState(path, map[string]rt.Stater{"progress": record.Value(&progress)}); err != nil {
		fmt.Println(err)
	}
	fmt.Println(progress.Epoch, progress.Losses)
	// Output: 2 [0.7 0.4]
}
