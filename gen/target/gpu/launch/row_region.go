package launch

import (
	"errors"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

// RowKind says how the elements of a value belong to the elements of a tensor. The rows of the tensor lie along its
// last axis.
type RowKind uint8

// The kinds.
const (
	NotInRows RowKind = iota
	Whole             // the element at the same index
	PerRow            // the one of the same row
	PerColumn         // the one of the same column
	Single            // the only one
)

var errRows = errors.New("a kernel computes rows and what reduces them")

// RowRole says how a kernel can compute n together with other nodes on the rows of a tensor of this shape. It
// returns the kind of n's results and the kinds of n's operands. result is NotInRows if no such kernel can compute
// n. The function `known` returns the kind of a value that the kernel computes, and NotInRows for another value and
// for nil. The kind of an absent operand is NotInRows.
func RowRole(n *ir.Node, shape []dim.Dim, known func(v *ir.Value) RowKind) (result RowKind, operands []RowKind) {
	last := len(shape) - 1
	if last < 0 {
		return NotInRows, nil
	}
	want := make([]RowKind, len(n.Args))
	column := dim.Product(shape[last])
	perRow := append(slices.Clone(shape[:last]), dim.Const(1))
	of := func(v *ir.Value, k RowKind) bool {
		if v == nil {
			return true
		}
		switch s := v.Type.Shape; k {
		case Whole:
			return sameShape(s, shape)
		case PerRow:
			return sameShape(s, perRow)
		case PerColumn:
			return len(s) == 1 && s[0].Equal(column)
		}
		return false
	}
	first := func(k RowKind) bool { want[0] = k; return of(n.Args[0], k) }
	rest := func(k RowKind) bool {
		for i, a := range n.Args[1:] {
			if a != nil {
				want[i+1] = k
			}
			if !of(a, k) {
				return false
			}
		}
		return true
	}
	ok := false
	switch o := n.Op.(type) {
	case op.Pointwise:
		result, ok = pointwiseRole(n, shape, known, want)
	case op.Fill:
		result, ok = Whole, of(n.Results[0], Whole)
	case op.Reduce:
		if ok = slices.Equal(o.Axes, []int{last}) && first(Whole); ok {
			d, _ := kernels.Arithmetic(n.Args[0].Type.DType)
			_, err := stateOf(o.Kind, n.Args[0].Type.DType, d, shape[last])
			result, ok = PerRow, err == nil
		}
	case op.Softmax:
		result, ok = Whole, o.Axis == last && first(Whole)
	case op.LogSoftmax:
		result, ok = Whole, o.Axis == last && first(Whole)
	case op.LayerNormalization:
		result, ok = Whole, o.Axis == last && first(Whole) && rest(PerColumn)
	case op.RMSNormalization:
		result, ok = Whole, o.Axis == last && first(Whole) && rest(PerColumn)
	case op.GatherElements:
		result, ok = PerRow, o.Axis == last && first(Whole) && rest(PerRow)
	case op.ScatterElements:
		result, ok = Whole, o.Axis == last && first(Whole) && rest(PerRow) && (o.Reduction == "" || reductions[o.Reduction] != nil)
	}
	if !ok {
		return NotInRows, nil
	}
	for _, v := range slices.Concat(n.Args, n.Results) {
		if v == nil {
			continue
		}
		if _, ok := kernels.Arithmetic(v.Type.DType); !ok {
			return NotInRows, nil
		}
	}
	for i, a := range n.Args {
		if k := known(a); k != NotInRows && k != want[i] {
			return NotInRows, nil
		}
	}
	return result, want
}

// pointwiseRole is [RowRole] for a pointwise node. It stores the kinds of the operands in want, instead of returning
// them, and reports in the bool whether a kernel can compute n.
func pointwiseRole(n *ir.Node, shape []dim.Dim, known func(v *ir.Value) RowKind, want []RowKind) (RowKind, bool) {
	own := n.Results[0].Type.Shape
	last := len(shape) - 1
	inRows := slices.ContainsFunc(n.Args, func(a *ir.Value) bool { return known(a) == PerRow })
	switch {
	case sameShape(own, shape):
		for i, a := range n.Args {
			if want[i] = broadcastKind(a.Type.Shape, shape); want[i] == NotInRows {
				return NotInRows, false
			}
		}
		return Whole, true
	case inRows && (sameShape(own, shape[:last]) || len(own) == len(shape) && sameShape(own[:last], shape[:last]) && own[last].Equal(dim.Const(1))):
		for i, a := range n.Args {
			switch {
			case sameShape(a.Type.Shape, own):
				want[i] = PerRow
			case isSingle(a.Type.Shape):
				want[i] = Single
			default:
				return NotInRows, false
			}
		}
		return PerRow, true
	}
	return NotInRows, false
}

// broadcastKind returns the kind of an operand of shape s that is broadcast to `shape`.
func broadcastKind(s, shape []dim.Dim) RowKind {
	last, apart := len(shape)-1, len(shape)-len(s)
	switch {
	case sameShape(s, shape):
		return Whole
	case isSingle(s):
		return Single
	case len(s) == 0 || apart < 0:
		return NotInRows
	case isSingle(s[:len(s)-1]) && s[len(s)-1].Equal(shape[last]):
		return PerColumn
	case apart == 0 && s[last].Equal(dim.Const(1)) && sameShape(s[:last], shape[:last]):
		return PerRow
	}
	return NotInRows
}

func isSingle(s []dim.Dim) bool {
	return !slices.ContainsFunc(s, func(d dim.Dim) bool { return !d.Equal(dim.Const(1)) })
}

// Reduces reports whether o reduces rows. The threads of a block compute such a node together, see [RowRole].
func Reduces(o ir.Op) bool {
	switch o.(type) {
	case op.Reduce, op.Softmax, op.LogSoftmax, op.LayerNormalization, op.RMSNormalization:
		return true
	}
	return false
}
