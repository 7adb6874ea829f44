package endtoend

import (
	"fmt"
	"testing"
	"time"

	"github.com/burngen/burngen/golden/endtoend/fixture"
	"github.com/burngen/burngen/golden/endtoend/module"
)

// TestResNet generates and builds ResNet-50 and calls it through a session, which must not
// allocate. The test logs the time of a call.
func TestResNet(t *testing.T) {
	module.Long(t)
	s := subject{
		name: "resnet", path: fixture.Corpus("onnx-light/light_resnet50").Path, tests: []string{"static"},
		input: "Gpu0Data0", output: "Gpu0Softmax1",
	}
	m := s.contract(t)
	m.Run(t, nil, "build", "github.com/burngen/burngen/runtime/...")
	// A file that changes with each build prevents the go command from using its cache.
	m.Write(t, s.name+"/stamp.go", fmt.Sprintf("package %s\n\n// built %s\n", s.name, time.Now().Format(time.RFC3339Nano)))
	start := time.Now()
	m.Run(t, nil, "build", "./"+s.name)
	t.Logf("built in %.1f s", time.Since(start).Seconds())
	t.Log(m.Run(t, nil, "test", "-run", "TestSessionDoesNotAllocate|TestSample",
		"-bench", "Session", "-benchmem", "-benchtime", "5x", "./..."))
}
