package hf_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/data/store/hf"
)

// The folder of a data set has the files of its splits, and often a README.md that says which these
// are.
func Example() {
	dir, err := os.MkdirTemp("", "texts")
	check(err)
	defer os.RemoveAll(dir)
	check(os.WriteFile(filepath.Join(dir, "train.jsonl"), []byte(`{"text": "good", "label": 1}`+"\n"), 0o600))
	check(os.WriteFile(filepath.Join(dir, "valid.jsonl"), []byte(`{"text": "bad", "label": 0}`+"\n"), 0o600))

	type review struct {
		Text  string `data:"text"`
		Label int64  `data:"label"`
	}
	train, err := hf.Open[review](dir, "train")
	check(err)
	defer train.Close()
	for r, err := range data.All(train) {
		check(err)
		fmt.Println(r.Text, r.Label)
	}
	// Output:
	// good 1
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
