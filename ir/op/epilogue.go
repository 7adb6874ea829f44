package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// Epilogue is what a product or convolution does with its sums before it stores
// them. Its node has, from operand 2 on, a bias (one element for each column or
// channel, padded with zeros to a multiple of 16), a residual of the result's
// type, either of which may be absent, and further operands of that type. Bias
// and residual are added, the result is limited to Lo…Hi where Clamp is set, and
// then goes through the node's only region, if it has one: a chain of elementwise
// operators whose parameters are an element and those of the further operands.
type Epilogue struct {
	Clamp  bool
	Lo, Hi float32
}

// Places of the epilogue's operands in a node.
const (
	biasArg     = 2
	residualArg = 3
	moreArgs    = 4
)

// maxMore is the number of further operands that a kernel takes.
const maxMore = 2

// check checks the operands and the region of a node whose result is y with bias
// elements of bias.
func (e Epilogue) check(in []ir.Type, blocks []*ir.Block, bias ir.Dim, y ir.Type) error {
	if err := tensors(in, 2, moreArgs+maxMore); err != nil {
		return err
	}
	for i, t := range in[min(biasArg, len(in)):] {
		want := y
		if i == 0 {
			want = ir.TensorOf(ir.F32, bias)
		}
		if !t.IsZero() && !t.Equal(want) {
			return fmt.Errorf("operand %d is %s, %s expected", biasArg+i, t, want)
		}
	}
	if !e.Clamp && (e.Lo != 0 || e.Hi != 0) {
		return fmt.Errorf("bounds %v and %v without clamp", e.Lo, e.Hi)
	}
	switch len(blocks) {
	case 0:
		if len(in) > moreArgs {
			return fmt.Errorf("%d further operands without a region", len(in)-moreArgs)
		}
		return nil
	case 1:
		return checkElementwise(blocks[0], chainTypes(in, y))
	}
	return fmt.Errorf("%d regions, at most one expected", len(blocks))
}

// chainTypes returns the types of a region's operands.
func chainTypes(in []ir.Type, y ir.Type) []ir.Type {
	return append([]ir.Type{y}, in[min(moreArgs, len(in)):]...)
}

// zeroStays reports whether an element that is zero stays so.
func (e Epilogue) zeroStays(blocks []*ir.Block) bool {
	return len(blocks) == 0 && (!e.Clamp || e.Lo <= 0 && e.Hi >= 0)
}

// eval applies the epilogue to sums of the result's shape. column gives the
// element of the bias that belongs to an element of the result.
func (e Epilogue) eval(sums []float64, shape []int, in []*ir.Tensor, blocks []*ir.Block, column func(i int) int) (*ir.Tensor, error) {
	arg := func(i int) *ir.Tensor {
		if i < len(in) {
			return in[i]
		}
		return nil
	}
	bias, residual := arg(biasArg), arg(residualArg)
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
	out, err := evalElementwise(blocks[0], append([]*ir.Tensor{y}, in[min(moreArgs, len(in)):]...))
	if err != nil {
		return nil, err
	}
	return broadcastTo(out[0], shape), nil
}

// call returns the kernels' cpu.Epilogue of n.
func (e Epilogue) call(n *ir.Node) ir.Struct {
	s := ir.Struct{Type: "Epilogue", Fields: []ir.Field{
		{Name: "Bias", Value: ir.In(biasArg)},
		{Name: "Residual", Value: ir.In(residualArg)},
	}}
	if e.Clamp {
		s.Fields = append(s.Fields,
			ir.Field{Name: "Clamp", Value: true},
			ir.Field{Name: "Lo", Value: ir.Number{DType: ir.F32, Float: float64(e.Lo)}},
			ir.Field{Name: "Hi", Value: ir.Number{DType: ir.F32, Float: float64(e.Hi)}},
		)
	}
	if len(n.Blocks) > 0 {
		s.Fields = append(s.Fields,
			ir.Field{Name: "Then", Value: ir.Chain{Region: n.Blocks[0]}},
			ir.Field{Name: "In", Value: []any{ir.In(moreArgs), ir.In(moreArgs + 1)}},
		)
	}
	return s
}

// Ending returns e: operators embed it.
func (e Epilogue) Ending() Epilogue { return e }
