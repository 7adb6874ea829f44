package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
)

// long is the most work that a call may do without checking its context. The unit of work is what the slowest
// instruction set does in about 5 µs, so that `long` takes a millisecond at most; see [program.Shares].
const long = 200

// open is the work, in the unit of [long], that is assumed for a step whose extents are known only at run time. It is
// less than long, so that the context is not checked before each such step. Few of these steps take longer.
const open = long / 4

// duration returns an estimate of a step's duration in the unit of [long], at most [long]. It is [long] for calls of
// functions, calls of custom operators, and loops. It is 0 for checks, bindings, allocations and copies of results.
// The duration may depend on extents that are known only at run time. It is then [long] for a step that checks the
// context itself, and [open] for any other step.
func (f *function) duration(s program.Step) float64 {
	switch s.(type) {
	case *program.Invoke, *program.Branch, *program.Repeat:
		return long // or less: the callee checks the context first
	case *program.Custom:
		return long
	}
	if s.At() == nil || !program.Computes(s) {
		return 0
	}
	takes, known := f.share(s.At())
	switch {
	case !known && f.printer.Ends(s):
		return long
	case !known:
		return open
	}
	return min(long, takes)
}

// share returns the time of a step of node n: the time of n divided by the number of its steps, in the unit of
// [long]. known is false if the time cannot be computed; see [program.Shares].
func (f *function) share(n *ir.Node) (takes float64, known bool) {
	if f.steps == nil {
		f.steps, f.shares = map[*ir.Node]int{}, map[*ir.Node]float64{}
		for _, s := range f.Steps {
			f.steps[s.At()]++
		}
	}
	takes, seen := f.shares[n]
	if !seen {
		shares, ok := program.Shares(n)
		takes = shares / float64(max(f.steps[n], 1))
		if !ok {
			takes = -1
		}
		f.shares[n] = takes
	}
	return takes, takes >= 0
}

// until prints a check of the call's context before a step if the steps since the last check may have taken a
// millisecond. It returns nil if no check is due, or if the step or the function that it calls makes the check. It
// also returns nil in prepare, which has no context.
func (f *function) until(s program.Step) []jen.Code {
	if f.host == nil {
		return nil
	}
	takes := f.duration(s)
	f.ends = takes >= long && f.printer.Ends(s)
	if f.ends {
		f.since = 0
		return nil
	}
	if takes == 0 || f.since < long {
		f.since += takes
		return nil
	}
	f.since = takes
	switch s.(type) {
	case *program.Invoke, *program.Branch, *program.Repeat:
		return nil
	}
	return []jen.Code{jen.Qual(rtPath, "EndIfDone").Call(frame("Ctx"))}
}
