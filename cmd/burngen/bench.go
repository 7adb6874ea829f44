package main

import (
	"context"
	"encoding/json"
	"flag"
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
	short: "builds a model and shows where a call's time goes, node by node",
	examples: `  burngen bench resnet50.onnx
  burngen bench resnet50.onnx -threads 2 -o roofline.svg
  burngen bench encoder.onnx -extent N=1 -extent sequence=128 -each
`,
	define: defineBench,
}

func defineBench(flags *flag.FlagSet) func(*streams, []string) error {
	o := modelFlags(flags)
	in, extents := pairs{}, pairs{}
	flags.Var(in, "in", "reads an argument, as in `NAME=FILE` (see run); others are random (repeatable)")
	flags.Var(extents, "extent", "is what a symbol is in the measured calls, as in `N=8`; 1 if not given (repeatable)")
	threads := flags.Int("threads", 1, "lets `N` threads work on a call")
	duration := flags.Duration("time", time.Second, "measures the whole for this `LONG`, and the nodes as long again")
	top := flags.Int("top", 20, "shows the `N` slowest rows, 0 all")
	each := flags.Bool("each", false, "shows each node by itself, not those of one operator and shape together")
	asJSON := flags.Bool("json", false, "prints all that was measured as JSON")
	picture := flags.String("o", "", "draws the nodes under the machine's roofline into the SVG `FILE`")
	return func(s *streams, files []string) error {
		file, err := oneModel(files)
		if err != nil {
			return err
		}
		if *threads < 1 || *duration <= 0 || *top < 0 {
			return usagef("-threads and -time are above zero, -top not below")
		}
		symbols, err := extentsOf(extents)
		if err != nil {
			return err
		}
		bar := newProgress(s.err)
		defer bar.end()
		o.Progress = bar.stage
		m, err := load(file, o, s)
		if err != nil {
			return err
		}
		if err := m.CanRun(); err != nil {
			return err
		}
		q := profile.Options{Threads: *threads, Time: *duration, Progress: bar.stage}
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

// extentsOf parses the extents of symbols.
func extentsOf(given pairs) (map[string]int, error) {
	out := map[string]int{}
	for name, text := range given {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return nil, usagef("-extent %s=%s: a number expected", name, text)
		}
		out[name] = n
	}
	return out, nil
}
