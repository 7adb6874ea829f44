package verify

import (
	"math"

	"github.com/burngen/burngen/ir"
)

// tieSlack is how near to a half between two integers, in steps of a quantised value, the
// roundings of floats before it decide which of the two it becomes.
const tieSlack = 1e-3

// tie is an element of a quantised value that lies half-way between two integers. It has
// become one of them, and other is the other.
type tie struct {
	at    int
	other int64
}

// tied returns the ties of y, to which a node quantises x by one constant scale; nil where
// it has several scales.
func tied(n *ir.Node, x, y *ir.Tensor) []tie {
	scale, ok := n.Args[1].ConstValue()
	if !ok || scale.Len() != 1 || !x.DType.IsFloat() {
		return nil
	}
	zero := int64(0)
	if v := n.Arg(2); v != nil {
		t, ok := v.ConstValue()
		if !ok || t.Len() != 1 {
			return nil
		}
		zero = t.Int(0)
	}
	var list []tie
	for i := range y.Len() {
		steps := x.Number(i) / scale.Number(0)
		below := math.Floor(steps)
		if !(math.Abs(steps-below-0.5) <= tieSlack) {
			continue
		}
		other := 2*(int64(below)+zero) + 1 - y.Int(i)
		// Limits of the type decide what is beyond them.
		if d := other - y.Int(i); d*d == 1 && ir.WrapInt(y.DType, other) == other {
			list = append(list, tie{i, other})
		}
	}
	return list
}

// evaluate evaluates the module and calls visit with each cut, its integers, which visit may
// change for what follows, and its ties.
func (s *stages) evaluate(args []*ir.Tensor, visit func(cut *ir.Value, integers *ir.Tensor, ties []tie)) ([]*ir.Tensor, error) {
	floats := map[*ir.Value]*ir.Tensor{} // what the cuts are made of
	cuts := map[*ir.Value]bool{}
	for _, v := range s.cuts {
		floats[v.Def.Args[0]], cuts[v] = nil, true
	}
	e := &ir.Evaluator{Module: s.module, Watch: func(v *ir.Value, t *ir.Tensor) {
		if _, ok := floats[v]; ok {
			floats[v] = t
		}
		if cuts[v] {
			visit(v, t, tied(v.Def, floats[v.Def.Args[0]], t))
		}
	}}
	return e.Run(s.module.Func("forward"), args)
}

// turn evaluates the module with every tie the other way, and notes how far that moves the
// outputs that wants are of.
func (s *stages) turn(j *judge, args, still []*ir.Tensor, wants []want, found *staged) error {
	turned, err := s.evaluate(args, func(_ *ir.Value, integers *ir.Tensor, ties []tie) {
		for _, e := range ties {
			integers.SetInt(e.at, e.other)
		}
	})
	if err != nil {
		return err
	}
	found.turned = make([]distance, len(wants))
	for i, w := range wants {
		if found.turned[i], err = j.distance(fromIR(turned[w.output]), w, still[w.output]); err != nil {
			return err
		}
	}
	return nil
}
