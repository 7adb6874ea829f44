package main

import (
	"github.com/burngen/burngen/gen"
)

var beamCommand = command{
	name:  "beam",
	usage: "MODEL -in GLOB -out PREFIX [flags] [-- FLAGS OF THE PROGRAM]",
	short: "generate and build a model, and compute the items of files with it in a pipeline of Apache Beam",
	examples: `  burngen beam resnet50.onnx -in 'pixels/*.npy' -out scores/part
  burngen beam resnet50.onnx -in 'pixels/*.npy' -out scores/part -- -batch 64
  burngen beam resnet50.onnx -in a.jsonl -out part -- -help    the flags of the program
`,
	define: defineBeam,
}

var pipeline = nested{"program", "beam", "runtime/beam", (*gen.Model).BatchMain}

func defineBeam(flags *flagSet) func(*streams, []string) error {
	o, weights := modelFlags(flags), fileFlags(flags, false)
	in := flags.String("in", "", "compute the items of the files that match `GLOB`: JSONL (.jsonl, .ndjson) or NumPy arrays (.npy)")
	out := flags.String("out", "", "write results to files that begin with `PREFIX`; the same command goes on with a run that was\ninterrupted")
	on := runTarget(flags, "compute on `TARGET`")
	return func(s *streams, args []string) error {
		file, err := oneModel(args[:min(1, len(args))])
		if err != nil {
			return err
		}
		if *in == "" || *out == "" {
			return usagef("-in GLOB and -out PREFIX are needed")
		}
		done, err := weights.open(flags, o, s)
		if err != nil {
			return err
		}
		defer done()
		if o.Target, err = on.found(s.err, o.Target); err != nil {
			return err
		}
		return buildAndRun(flags, file, o, s, pipeline, append([]string{"-in", *in, "-out", *out}, args[1:]...))
	}
}
