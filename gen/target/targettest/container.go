package targettest

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

var containerTrials = Trials{
	"concat_from_sequence": tryConcatFromSequence,
	"optional":             tryOptional,
	"optional_get_element": tryOptionalGetElement,
	"optional_has_element": tryOptionalHasElement,
	"require":              tryRequire,
	"sequence_at":          trySequenceAt,
	"sequence_construct":   trySequenceConstruct,
	"sequence_erase": func(d *Draw) Trial {
		s, _ := d.sequence()
		return Trial{Op: op.SequenceErase{}, Args: []*ir.Tensor{s, d.index(len(s.Items))}}
	},
	"sequence_insert": trySequenceInsert,
	"sequence_length": func(d *Draw) Trial {
		s, _ := d.sequence()
		return Trial{Op: op.SequenceLength{}, Args: []*ir.Tensor{s}}
	},
	"split_to_sequence": trySplitToSequence,
}

// sequence draws a sequence of tensors, whose extents may differ along some axes. symbols has a
// symbol for each of these axes, and "" for the other axes.
func (d *Draw) sequence() (s *ir.Tensor, symbols []string) {
	t, shape := d.DType(anyTypes), d.Shape(0, 3)
	elem := ir.StaticTensor(t, shape...)
	symbols = make([]string, len(shape))
	for i := range shape {
		if d.Flag("differs") {
			elem.Shape[i], symbols[i] = dim.Any, "e"+string(rune('a'+i))
		}
	}
	var items []*ir.Tensor
	for range d.Int(0, 3, "elements") {
		items = append(items, d.item(elem, shape))
	}
	return ir.SequenceTensor(elem, items...), symbols
}

// item draws an element of type elem for a container. Its extent on axis i is shape[i] if elem.Shape[i] is
// constant, and is drawn from 0 to 4 otherwise.
func (d *Draw) item(elem ir.Type, shape []int) *ir.Tensor {
	shape = slices.Clone(shape)
	for i, e := range elem.Shape {
		if !e.IsConst() {
			shape[i] = d.Int(0, 4, "extent")
		}
	}
	return held(d.Any(elem.DType, shape...))
}

func tryConcatFromSequence(d *Draw) Trial {
	o := op.ConcatFromSequence{NewAxis: d.Flag("new axis")}
	t, shape := d.DType(anyTypes), d.Shape(1, 3)
	elem := ir.StaticTensor(t, shape...)
	for i := range shape {
		if d.Flag("differs") {
			elem.Shape[i] = dim.Any
		}
	}
	rank := len(shape)
	if o.NewAxis {
		rank++
	}
	o.Axis = d.Int(0, rank-1, "axis")
	var items []*ir.Tensor
	for range d.Int(0, 3, "elements") {
		to := slices.Clone(shape)
		if k := o.Axis; !o.NewAxis && !elem.Shape[k].IsConst() {
			to[k] = d.Extent()
		}
		items = append(items, held(d.Any(t, to...)))
	}
	o.Extents = make([]string, rank)
	for i := range o.Extents {
		from := i
		if o.NewAxis && i > o.Axis {
			from--
		}
		if i == o.Axis || !elem.Shape[from].IsConst() {
			o.Extents[i] = "e" + string(rune('a'+i))
		}
	}
	return Trial{Op: o, Args: []*ir.Tensor{ir.SequenceTensor(elem, items...)}, Exact: true}
}

// optional draws an optional, which may be empty. Its element is a tensor or a sequence. symbols are the symbols of
// the axes of its tensors; see [Draw.sequence].
func (d *Draw) optional() (o *ir.Tensor, symbols []string) {
	s, symbols := d.sequence()
	typ, items := s.Type(), []*ir.Tensor{s}
	if d.Flag("of a tensor") {
		typ, items = s.Elem, s.Items[:min(1, len(s.Items))]
	} else if d.Flag("none") {
		items = nil
	}
	return &ir.Tensor{Kind: ir.OptionalKind, Elem: typ, Items: items}, symbols
}

func tryOptional(d *Draw) Trial {
	if s, _ := d.sequence(); d.Flag("sequence") {
		return Trial{Op: op.Optional{}, Args: []*ir.Tensor{s}}
	}
	x := held(d.Any(d.DType(anyTypes), d.Shape(0, 3)...))
	if d.Flag("none") {
		return Trial{Op: op.Optional{Type: ir.OptionalOf(x.Type())}}
	}
	return Trial{Op: op.Optional{}, Args: []*ir.Tensor{x}, Exact: true}
}

func tryOptionalGetElement(d *Draw) Trial {
	x, symbols := d.optional()
	if !x.Elem.IsTensor() {
		symbols = nil
	}
	return Trial{Op: op.OptionalGetElement{Extents: symbols}, Args: []*ir.Tensor{x}, Exact: true}
}

func tryOptionalHasElement(d *Draw) Trial {
	x, _ := d.optional()
	return Trial{Op: op.OptionalHasElement{}, Args: []*ir.Tensor{x}}
}

func trySequenceAt(d *Draw) Trial {
	s, symbols := d.sequence()
	return Trial{Op: op.SequenceAt{Extents: symbols}, Args: []*ir.Tensor{s, d.index(len(s.Items))}, Exact: true}
}

func trySequenceConstruct(d *Draw) Trial {
	t, rank := d.DType(anyTypes), d.Int(0, 3, "rank")
	c := Trial{Op: op.SequenceConstruct{}, Exact: true}
	for range d.Int(0, 3, "operands") {
		c.Args = append(c.Args, d.Any(t, d.Shape(rank, rank)...))
	}
	if len(c.Args) == 0 {
		c.Op = op.SequenceConstruct{DType: t}
	}
	return c
}

func trySequenceInsert(d *Draw) Trial {
	s, _ := d.sequence()
	args := []*ir.Tensor{s, d.item(s.Elem, sizes(s.Elem))}
	if d.Flag("position") {
		args = append(args, d.index(len(s.Items)+1))
	}
	return Trial{Op: op.SequenceInsert{}, Args: args, Exact: true}
}

// sizes returns the extents of t, with 0 for each symbolic extent.
func sizes(t ir.Type) []int {
	shape := make([]int, t.Rank())
	for i, e := range t.Shape {
		shape[i], _ = e.Int()
	}
	return shape
}

func trySplitToSequence(d *Draw) Trial {
	shape := d.Shape(1, 3)
	o := op.SplitToSequence{Axis: d.Int(0, len(shape)-1, "axis"), KeepDims: d.Flag("keep")}
	args := []*ir.Tensor{d.Any(d.DType(anyTypes), shape...)}
	switch t := d.DType(indexTypes); d.Int(0, 2, "lengths") {
	case 0:
		args = append(args, d.Lengths(t, 1, 0, 4).Reshape())
	case 1:
		var parts []int
		for left := shape[o.Axis]; left > 0; left -= parts[len(parts)-1] {
			parts = append(parts, d.Int(0, left, "length"))
			if len(parts) > 8 {
				parts[8] = left
			}
		}
		lengths := ir.NewTensor(t, len(parts))
		for i, n := range parts {
			lengths.SetInt(i, int64(n))
		}
		if len(parts) > 0 && d.Int(0, 9, "not the sum") == 0 {
			lengths.SetInt(0, lengths.Int(0)+1)
		}
		args = append(args, lengths)
	}
	return Trial{Op: o, Args: args, Exact: true}
}

func tryRequire(d *Draw) Trial {
	o := op.Require{Value: d.Flag("value"), What: "what is wrong"}
	return Trial{Op: o, Args: []*ir.Tensor{d.Tensor(ir.Bool)}, Build: func(b *ir.Builder, o ir.Op, args []*ir.Value) []*ir.Value {
		b.Nodes(o, args...)
		return args
	}}
}
