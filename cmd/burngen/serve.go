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
		return buildAndRun(flags, file, o, s, server, args[1:])
	}
}

// nested is a program that calls a model, in a nested module.
type nested struct {
	// what it is in errors, and the name of its module
	what, name string
	// the folder of the nested module that it needs
	folder string
	// main returns the text of its main package.
	main func(m *gen.Model, imported string) ([]byte, error)
}

var server = nested{"server", "serve", "runtime/serve", (*gen.Model).ServerMain}

// buildAndRun generates the package of a model in a temporary folder, builds the program n with it, and runs the
// program with these arguments.
func buildAndRun(flags *flagSet, file string, o *gen.Options, s *streams, n nested, args []string) error {
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
	binary, own, err := n.build(m, dir)
	bar.end()
	if err != nil {
		return fmt.Errorf("%s: %w", m.Source.File, err)
	}
	return runUntilEnd(s, binary, append(own, args...))
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

// build builds the program for a model in folder dir. It returns the program's path and the flags that it needs.
func (n nested) build(m *gen.Model, dir string) (binary string, flags []string, err error) {
	module, err := programOf(m, dir, n.name, func(imported string) ([]byte, error) { return n.main(m, imported) })
	if err != nil {
		return "", nil, err
	}
	if err := module.Nested(n.folder); err != nil {
		return "", nil, err
	}
	if out, err := module.Build(); err != nil {
		return "", nil, fmt.Errorf("building the %s: %w\n%s", n.what, err, out)
	}
	if outside, _ := filepath.Glob(filepath.Join(dir, "model", "*.safetensors")); len(outside) == 1 && m.WeightsSize() > gen.MaxEmbedded {
		flags = []string{"-file", outside[0]}
	}
	return module.Binary(), flags, nil
}

// runUntilEnd runs a program until it ends, and passes signals on to it. It does not pass on interrupts, which reach
// the program from the terminal.
func runUntilEnd(s *streams, binary string, args []string) error {
	signal.Reset(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // the program ends first, and then this one
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
				return errReported // the program has said why
			}
			return err
		}
	}
}
