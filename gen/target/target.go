// Package target defines the interface of a back end, and lists the back ends. It does not know how
// any of them works.
package target

import (
	"fmt"
	"strings"

	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/gen/target/cpu"
	"github.com/burngen/burngen/gen/target/cuda"
	"github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/gen/target/vulkan"
	"github.com/burngen/burngen/ir/pass"
)

// Target is a back end. It lowers modules, makes the steps that compute nodes, and prints the steps as Go. It also
// runs steps without generated code.
type Target interface {
	// Name returns the name of the target. Its package has the same name.
	Name() string
	pass.Target
	program.Target
	exec.Runner
	// Plain makes the results of the runner independent of the machine, bit for bit. This holds for
	// the whole process until restore is called.
	Plain() (restore func())
	// Printer returns a new printer for a package.
	Printer() emit.Printer
	// CanRun reports whether steps can be run now. Steps of a GPU need a device.
	CanRun() bool
}

// All are the targets. The first is the default: it can always run.
var All = []Target{cpu.Target{}, cuda.Target(), vulkan.Target()}

// Named returns the target called name, or an error that lists the names.
func Named(name string) (Target, error) {
	names := make([]string, len(All))
	for i, t := range All {
		if names[i] = t.Name(); names[i] == name {
			return t, nil
		}
	}
	return nil, fmt.Errorf("%q: one of %s expected", name, strings.Join(names, ", "))
}

// At returns t with products in the precision p. ok is false if t does not support p. The CPU supports only f32.
func At(t Target, p gpu.Precision) (at Target, ok bool) {
	g, ok := t.(gpu.Target)
	if !ok {
		return t, p == gpu.F32
	}
	g.Precision = p
	return g, true
}
