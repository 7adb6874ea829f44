package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// importSequenceMap imports SequenceMap (from opset 17). It becomes a [Loop] over the elements of the sequences.
// The body of the loop appends to the sequences of the results.
func importSequenceMap(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	var args []*ir.Value
	for i := range c.NumArgs() {
		args = append(args, c.Arg(i))
		if args[i] == nil {
			return nil, fmt.Errorf("operand %d is absent", i)
		}
	}
	if len(args) == 0 || args[0].Type.Kind != ir.SequenceKind {
		return nil, fmt.Errorf("the first operand is not a sequence")
	}
	// apply applies the body to element i of the sequences.
	apply := func(b *ir.Builder, i *ir.Value) []*ir.Value {
		items := make([]*ir.Value, len(args))
		types := make([]ir.Type, len(args))
		for k, v := range args {
			items[k] = v
			if v.Type.Kind == ir.SequenceKind {
				elem := *v.Type.Elem
				if elem.Shape == nil {
					ir.Fail("operand %d: the rank of the elements of %s is not known", k, v.Type)
				}
				items[k] = b.Node(SequenceAt{Extents: newExtents(b, elem.Shape)}, v, i)
			}
			types[k] = items[k].Type
		}
		return b.Inline(c.Graph("body", types), items, "")
	}
	var first []*ir.Value
	b.Drop(b.Block(func(inner *ir.Builder) { // to learn the types of the body's results
		for _, v := range apply(inner, inner.Const(ir.Scalar(ir.I64, 0))) {
			if !v.Type.IsTensor() {
				ir.Fail("the body gives %s: only tensors are elements here", v.Type)
			}
			first = append(first, b.Node(SequenceConstruct{DType: v.Type.DType}))
		}
	}))
	results, err := loop{
		first: first,
		body: func(carried []ir.Type) *ir.Block {
			return b.Block(func(b *ir.Builder) {
				values, condition := bodyParams(b, carried)
				out := []*ir.Value{condition}
				for k, v := range apply(b, values[0]) {
					out = append(out, b.Node(SequenceInsert{}, values[1+k], v))
				}
				b.Return(out...)
			})
		},
	}.build(b, b.Node(SequenceLength{}, args[0]), nil)
	return results, err
}
