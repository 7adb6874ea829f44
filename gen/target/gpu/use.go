package gpu

import (
	"slices"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
)

// Use counts the work of a function and of its callees. A callee counts once for each call, and the
// body of a loop once. Repeated launches count once.
type Use struct {
	Launches int            // of kernels
	Kernels  int            // distinct ones
	Host     map[string]int // how many nodes of an operator the host computes
}

// Use counts the launches and kernels of f, and the nodes that the host computes.
func (Target) Use(f *program.Func) Use {
	u := Use{Host: map[string]int{}}
	kernels := map[string]bool{}
	var count func(*program.Func)
	count = func(f *program.Func) {
		seen := map[*ir.Node]bool{}
		for _, s := range f.Steps {
			launches := LaunchesOf(s)
			u.Launches += len(launches)
			for _, l := range launches {
				kernels[anonymous(l.Kernel)] = true
			}
			if len(launches) == 0 && onHost(s) && !seen[s.At()] {
				seen[s.At()] = true
				u.Host[ir.OpName(s.At().Op)]++
			}
			for _, callee := range program.CalleesOf(s) {
				count(callee)
			}
		}
	}
	count(f)
	u.Kernels = len(kernels)
	return u
}

func onHost(s program.Step) bool {
	switch s := s.(type) {
	case *program.Copy:
		return false
	case *program.Bind:
		return !slices.ContainsFunc(s.Measures, func(m program.Step) bool { _, ok := m.(*Count); return ok })
	case *program.Custom:
		return true
	}
	return program.Computes(s)
}
