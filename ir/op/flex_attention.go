package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// importFlexAttention imports FlexAttention of ai.onnx.preview: an [Attention] with two optional graphs as
// attributes. One graph changes the scores, and the other the probabilities.
func importFlexAttention(c ir.Importer) ([]*ir.Value, error) {
	b, q, k, v := c.Builder(), c.Arg(0), c.Arg(1), c.Arg(2)
	args := []*ir.Value{q, k, v}
	x := Attention{}.unified(b, args)
	q, k, v = args[0], args[1], args[2]
	scale := c.Float("scale", 0)
	if !c.Has("scale") {
		var err error
		if scale, err = attentionScale(0, x.depth); err != nil {
			return nil, err
		}
	}
	precision := ir.F32
	if q.Type.DType == ir.F64 {
		precision = ir.F64
	}
	if c.Has("softmax_precision") {
		var ok bool
		if precision, ok = stashTypes[c.Int("softmax_precision", 1)]; !ok {
			return nil, fmt.Errorf("softmax_precision %d is not a float", c.Int("softmax_precision", 1))
		}
	}
	change := func(name string, v *ir.Value) *ir.Value {
		if !c.Has(name) {
			return v
		}
		out := b.Inline(c.Graph(name, []ir.Type{v.Type}), []*ir.Value{v}, "")
		if len(out) != 1 || out[0].Type.DType != v.Type.DType || out[0].Type.Rank() != v.Type.Rank() {
			ir.Fail("%s does not return one %s", name, v.Type)
		}
		return b.Assume(out[0], v.Type.Shape...)
	}
	p := x.product(b, q, k, scale)
	p = b.Node(Softmax{Axis: 3}, change("score_mod", ConvertTo(b, p, precision)))
	p = ConvertTo(b, change("prob_mod", p), q.Type.DType)
	return []*ir.Value{x.weigh(b, p, v)}, nil
}
