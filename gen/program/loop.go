package program

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
)

// TileLen is the largest number of elements in a run of a [Loop]: with a few
// operands, runs of f32 stay in the first-level cache.
const TileLen = 1024

// Loop computes a pointwise region: for every place of the outer dimensions,
// over runs of at most Tile elements of the inner one, it calls Body.
type Loop struct {
	Node *ir.Node
	// Outer are the extents of the outer dimensions, Inner is the extent of the
	// innermost, over which results are contiguous.
	Outer    []ir.Dim
	Inner    ir.Dim
	Tile     int
	Operands []LoopOperand
	Results  []*Ref
	// Temps are the runs that hold what lives between two calls of Body.
	Temps []*Ref
	Body  []TileCall
}

// LoopOperand is an operand of a [Loop].
type LoopOperand struct {
	Ref *Ref
	// Strides are the elements from one place of an outer dimension to the next.
	Strides []ir.Dim
	// Period is 0 for an operand that is contiguous along the inner dimension.
	// Otherwise that many elements repeat along it; Tile holds them repeated.
	Period int
	Tile   *Ref
}

// Direct reports whether one call does for a whole run of the inner dimension,
// however long it is.
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

// maxPeriod is the largest number of elements that are repeated to fill a run.
const maxPeriod = 256

// axis is a dimension of a loop with each operand's stride.
type axis struct {
	extent  ir.Dim
	strides []ir.Dim
}

func (b *builder) loop(n *ir.Node) (*Loop, error) {
	axes, err := loopAxes(n)
	if err != nil {
		return nil, err
	}
	outer, inner, periods := split(axes, len(n.Args))
	l := &Loop{Node: n, Inner: inner, Tile: TileLen}
	for _, a := range outer {
		l.Outer = append(l.Outer, a.extent)
	}
	scratch := b.plan.Scratch[n]
	next := func(d ir.DType) *Ref {
		place := scratch[b.scratch[n]]
		b.scratch[n]++
		return &Ref{Place: place, DType: d, Len: ir.Const(TileLen)}
	}
	for i, v := range n.Args {
		o := LoopOperand{Ref: b.ref(v), Period: periods[i]}
		for _, a := range outer {
			o.Strides = append(o.Strides, a.strides[i])
		}
		if o.Period > 0 {
			o.Tile = next(v.Type.DType)
			l.Tile = min(l.Tile, TileLen/o.Period*o.Period)
		}
		l.Operands = append(l.Operands, o)
	}
	for _, r := range n.Results {
		l.Results = append(l.Results, b.ref(r))
	}
	body, temps, err := compileRegion(n.Blocks[0])
	if err != nil {
		return nil, err
	}
	l.Body = body
	for _, d := range temps {
		l.Temps = append(l.Temps, next(d))
	}
	return l, nil
}

// LoopScratch returns the element types of the runs that a pointwise node needs
// besides its operands and results.
func LoopScratch(n *ir.Node) ([]ir.DType, error) {
	axes, err := loopAxes(n)
	if err != nil {
		return nil, err
	}
	_, _, periods := split(axes, len(n.Args))
	var out []ir.DType
	for i, p := range periods {
		if p > 0 {
			out = append(out, n.Args[i].Type.DType)
		}
	}
	_, temps, err := compileRegion(n.Blocks[0])
	return append(out, temps...), err
}

// loopAxes returns the dimensions of a pointwise node, those of extent 1 left
// out and neighbours that every operand walks as one joined.
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

func strideOf(shape []ir.Dim, i int, extent ir.Dim) (ir.Dim, error) {
	if i < 0 {
		return ir.Const(0), nil
	}
	if c, ok := shape[i].Int(); ok && c == 1 {
		return ir.Const(0), nil
	}
	if !shape[i].Equal(extent) {
		return ir.Dim{}, fmt.Errorf("extent %s is not known to be %s", shape[i], extent)
	}
	return ir.Product(shape[i+1:]...), nil
}

// joins reports whether every operand walks outer and then inner as one.
func joins(outer, inner axis) bool {
	for i, s := range outer.strides {
		if !s.Equal(inner.strides[i].Mul(inner.extent)) {
			return false
		}
	}
	return true
}

// split chooses the inner dimension of a loop: the last, or the last two when
// the last is short and each operand either runs through both, repeats over the
// first, or stays. It returns each operand's period.
func split(axes []axis, operands int) (outer []axis, inner ir.Dim, periods []int) {
	periods = make([]int, operands)
	if len(axes) == 0 {
		for i := range periods {
			periods[i] = 0
		}
		return nil, ir.Const(1), periods
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
		if s.Equal(ir.Const(0)) {
			periods[i] = 1
		}
	}
	return axes[:len(axes)-1], last.extent, periods
}

// periodic fills the periods of operands over two dimensions as one, the last of
// extent p. It reports false when an operand stays over the last only.
func periodic(before, last axis, p int, periods []int) bool {
	zero := ir.Const(0)
	for i, s := range last.strides {
		switch {
		case s.Equal(zero) && before.strides[i].Equal(zero):
			periods[i] = 1
		case s.Equal(zero):
			return false
		case before.strides[i].Equal(zero):
			periods[i] = p
		default:
			periods[i] = 0
		}
	}
	return true
}

// compileRegion gives every node of a region a run for its result: a result's
// own, or a temporary that is free. It returns the calls and the element types
// of the temporaries. The memory of the first result may be that of an operand:
// it is written last.
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
		call, err := n.Op.(ir.Caller).Call(n)
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
		tc := TileCall{Kernel: call.Kernel, Node: n}
		for _, a := range call.Args {
			switch a := a.(type) {
			case ir.Out:
				tc.Args = append(tc.Args, where[r])
			case ir.In:
				t, ok := where[n.Args[a]]
				if !ok {
					return nil, nil, fmt.Errorf("%s: %s is a constant where a run is needed", n.Text(), n.Args[a])
				}
				tc.Args = append(tc.Args, t)
			case int:
				tc.Args = append(tc.Args, ir.Const(a))
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
		c := TileCall{Kernel: "Copy", Args: []any{Tile{TileResult, i}, t}}
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

// resultTile chooses where a node's result goes.
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
