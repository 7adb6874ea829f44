package seeded

import (
	"flag"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestSeeded draws numbers in two checks. They must be the same, unless another seed is given.
func TestSeeded(t *testing.T) {
	if flag.Lookup("rapid.seed").Value.String() != seed {
		t.Skip("another seed is given")
	}
	var draws [2][]int
	for i := range draws {
		rapid.Check(t, func(r *rapid.T) { draws[i] = append(draws[i], rapid.Int().Draw(r, "number")) })
	}
	if !slices.Equal(draws[0], draws[1]) {
		t.Errorf("%d, then %d", draws[0], draws[1])
	}
}
