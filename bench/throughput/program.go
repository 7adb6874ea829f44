package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// judgeBinary is the program of ./cases.
var judgeBinary = filepath.Join("out", "cases")

// program is a case, built.
type program struct {
	name, model, inputs, binary, folder string
}

// buildTools builds the programs that all cases need. It returns the command of ONNX Runtime, to which the model's
// arguments are appended.
func buildTools() ([]string, error) {
	if _, err := output("", "go", "build", "-o", judgeBinary, "./cases"); err != nil {
		return nil, err
	}
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	libraries, err := filepath.Glob(filepath.Join("node_modules", "onnxruntime-node", "bin", "napi-v*", runtime.GOOS, arch, "libonnxruntime.*"))
	if err != nil {
		return nil, err
	}
	if len(libraries) == 0 {
		return nil, errors.New("no library of ONNX Runtime for this platform; run npm ci")
	}
	compiler := os.Getenv("CC")
	if compiler == "" {
		compiler = "cc"
	}
	host := filepath.Join("out", "ort")
	_, err = output("", compiler, "-O2", "-o", host, filepath.Join("host", "ort.c"), "-ldl")
	return []string{host, slices.Min(libraries)}, err
}

var notInNames = regexp.MustCompile("[^a-z0-9]+")

// build makes the arguments and the program of a case in out/throughput.
func build(name string, generator []string) (*program, error) {
	p := &program{name: strings.TrimSuffix(filepath.Base(name), ".onnx"), model: name}
	if !strings.HasSuffix(name, ".onnx") {
		p.model = filepath.Join("out", "models", name, "model.onnx")
		if _, err := os.Stat(p.model); err != nil {
			return nil, fmt.Errorf("%w; run go run ./models %s", err, name)
		}
	}
	id := notInNames.ReplaceAllString(strings.ToLower(p.name), "-")
	p.folder = filepath.Join("out", "throughput", id)
	if err := os.MkdirAll(p.folder, 0o777); err != nil {
		return nil, err
	}
	p.inputs, p.binary = filepath.Join(p.folder, "inputs.bin"), filepath.Join(p.folder, "program")
	if _, err := output("", judgeBinary, "inputs", p.model, p.inputs); err != nil {
		return nil, err
	}
	generate := append(slices.Clone(generator), p.model, "-o", filepath.Join(p.folder, "model"), "-weights", "embed")
	if _, err := output("", generate...); err != nil {
		return nil, err
	}
	text := fmt.Sprintf(`package main

import (
	"github.com/burngen/burngen/bench/out/throughput/%s/model"
	"github.com/burngen/burngen/bench/throughput/callers"
)

func main() {
	callers.Main(model.Load, (*model.Model).Meta, (*model.Model).NewSession, (*model.Session).Forward)
}
`, id)
	if err := os.WriteFile(filepath.Join(p.folder, "main.go"), []byte(text), 0o666); err != nil {
		return nil, err
	}
	_, err := output(p.folder, "go", "build", "-o", "program", ".")
	return p, err
}

// sessions returns the side with a goroutine and a session for each caller.
func (p *program) sessions(callers int) *side {
	s := &side{name: fmt.Sprintf("burngen, %d sessions", callers), outputs: filepath.Join(p.folder, "sessions.bin"), talk: loads(callers)}
	s.commands = [][]string{{p.binary, fmt.Sprint(callers), "0", p.inputs, s.outputs}}
	return s
}

// processes returns the side with a process of one thread for each caller.
func (p *program) processes(callers int) *side {
	s := &side{name: fmt.Sprintf("burngen, %d processes", callers), outputs: filepath.Join(p.folder, "processes.bin"), talk: loads(1)}
	s.environment = []string{"GOMAXPROCS=1"}
	s.commands = slices.Repeat([][]string{{p.binary, "1", "1", p.inputs, s.outputs}}, callers)
	return s
}

// ort returns the side of ONNX Runtime with a setting.
func (p *program) ort(host []string, v setting) *side {
	s := &side{name: fmt.Sprintf("ORT, %d × %d threads", v.processes, v.threads), outputs: filepath.Join(p.folder, "ort.bin"), talk: runs}
	command := append(slices.Clone(host), p.model, fmt.Sprint(v.threads), p.inputs, s.outputs)
	s.commands = slices.Repeat([][]string{command}, v.processes)
	return s
}

// output runs a command in a folder and returns what it prints.
func output(dir string, command ...string) ([]byte, error) {
	c := exec.Command(command[0], command[1:]...)
	var stderr bytes.Buffer
	c.Dir, c.Stderr = dir, &stderr
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", command[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}
