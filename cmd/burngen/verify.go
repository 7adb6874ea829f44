package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/burngen/burngen/gen/verify"
)

var verifyCommand = command{
	name:  "verify",
	usage: "DIR… [flags]",
	short: "compare generated code with reference inputs and outputs",
	examples: `  burngen verify testdata/onnx-node          folders with model.onnx and test_data_set_0
  burngen verify -all models/mnist           a folder with model.onnx and ref/manifest.json
  burngen verify -eval -json models          the definitions of the operators, as JSON
`,
	define: defineVerify,
}

func defineVerify(flags *flagSet) func(*streams, []string) error {
	var (
		o       verify.Options
		eval    = flags.Bool("eval", false, "check the evaluator of the IR instead of generated code")
		exec    = flags.Bool("exec", false, "check the steps of the program without generating code")
		all     = flags.Bool("all", false, "also exit with 1 if a model is refused")
		asJSON  = flags.Bool("json", false, "print a JSON object for each case, and one with the counts")
		timeout = flags.Duration("timeout", 2*time.Minute, "stop a case that takes longer than `TIME` to generate, or to run")
	)
	flags.BoolVar(&o.Layers, "layers", false, "also compare the intermediate values that references hold")
	flags.Var(weightsDType{&o.WeightsDType}, "weights-dtype", weightsDTypeHelp+"\nFloats may then differ by as much as the type rounds")
	flags.BoolVar(&o.Strict, "strict", false, strictHelp)
	return func(s *streams, dirs []string) error {
		switch {
		case len(dirs) == 0:
			return usagef("a folder is missing")
		case *eval && *exec:
			return usagef("-eval or -exec, not both")
		case *timeout <= 0:
			return usagef("-timeout %s: a positive time expected", *timeout)
		case *eval:
			o.Mode = verify.Evaluated
		case *exec:
			o.Mode = verify.Executed
		}
		o.Timeout = *timeout
		cases, err := verify.Find(dirs)
		if err != nil {
			return err
		}
		bar := newProgress(s.err)
		lines := json.NewEncoder(s.out)
		lines.SetEscapeHTML(false)
		o.Progress = bar.step
		o.Report = func(r verify.Result) {
			bar.clear()
			if *asJSON {
				lines.Encode(r)
				return
			}
			fmt.Fprintln(s.out, r)
		}
		sum, err := verify.Run(cases, o)
		bar.end()
		if err != nil {
			return err
		}
		if *asJSON {
			lines.Encode(sum)
		} else {
			fmt.Fprintln(s.out, sum)
		}
		if sum.Failed > 0 || *all && sum.Refused > 0 {
			return errReported
		}
		return nil
	}
}
