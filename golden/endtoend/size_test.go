package endtoend

import (
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/burngen/burngen/golden/endtoend/fixture"
	"github.com/burngen/burngen/golden/endtoend/module"
)

// maxTiny bounds the size of a program with a small model, in bytes.
const maxTiny = 4 << 20

// TestSmallModelsMakeSmallPrograms builds a program with a model of two small matrices. The program
// must not contain kernels that the model does not call.
func TestSmallModelsMakeSmallPrograms(t *testing.T) {
	m := module.New(t)
	m.Generate(t, "tiny", fixture.Tiny.Write(t))
	m.Copy(t, ".", "tiny/main.go")
	m.Run(t, nil, "build", "-o", m.Path("symbols.exe"), ".")
	m.Run(t, nil, "build", "-ldflags=-s -w", "-o", m.Path("tiny.exe"), ".")
	info, err := os.Stat(m.Path("tiny.exe"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.2f MB", float64(info.Size())/1e6)
	if info.Size() > maxTiny {
		t.Errorf("%d bytes, want %d at most", info.Size(), maxTiny)
	}
	called := module.ReadFile(t, m.Path("tiny/model.go"))
	kernels := 0
	for line := range strings.Lines(m.Run(t, nil, "tool", "nm", m.Path("symbols.exe"))) {
		fields := strings.Fields(line)
		name, ok := strings.CutPrefix(fields[len(fields)-1], module.ImportPath+"/runtime/cpu.")
		if !ok {
			continue
		}
		if token.IsExported(name) && name != "Inf" { // which is a variable
			kernels++
			if !strings.Contains(called, "cpu."+name) {
				t.Errorf("%s is linked, which the model does not call", name)
			}
		}
		for _, other := range []string{"lrn", "conv", "pool", "softmax", "gather", "resize", "reduce", "tanh"} {
			if strings.Contains(strings.ToLower(name), other) {
				t.Errorf("%s is linked", name)
			}
		}
	}
	if kernels == 0 {
		t.Error("no kernel is linked")
	}
}
