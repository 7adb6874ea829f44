package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/burngen/burngen/gen/profile"
	"github.com/burngen/burngen/gen/temporary"
)

var benchCommand = command{
	name:  "bench",
	usage: "MODEL [flags]",
	short: "generate and build a model, run it, and show how long each node, or each kernel of a GPU, takes",
	examples: `  burngen bench resnet50.onnx
  burngen bench resnet50.onnx -threads 2 -o roofline.svg
  burngen bench resnet50.onnx -target cuda -precision bf16
  burngen bench encoder.onnx -extent N=1 -extent sequence=128 -each
  burngen bench resnet50.onnx -target cuda -build measure
  burngen bench resnet50.onnx -target cuda -program ./measure
`,
	define: defineBench,
}

func defineBench(flags *flagSet) func(*streams, []string) error {
	o := modelFlags(flags)
	in, extents := pairs{}, pairs{}
	flags.Var(in, "in", "read an input from a file, `NAME=FILE`, in a format of burngen run; other inputs are random")
	flags.Var(extents, "extent", "set an open dimension for the measured calls, `NAME=8`; other open dimensions are 1")
	on := runTarget(flags, "measure on `TARGET`")
	threads := flags.Int("threads", 1, "use `N` threads")
	duration := flags.Duration("time", time.Second, "measure whole calls for `TIME`, and then single nodes for the same time; on a GPU also recorded launches")
	top := flags.Int("top", 20, "show the `N` slowest rows; 0 shows all")
	each := flags.Bool("each", false, "give each node a row of its own; without it, nodes of the same operator, shape and kernel share a row")
	asJSON := flags.Bool("json", false, "print all measurements as JSON")
	build := flags.String("build", "", "build the program that measures, write it to `FILE`, and measure nothing")
	program := flags.String("program", "", "measure with the program `FILE` that -build wrote, with the same flags for the model; needs no Go")
	picture := flags.String("o", "", "draw a roofline plot of the nodes and write it to `FILE`, as SVG")
	return func(s *streams, files []string) error {
		file, err := oneModel(files)
		if err != nil {
			return err
		}
		switch {
		case *threads < 1:
			return usagef("-threads %d: a number above zero expected", *threads)
		case *duration <= 0:
			return usagef("-time %v: a time above zero expected", *duration)
		case *build != "" && *program != "":
			return usagef("-build and -program: one of them expected")
		case *top < 0:
			return usagef("-top %d: a number of rows expected, 0 for all", *top)
		}
		symbols, err := extentsOf(extents)
		if err != nil {
			return err
		}
		if o.Target, err = on.found(s.err, o.Target); err != nil {
			return err
		}
		if *build == "" {
			if err := hasDevice(o.Target); err != nil {
				return err
			}
		}
		bar := newProgress(s.err)
		defer bar.end()
		o.Progress = bar.stage
		m, err := load(flags, file, o, s)
		if err != nil {
			return err
		}
		if *build != "" {
			bar.stage("building")
			return profile.Build(m, *build)
		}
		if err := m.CanRun(); err != nil {
			return err
		}
		q := profile.Options{Threads: *threads, Time: *duration, Program: *program, Progress: bar.stage}
		given, err := readInputs(m.Forward.IR, in)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Source.File, err)
		}
		if q.Inputs, q.Shapes, err = profile.Inputs(m.Forward.IR, given, symbols); err != nil {
			return fmt.Errorf("%s: %w", m.Source.File, err)
		}
		p, err := profile.Measure(context.Background(), m, q)
		bar.end()
		if err != nil {
			return err
		}
		if *picture != "" {
			if err := temporary.Write(*picture, func(out *os.File) error { _, err := out.Write(p.Roofline()); return err }); err != nil {
				return fmt.Errorf("-o: %w", err)
			}
		}
		if *asJSON {
			e := json.NewEncoder(s.out)
			e.SetIndent("", " ")
			return e.Encode(p)
		}
		fmt.Fprint(s.out, p.Text(*top, *each))
		return nil
	}
}

// extentsOf parses the values of -extent, keyed by symbol. It returns an error for a value that is
// not an integer of at least 0.
func extentsOf(given pairs) (map[string]int, error) {
	out := map[string]int{}
	for name, text := range given {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return nil, usagef("-extent %s=%s: a whole number expected, at least 0", name, text)
		}
		out[name] = n
	}
	return out, nil
}
