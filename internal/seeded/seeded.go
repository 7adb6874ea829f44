// Package seeded makes the random tests of a package draw the same numbers in each run. A test imports it for this
// effect. The flag -rapid.seed or the variable RAPID_SEED sets another seed. The seed 0 stands for a random seed.
package seeded

import (
	"flag"
	"os"

	"pgregory.net/rapid"
)

// The import of rapid defines the flag -rapid.seed.
var _ rapid.TB

// seed is the default of -rapid.seed.
const seed = "1"

func init() {
	if os.Getenv("RAPID_SEED") != "" {
		return
	}
	if err := flag.Set("rapid.seed", seed); err != nil {
		panic(err)
	}
}
