package contract

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/burngen/burngen/runtime/rt"
)

// mappings returns how the weights file is mapped into memory: "r--p" and so on.
func mappings(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skipf("the system does not list mappings: %v", err)
	}
	var out []string
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 5 && strings.HasSuffix(fields[5], ownFile) {
			out = append(out, fields[1])
		}
	}
	return out
}

func TestWeightsAreMappedReadOnly(t *testing.T) {
	m := opened(t)
	forward(t, m, 1)
	list := mappings(t)
	if len(list) == 0 {
		t.Error("the weights file is not mapped")
	}
	for _, mode := range list {
		if mode != "r--p" {
			t.Errorf("the weights file is mapped %s, want r--p", mode)
		}
	}
	runtime.KeepAlive(m)
}

// TestSwapWithThePreparedFile gives a model the file that its own Load takes.
func TestSwapWithThePreparedFile(t *testing.T) {
	w := rt.OpenWeightsFile("../" + ownFile)
	defer w.Close()
	refused(t, opened(t).Swap(w), "prepared for one package", "Load", "-weights-keep")
	_, err := loadFrom(w)
	refused(t, err, "prepared for one package")
}

// TestMappingEndsWithTheModel waits until the memory of unreachable models is released. It first
// raises GOMAXPROCS: Go's runtime keeps a queued cleanup as long as GOMAXPROCS excludes the
// processor that queued it, and earlier tests used more processors.
func TestMappingEndsWithTheModel(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(64))
	forward(t, opened(t), 1)
	mappings(t)
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); {
		runtime.GC()
		if len(mappings(t)) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d mappings of the weights file are left", len(mappings(t)))
}
