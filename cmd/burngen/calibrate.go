package main

import (
	"fmt"
	"os"
	"time"

	"github.com/burngen/burngen/gen/calibrate"
	"github.com/burngen/burngen/gen/target/cpu/cost"
	"github.com/burngen/burngen/gen/temporary"
)

var calibrateCommand = command{
	name:  "calibrate",
	usage: "[flags]",
	short: "measure this machine and print the result as JSON, for the flag -cost of other commands",
	examples: `  burngen calibrate -o machine.json
  burngen resnet50.onnx -o ./resnet -cost machine.json
`,
	define: defineCalibrate,
}

func defineCalibrate(flags *flagSet) func(*streams, []string) error {
	file := flags.String("o", "", "write to `FILE` (default: standard output)")
	name := flags.String("name", "", "name the machine `NAME` (default: its instruction set)")
	also := flags.Bool("defaults", false, "also write the built-in machines")
	duration := flags.Duration("time", 2*time.Second, "measure for about `TIME`")
	return func(s *streams, files []string) error {
		if len(files) > 0 {
			return usagef("no arguments expected, got %q", files)
		}
		if *duration <= 0 {
			return usagef("-time %v: a time above zero expected", *duration)
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
