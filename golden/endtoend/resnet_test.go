package endtoend

import (
	"fmt"
	"testing"
	"time"
)

// TestResNet generates and builds ResNet-50 and calls it through a session, which must not
// allocate. The test logs the time of a call.
func TestResNet(t *testing.T) {
	long(t)
	s := subject{
		name: "resnet", path: corpusModel("onnx-light/light_resnet50").path, tests: []string{"static"},
		input: "Gpu0Data0", output: "Gpu0Softmax1",
	}
	m := s.contract(t)
	m.run(t, nil, "build", "github.com/burngen/burngen/runtime/...")
	// A file that changes with each build prevents the go command from using its cache.
	m.write(t, s.name+"/stamp.go", fmt.Sprintf("package %s\n\n// built %s\n", s.name, time.Now().Format(time.RFC3339Nano)))
	start := time.Now()
	m.run(t, nil, "build", "./"+s.name)
	t.Logf("built in %.1f s", time.Since(start).Seconds())
	t.Log(m.run(t, nil, "test", "-run", "TestSessionDoesNotAllocate|TestSample",
		"-bench", "Session", "-benchmem", "-benchtime", "5x", "./..."))
}
