package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// Epilogue is what a product or convolution applies to its sums before it stores them. First it adds the optional
// bias, operand 2 of the node, which has one element for each column or channel, padded with zeros to a multiple of
// 16. It also adds the optional residual, operand 3, which has the result's type. Then it clamps the sum to [Lo,
// Hi] if Clamp is set. Last it applies the fused region of the node, if there is one. The region consists of
// elementwise operators. Its parameters are the clamped sum and operands 4, 5 and so on of the node, which also
// have the result's type.
type Epilogue struct {
	Clamp  bool
	Lo, Hi float32
}

// Indices of the epilogue's operands in a node.
const (
	BiasArg     = 2
	ResidualArg = 3
	MoreArgs    = 4
)

const maxMore = 2

// Check returns an error unless the operands and the region fit a node with result type y. bias is the number of
// elements of operand 2, including its padding.
func (e Epilogue) Check(in []ir.Type, blocks []*ir.Block, bias dim.Dim, y ir.Type) error {
	if err := CheckTensors(in, 2, MoreArgs+maxMore); err != nil {
		return err
	}
	for i, t := range in[min(BiasArg, len(in)):] {
		want := y
		if i == 0 {
			want = ir.TensorOf(ir.F32, bias)
		}
		if !t.IsZero() && !t.Equal(want) {
			return fmt.Errorf("operand %d is %s, %s expected", BiasArg+i, t, want)
		}
	}
	if !e.Clamp && (e.Lo != 0 || e.Hi != 0) {
		return fmt.Errorf("bounds %v and %v without clamp", e.Lo, e.Hi)
	}
	switch len(blocks) {
	case 0:
		if len(in) > MoreArgs {
			return fmt.Errorf("%d further operands without a region", len(in)-MoreArgs)
		}
		return nil
	case 1:
		return checkElementwise(blocks[0], chainTypes(in, y))
	}
	return fmt.Errorf("%d regions, at most one expected", len(blocks))
}

// chainTypes returns the types of the region's parameters. The first has type y. The others have the types of
// operands 4, 5 and so on, which `in` lists.
func chainTypes(in []ir.Type, y ir.Type) []ir.Type {
	return append([]ir.Type{y}, in[min(MoreArgs, len(in)):]...)
}

// KeepsZero reports whether clamping leaves 0 unchanged and there is no region.
func (e Epilogue) KeepsZero(blocks []*ir.Block) bool {
	return len(blocks) == 0 && (!e.Clamp || e.Lo <= 0 && e.Hi >= 0)
}

// Apply applies the epilogue to sums, which have the given shape. Element i of the result gets element column(i) of
// the bias.
func (e Epilogue) Apply(sums []float64, shape []int, in []*ir.Tensor, blocks []*ir.Block, column func(i int) int) (*ir.Tensor, error) {
	arg := func(i int) *ir.Tensor {
		if i < len(in) {
			return in[i]
		}
		return nil
	}
	bias, residual := arg(BiasArg), arg(ResidualArg)
	y := ir.NewTensor(ir.F32, shape...)
	for i, v := range sums {
		if bias != nil {
			v += bias.Float(column(i))
		}
		if residual != nil {
			v += residual.Float(i)
		}
		if e.Clamp {
			v = limit(v, float64(e.Lo), float64(e.Hi))
		}
		y.SetFloat(i, v)
	}
	if len(blocks) == 0 {
		return y, nil
	}
	out, err := evalElementwise(blocks[0], append([]*ir.Tensor{y}, in[min(MoreArgs, len(in)):]...))
	if err != nil {
		return nil, err
	}
	return broadcastTo(out[0], shape), nil
}

// Ending returns e, so that an operator that embeds an Epilogue implements [Ender].
func (e Epilogue) Ending() Epilogue { return e }

// EvalTypes infers the type of the first result of a region operator. It returns a tensor of zeros
// of this type, and its shape.
func EvalTypes(op ir.RegionOp, in []*ir.Tensor, blocks []*ir.Block) (y *ir.Tensor, shape []int, err error) {
	types := make([]ir.Type, len(in))
	for i, t := range in {
		if t != nil {
			types[i] = t.Type()
		}
	}
	out, err := op.InferBlocks(types, blocks)
	if err != nil {
		return nil, nil, err
	}
	shape, _ = out[0].Static()
	return ir.NewTensor(out[0].DType, shape...), shape, nil
}
