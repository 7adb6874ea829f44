package main

import (
	"math/rand/v2"

	"github.com/burngen/burngen/examples/regression/mlp"
	"github.com/burngen/burngen/runtime/data"
)

// wine is a row of the table.
type wine struct {
	// the column "fixed acidity" and the ten columns after it
	Features mlp.Features `data:"fixed acidity"`
	Quality  float32
}

var columns = data.Pairs(func(w wine, x *mlp.Features, y *float32, _ *rand.Rand) error {
	*x, *y = w.Features, w.Quality
	return nil
})

// wines reads a table of wines, or makes wines up if path is "".
func wines(path string) ([]wine, error) {
	if path == "" {
		return makeUp(1600), nil
	}
	return data.CSV[wine](path, data.CSVOptions{Comma: ';'})
}

// ranges has a range for each feature, similar to red wine: acids in g/l, sugar, chlorides, sulphur
// dioxide in mg/l, density, pH, sulphates, and alcohol in percent.
var ranges = [...]struct{ low, high float32 }{
	{4.6, 12}, {0.1, 1.2}, {0, 0.8}, {1, 8}, {0.02, 0.2}, {1, 60}, {6, 200}, {0.99, 1.003}, {2.9, 3.8}, {0.3, 1.2}, {8.4, 14},
}

// makeUp returns n made-up wines. Alcohol and sulphates improve the quality; volatile acid, and
// much sulphur dioxide at a high pH, reduce it. The noise has standard deviation 0.4.
func makeUp(n int) []wine {
	rng := rand.New(rand.NewPCG(1, 0))
	rows := make([]wine, n)
	for i := range rows {
		var share [len(ranges)]float32 // position in the range of each feature, from 0 to 1
		for k, r := range ranges {
			share[k] = rng.Float32()
			rows[i].Features[k] = r.low + (r.high-r.low)*share[k]
		}
		spoilt := 4 * max(0, share[6]-0.5) * share[8]
		better := 2*share[10] + share[9]*(2-share[9])
		rows[i].Quality = 4.5 + better - 1.5*share[1] - spoilt + 0.4*float32(rng.NormFloat64())
	}
	return rows
}
