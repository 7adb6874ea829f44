package op

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// DeformConv is a deformable convolution (ONNX DeformConv, from opset 19): a [Conv] whose windows read x at moved
// positions. x is [N,C,spatial…], and the weights are [M,C/Group,kernel…]. The third operand,
// [N,Offsets·cells·D,out…], holds offsets. Each cell of each window has D offsets, one for each of the D spatial
// axes. The channels of x form Offsets groups, and the channels of a group have the same offsets. A value at a
// position between elements is interpolated linearly, with zeros outside of x. The other operands are optional: a
// bias [M], and factors [N,Offsets·cells,out…] that multiply the cells. All operands have one float type.
type DeformConv struct {
	Window
	Group   int // divides C and M
	Offsets int // divides C
}

// Infer returns the type of the [Conv] without offsets, [N,M,spatial…].
func (op DeformConv) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 3, 5); err != nil {
		return nil, err
	}
	if err := sameDType(in); err != nil {
		return nil, err
	}
	conv := []ir.Type{in[0], in[1]}
	if len(in) > 3 {
		conv = append(conv, in[3])
	}
	out, err := Conv{Window: op.Window, Group: op.Group}.Infer(conv)
	if err != nil {
		return nil, err
	}
	columns := []ir.Type{in[0], in[2]}
	if len(in) > 4 {
		columns = append(columns, in[4])
	}
	_, err = op.columns().Infer(columns)
	return out, err
}

func (op DeformConv) columns() DeformColumns {
	return DeformColumns{Window: op.Window, Offsets: op.Offsets}
}

// Eval returns [N,M,spatial…]: the products of the weights and the columns of [DeformColumns], plus the bias. It
// sums in float64.
func (op DeformConv) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := InferOf(op, in)
	if err != nil {
		return nil, err
	}
	operands := []*ir.Tensor{wideTensor(in[0]), wideTensor(in[2])}
	if len(in) > 4 && in[4] != nil {
		operands = append(operands, wideTensor(in[4]))
	}
	columns, err := op.columns().Eval(operands)
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	y, w := ir.NewTensor(out[0].DType, shape...), in[1]
	m, places := shape[1], LenOf(shape[2:])
	depth, all := LenOf(w.Shape[1:]), columns[0].Shape[1]
	for i := range y.Len() {
		batch, j, place := i/places/m, i/places%m, i%places
		first := batch*all + j/(m/op.Group)*depth
		sum := 0.0
		for k := range depth {
			sum += float64(w.Float(j*depth+k) * columns[0].Float((first+k)*places+place))
		}
		if len(in) > 3 && in[3] != nil {
			sum += in[3].Float(j)
		}
		y.SetFloat(i, sum)
	}
	return []*ir.Tensor{y}, nil
}

func wideTensor(t *ir.Tensor) *ir.Tensor {
	w := ir.NewTensor(ir.F64, t.Shape...)
	for i := range w.Len() {
		w.SetFloat(i, t.Float(i))
	}
	return w
}

// Flops counts a multiplication and an addition for each product of an element and a weight.
func (op DeformConv) Flops(in, out []ir.Type) dim.Dim {
	return Conv{}.Flops(in, out)
}

// Lower replaces the node by a product of the weights and [DeformColumns], plus the bias.
func (op DeformConv) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	return op.Compose(b, n)
}

// Compose replaces the node by a product of the weights and [DeformColumns], plus the bias.
func (op DeformConv) Compose(b *ir.Builder, n *ir.Node) []*ir.Value {
	w, y := n.Arg(1), n.Results[0].Type
	columns := b.Node(op.columns(), n.Arg(0), n.Arg(2), n.Arg(4))
	group, places := dim.Const(op.Group), dim.Product(y.Shape[2:]...)
	depth := dim.Product(w.Type.Shape[1:]...)
	columns = ReshapeTo(b, columns, y.Shape[0], group, depth, places)
	w = ReshapeTo(b, w, group, w.Type.Shape[0].FloorDiv(group), depth)
	v := ReshapeTo(b, b.Node(MatMul{}, w, columns), y.Shape...)
	if bias := n.Arg(3); bias != nil {
		shape := append([]dim.Dim{y.Shape[1]}, dim.Consts(orOnes(nil, y.Rank()-2)...)...)
		v = b.Node(Add{}, v, ReshapeTo(b, bias, shape...))
	}
	return []*ir.Value{v}
}

func importDeformConv(c ir.Importer) ([]*ir.Value, error) {
	x, w, window, err := importFilter(c)
	if err != nil {
		return nil, err
	}
	op := DeformConv{Window: window, Group: c.Int("group", 1), Offsets: c.Int("offset_group", 1)}
	return []*ir.Value{c.Builder().Node(op, x, w, c.Arg(2), c.Arg(3), c.Arg(4))}, nil
}

// IsStatistic returns false: no operand is a running statistic.
func (DeformConv) IsStatistic(int) bool { return false }
