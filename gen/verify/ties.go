package verify

import (
	"math"

	"github.com/burngen/burngen/ir"
)

// tieSlack is a distance from a half, in quantisation steps. If an element is nearer to the half than tieSlack, the
// rounding of floats decides between two integers.
const tieSlack = 1e-3

// tie is an element of a quantised value. The element is within tieSlack of the middle between two integers before it
// is rounded.
type tie struct {
	// at is the index of the element.
	at int
	// other is the integer to which the element was not rounded.
	other int64
}

// tied returns the ties of y, which node n quantises from x. It returns nil unless the scale, and the
// zero point if there is one, are constants with one element.
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
		// Saturation decides beyond the range of the type.
		if d := other - y.Int(i); d*d == 1 && ir.WrapInt(y.DType, other) == other {
			list = append(list, tie{i, other})
		}
	}
	return list
}

// evaluate evaluates the module. It calls the function `visit` for each cut, see [stages]. visit gets the cut's
// integers, which it may change, and the cut's ties.
func (s *stages) evaluate(args []*ir.Tensor, visit func(cut *ir.Value, integers *ir.Tensor, ties []tie)) ([]*ir.Tensor, error) {
	floats := map[*ir.Value]*ir.Tensor{} // operands of the cuts
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

// turn evaluates the module with every tie rounded the other way. It records in `found` how much
// the outputs of `wants` change from baseline, the outputs with ties as they are.
func (s *stages) turn(j *judge, args, baseline []*ir.Tensor, wants []want, found *staged) error {
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
		if found.turned[i], err = j.distance(fromIR(turned[w.output]), w, baseline[w.output]); err != nil {
			return err
		}
	}
	return nil
}
