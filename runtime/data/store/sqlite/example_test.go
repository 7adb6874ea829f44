package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/data/store/sqlite"
)

// A table is written once, and read as a data set.
func Example() {
	dir, err := os.MkdirTemp("", "houses")
	check(err)
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "houses.db")

	type house struct {
		Rooms int        `data:"rooms"`
		Sizes [2]float32 `data:"sizes"`
		Price float32    `data:"price,optional"`
	}
	w, err := sqlite.Create[house](path, "train")
	check(err)
	for i := range 5 {
		check(w.Write(house{Rooms: i, Sizes: [2]float32{10, float32(i)}, Price: 100}))
	}
	check(w.Close()) // now the rows are in the file

	houses, err := sqlite.Open[house](path, "train")
	check(err)
	defer houses.Close()
	for h, err := range data.All(data.Shuffled(houses, 0)) {
		check(err)
		fmt.Print(h.Rooms, h.Sizes, " ")
	}
	// Output: 3 [10 3] 2 [10 2] 1 [10 1] 4 [10 4] 0 [10 0]
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
