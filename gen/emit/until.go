package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
)

// long is a millisecond at the slowest level, in parts of 5 µs, which are what is worth
// sharing: for so long a call may go on without a look at its context.
const long = 200

// open is what a step counts whose extents are open: with a look before every such step
// the code would be full of them, and a few are not much longer than one.
const open = long / 4

// duration returns how long a step may take, in such parts; long for one that nobody knows.
func (f *function) duration(s program.Step) float64 {
	switch s.(type) {
	case *program.Call, *program.Loop, *program.Custom:
	case *program.Invoke, *program.Branch, *program.Repeat:
		return long // or less: what they call looks at the context first
	default:
		return 0
	}
	if s.At() == nil {
		return 0
	}
	if _, custom := s.(*program.Custom); custom {
		return long
	}
	takes, known := f.share(s.At())
	switch {
	case !known && endsItself(s):
		return long
	case !known:
		return open
	}
	return min(long, takes)
}

// share returns what each of the steps of a node takes, in such parts; known is false where
// that depends on open extents.
func (f *function) share(n *ir.Node) (takes float64, known bool) {
	if f.steps == nil {
		f.steps, f.shares = map[*ir.Node]int{}, map[*ir.Node]float64{}
		for _, s := range f.Steps {
			f.steps[s.At()]++
		}
	}
	takes, seen := f.shares[n]
	if !seen {
		flops, elems, ok := work(n)
		takes = max(float64(flops)/sharedFlops, float64(elems)/sharedElems) / float64(max(f.steps[n], 1))
		if !ok {
			takes = -1
		}
		f.shares[n] = takes
	}
	return takes, takes >= 0
}

// until prints the end of a call whose context is done, before a step, if the steps since
// the last look at it may have taken a millisecond.
func (f *function) until(s program.Step) []jen.Code {
	if f.host == nil {
		return nil
	}
	takes := f.duration(s)
	f.ends = takes >= long && endsItself(s)
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
	return []jen.Code{jen.Qual(rtPath, "EndIfDone").Call(f.host.self().Dot("ctx"))}
}

// endsItself reports whether a step is a kernel that takes a context.
func endsItself(s program.Step) bool {
	c, ok := s.(*program.Call)
	if !ok {
		return false
	}
	for _, a := range c.Args {
		if _, ok := a.(ir.Context); ok {
			return true
		}
		if st, ok := a.(*program.Struct); ok && len(st.Fields) > 0 && takesContext(st) {
			return true
		}
	}
	return false
}

// takesContext reports whether a kernel's composite argument has a context.
func takesContext(s *program.Struct) bool { return exec.FieldType(s.Type, "Ctx") != "" }
