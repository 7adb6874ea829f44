package serve_test

import (
	"github.com/burngen/burngen/runtime/serve"
	"github.com/burngen/burngen/runtime/serve/internal/testmodels/digits"
)

var letters = struct{ Load func() (*digits.Model, error) }{digits.Load}

// A program that serves two models.
func Example() {
	serve.Main(
		serve.Package("digits", digits.Load),
		serve.Package("letters", letters.Load),
	)
}
