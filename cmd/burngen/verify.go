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
	short: "generate, build and run models, and compare their outputs with references",
	examples: `  burngen verify testdata/onnx-node          find every folder with model.onnx and test_data_set_0
  burngen verify -all models/mnist           a folder with model.onnx and ref/manifest.json
  burngen verify models -target cuda -precision bf16
  burngen verify -eval -json models          check the definitions of the operators, print JSON
`,
	define: defineVerify,
}

func defineVerify(flags *flagSet) func(*streams, []string) error {
	var (
		o       verify.Options
		eval    = flags.Bool("eval", false, "run the definitions of the operators, slowly, instead of generated code")
		exec    = flags.Bool("exec", false, "run the compiled model in this process instead of generating and building code")
		all     = flags.Bool("all", false, "also exit with 1 if burngen cannot compile a model")
		asJSON  = flags.Bool("json", false, "print a JSON object for each case, and one with the totals")
		timeout = flags.Duration("timeout", 2*time.Minute, "stop a case that takes longer than `TIME` to compile, or to run")
	)
	flags.IntVar(&o.Jobs, "jobs", 1, "with -exec or -eval, verify `N` models at a time")
	flags.BoolVar(&o.Layers, "layers", false, "also compare intermediate values, where the references have them")
	flags.Var(weightsDType{&o.WeightsDType}, "weights-dtype", weightsDTypeHelp+"\nThe tolerances of floats are as large as this rounding requires")
	on := runTarget(flags, "generate for `TARGET`, or with -exec run on it")
	flags.BoolVar(&o.Strict, "strict", false, strictHelp)
	return func(s *streams, dirs []string) error {
		switch {
		case len(dirs) == 0:
			return usagef("name one or more folders with models and references")
		case *eval && *exec:
			return usagef("use -eval or -exec, not both")
		case o.Jobs < 1:
			return usagef("-jobs %d: a number above zero expected", o.Jobs)
		case o.Jobs > 1 && !*eval && !*exec:
			return usagef("use -jobs with -exec or -eval")
		case *timeout <= 0:
			return usagef("-timeout %s: a time above zero expected", *timeout)
		case *eval:
			o.Mode = verify.Evaluated
		case *exec:
			o.Mode = verify.Executed
		}
		o.Timeout = *timeout
		var err error
		if o.Target, err = on.found(s.err, nil); err != nil {
			return err
		}
		if o.Mode == verify.Executed {
			opened, done, err := onDevice(o.Target)
			if err != nil {
				return err
			}
			defer done()
			o.Target = opened
		}
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
