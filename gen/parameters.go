package gen

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// weightOperands are the operators whose operands are parameters where they are
// weights: a product's factors, scales and biases, tables.
var weightOperands = ir.NewOpSet(
	op.Conv{}, op.ConvTranspose{}, op.DeformConv{}, op.Gemm{}, op.MatMul{},
	op.BatchNormalization{}, op.LayerNormalization{}, op.RMSNormalization{},
	op.Gather{}, op.LSTM{}, op.GRU{}, op.RNN{}, op.PRelu{}, op.Custom{},
)

// Parameters returns the names of the weights of an imported model's function that are
// its parameters, in the order of their loads: floats of more than one element that
// reach, through what only moves or casts elements, an operand of a product, a
// normalisation, a table, a recurrent network or a custom operator, or are added to or multiplied with
// what follows from such along one axis.
func Parameters(f *ir.Func) []string {
	p := &parameters{weight: map[*ir.Value]string{}, after: map[*ir.Value]bool{}, found: map[string]bool{}}
	for _, n := range f.Nodes {
		p.node(n)
	}
	return p.names
}

// parameters are those of a function so far.
type parameters struct {
	weight map[*ir.Value]string // values that are weights, moved at most
	after  map[*ir.Value]bool   // values that follow from parameters and others
	found  map[string]bool
	names  []string
}

func (p *parameters) node(n *ir.Node) {
	if l, ok := n.Op.(ir.Load); ok {
		if elems, ok := l.Type.Elems().Int(); ok && elems > 1 && l.Type.DType.IsFloat() {
			p.weight[n.Results[0]] = l.Name
		}
		return
	}
	if moves(n.Op) && p.weight[n.Arg(0)] != "" {
		for _, r := range n.Results {
			p.weight[r] = p.weight[n.Args[0]]
		}
		return
	}
	_, product := weightOperands[ir.OpName(n.Op)]
	for i, a := range n.Args {
		switch {
		case p.weight[a] == "":
		case product && !isStatistic(n.Op, i), affine(n.Op) && oneAxis(a.Type) && p.after[n.Arg(1-min(i, 1))]:
			p.add(p.weight[a])
		}
	}
	after := product
	for _, a := range n.Args {
		after = after || p.after[a]
	}
	for _, block := range n.Blocks {
		for _, inner := range block.Nodes {
			p.node(inner)
		}
	}
	for _, r := range n.Results {
		p.after[r] = after
	}
}

func (p *parameters) add(name string) {
	if !p.found[name] {
		p.found[name] = true
		p.names = append(p.names, name)
	}
}

// moves reports whether an operator's result has the elements of its first operand.
func moves(o ir.Op) bool {
	switch o.(type) {
	case op.Reshape, op.Transpose, op.Cast, op.Expand, op.Slice:
		return true
	}
	_, view := o.(ir.Viewer)
	return view
}

// isStatistic reports whether an operand is a running statistic.
func isStatistic(o ir.Op, i int) bool {
	_, norm := o.(op.BatchNormalization)
	return norm && i >= 3
}

// affine reports whether an operator scales or shifts.
func affine(o ir.Op) bool {
	switch o.(type) {
	case op.Add, op.Sub, op.Mul, op.Div:
		return true
	}
	return false
}

// oneAxis reports whether at most one extent of a type is not 1.
func oneAxis(t ir.Type) bool {
	wide := 0
	for _, d := range t.Shape {
		if n, ok := d.Int(); !ok || n != 1 {
			wide++
		}
	}
	return wide == 1
}
