package op

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// importScan imports Scan as a counted [Loop]. The body takes one row of each scanned operand and returns one row
// of each scanned result. At opset 8 the first axis of all tensors is the batch, and an outer loop runs over the
// batch.
func importScan(c ir.Importer) ([]*ir.Value, error) {
	s := scan{c: c}
	scanned, args := c.Int("num_scan_inputs", 0), []*ir.Value{}
	from := 0
	if c.Opset() < 9 {
		from = 1
		if c.Arg(0) != nil {
			return nil, fmt.Errorf("sequence_lens is not supported")
		}
		s.directions = c.Ints("directions", nil)
	} else {
		s.directions, s.axes = c.Ints("scan_input_directions", nil), c.Ints("scan_input_axes", nil)
		s.outDirections, s.outAxes = c.Ints("scan_output_directions", nil), c.Ints("scan_output_axes", nil)
	}
	for i := from; i < c.NumArgs(); i++ {
		v := c.Arg(i)
		if v == nil || !v.Type.IsTensor() {
			return nil, fmt.Errorf("operand %d is not a tensor", i)
		}
		args = append(args, v)
	}
	if scanned < 1 || scanned > len(args) {
		return nil, fmt.Errorf("num_scan_inputs is %d for %d operands", scanned, len(args))
	}
	s.states = len(args) - scanned
	for _, list := range [][]int{s.directions, s.axes} {
		if list != nil && len(list) != scanned {
			return nil, fmt.Errorf("%d axes or directions for %d scanned operands", len(list), scanned)
		}
	}
	if from == 0 {
		return s.build(c.Builder(), args)
	}
	return s.batched(c.Builder(), args)
}

// scan is the state of the import of a Scan. A list of axes or directions may be too short; the missing elements
// are zeros.
type scan struct {
	c                      ir.Importer
	states                 int // operands before the scanned ones
	axes, directions       []int
	outAxes, outDirections []int
}

func (s scan) build(b *ir.Builder, args []*ir.Value) ([]*ir.Value, error) {
	scanned := args[s.states:]
	axes := make([]int, len(scanned))
	for i, v := range scanned {
		axis, err := fromFront(at(s.axes, i), v.Type.Rank())
		if err != nil {
			return nil, err
		}
		axes[i] = axis
		agree(b, v.Type.Shape[axis], scanned[0].Type.Shape[axes[0]], "rows of scanned operands", scanned)
	}
	trips := scanned[0].Type.Shape[axes[0]]
	results, err := loop{
		first: args[:s.states],
		body: func(carried []ir.Type) *ir.Block {
			return b.Block(func(b *ir.Builder) {
				values, condition := bodyParams(b, carried)
				types := carried
				for i, v := range scanned {
					row := b.Node(Gather{Axis: axes[i]}, v, place(b, values[0], trips, at(s.directions, i)))
					values, types = append(values, row), append(types[:len(types):len(types)], row.Type)
				}
				out := b.Inline(s.c.Graph("body", types), values[1:], "")
				b.Return(append([]*ir.Value{condition}, out...)...)
			})
		},
	}.build(b, b.Dims(trips), nil)
	if err != nil {
		return nil, err
	}
	results = slices.Clone(results) // those of the loop's node stay
	for i, v := range results[s.states:] {
		if at(s.outDirections, i) != 0 {
			v = reverse(b, v, 0)
		}
		axis, err := fromFront(at(s.outAxes, i), v.Type.Rank())
		if err != nil {
			return nil, err
		}
		results[s.states+i] = moveFirst(b, v, axis)
	}
	return results, nil
}

// batched appends a loop over the batch, which is the first axis of all tensors. [scan.build] builds the body of
// the loop.
func (s scan) batched(b *ir.Builder, args []*ir.Value) ([]*ir.Value, error) {
	if args[0].Type.Rank() == 0 {
		return nil, fmt.Errorf("%s has no batch", args[0].Type)
	}
	var failed error
	results, err := loop{
		body: func([]ir.Type) *ir.Block {
			return b.Block(func(b *ir.Builder) {
				values, condition := bodyParams(b, nil)
				var rows []*ir.Value
				for _, v := range args {
					rows = append(rows, b.Node(Gather{Axis: 0}, v, values[0]))
				}
				out, err := s.build(b, rows)
				failed = err
				b.Return(append([]*ir.Value{condition}, out...)...)
			})
		},
	}.build(b, b.Dims(args[0].Type.Shape[0]), nil)
	if failed != nil {
		return nil, failed
	}
	return results, err
}

func bodyParams(b *ir.Builder, carried []ir.Type) (values []*ir.Value, condition *ir.Value) {
	values = []*ir.Value{b.Param("trip", ir.TensorOf(ir.I64))}
	condition = b.Param("condition", ir.TensorOf(ir.Bool))
	for _, t := range carried {
		values = append(values, b.Param("carried", t))
	}
	return values, condition
}

// place appends the index of the row that iteration `trip` of a loop reads. It is trip or, if backward is not 0,
// rows − 1 − trip.
func place(b *ir.Builder, trip *ir.Value, rows dim.Dim, backward int) *ir.Value {
	if backward == 0 {
		return trip
	}
	last := b.Node(ir.Extents{Type: ir.TensorOf(ir.I64), Elems: []dim.Dim{rows.Sub(dim.Const(1))}})
	return b.Node(Sub{}, last, trip)
}

func moveFirst(b *ir.Builder, v *ir.Value, to int) *ir.Value {
	if to == 0 {
		return v
	}
	perm := make([]int, 0, v.Type.Rank())
	for i := 1; i < v.Type.Rank(); i++ {
		perm = append(perm, i)
	}
	perm = append(perm[:to:to], append([]int{0}, perm[to:]...)...)
	return b.Node(Transpose{Perm: perm}, v)
}

func at(list []int, i int) int {
	if i < len(list) {
		return list[i]
	}
	return 0
}
