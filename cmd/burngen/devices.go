package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	rtgpu "github.com/burngen/burngen/runtime/gpu"
)

var devicesCommand = command{
	name:  "devices",
	usage: "",
	short: "list the GPUs that generated packages can use",
	examples: `  burngen devices
`,
	define: defineDevices,
}

func defineDevices(*flagSet) func(*streams, []string) error {
	return func(s *streams, args []string) error {
		if len(args) > 0 {
			return usagef("devices takes no arguments")
		}
		w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
		for _, d := range drivers {
			list, err := d.driver.Devices()
			if err != nil {
				fmt.Fprintf(w, "%s\t%v\n", d.driver.Name(), err)
				continue
			}
			for _, i := range list {
				lacks := ""
				if len(i.Missing) > 0 {
					lacks = ", lacks " + strings.Join(i.Missing, ", ")
				}
				fmt.Fprintf(w, "%s\t%d\t%s\t%.1f GB\t%s\tdriver %s%s\n", d.driver.Name(), i.Index, i.Name, float64(i.Memory)/1e9, i.Capability, i.Driver, lacks)
			}
			if r, ok := d.driver.(rtgpu.Refusing); ok {
				for _, reason := range r.Unfit() {
					fmt.Fprintf(w, "%s\tnot usable: %s\n", d.driver.Name(), reason)
				}
			}
		}
		return w.Flush()
	}
}
