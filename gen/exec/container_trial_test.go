package exec_test

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// containerTrials are of sequences, optionals and control flow.
var containerTrials = map[string]func(*draw) trial{
	"concat_from_sequence": tryConcatFromSequence,
	"optional":             tryOptional,
	"optional_get_element": tryOptionalGetElement,
	"optional_has_element": tryOptionalHasElement,
	"require":              tryRequire,
	"sequence_at":          trySequenceAt,
	"sequence_construct":   trySequenceConstruct,
	"sequence_erase": func(d *draw) trial {
		s, _ := d.sequence()
		return trial{op: op.SequenceErase{}, args: []*ir.Tensor{s, d.index(len(s.Items))}}
	},
	"sequence_insert": trySequenceInsert,
	"sequence_length": func(d *draw) trial {
		s, _ := d.sequence()
		return trial{op: op.SequenceLength{}, args: []*ir.Tensor{s}}
	},
	"split_to_sequence": trySplitToSequence,
}

// sequence draws a sequence of tensors whose extents differ along its axes that
// are symbols.
func (d *draw) sequence() (s *ir.Tensor, symbols []string) {
	t, shape := d.dtype(anyTypes), d.shape(0, 3)
	elem := ir.StaticTensor(t, shape...)
	symbols = make([]string, len(shape))
	for i := range shape {
		if d.flag("differs") {
			elem.Shape[i], symbols[i] = ir.AnyDim, "e"+string(rune('a'+i))
		}
	}
	var items []*ir.Tensor
	for range d.int(0, 3, "elements") {
		items = append(items, d.item(elem, shape))
	}
	return ir.SequenceTensor(elem, items...), symbols
}

// item draws an element of a container.
func (d *draw) item(elem ir.Type, shape []int) *ir.Tensor {
	shape = slices.Clone(shape)
	for i, e := range elem.Shape {
		if !e.IsConst() {
			shape[i] = d.int(0, 4, "extent")
		}
	}
	return held(d.any(elem.DType, shape...))
}

func tryConcatFromSequence(d *draw) trial {
	o := op.ConcatFromSequence{NewAxis: d.flag("new axis")}
	t, shape := d.dtype(anyTypes), d.shape(1, 3)
	elem := ir.StaticTensor(t, shape...)
	for i := range shape {
		if d.flag("differs") {
			elem.Shape[i] = ir.AnyDim
		}
	}
	rank := len(shape)
	if o.NewAxis {
		rank++
	}
	o.Axis = d.int(0, rank-1, "axis")
	var items []*ir.Tensor
	for range d.int(0, 3, "elements") {
		to := slices.Clone(shape)
		if k := o.Axis; !o.NewAxis && !elem.Shape[k].IsConst() {
			to[k] = d.extent()
		}
		items = append(items, held(d.any(t, to...)))
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
	return trial{op: o, args: []*ir.Tensor{ir.SequenceTensor(elem, items...)}, exact: true}
}

// optional draws an optional of a tensor or a sequence, which may be none.
func (d *draw) optional() (o *ir.Tensor, symbols []string) {
	s, symbols := d.sequence()
	typ, items := s.Type(), []*ir.Tensor{s}
	if d.flag("of a tensor") {
		typ, items = s.Elem, s.Items[:min(1, len(s.Items))]
	} else if d.flag("none") {
		items = nil
	}
	return &ir.Tensor{Kind: ir.OptionalKind, Elem: typ, Items: items}, symbols
}

func tryOptional(d *draw) trial {
	if s, _ := d.sequence(); d.flag("sequence") {
		return trial{op: op.Optional{}, args: []*ir.Tensor{s}}
	}
	x := held(d.any(d.dtype(anyTypes), d.shape(0, 3)...))
	if d.flag("none") {
		return trial{op: op.Optional{Type: ir.OptionalOf(x.Type())}}
	}
	return trial{op: op.Optional{}, args: []*ir.Tensor{x}, exact: true}
}

func tryOptionalGetElement(d *draw) trial {
	x, symbols := d.optional()
	if !x.Elem.IsTensor() {
		symbols = nil
	}
	return trial{op: op.OptionalGetElement{Extents: symbols}, args: []*ir.Tensor{x}, exact: true}
}

func tryOptionalHasElement(d *draw) trial {
	x, _ := d.optional()
	return trial{op: op.OptionalHasElement{}, args: []*ir.Tensor{x}}
}

func trySequenceAt(d *draw) trial {
	s, symbols := d.sequence()
	return trial{op: op.SequenceAt{Extents: symbols}, args: []*ir.Tensor{s, d.index(len(s.Items))}, exact: true}
}

func trySequenceConstruct(d *draw) trial {
	t, rank := d.dtype(anyTypes), d.int(0, 3, "rank")
	c := trial{op: op.SequenceConstruct{}, exact: true}
	for range d.int(0, 3, "operands") {
		c.args = append(c.args, d.any(t, d.shape(rank, rank)...))
	}
	if len(c.args) == 0 {
		c.op = op.SequenceConstruct{DType: t}
	}
	return c
}

func trySequenceInsert(d *draw) trial {
	s, _ := d.sequence()
	args := []*ir.Tensor{s, d.item(s.Elem, sizes(s.Elem))}
	if d.flag("position") {
		args = append(args, d.index(len(s.Items)+1))
	}
	return trial{op: op.SequenceInsert{}, args: args, exact: true}
}

// sizes returns the extents of a type that are known, and 0 for others.
func sizes(t ir.Type) []int {
	shape := make([]int, t.Rank())
	for i, e := range t.Shape {
		shape[i], _ = e.Int()
	}
	return shape
}

func trySplitToSequence(d *draw) trial {
	shape := d.shape(1, 3)
	o := op.SplitToSequence{Axis: d.int(0, len(shape)-1, "axis"), KeepDims: d.flag("keep")}
	args := []*ir.Tensor{d.any(d.dtype(anyTypes), shape...)}
	switch t := d.dtype(indexTypes); d.int(0, 2, "lengths") {
	case 0:
		args = append(args, d.lengths(t, 1, 0, 4).Reshape())
	case 1:
		var parts []int
		for left := shape[o.Axis]; left > 0; left -= parts[len(parts)-1] {
			parts = append(parts, d.int(0, left, "length"))
			if len(parts) > 8 {
				parts[8] = left
			}
		}
		lengths := ir.NewTensor(t, len(parts))
		for i, n := range parts {
			lengths.SetInt(i, int64(n))
		}
		if len(parts) > 0 && d.int(0, 9, "not the sum") == 0 {
			lengths.SetInt(0, lengths.Int(0)+1)
		}
		args = append(args, lengths)
	}
	return trial{op: o, args: args, exact: true}
}

func tryRequire(d *draw) trial {
	o := op.Require{Value: d.flag("value"), What: "what is wrong"}
	return trial{op: o, args: []*ir.Tensor{d.tensor(ir.Bool)}, build: func(b *ir.Builder, o ir.Op, args []*ir.Value) []*ir.Value {
		b.Nodes(o, args...)
		return args
	}}
}
