package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/burngen/burngen/gen/target"
	"github.com/burngen/burngen/gen/target/cuda"
	fakecuda "github.com/burngen/burngen/gen/target/cuda/cudatest/cuda"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx/onnxtest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"burngen": main, "burngen-fake": onFake})
}

// onFake runs the command with the fake of CUDA in place of the driver, also in the packages that it builds.
func onFake() {
	fake := cuda.Target()
	fake.Driver = fakecuda.Path
	for i, t := range target.All {
		if t.Name() == fake.Name() {
			target.All[i] = fake
		}
	}
	for i := range drivers {
		if drivers[i].target.Name() == fake.Name() {
			drivers[i].target, drivers[i].driver = fake, fakecuda.Driver()
		}
	}
	main()
}

// hasTarget reports whether the machine has a device of a target.
func hasTarget(name string) bool {
	for _, d := range drivers {
		if d.target.Name() == name {
			_, err := d.driver.Devices()
			return err == nil
		}
	}
	return false
}

// TestScripts runs the command lines in testdata/script.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	gocache, modcache := goEnv(t, "GOCACHE"), goEnv(t, "GOMODCACHE")
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("ROOT", root)
			e.Setenv("GOCACHE", gocache)
			e.Setenv("GOMODCACHE", modcache)
			return nil
		},
		Cmds:      map[string]func(*testscript.TestScript, bool, []string){"model": writeModel, "exits": exits, "patch": patch, "module": writeModule, "await": await, "none": none, "gone": gone, "linked": linked, "write": writeBytes},
		Condition: func(name string) (bool, error) { return name == "root" && os.Geteuid() == 0 || hasTarget(name), nil },
	})
}

func goEnv(t *testing.T, name string) string {
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out[:len(out)-1])
}

// exits runs a program that has to end with an exit code: exits 2 burngen gen.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// patch appends text to a file: patch FILE TEXT. If TEXT is a number, it truncates the file to that
// size.
func patch(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: patch FILE TEXT|SIZE")
	}
	path := ts.MkAbs(args[0])
	data, err := os.ReadFile(path)
	ts.Check(err)
	if n, err := strconv.Atoi(args[1]); err == nil {
		data = data[:n]
	} else {
		data = append(data, args[1]+"\n"...)
	}
	ts.Check(os.WriteFile(path, data, 0o666))
}

// await waits until there is a file: await FILE.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await FILE")
	}
	for {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// linked gives a file a second name: linked FILE NAME. The file keeps this name if another file
// replaces the first.
func linked(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: linked FILE NAME")
	}
	ts.Check(os.Link(ts.MkAbs(args[0]), ts.MkAbs(args[1])))
}

// none fails if there is a file whose name matches a pattern: none PATTERN.
func none(ts *testscript.TestScript, neg bool, args []string) {
	if files := matching(ts, neg, args); len(files) > 0 {
		ts.Fatalf("there are %q", files)
	}
}

// gone waits until no name of a file matches a pattern: gone PATTERN.
func gone(ts *testscript.TestScript, neg bool, args []string) {
	for len(matching(ts, neg, args)) > 0 {
		time.Sleep(time.Millisecond)
	}
}

// matching returns the files whose names match the only argument.
func matching(ts *testscript.TestScript, neg bool, args []string) []string {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: none PATTERN, or gone PATTERN")
	}
	files, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	return files
}

// writeModule writes a go.mod and go.sum with what burngen's have: module PATH.
func writeModule(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: module PATH")
	}
	root := ts.Getenv("ROOT")
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	ts.Check(err)
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	ts.Check(err)
	const own = "github.com/burngen/burngen"
	text := strings.Replace(string(mod), "module "+own, "module "+args[0], 1)
	text += "\nrequire " + own + " v0.0.0\n\nreplace " + own + " => " + root + "\n"
	ts.Check(os.WriteFile(ts.MkAbs("go.mod"), []byte(text), 0o666))
	ts.Check(os.WriteFile(ts.MkAbs("go.sum"), sum, 0o666))
	ts.Setenv("GOWORK", "off")
	ts.Setenv("GOFLAGS", os.Getenv("GOFLAGS"))
}

// writeBytes writes bytes, with escapes as in Go, into a file: write FILE BYTES.
func writeBytes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: write FILE BYTES")
	}
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(args[1], `"`, `\"`) + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o666))
}

// models are what scripts ask for by name.
var models = map[string]func() []byte{
	"mlp": func() []byte { return onnxtest.MLP().Bytes() },
	"gpu": func() []byte { // the host computes the last node
		return onnxtest.New(17).
			Input("x", ir.F32, "N", 8).Output("top", ir.F32, "N", 2).Output("at", ir.I64, "N", 2).
			Input("words", ir.String, "N").Output("lower", ir.String, "N").
			Initializer("k", ir.IntTensor(ir.I64, 2)).
			Node("/Relu", "Relu", []string{"x"}, []string{"y"}).
			Node("/TopK", "TopK", []string{"y", "k"}, []string{"top", "at"}).
			Node("/Lower", "StringNormalizer", []string{"words"}, []string{"lower"}, onnxtest.Attr{Name: "case_change_action", Value: "LOWER"}).Bytes()
	},
	"unknown": func() []byte {
		return onnxtest.New(17).Import("com.acme", 1).
			Input("x", ir.F32, "N", 4).Output("z", ir.F32, "N", 4).Output("w", ir.F32, "N", 4).
			Node("/Relu", "Relu", []string{"x"}, []string{"y"}).
			Node("/head/Foo", "com.acme:Foo", []string{"y"}, []string{"z"}).
			Node("/head/Bar", "com.acme:Bar", []string{"y"}, []string{"w"}).Bytes()
	},
	"custom": func() []byte {
		return onnxtest.New(17).Import("com.acme", 1).
			Input("x", ir.F32, 2, 3).Output("y", ir.F32, 2, 3).
			Node("/Relu", "Relu", []string{"x"}, []string{"h"}).
			Node("/Foo", "com.acme:Foo", []string{"h"}, []string{"y"}, onnxtest.Attr{Name: "mode", Value: "fast"}).Bytes()
	},
	"relu": func() []byte {
		return onnxtest.New(17).Input("x", ir.F32, 2, 3).Output("y", ir.F32, 2, 3).
			Node("/Relu", "Relu", []string{"x"}, []string{"y"}).Bytes()
	},
	"bits": func() []byte {
		return onnxtest.Tensor("bits", ir.FloatTensor(ir.F32, 0, 0, 0, 1, 1, 0, 1, 1).Reshape(4, 2))
	},
	"sharing":        func() []byte { m, _, _ := sharing(); return m.Bytes() },
	"sharing/input":  func() []byte { _, x, _ := sharing(); return onnxtest.Tensor("x", x) },
	"sharing/output": func() []byte { _, _, y := sharing(); return onnxtest.Tensor("y", y) },
	"relu/input": func() []byte {
		return onnxtest.Tensor("x", ir.FloatTensor(ir.F32, -1, 2, -3, 4, -5, 6).Reshape(2, 3))
	},
	"relu/output": func() []byte {
		return onnxtest.Tensor("y", ir.FloatTensor(ir.F32, 0, 2, 0, 4, 0, 6).Reshape(2, 3))
	},
	"relu/wrong": func() []byte {
		return onnxtest.Tensor("y", ir.FloatTensor(ir.F32, 0, 2, 0, 4.5, 0, 6).Reshape(2, 3))
	},
}

// writeModel writes one of models: model NAME FILE.
func writeModel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 || models[args[0]] == nil {
		ts.Fatalf("usage: model NAME FILE")
	}
	path := ts.MkAbs(args[1])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o777))
	ts.Check(os.WriteFile(path, models[args[0]](), 0o666))
}
