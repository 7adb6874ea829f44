package gpu

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/plan"
)

// Rounds repeats launches, one after the other, Count times.
type Rounds struct {
	Node     *ir.Node
	Count    dim.Dim
	Launches []*Launch
}

// Round is an argument of a launch of [Rounds]: the number of the round, counted from 0.
type Round struct{}

// At implements [program.Step]. It returns Node.
func (r *Rounds) At() *ir.Node { return r.Node }

// OnDevice tells the compiler that the device carries out the step.
func (r *Rounds) OnDevice() {}

// Refs implements [program.Step]. It returns the references among the arguments of all launches.
func (r *Rounds) Refs() []*plan.Ref {
	var refs []*plan.Ref
	for _, l := range r.Launches {
		refs = append(refs, l.Refs()...)
	}
	return refs
}

func (p *printer) rounds(s *emit.Scope, r *Rounds) jen.Code {
	head := jen.Range().Add(s.Int(r.Count))
	var body []jen.Code
	for _, l := range r.Launches {
		body = append(body, p.launch(s, l))
	}
	if slices.ContainsFunc(r.Launches, (*Launch).readsRound) {
		head = jen.Id("i").Op(":=").Add(head)
	}
	return jen.For(head).Block(body...)
}

func (l *Launch) readsRound() bool { return slices.Contains(l.Args, any(Round{})) }

func (t Target) rounds(f *exec.Frame, r *Rounds) error {
	n, err := f.Int(r.Count)
	if err != nil {
		return err
	}
	for i := range n {
		for _, l := range r.Launches {
			if err := t.launch(f, l, i); err != nil {
				return err
			}
		}
	}
	return nil
}
