package op

import (
	"fmt"
	"slices"
	"strings"

	"github.com/burngen/burngen/ir"
)

// importRecurrent imports the common part of LSTM, GRU and RNN. defaults are the functions of one direction that
// are used if the node does not name any. build returns the operator, with the operands and results of layout 0.
// Before opset 7, the attribute output_sequence says whether y is used.
func importRecurrent(c ir.Importer, defaults []string, build func(r Recurrent) ir.Op) ([]*ir.Value, error) {
	b := c.Builder()
	layout := 0
	switch {
	case c.Opset() >= 14:
		layout = c.Int("layout", 0)
	case c.Opset() < 7:
		c.Int("output_sequence", 0)
	}
	if layout != 0 && layout != 1 {
		return nil, fmt.Errorf("layout is %d", layout)
	}
	op := Recurrent{Direction: strings.ToLower(c.Text("direction", "forward"))}
	if c.Has("clip") {
		if op.Clip = c.Float("clip", 0); !(op.Clip > 0) {
			return nil, fmt.Errorf("clip is %v", op.Clip)
		}
	}
	if err := op.readActivations(c, defaults); err != nil {
		return nil, err
	}
	args := make([]*ir.Value, c.NumArgs())
	for i := range args {
		args[i] = c.Arg(i)
		if batchFirst := i == recurrentX || i == recurrentH || i == recurrentH+1; layout == 1 && args[i] != nil && batchFirst {
			if args[i].Type.Rank() != 3 {
				return nil, fmt.Errorf("operand %d is %s, rank 3 expected", i, args[i].Type)
			}
			args[i] = TransposeBy(b, args[i], 1, 0, 2)
		}
	}
	if len(args) > recurrentLens && args[recurrentLens] != nil && args[recurrentLens].Type.DType == ir.I64 {
		args[recurrentLens] = ConvertTo(b, args[recurrentLens], ir.I32)
	}
	out := slices.Clone(b.Nodes(build(op), args...))
	if n, ok := out[0].Type.Shape[3].Int(); ok && c.Has("hidden_size") && c.Int("hidden_size", n) != n {
		return nil, fmt.Errorf("hidden_size is %d for weights of %d", c.Int("hidden_size", n), n)
	}
	if layout == 1 {
		out[0] = TransposeBy(b, out[0], 2, 0, 1, 3)
		for i := range out[1:] {
			out[1+i] = TransposeBy(b, out[1+i], 1, 0, 2)
		}
	}
	return out[:min(len(out), max(c.NumResults(), 1))], nil
}

func (op *Recurrent) readActivations(c ir.Importer, defaults []string) error {
	d, names := op.directions(), c.Texts("activations", nil)
	if d == 0 {
		return fmt.Errorf("unknown direction %q", op.Direction)
	}
	switch {
	case len(names) == 0:
		names = slices.Repeat(defaults, d)
	case len(names) < len(defaults):
		return fmt.Errorf("%d activations, %d expected", len(names), d*len(defaults))
	case len(names) < d*len(defaults):
		names = slices.Repeat(names[:len(defaults)], d)
	}
	alphas, betas := c.Floats("activation_alpha", nil), c.Floats("activation_beta", nil)
	next := func(list *[]float64, has bool, def float64) float64 {
		if !has || len(*list) == 0 {
			return def
		}
		v := (*list)[0]
		*list = (*list)[1:]
		return v
	}
	for _, name := range names[:d*len(defaults)] {
		name = strings.ToLower(name)
		f, ok := activations[name]
		if !ok {
			return fmt.Errorf("unknown activation %q", name)
		}
		op.Activations = append(op.Activations, name)
		op.Alphas = append(op.Alphas, next(&alphas, f.params > 0, f.alpha))
		op.Betas = append(op.Betas, next(&betas, f.params > 1, f.beta))
	}
	return nil
}
