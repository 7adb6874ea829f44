package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/burngen/burngen/gen/calibrate"
	"github.com/burngen/burngen/gen/temporary"
	"github.com/burngen/burngen/ir/cost"
)

var calibrateCommand = command{
	name:  "calibrate",
	usage: "[flags]",
	short: "measures this machine for the choice of algorithms, and prints what it finds as JSON",
	examples: `  burngen calibrate -o machine.json
  burngen resnet50.onnx -o ./resnet -cost machine.json
`,
	define: defineCalibrate,
}

func defineCalibrate(flags *flag.FlagSet) func(*streams, []string) error {
	file := flags.String("o", "", "writes into `FILE` instead")
	name := flags.String("name", "", "is what to call the machine, instead of its instruction set: `NAME`")
	also := flags.Bool("defaults", false, "keeps the machines that burngen knows beside this one")
	duration := flags.Duration("time", 2*time.Second, "takes about this `LONG`")
	return func(s *streams, files []string) error {
		if len(files) > 0 {
			return usagef("no file expected, not %q", files)
		}
		if *duration <= 0 {
			return usagef("-time is above zero")
		}
		m := &cost.Model{Machines: []cost.Machine{calibrate.Machine(*name, *duration)}}
		if *also {
			m.Machines = append(m.Machines, cost.Default().Machines...)
		}
		if *file == "" {
			return m.Write(s.out)
		}
		if err := temporary.Write(*file, func(out *os.File) error { return m.Write(out) }); err != nil {
			return fmt.Errorf("-o: %w", err)
		}
		return nil
	}
}
