package op

import (
	"fmt"
	"slices"
	"strings"

	"github.com/burngen/burngen/ir"
)

// RemoveStopwords leaves out the elements of a list of strings, [C], that its
// second operand, another list, has among its elements: in any case, unless
// CaseSensitive is set. When none is left the result is one empty string. It
// binds Count to the number of elements that are left.
type RemoveStopwords struct {
	CaseSensitive bool
	Count         string
}

// Infer gives the result Count elements.
func (op RemoveStopwords) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 2, 2); err != nil {
		return nil, err
	}
	if err := checkDomain(in, texts{}); err != nil {
		return nil, err
	}
	for i, t := range in {
		if t.Rank() != 1 {
			return nil, fmt.Errorf("operand %d is %s, rank 1 expected", i, t)
		}
	}
	return []ir.Type{ir.TensorOf(ir.String, ir.Sym(op.Count))}, nil
}

// Eval keeps the others.
func (op RemoveStopwords) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	same := strings.EqualFold
	if op.CaseSensitive {
		same = func(s, t string) bool { return s == t }
	}
	words := make([]string, in[1].Len())
	for i := range words {
		words[i] = in[1].Text(i)
	}
	var left []string
	for i := range in[0].Len() {
		s := in[0].Text(i)
		if !slices.ContainsFunc(words, func(word string) bool { return same(word, s) }) {
			left = append(left, s)
		}
	}
	if left == nil {
		left = []string{""}
	}
	return []*ir.Tensor{textTensor(left)}, nil
}

// Binds returns Count.
func (op RemoveStopwords) Binds() []string { return []string{op.Count} }

// BindValues returns the number of elements that are left.
func (op RemoveStopwords) BindValues(_, out []*ir.Tensor) ([]int64, error) {
	return []int64{int64(out[0].Shape[0])}, nil
}

// Measure is cpu.CountWithoutStopwords.
func (op RemoveStopwords) Measure(*ir.Node) ([]ir.Call, error) {
	return []ir.Call{{Kernel: "CountWithoutStopwords", Args: []any{ir.In(0), ir.In(1), op.CaseSensitive}}}, nil
}

// Call is cpu.RemoveStopwords.
func (op RemoveStopwords) Call(*ir.Node) (ir.Call, error) {
	return ir.Call{Kernel: "RemoveStopwords", Args: []any{ir.Out(0), ir.In(0), ir.In(1), op.CaseSensitive}}, nil
}
