package main

import (
	"math/rand/v2"

	"github.com/burngen/burngen/examples/regression/mlp"
	"github.com/burngen/burngen/runtime/data"
)

// wine is a row of the table.
type wine struct {
	Features mlp.Features `csv:"fixed acidity"` // and the ten columns after it
	Quality  float32
}

// wines returns what is measured of wines and how good they are: of those in a table, of
// made-up ones without a table.
func wines(path string) (features []mlp.Features, quality []float32, err error) {
	rows := makeUp(1600)
	if path != "" {
		if rows, err = data.CSV[wine](path, data.CSVOptions{Comma: ';'}); err != nil {
			return nil, nil, err
		}
	}
	for _, r := range rows {
		features, quality = append(features, r.Features), append(quality, r.Quality)
	}
	return features, quality, nil
}

// ranges are those of the features, about as they are in red wine: acids in g/l, sugar,
// chlorides, sulphur dioxide in mg/l, density, pH, sulphates, and alcohol in percent.
var ranges = [...]struct{ low, high float32 }{
	{4.6, 12}, {0.1, 1.2}, {0, 0.8}, {1, 8}, {0.02, 0.2}, {1, 60}, {6, 200}, {0.99, 1.003}, {2.9, 3.8}, {0.3, 1.2}, {8.4, 14},
}

// makeUp returns n wines. They are better the more alcohol and sulphates they have, worse
// the more acid is volatile, and spoilt where much sulphur dioxide meets a high pH; tasters
// stray by 0.4.
func makeUp(n int) []wine {
	rng := rand.New(rand.NewPCG(1, 0))
	rows := make([]wine, n)
	for i := range rows {
		var share [len(ranges)]float32 // from the low end to the high
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
