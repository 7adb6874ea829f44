package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/burngen/burngen/gen/scratch"
)

// build generates a package from an ONNX file, with its server, in dir, and returns the server's program.
func build(generator []string, model, dir string) (string, error) {
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	module, err := scratch.New(dir, "served")
	if err != nil {
		return "", err
	}
	if err := module.Nested("runtime/serve"); err != nil {
		return "", err
	}
	if err := execute(append(slices.Clone(generator), model, "-o", filepath.Join(dir, "model"), "-serve")); err != nil {
		return "", err
	}
	c := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", module.Binary(), "./model/server")
	c.Dir = dir
	c.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", c, err, out)
	}
	return module.Binary(), nil
}

func execute(command []string) error {
	out, err := exec.Command(command[0], command[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, out)
	}
	return nil
}

// side is a program that serves the model of a case.
type side struct {
	name string
	// command returns the command line of a server on a port
	command func(port string) []string
	server  *server
	rounds  []round
	// times from the start of a new process to its first answer
	starts []time.Duration
}

// server is a process that answers requests.
type server struct {
	process *exec.Cmd
	stderr  bytes.Buffer
	address string
	ended   chan error
	// time from the start of the process to the first answer
	first  time.Duration
	answer reply
}

// start starts the side's server: see [startServer].
func (s *side) start(request []byte) (*server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	return startServer(s.command(port), "127.0.0.1:"+port, request)
}

// startServer starts a server on the first processor and sends it a request until it answers, for at most a minute. It
// returns an error if the status of the answer is not 200.
func startServer(command []string, address string, request []byte) (*server, error) {
	v := &server{address: address, ended: make(chan error, 1)}
	v.process = exec.Command("taskset", append([]string{"-c", "0"}, command...)...)
	v.process.Stderr = &v.stderr
	begun := time.Now()
	if err := v.process.Start(); err != nil {
		return nil, err
	}
	go func() { v.ended <- v.process.Wait() }()
	for time.Since(begun) < time.Minute {
		select {
		case err := <-v.ended:
			return nil, fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, &v.stderr)
		default:
		}
		if c, err := dial(v.address); err == nil {
			v.answer, err = c.call(request)
			c.Close()
			if err == nil && v.answer.status != 200 {
				v.kill()
				return nil, fmt.Errorf("%s: status %d: %s", strings.Join(command, " "), v.answer.status, v.answer.body)
			}
			if err == nil {
				v.first = time.Since(begun)
				return v, nil
			}
		}
		time.Sleep(200 * time.Microsecond)
	}
	v.kill()
	return nil, errors.New(strings.Join(command, " ") + " does not answer")
}

// kill ends the server at once.
func (v *server) kill() {
	v.process.Process.Kill()
	<-v.ended
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port), nil
}

// memory returns the peak of the server's resident memory in bytes.
func (v *server) memory() (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", v.process.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "VmHWM:" {
			n, err := strconv.ParseInt(f[1], 10, 64)
			return n << 10, err
		}
	}
	return 0, errors.New("the system does not say how much memory a process has")
}

// cpu returns the processor time that the server has used, in steps of 10 ms.
func (v *server) cpu() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", v.process.Process.Pid))
	if err != nil {
		return 0, err
	}
	f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(f) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat has %d fields", v.process.Process.Pid, len(f))
	}
	user, _ := strconv.ParseInt(f[11], 10, 64)
	system, _ := strconv.ParseInt(f[12], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond, nil
}

// metrics returns the values on the server's /metrics page. A key is the name and the labels of a value, as the page
// has them.
func (v *server) metrics() (map[string]float64, error) {
	r, err := http.Get("http://" + v.address + "/metrics")
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(r.Body); err != nil {
		return nil, err
	}
	out := map[string]float64{}
	for line := range strings.Lines(b.String()) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && !strings.HasPrefix(name, "#") {
			out[name], _ = strconv.ParseFloat(value, 64)
		}
	}
	return out, nil
}

// inputsOf starts a server's program, asks it for the inputs of a model, and returns random inputs.
func inputsOf(program, model string) ([]tensor, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	address := "127.0.0.1:" + port
	v, err := startServer([]string{program, "-http", address, "-log", "off"}, address, fmt.Appendf(nil, "GET /v2/models/%s HTTP/1.1\r\nHost: localhost\r\n\r\n", model))
	if err != nil {
		return nil, err
	}
	defer v.kill()
	var m struct{ Inputs []tensor }
	if err := json.Unmarshal(v.answer.body, &m); err != nil {
		return nil, err
	}
	return draw(m.Inputs)
}
