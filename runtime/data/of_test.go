package data_test

import (
	"testing"

	"github.com/burngen/burngen/runtime/data"
)

func TestOf(t *testing.T) {
	laws(t, numbers(5), upTo(5))
	laws(t, data.Of[string](nil), nil)
	_, err := numbers(3).At(3)
	wantError(t, err, "index 3: there are 3 items")
}
