package gpu

import (
	"slices"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/gen/target/gpu/launch"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/plan"
	"github.com/burngen/burngen/templates/kernels"
)

// Launch is the launch of a kernel.
type Launch struct {
	Node   *ir.Node
	Kernel *kernel.Kernel
	// Args are the arguments: a *[plan.Ref], a [dim.Dim], a [Wide], a [Round] or a [Fault]. There is one for each
	// parameter of the kernel. Then come arguments that only Faster has.
	Args []any
	// Grid is the number of blocks in each dimension.
	Grid [3]dim.Dim
	// Faster computes the same on devices that run pipelined kernels. It is nil for most launches.
	Faster *Faster
}

// Faster is the launch of a pipelined kernel, see [kernel.Kernel.IsPipelined]. On devices that run such kernels it
// replaces another launch, which computes the same.
type Faster struct {
	Kernel *kernel.Kernel
	Grid   [3]int
	// From[i] is the index, in the arguments of the other launch, of argument i.
	From []int
}

// fasterOf returns the launch of l.Faster, the faster kernel that may take the place of l's kernel. It also returns a
// list of the arguments of l, followed by the arguments that only l.Faster has. The launch is nil if l.Faster is nil,
// if its grid is not constant, or if an argument of l.Faster is memory that is not an argument of l.
func fasterOf(l kernels.Launch) (*Faster, []kernels.Arg) {
	if l.Faster == nil {
		return nil, l.Args
	}
	f, args := &Faster{Kernel: l.Faster.Kernel}, slices.Clone(l.Args)
	for i, d := range l.Faster.Grid {
		n, ok := d.Int()
		if !ok {
			return nil, l.Args
		}
		f.Grid[i] = n
	}
	for _, a := range l.Faster.Args {
		i := slices.IndexFunc(args, func(b kernels.Arg) bool {
			return a.Read == b.Read && a.Write == b.Write && a.Scratch == b.Scratch && a.Fault == b.Fault &&
				a.Round == b.Round && a.Wide == b.Wide && a.Dim.Equal(b.Dim)
		})
		if i < 0 {
			if a.IsMemory() {
				return nil, l.Args
			}
			i, args = len(args), append(args, a)
		}
		f.From = append(f.From, i)
	}
	return f, args
}

// Wide is an argument of a launch: an extent that the kernel takes as an i64. A [dim.Dim] is an i32.
type Wide struct{ dim.Dim }

// At implements [program.Step]. It returns the node that the launch belongs to.
func (l *Launch) At() *ir.Node { return l.Node }

// OnDevice tells the compiler that the device carries out the step.
func (l *Launch) OnDevice() {}

// Refs implements [program.Step]. It returns the references among the arguments.
func (l *Launch) Refs() []*plan.Ref {
	var refs []*plan.Ref
	for _, a := range l.Args {
		if r, ok := a.(*plan.Ref); ok {
			refs = append(refs, r)
		}
	}
	return refs
}

// LaunchesOf returns the launches of a step. It returns nil for steps without launches.
func LaunchesOf(s program.Step) []*Launch {
	switch s := s.(type) {
	case *Launch:
		return []*Launch{s}
	case *Rounds:
		return s.Launches
	}
	return nil
}

// Build implements [program.Target]. It adds the launches that compute n. Kernels may rely on relations between
// extents; Build adds the checks of these relations before the launches. If the GPU has no kernel for n, Build adds
// the steps of the CPU.
func (t Target) Build(b *program.Builder, n *ir.Node) error {
	launches, err := t.memo.Of(n, t.options())
	if err != nil {
		return t.host.Build(b, n)
	}
	for _, c := range launch.Extents(n) {
		if !c.Holds() {
			b.Add(&program.Check{Node: n, A: c.A, B: c.B, What: c.What})
		}
	}
	scratch := map[*kernels.Scratch]*plan.Ref{}
	var rounds *Rounds
	for i, l := range launches {
		faster, args := fasterOf(l)
		step := &Launch{Node: n, Kernel: l.Kernel, Grid: l.Grid, Faster: faster}
		for _, a := range args {
			switch {
			case a.Read != nil:
				step.Args = append(step.Args, b.Read(a.Read))
			case a.Write != nil:
				step.Args = append(step.Args, b.Write(a.Write))
			case a.Scratch != nil:
				if scratch[a.Scratch] == nil {
					scratch[a.Scratch] = b.Scratch(ir.TensorOf(a.Scratch.DType, a.Scratch.Shape...))
				}
				step.Args = append(step.Args, scratch[a.Scratch])
			case a.Round:
				step.Args = append(step.Args, Round{})
			case a.Fault:
				fault, err := faultOf(n)
				if err != nil {
					return err
				}
				step.Args = append(step.Args, fault)
			case a.Wide:
				step.Args = append(step.Args, Wide{a.Dim})
			default:
				step.Args = append(step.Args, a.Dim)
			}
		}
		switch {
		case l.Rounds == nil:
			b.Add(step)
			if l.Binds != nil {
				b.Add(bind(n, scratch[l.Binds]))
			}
			continue
		case i == 0 || l.Rounds != launches[i-1].Rounds:
			rounds = &Rounds{Node: n, Count: l.Rounds.Count}
			b.Add(rounds)
		}
		rounds.Launches = append(rounds.Launches, step)
	}
	return nil
}
