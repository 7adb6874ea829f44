package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// scatterReductions maps the name of a reduction to the operator that combines an element and an update, and to the
// suffix of its kernels' names. If the name is "", the update replaces the element.
var scatterReductions = map[string]struct {
	op     ir.Op
	suffix string
}{
	"":    {nil, ""},
	"add": {Add{}, "Add"},
	"mul": {Mul{}, "Mul"},
	"max": {Max{}, "Max"},
	"min": {Min{}, "Min"},
}

func scatter(reduction string, y *ir.Tensor, i int, updates *ir.Tensor, j int) error {
	reduce := scatterReductions[reduction].op
	if reduce == nil {
		y.Copy(i, updates, j)
		return nil
	}
	a, b := ir.NewTensor(y.DType), ir.NewTensor(y.DType)
	a.Copy(0, y, i)
	b.Copy(0, updates, j)
	out, err := reduce.Eval([]*ir.Tensor{a, b})
	if err != nil {
		return err
	}
	y.Copy(i, out[0], 0)
	return nil
}

func scatterType(in []ir.Type, reduction string) error {
	if err := CheckTensors(in, 3, 3); err != nil {
		return err
	}
	if err := indexType(in[1]); err != nil {
		return err
	}
	if in[2].DType != in[0].DType {
		return fmt.Errorf("updates are %s, the data %s", in[2].DType, in[0].DType)
	}
	if r, ok := scatterReductions[reduction]; !ok {
		return fmt.Errorf("reduction %q", reduction)
	} else if r.op != nil && !in[0].DType.IsFloat() && !in[0].DType.IsInt() {
		return fmt.Errorf("reduction %s of %s", reduction, in[0].DType)
	}
	return nil
}

func scatterReduction(c ir.Importer) string {
	if c.Opset() < 16 {
		return ""
	}
	if r := c.Text("reduction", "none"); r != "none" {
		return r
	}
	return ""
}

func lowerScatter(b *ir.Builder, n *ir.Node, reduction string) []*ir.Value {
	if reduction == "" {
		return nil
	}
	return lowerNarrow(b, n)
}

func copied(x *ir.Tensor) *ir.Tensor {
	y := ir.NewTensor(x.DType, x.Shape...)
	for i := range y.Len() {
		y.Copy(i, x, i)
	}
	return y
}

// scatterGrad returns the gradients of data and updates of a scatter node. `put` scatters updates to the node's
// indices, `take` gathers the elements at these indices, and g is the upstream gradient. An update that a later one
// replaces has the gradient 0. With "max" and "min", each element and each update that equals the result gets the
// whole gradient.
func scatterGrad(b *ir.Builder, n *ir.Node, g *ir.Value, want []bool, reduction string, put func(reduction string, data, updates *ir.Value) *ir.Value, take func(data *ir.Value) *ir.Value) []*ir.Value {
	c, data, updates, y := calculus{b}, n.Arg(0), n.Arg(2), n.Results[0]
	grads := make([]*ir.Value, 3)
	switch reduction {
	case "add":
		grads[0] = g
		grads[2] = take(g)
	case "mul":
		factors := put("mul", Full(b, data.Type, 1), updates)
		grads[0] = c.mul(g, factors)
		if !want[2] {
			break
		}
		// The other factors of an update are the product without zeros, divided by the update. That holds
		// unless one of them is 0: then the element has more zeros than the update.
		zero := b.Node(Equal{}, updates, c.num(updates, 0))
		zeros := b.Node(Cast{To: data.Type.DType}, zero)
		factors = b.Node(Where{}, zero, c.num(updates, 1), updates)
		count := put("add", Full(b, data.Type, 0), zeros)
		product := put("mul", data, factors)
		grads[2] = c.where(b.Node(Equal{}, take(count), zeros), c.div(take(c.mul(g, product)), factors))
	case "max", "min":
		grads[0] = c.where(b.Node(Equal{}, data, y), g)
		grads[2] = c.where(b.Node(Equal{}, updates, take(y)), take(g))
	default:
		grads[0] = put("", g, Full(b, updates.Type, 0))
		if !want[2] {
			break
		}
		// An update remains where its own index is found.
		count := updates.Type.Elems()
		numbers := ReshapeTo(b, positions(b, count), updates.Type.Shape...)
		last := put("", Full(b, data.Type.With(ir.I64), 0), numbers)
		grads[2] = c.where(b.Node(Equal{}, take(last), numbers), take(g))
	}
	return grads
}
