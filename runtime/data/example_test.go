package data_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/burngen/burngen/runtime/data"
)

// Rows of a table become batches of examples and targets. A part of the rows is kept for
// evaluation.
func Example() {
	const table = "width;height;colour;area\n1;2;red;2\n3;2;blue;6\n2;2;red;4\n5;1;green;5\n1;1;red;1\n"
	type row struct {
		Size   [2]float32 `data:"width"`
		Colour string
		Area   float32
	}
	rows, err := data.ReadCSV[row](strings.NewReader(table), data.CSVOptions{Comma: ';'})
	if err != nil {
		fmt.Println(err)
		return
	}
	parts := data.Parts(data.Of(rows), 0.8, 0.2)
	put := data.Pairs(func(r row, x *[2]float32, y *float32, _ *rand.Rand) error {
		*x, *y = r.Size, r.Area
		return nil
	})
	train := data.Load(parts[0], put, data.LoaderOptions{Batch: 3, Shuffle: true, Seed: 1})
	fmt.Println(parts[0].Len(), "rows for training,", parts[1].Len(), "for evaluation")
	for epoch := range 2 {
		for b, err := range train.Epoch(context.Background(), epoch, 0) {
			if err != nil {
				fmt.Println(err)
				return
			}
			fmt.Println(epoch, b.X, b.Y)
		}
	}
	// Output:
	// 4 rows for training, 1 for evaluation
	// 0 [[3 2] [1 2] [5 1]] [6 2 5]
	// 0 [[2 2]] [4]
	// 1 [[1 2] [2 2] [5 1]] [2 4 5]
	// 1 [[3 2]] [6]
}
