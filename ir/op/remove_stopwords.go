package op

import (
	"fmt"
	"slices"
	"strings"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// RemoveStopwords removes stop words from a list of strings, [C]. The second operand is the list of stop words.
// Case is ignored unless CaseSensitive is set. If no string is left, the result is a single empty string.
// RemoveStopwords binds the symbol Count to the length of the result.
type RemoveStopwords struct {
	CaseSensitive bool
	Count         string
}

// Infer returns [Count] of strings.
func (op RemoveStopwords) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 2, 2); err != nil {
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
	return []ir.Type{ir.TensorOf(ir.String, dim.Sym(op.Count))}, nil
}

// Eval returns the strings that are not stop words. If all strings are stop words, it returns one empty string.
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

// Binds returns the symbol Count.
func (op RemoveStopwords) Binds() []string { return []string{op.Count} }

// BindValues returns the number of strings in the result.
func (op RemoveStopwords) BindValues(_, out []*ir.Tensor) ([]int64, error) {
	return []int64{int64(out[0].Shape[0])}, nil
}
