package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"time"

	"github.com/burngen/burngen/gen/verify"
)

var verifyCommand = command{
	name:  "verify",
	usage: "[-all] [-json] [-eval] [-layers] [-weights-dtype f16] DIR…",
	short: "proves generated code against reference inputs and outputs",
	examples: `  burngen verify testdata/onnx-node          folders with model.onnx and test_data_set_0
  burngen verify -all models/mnist           a folder with model.onnx and ref/manifest.json
  burngen verify -eval -json models          the definitions of the operators, as JSON
`,
	define: defineVerify,
}

func defineVerify(flags *flag.FlagSet) func(*streams, []string) error {
	var (
		o       verify.Options
		eval    = flags.Bool("eval", false, "checks the evaluator, not generated code")
		exec    = flags.Bool("exec", false, "checks the program without generating it")
		all     = flags.Bool("all", false, "also exits with 1 when a model is refused")
		asJSON  = flags.Bool("json", false, "prints an object for each case, and one that counts")
		timeout = flags.Duration("timeout", 2*time.Minute, "gives each case `TIME` to be generated, and to run")
	)
	flags.BoolVar(&o.Layers, "layers", false, "also compares the intermediate values that references hold")
	flags.Var(weightsDType{&o.WeightsDType}, "weights-dtype", weightsDTypeHelp+"; floats then may differ as those of that type do")
	flags.BoolVar(&o.Strict, "strict", false, "keeps rounding errors about as small as ONNX Runtime's: no minimal filtering, no formulas rewritten, long sums in parts")
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
