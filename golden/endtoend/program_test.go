package endtoend

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/golden/endtoend/fixture"
	"github.com/burngen/burngen/golden/endtoend/module"
)

// digits returns a small convolutional network from the corpus, or one that is made here if there
// is no corpus.
func digits(t *testing.T) (path, input, output string) {
	t.Helper()
	m := fixture.Corpus("models/mnist-burn")
	if m.There() {
		return m.Path(t), "Input1", "X33"
	}
	t.Logf("no corpus: %s in place of %s", fixture.Static.Name, m)
	return fixture.Static.Write(t), "Image", "Logits"
}

// newProgram makes a module with the package of digits and a program that prints the package's
// answer.
func newProgram(t *testing.T) module.Module {
	t.Helper()
	m := module.New(t)
	path, input, output := digits(t)
	m.Generate(t, "model", path)
	m.Copy(t, ".", "program/main.go")
	m.Write(t, "ports.go", fmt.Sprintf("package main\n\nimport \"program/model\"\n\ntype (\n\tinput = model.%s\n\toutput = model.%s\n)\n", input, output))
	m.Write(t, "model.onnx", module.ReadFile(t, path))
	return m
}

// answer returns the expected output of the program, computed without generating code.
func answer(t *testing.T, m module.Module) string {
	t.Helper()
	model, err := gen.Load(m.Path("model.onnx"), gen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	args, shapes, err := gen.SampleInputs(model.Forward.IR)
	if err != nil {
		t.Fatal(err)
	}
	results, _, err := model.Run(args, shapes)
	if err != nil {
		t.Fatal(err)
	}
	logits := results[0].([]float32)
	return fmt.Sprintf("%d of %d\n", slices.Index(logits, slices.Max(logits)), len(logits))
}

// TestProgram builds a program with a model inside, without cgo and with defaults, and runs it. The
// program must not need a shared library, and must print the answer. The test logs how long the
// process lives.
func TestProgram(t *testing.T) {
	m := newProgram(t)
	want := answer(t, m)
	for name, env := range map[string][]string{"without cgo": {"CGO_ENABLED=0"}, "defaults": {"CGO_ENABLED="}} {
		t.Run(name, func(t *testing.T) {
			binary := m.Path("program.exe")
			m.Run(t, env, "build", "-o", binary, ".")
			if runtime.GOOS == "linux" {
				isStatic(t, binary)
			}
			var times []time.Duration
			for range 15 {
				c := exec.Command(binary)
				start := time.Now()
				out := module.Output(t, c)
				times = append(times, time.Since(start))
				if out != want {
					t.Fatalf("the program prints %q, want %q", out, want)
				}
			}
			slices.Sort(times)
			info, err := os.Stat(binary)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("from start to end %v (median; fastest %v), binary of %.1f MB", times[len(times)/2], times[0], float64(info.Size())/1e6)
		})
	}
}

// isStatic fails the test if a binary needs a loader or a shared library.
func isStatic(t *testing.T, binary string) {
	t.Helper()
	f, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("%s has a segment %v", filepath.Base(binary), p.Type)
		}
	}
	ldd, err := exec.LookPath("ldd")
	if err != nil {
		t.Log("no ldd")
		return
	}
	c := exec.Command(ldd, binary)
	c.Env = append(os.Environ(), "LC_ALL=C")
	out, err := c.CombinedOutput()
	if lower := bytes.ToLower(out); err == nil || !bytes.Contains(lower, []byte("not a dynamic executable")) && !bytes.Contains(lower, []byte("not a valid dynamic program")) {
		t.Errorf("ldd: %s", out)
	}
}

// TestProgramForOtherPlatforms builds the program for platforms of all kinds.
func TestProgramForOtherPlatforms(t *testing.T) {
	module.Elsewhere(t)
	t.Parallel()
	m := newProgram(t)
	for _, platform := range []string{"linux/arm64", "linux/386", "windows/amd64", "darwin/arm64", "js/wasm"} {
		t.Run(platform, func(t *testing.T) {
			system, arch, _ := strings.Cut(platform, "/")
			start := time.Now()
			m.Run(t, []string{"GOOS=" + system, "GOARCH=" + arch}, "build", "-o", m.Path("program."+arch), ".")
			t.Logf("built in %.1f s", time.Since(start).Seconds())
		})
	}
}

// TestGeneratedTest runs the generated test of a model on the instruction sets and systems that
// this machine can run or emulate.
func TestGeneratedTest(t *testing.T) {
	module.Long(t)
	t.Parallel()
	m := newProgram(t)
	for _, on := range []struct {
		name string
		env  []string
		exec string // the program that runs the test's binary; "" to run it directly
		need string // the program that must be installed
	}{
		{name: "best", env: []string{"BURNGEN_CPU="}},
		{name: "generic", env: []string{"BURNGEN_CPU=generic"}},
		{name: "avx2", env: []string{"BURNGEN_CPU=avx2"}, need: "amd64"},
		{name: "386", env: []string{"GOARCH=386"}, need: "amd64"},
		{name: "arm64", env: []string{"GOARCH=arm64"}, exec: "qemu-aarch64", need: "linux"},
		{name: "wasm", env: []string{"GOOS=js", "GOARCH=wasm"}, exec: "node", need: "linux"},
	} {
		t.Run(on.name, func(t *testing.T) {
			args := []string{"test", "-count=1", "./model"}
			if !strings.HasPrefix(on.env[0], "BURNGEN_CPU=") {
				module.Elsewhere(t)
			}
			if on.need != "" && on.need != runtime.GOARCH && on.need != runtime.GOOS {
				t.Skipf("not on %s/%s", runtime.GOOS, runtime.GOARCH)
			}
			if on.name == "386" {
				probe := exec.Command("go", "test", "-run", "^$", "github.com/burngen/burngen/internal/meant")
				probe.Env = append(os.Environ(), "GOARCH=386", "CGO_ENABLED=0")
				if out, err := probe.CombinedOutput(); err != nil {
					t.Skipf("this machine does not run programs for 386: %v\n%s", err, out)
				}
			}
			switch on.exec {
			case "":
			case "node":
				lookPath(t, "node")
				args = append(args, "-exec", filepath.Join(strings.TrimSpace(m.Run(t, nil, "env", "GOROOT")), "lib", "wasm", "go_js_wasm_exec"))
			default:
				args = append(args, "-exec", lookPath(t, on.exec, on.exec+"-static"))
			}
			t.Log(m.Run(t, on.env, args...))
		})
	}
}

// lookPath returns the first of the programs that is installed. It skips the test if none is.
func lookPath(t *testing.T, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skipf("no %s", strings.Join(names, ", no "))
	return ""
}
