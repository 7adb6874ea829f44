// Package cuda takes the place of runtime/cuda in packages under test. They then run on machines without a card. It
// does not know what kernels compute.
package cuda

import (
	"sync"

	"github.com/burngen/burngen/gen/target/cuda/cudatest"
	"github.com/burngen/burngen/runtime/gpu"
)

// Path is the import path of this package, for the target of a test.
const Path = "github.com/burngen/burngen/gen/target/cuda/cudatest/cuda"

// Driver returns the driver of package cudatest, the same in each call.
func Driver() gpu.Driver { return driver() }

var driver = sync.OnceValue(cudatest.Driver)
