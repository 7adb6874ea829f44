// Package endtoend tests burngen as a whole. Each test runs the command as users do, in a module of
// its own, then builds and runs the generated code and checks the results. Package device does the
// same for targets with devices.
//
// Tests on models of the corpus are skipped if the corpus is missing.
package endtoend

import (
	"flag"
	"os"
	"testing"

	"github.com/burngen/burngen/golden/endtoend/module"
)

var races = flag.Bool("races", false, "runs tests of generated packages with the race detector, which needs cgo")

func TestMain(m *testing.M) { os.Exit(module.Main(m)) }
