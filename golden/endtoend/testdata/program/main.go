// Program runs a model on the input of its generated test. It prints the index of the largest
// output.
package main

import (
	"fmt"
	"log"
	"slices"

	"program/model"

	"github.com/burngen/burngen/runtime/rt"
)

func main() {
	m, err := model.Load()
	if err != nil {
		log.Fatal(err)
	}
	x := new(input)
	rt.Uniform(rt.FlatOf[float32](x), 0, 1, 1)
	var y *output
	if y, err = m.Forward(x); err != nil {
		log.Fatal(err)
	}
	logits := rt.FlatOf[float32](y)
	fmt.Printf("%d of %d\n", slices.Index(logits, slices.Max(logits)), len(logits))
}
