package cpu

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/gen/target/cpu/call"
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/plan"
)

// TileLen is the maximum number of elements in a run of a [Loop] that is not [Loop.Direct]. With a
// few operands, runs of f32 fit the first-level cache.
const TileLen = 1024

// Loop computes a pointwise region: the elementwise operators in the block of Node. For each index of the outer
// dimensions, it calls Body for runs of consecutive indices of the inner dimension. A run has at most Tile elements.
// If the loop is [Loop.Direct], the run is the whole inner dimension.
type Loop struct {
	Node *ir.Node
	// Outer holds the extents of the outer dimensions. Inner is the extent of the innermost
	// dimension, along which results are contiguous.
	Outer    []dim.Dim
	Inner    dim.Dim
	Tile     int
	Operands []LoopOperand
	Results  []*plan.Ref
	// Temps are the runs for values that are passed between calls of Body.
	Temps []*plan.Ref
	Body  []TileCall
}

// LoopOperand is an operand of a [Loop].
type LoopOperand struct {
	Ref *plan.Ref
	// Strides holds the distance, in elements, between consecutive indices of each outer dimension.
	Strides []dim.Dim
	// Period is 0 for an operand that is contiguous along the inner dimension. Otherwise, Period
	// elements are repeated along it, and Tile holds the repeated elements.
	Period int
	Tile   *plan.Ref
}

// At returns the node that the step belongs to.
func (l *Loop) At() *ir.Node { return l.Node }

// Refs returns the operands, their tiles, the results and the temporaries.
func (l *Loop) Refs() []*plan.Ref {
	var refs, tiles []*plan.Ref
	for _, o := range l.Operands {
		refs, tiles = append(refs, o.Ref), append(tiles, o.Tile)
	}
	return program.Present(refs, tiles, l.Results, l.Temps)
}

// Direct reports whether Body is called once for the whole inner dimension, however long it is.
func (l *Loop) Direct() bool {
	if len(l.Body) != 1 || len(l.Temps) > 0 {
		return false
	}
	for _, o := range l.Operands {
		if o.Period > 0 {
			return false
		}
	}
	return true
}

// maxPeriod is the largest extent of a last dimension that [split] merges with the dimension before it.
const maxPeriod = 256

// axis is a dimension of a loop with each operand's stride.
type axis struct {
	extent  dim.Dim
	strides []dim.Dim
}

func (b *builder) loop(n *ir.Node) error {
	axes, err := loopAxes(n)
	if err != nil {
		return err
	}
	outer, inner, periods := split(axes, len(n.Args))
	l := &Loop{Node: n, Inner: inner, Tile: TileLen}
	for _, a := range outer {
		l.Outer = append(l.Outer, a.extent)
	}
	run := func(d ir.DType) *plan.Ref { return b.Scratch(ir.TensorOf(d, dim.Const(TileLen))) }
	for i, v := range n.Args {
		o := LoopOperand{Ref: b.Read(v), Period: periods[i]}
		for _, a := range outer {
			o.Strides = append(o.Strides, a.strides[i])
		}
		if o.Period > 0 {
			o.Tile = run(v.Type.DType)
			l.Tile = min(l.Tile, TileLen/o.Period*o.Period)
		}
		l.Operands = append(l.Operands, o)
	}
	for _, r := range n.Results {
		l.Results = append(l.Results, b.Write(r))
	}
	body, temps, err := compileRegion(n.Blocks[0])
	if err != nil {
		return err
	}
	l.Body = body
	for _, d := range temps {
		l.Temps = append(l.Temps, run(d))
	}
	b.Add(l)
	return nil
}

// loopAxes returns the dimensions of a pointwise node, without dimensions of extent 1. It merges adjacent dimensions
// where [joins] permits. It returns an error unless each extent of an operand is known to be 1 or the extent of the
// result.
func loopAxes(n *ir.Node) ([]axis, error) {
	shape := n.Results[0].Type.Shape
	var axes []axis
	for i, d := range shape {
		if c, ok := d.Int(); ok && c == 1 {
			continue
		}
		a := axis{extent: d}
		for _, v := range n.Args {
			s, err := strideOf(v.Type.Shape, i-len(shape)+v.Type.Rank(), d)
			if err != nil {
				return nil, err
			}
			a.strides = append(a.strides, s)
		}
		axes = append(axes, a)
	}
	joined := axes[:0]
	for _, a := range axes {
		if k := len(joined) - 1; k >= 0 && joins(joined[k], a) {
			joined[k] = axis{joined[k].extent.Mul(a.extent), a.strides}
			continue
		}
		joined = append(joined, a)
	}
	return joined, nil
}

func strideOf(shape []dim.Dim, i int, extent dim.Dim) (dim.Dim, error) {
	if i < 0 {
		return dim.Const(0), nil
	}
	if c, ok := shape[i].Int(); ok && c == 1 {
		return dim.Const(0), nil
	}
	if !shape[i].Equal(extent) {
		return dim.Dim{}, fmt.Errorf("extent %s is not known to be %s", shape[i], extent)
	}
	return dim.Product(shape[i+1:]...), nil
}

// joins reports whether outer and inner can be merged into one dimension: the stride of every operand along outer is
// its stride along inner times the extent of inner.
func joins(outer, inner axis) bool {
	for i, s := range outer.strides {
		if !s.Equal(inner.strides[i].Mul(inner.extent)) {
			return false
		}
	}
	return true
}

// split selects the inner dimension of a loop: the last dimension, or the last two merged into one. It merges them if
// the extent of the last is a constant of at most maxPeriod, unless an operand is constant along the last dimension
// but not along the one before it. outer are the other dimensions. periods has an element for each operand; see
// [LoopOperand].
func split(axes []axis, operands int) (outer []axis, inner dim.Dim, periods []int) {
	periods = make([]int, operands)
	if len(axes) == 0 {
		for i := range periods {
			periods[i] = 0
		}
		return nil, dim.Const(1), periods
	}
	last := axes[len(axes)-1]
	if len(axes) > 1 {
		before := axes[len(axes)-2]
		if p, ok := last.extent.Int(); ok && p <= maxPeriod && periodic(before, last, p, periods) {
			return axes[:len(axes)-2], before.extent.Mul(last.extent), periods
		}
	}
	for i, s := range last.strides {
		periods[i] = 0
		if s.Equal(dim.Const(0)) {
			periods[i] = 1
		}
	}
	return axes[:len(axes)-1], last.extent, periods
}

// periodic sets the periods of operands, see [LoopOperand], along one dimension into which outer and inner are
// merged. p is the extent of inner. periodic returns false if an operand is constant along inner but not along outer,
// because such an operand has no period.
func periodic(outer, inner axis, p int, periods []int) bool {
	zero := dim.Const(0)
	for i, s := range inner.strides {
		switch {
		case s.Equal(zero) && outer.strides[i].Equal(zero):
			periods[i] = 1
		case s.Equal(zero):
			return false
		case outer.strides[i].Equal(zero):
			periods[i] = p
		default:
			periods[i] = 0
		}
	}
	return true
}

// compileRegion compiles the nodes of a region to `body`, calls of vector primitives. It assigns a run of memory to
// the result of every node: the run of a result of the region, or a free temporary. temps has the element types of
// the temporaries. The first result of the region is written last, because it may share memory with an operand.
// compileRegion returns an error if no kernel computes a node, or if a constant is used where a run is needed.
func compileRegion(region *ir.Block) (body []TileCall, temps []ir.DType, err error) {
	where := map[*ir.Value]Tile{}
	left := region.Uses()
	for i, p := range region.Params {
		where[p] = Tile{TileOperand, i}
	}
	var free []int
	for _, n := range region.Nodes {
		if _, ok := n.Op.(ir.Constant); ok {
			continue
		}
		computes, err := call.Of(n)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", n.Text(), err)
		}
		r := n.Results[0]
		for _, a := range n.Args {
			if t, ok := where[a]; ok {
				if left[a]--; left[a] == 0 && t.Kind == TileTemp {
					free = append(free, t.Index)
				}
			}
		}
		where[r] = resultTile(region, r, &free, &temps)
		tc := TileCall{Kernel: computes.Kernel, Instance: computes.Instance, Node: n}
		for _, a := range computes.Args {
			switch a := a.(type) {
			case kernel.Result:
				tc.Args = append(tc.Args, where[r])
			case kernel.Operand:
				t, ok := where[a.Value]
				if !ok {
					return nil, nil, fmt.Errorf("%s: %s is a constant where a run is needed", n.Text(), a.Value)
				}
				tc.Args = append(tc.Args, t)
			default:
				tc.Args = append(tc.Args, a)
			}
		}
		body = append(body, tc)
	}
	var before, after []TileCall
	for i, r := range slices.Backward(region.Results) {
		t, ok := where[r]
		if !ok {
			return nil, nil, fmt.Errorf("%s is a constant", r)
		}
		copies := kernel.Copy(kernel.Result{Value: r}, kernel.Operand{Value: r})
		c := TileCall{Kernel: copies.Kernel, Instance: copies.Instance, Args: []any{Tile{TileResult, i}, t}}
		switch {
		case t == Tile{TileResult, i}:
		case t.Kind == TileOperand && i > 0:
			before = append(before, c)
		default:
			after = append(after, c)
		}
	}
	return slices.Concat(before, body, after), temps, nil
}

// resultTile selects the run for r, the result of a node. It is the run of a result of the region if r is this result
// and may be written before all operands are read. Otherwise it is a temporary of r's type: one of `free`, or a new
// one. The type of a new one is added to temps.
func resultTile(region *ir.Block, r *ir.Value, free *[]int, temps *[]ir.DType) Tile {
	last := region.Nodes[len(region.Nodes)-1].Results[0] == r
	for i, res := range slices.Backward(region.Results) {
		if res == r && (i > 0 || last) {
			return Tile{TileResult, i}
		}
	}
	for k, i := range *free {
		if (*temps)[i] == r.Type.DType {
			*free = append((*free)[:k], (*free)[k+1:]...)
			return Tile{TileTemp, i}
		}
	}
	*temps = append(*temps, r.Type.DType)
	return Tile{TileTemp, len(*temps) - 1}
}
