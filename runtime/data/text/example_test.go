package text_test

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/runtime/data/text"
	"github.com/burngen/burngen/runtime/rt"
)

func Example() {
	t, err := text.Load("testdata/bert.json") // a tokenizer.json
	check(err)
	ids, mask := make([][8]int64, 2), make([][8]int64, 2) // as a generated package takes them
	err = t.Batch([]string{"The lowest river!", "new day"}, rt.Flat[int64](ids), rt.Flat[int64](mask), nil)
	check(err)
	fmt.Println(mask)
	s, err := t.Decode(ids[0][:])
	check(err)
	fmt.Println(s)
	// Output:
	// [[1 1 1 1 1 1 0 0] [1 1 1 1 0 0 0 0]]
	// the lowest river!
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func ExampleTrainBPE() {
	corpus := []string{"low lower lowest", "new newer newest"}
	t, err := text.TrainBPE(slices.Values(corpus), text.BPEOptions{Size: 300, Special: []string{"<|end|>"}})
	check(err)
	e, err := t.Encode("the newest<|end|>")
	check(err)
	fmt.Printf("%q\n", e.Tokens)
	s, err := t.Decode(e.IDs)
	check(err)
	fmt.Println(s)
	// Output:
	// ["t" "h" "e" "Ġnewest" "<|end|>"]
	// the newest
}
