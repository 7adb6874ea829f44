package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/scratch"
	"github.com/burngen/burngen/gen/temporary"
)

var serveCommand = command{
	name:  "serve",
	usage: "MODEL [flags] [-- FLAGS OF THE SERVER]",
	short: "generate and build a model, and answer requests for it by the Open Inference Protocol until a signal ends it",
	examples: `  burngen serve resnet50.onnx
  burngen serve resnet50.onnx -- -http localhost:9000 -grpc :9001 -max-batch 16
  burngen serve resnet50.onnx -- -help        the flags of the server
`,
	define: defineServe,
}

func defineServe(flags *flagSet) func(*streams, []string) error {
	o, weights := modelFlags(flags), fileFlags(flags, false)
	on := runTarget(flags, "compute on `TARGET`")
	return func(s *streams, args []string) error {
		file, err := oneModel(args[:min(1, len(args))])
		if err != nil {
			return err
		}
		done, err := weights.open(flags, o, s)
		if err != nil {
			return err
		}
		defer done()
		if o.Target, err = on.found(s.err, o.Target); err != nil {
			return err
		}
		bar := newProgress(s.err)
		defer bar.end()
		o.Progress, o.Package, o.Serve = bar.stage, "model", true
		m, err := load(flags, file, o, s)
		if err != nil {
			return err
		}
		dir, err := temporary.Folder("")
		if err != nil {
			return err
		}
		defer temporary.Remove(dir)
		binary, own, err := buildServer(m, dir)
		bar.end()
		if err != nil {
			return fmt.Errorf("%s: %w", m.Source.File, err)
		}
		return runServer(s, binary, append(own, args[1:]...))
	}
}

// programOf writes a module called name into the empty folder dir: the package of a model, and a main package that
// uses it. mainOf gets the import path of the model's package, and returns the text of the main package.
func programOf(m *gen.Model, dir, name string, mainOf func(imported string) ([]byte, error)) (*scratch.Module, error) {
	module, err := scratch.New(dir, name)
	if err != nil {
		return nil, err
	}
	files, err := m.Files()
	if err != nil {
		return nil, err
	}
	if err := module.Write("model", files); err != nil {
		return nil, err
	}
	text, err := mainOf(module.Name + "/model")
	if err != nil {
		return nil, err
	}
	return module, os.WriteFile(filepath.Join(dir, "main.go"), text, 0o666)
}

// buildServer builds, in folder dir, the program that serves a model. It returns the program's path
// and the flags that it needs.
func buildServer(m *gen.Model, dir string) (binary string, flags []string, err error) {
	module, err := programOf(m, dir, "serve", m.ServerMain)
	if err != nil {
		return "", nil, err
	}
	if err := module.Nested("runtime/serve"); err != nil {
		return "", nil, err
	}
	if out, err := module.Build(); err != nil {
		return "", nil, fmt.Errorf("building the server: %w\n%s", err, out)
	}
	if outside, _ := filepath.Glob(filepath.Join(dir, "model", "*.safetensors")); len(outside) == 1 && m.WeightsSize() > gen.MaxEmbedded {
		flags = []string{"-file", outside[0]}
	}
	return module.Binary(), flags, nil
}

// runServer runs a server until it ends, and passes signals on to it. It does not pass on
// interrupts, which reach the server from the terminal.
func runServer(s *streams, binary string, args []string) error {
	signal.Reset(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // the server ends first, and then this program
	received := make(chan os.Signal, 1)
	signal.Notify(received, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	c := exec.Command(binary, args...)
	c.Stdout, c.Stderr = s.out, s.err
	if err := c.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for {
		select {
		case sig := <-received:
			if sig != os.Interrupt {
				c.Process.Signal(sig)
			}
		case err := <-ended:
			var status *exec.ExitError
			if errors.As(err, &status) {
				return errReported // the server has said why
			}
			return err
		}
	}
}
