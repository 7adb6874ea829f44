package data_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/burngen/burngen/runtime/data"
)

// Rows of a table become examples, of which a part is kept for evaluation.
func Example() {
	const table = "width;height;colour;area\n1;2;red;2\n3;2;blue;6\n2;2;red;4\n5;1;green;5\n1;1;red;1\n"
	type row struct {
		Size   [2]float32 `csv:"width"`
		Colour string
		Area   float32
	}
	rows, err := data.ReadCSV[row](strings.NewReader(table), data.CSVOptions{Comma: ';'})
	if err != nil {
		fmt.Println(err)
		return
	}
	var sizes [][2]float32
	var areas []float32
	for _, r := range rows {
		sizes, areas = append(sizes, r.Size), append(areas, r.Area)
	}
	train, test := data.Split(sizes, areas, 0.8, nil)
	fmt.Println(len(train.X), "for training,", len(test.X), "for evaluation")
	for x, y := range data.Batches(train.X, train.Y, 3, rand.New(rand.NewPCG(1, 2))) {
		fmt.Println(x, y)
	}
	// Output:
	// 4 for training, 1 for evaluation
	// [[2 2] [5 1] [3 2]] [4 5 6]
	// [[1 2]] [2]
}
