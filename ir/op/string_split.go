package op

import (
	"math"
	"strings"
	"unicode"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// StringSplit splits each string of its operand at Delimiter (ONNX StringSplit, from opset 20). It splits at most
// MaxSplit times, from the left; the rest of the string is the last part. An empty Delimiter splits at runs of
// white space, and there are then no empty parts. The first result is the parts: a string tensor with a new last
// axis of extent Parts, padded with empty strings. The second result is the numbers of parts, i64 of the operand's
// shape. StringSplit binds the symbol Parts to the largest number of parts.
type StringSplit struct {
	Delimiter string
	MaxSplit  int
	Parts     string
}

// Infer returns the types of two results: strings in the operand's shape with a new last axis of extent Parts, and
// i64 in the operand's shape.
func (op StringSplit) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	if err := checkDomain(in, texts{}); err != nil {
		return nil, err
	}
	shape := append(append([]dim.Dim{}, in[0].Shape...), dim.Sym(op.Parts))
	return []ir.Type{ir.TensorOf(ir.String, shape...), in[0].With(ir.I64)}, nil
}

func (op StringSplit) split(s string) []string {
	if op.Delimiter != "" {
		return strings.SplitN(s, op.Delimiter, min(op.MaxSplit, math.MaxInt-1)+1)
	}
	var parts []string
	s = strings.TrimLeftFunc(s, unicode.IsSpace)
	for s != "" {
		end := strings.IndexFunc(s, unicode.IsSpace)
		if end < 0 || len(parts) == op.MaxSplit {
			end = len(s)
		}
		parts = append(parts, s[:end])
		s = strings.TrimLeftFunc(s[end:], unicode.IsSpace)
	}
	return parts
}

// Eval returns the parts of each string, padded with empty strings. It also returns the number of parts of each
// string.
func (op StringSplit) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	counts, width := ir.NewTensor(ir.I64, x.Shape...), 0
	parts := make([][]string, x.Len())
	for i := range parts {
		parts[i] = op.split(x.Text(i))
		counts.SetInt(i, int64(len(parts[i])))
		width = max(width, len(parts[i]))
	}
	shape := append(append([]int{}, x.Shape...), width)
	if _, err := ir.CheckedLen(shape); err != nil {
		return nil, err
	}
	y := ir.NewTensor(ir.String, shape...)
	for i, list := range parts {
		for j, part := range list {
			y.SetText(i*width+j, part)
		}
	}
	return []*ir.Tensor{y, counts}, nil
}

// Binds returns the symbol Parts.
func (op StringSplit) Binds() []string { return []string{op.Parts} }

// BindValues returns the largest number of parts, which is Parts.
func (op StringSplit) BindValues(_, out []*ir.Tensor) ([]int64, error) {
	return []int64{int64(out[0].Shape[out[0].Rank()-1])}, nil
}

func importStringSplit(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	op := StringSplit{Delimiter: c.Text("delimiter", ""), MaxSplit: c.Int("maxsplit", -1), Parts: b.Symbol("parts")}
	if op.MaxSplit < 0 {
		op.MaxSplit = math.MaxInt32
	}
	return b.Nodes(op, c.Arg(0)), nil
}
