package endtoend

import (
	"os"
	"strings"
	"testing"
)

// maxTiny bounds the size of a program with a small model, in bytes.
const maxTiny = 4 << 20

// TestSmallModelsMakeSmallPrograms builds a program with a model of two small
// matrices: kernels that the model does not call are not in it.
func TestSmallModelsMakeSmallPrograms(t *testing.T) {
	m := newModule(t)
	m.generate(t, "tiny", tinyNet.write(t))
	m.copy(t, ".", "tiny/main.go")
	m.run(t, nil, "build", "-trimpath", "-o", m.path("symbols.exe"), ".")
	m.run(t, nil, "build", "-trimpath", "-ldflags=-s -w", "-o", m.path("tiny.exe"), ".")
	info, err := os.Stat(m.path("tiny.exe"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.2f MB", float64(info.Size())/1e6)
	if info.Size() > maxTiny {
		t.Errorf("%d bytes, want %d at most", info.Size(), maxTiny)
	}
	linked := map[string]bool{}
	for line := range strings.Lines(m.run(t, nil, "tool", "nm", m.path("symbols.exe"))) {
		fields := strings.Fields(line)
		if name, ok := strings.CutPrefix(fields[len(fields)-1], modulePath+"/runtime/cpu."); ok {
			linked[name] = true
		}
	}
	if !linked["MatMul"] {
		t.Errorf("MatMul is not linked: %d symbols of the kernels", len(linked))
	}
	for _, kernel := range []string{"Conv", "LRN", "MaxPool", "AveragePool", "Softmax", "Gather", "Resize", "Tanh", "Reduce", "TopK"} {
		for name := range linked {
			if strings.EqualFold(name, kernel) || strings.HasPrefix(strings.ToLower(name), strings.ToLower(kernel)+"avx") {
				t.Errorf("%s is linked, which the model does not call", name)
			}
		}
	}
}
