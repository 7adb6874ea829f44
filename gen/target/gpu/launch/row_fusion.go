package launch

import (
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/kernel/elementary"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

// rowFusion emits the kernel of a fusion of nodes on rows, see [RowRole]. A block of threads computes a row: its
// threads reduce the row together, and compute the other results element by element.
type rowFusion struct {
	*kernels.RowGroups
	shape []dim.Dim
	kinds map[*ir.Value]RowKind
	wants map[*ir.Node][]RowKind
	start *kernel.Value // the index of the first element of the row in a tensor
	// fixed has the values that are the same for all elements of the row.
	fixed map[*ir.Value]*kernel.Value
	// about has what the threads found out about the operand of a node, see moments and exponentials.
	about map[*ir.Node][]*kernel.Value
}

// rowsOf returns the launch of a fusion of nodes on rows. It returns an error if a node has no role.
func rowsOf(n *ir.Node, by Options) ([]kernels.Launch, error) {
	block := n.Blocks[0]
	var shape []dim.Dim
	for _, inner := range block.Nodes {
		if Reduces(inner.Op) {
			shape = inner.Args[0].Type.Shape
			break
		}
	}
	kinds, wants := map[*ir.Value]RowKind{}, map[*ir.Node][]RowKind{}
	var names []string
	size := 16
	for _, inner := range block.Nodes {
		kind, operands := RowRole(inner, shape, func(v *ir.Value) RowKind { return kinds[v] })
		if kind == NotInRows {
			return nil, errRows
		}
		wants[inner] = operands
		for _, r := range inner.Results {
			kinds[r] = kind
		}
		if _, ok := inner.Op.(op.Pointwise); !ok {
			names = append(names, ir.OpName(inner.Op))
		} else if list := regionNames(inner); list[0] != "cast" && list[0] != "copy" {
			names = append(names, list...)
		}
	}
	for i, p := range block.Params {
		if sameShape(p.Type.Shape, shape) {
			size = min(size, max(1, n.Args[i].Type.DType.Size()))
		}
	}
	last := len(shape) - 1
	l, err := kernels.RowsInGroups(joined(names...), dim.Product(shape[:last]...), shape[last], size, by.threads(), func(g *kernels.RowGroups) {
		f := &rowFusion{
			RowGroups: g, shape: shape, kinds: kinds, wants: wants, start: g.Mul(g.Index, g.Length),
			fixed: map[*ir.Value]*kernel.Value{}, about: map[*ir.Node][]*kernel.Value{},
		}
		for _, inner := range block.Nodes {
			f.together(inner)
		}
		f.store(block, n)
	})
	for i, a := range l.Args {
		if p := slices.Index(block.Params, a.Read); a.Read != nil && p >= 0 {
			l.Args[i].Read = n.Args[p]
		}
	}
	return one(l, err)
}

// together computes what a row has once for node n: operands and results with one number for the row, and what n
// needs to know of the whole row, such as its sum.
func (f *rowFusion) together(n *ir.Node) {
	for i, a := range n.Args {
		if k := f.wants[n][i]; a != nil && a.Def == nil && f.fixed[a] == nil && (k == PerRow || k == Single) {
			at := f.Int(0)
			if k == PerRow {
				at = f.Index
			}
			f.fixed[a] = f.Read(a).Get(at)
		}
	}
	switch o := n.Op.(type) {
	case op.Pointwise:
		if f.kinds[n.Results[0]] != PerRow {
			return
		}
		in := make([]*kernel.Value, len(n.Args))
		for i, a := range n.Args {
			in[i] = f.fixed[a]
		}
		for i, v := range region(f.Emitter, n.Blocks[0], in) {
			f.fixed[n.Results[i]] = f.Rounded(n.Results[i].Type.DType, v)
		}
	case op.GatherElements:
		lane := &kernels.Lane{Index: place(f.Emitter, f.fixed[n.Args[1]], f.shape[len(f.shape)-1]), Known: map[any]*kernel.Value{}}
		f.fixed[n.Results[0]] = f.at(lane, n.Args[0], Whole)
	case op.Reduce:
		x := n.Args[0]
		d, _ := kernels.Arithmetic(x.Type.DType)
		s, err := stateOf(o.Kind, x.Type.DType, d, f.shape[len(f.shape)-1])
		if err != nil {
			f.Fail("%w", err)
		}
		state := f.fold(x, s.start(f.Emitter), func(state []*kernel.Value, elements []*kernel.Value) []*kernel.Value {
			for _, v := range elements {
				state = s.add(f.Emitter, state, v)
			}
			return state
		}, s.join)
		f.fixed[n.Results[0]] = f.Rounded(n.Results[0].Type.DType, s.end(f.Emitter, state))
	case op.Softmax:
		f.about[n] = f.exponentials(n.Args[0])
	case op.LogSoftmax:
		f.about[n] = f.exponentials(n.Args[0])
	case op.LayerNormalization:
		f.about[n] = f.moments(n.Args[0], o.Epsilon, true)
	case op.RMSNormalization:
		f.about[n] = f.moments(n.Args[0], o.Epsilon, false)
	}
}

// fold combines the elements of x in the row to one state, and returns it. It begins with the state `start`. The
// function `add` adds some elements to a state, and `join` combines two states.
func (f *rowFusion) fold(x *ir.Value, start []*kernel.Value, add func(state, elements []*kernel.Value) []*kernel.Value, join func(e *kernels.Emitter, s, t []*kernel.Value) []*kernel.Value) []*kernel.Value {
	state := f.Fold(start, func(m *kernels.Group, state []*kernel.Value) []*kernel.Value {
		var elements []*kernel.Value
		for _, l := range m.Lanes {
			elements = append(elements, f.at(l, x, Whole))
		}
		return add(state, elements)
	})
	return f.JoinThreads(state, join)
}

// exponentials returns the greatest element m of the row x, the sum of e^(element − m) over its elements, and the
// reciprocal of the sum. The sum is NaN if m is infinite.
func (f *rowFusion) exponentials(x *ir.Value) []*kernel.Value {
	d, _ := kernels.Arithmetic(x.Type.DType)
	sums, top := logSumExp(d), extreme(true, d, d)
	s := f.fold(x, sums.start(f.Emitter), func(state, elements []*kernel.Value) []*kernel.Value {
		most := state[:1]
		for _, v := range elements {
			most = top.add(f.Emitter, most, v)
		}
		return []*kernel.Value{most[0], f.sumExp(most[0], state, elements)}
	}, sums.join)
	infinite := f.Eq(f.Abs(s[0]), f.Float(d, math.Inf(1)))
	sum := f.Select(infinite, f.Float(d, math.NaN()), s[1])
	return []*kernel.Value{s[0], sum, f.Div(f.Float(d, 1), sum)}
}

// sumExp returns the sum of e^(x − most) over numbers x: the elements that a state of [logSumExp] stands for, and
// `elements`.
func (f *rowFusion) sumExp(most *kernel.Value, state, elements []*kernel.Value) *kernel.Value {
	d := most.Type.DType
	part := func(x *kernel.Value) *kernel.Value { // 1 also where both are infinite
		return f.Select(f.Eq(x, most), f.Float(d, 1), elementary.Exp(f.Builder, f.Sub(x, most)))
	}
	sum := f.Mul(state[1], part(state[0]))
	for _, v := range elements {
		sum = f.Add(sum, part(v))
	}
	return sum
}

// moments returns m and 1/√(v + epsilon). m is the mean of the row x, or 0 if centred is false, and v is the mean of
// (element − m)² over the row.
func (f *rowFusion) moments(x *ir.Value, epsilon float64, centred bool) []*kernel.Value {
	d, _ := kernels.Arithmetic(x.Type.DType)
	zero, count := []*kernel.Value{f.Float(d, 0)}, f.Convert(d, f.Length)
	sum := func(term func(v *kernel.Value) *kernel.Value) *kernel.Value {
		return f.Div(f.fold(x, zero, func(state, elements []*kernel.Value) []*kernel.Value {
			for _, v := range elements {
				state = []*kernel.Value{f.Add(state[0], term(v))}
			}
			return state
		}, func(e *kernels.Emitter, s, t []*kernel.Value) []*kernel.Value {
			return []*kernel.Value{e.Add(s[0], t[0])}
		})[0], count)
	}
	mean := zero[0]
	if centred {
		mean = sum(func(v *kernel.Value) *kernel.Value { return v })
	}
	squares := sum(func(v *kernel.Value) *kernel.Value {
		v = f.Sub(v, mean)
		return f.Mul(v, v)
	})
	root := f.Unary(kernel.Sqrt, f.Add(squares, f.Float(d, epsilon)))
	return []*kernel.Value{mean, f.Div(f.Float(d, 1), root)}
}

// at returns the element of v that belongs to element l of the row. kind is the kind of v.
func (f *rowFusion) at(l *kernels.Lane, v *ir.Value, kind RowKind) *kernel.Value {
	if kind == PerRow || kind == Single {
		return f.fixed[v]
	}
	if x := l.Known[v]; x != nil {
		return x
	}
	n := v.Def
	if n == nil {
		i := l.Index
		if kind == Whole {
			i = f.Add(f.start, i)
		}
		l.Known[v] = f.Read(v).Get(i)
		return l.Known[v]
	}
	in := make([]*kernel.Value, len(n.Args))
	for i, a := range n.Args {
		if a != nil {
			in[i] = f.at(l, a, f.wants[n][i])
		}
	}
	var out []*kernel.Value
	switch o := n.Op.(type) {
	case op.Pointwise:
		out = region(f.Emitter, n.Blocks[0], in)
	case op.Fill:
		x, err := number(f.Emitter, o.Value)
		if err != nil {
			f.Fail("%w", err)
		}
		out = []*kernel.Value{x}
	case op.Softmax:
		out = []*kernel.Value{f.Mul(elementary.Exp(f.Builder, f.Sub(in[0], f.about[n][0])), f.about[n][2])}
	case op.LogSoftmax:
		out = []*kernel.Value{f.Sub(f.Sub(in[0], f.about[n][0]), elementary.Log(f.Builder, f.about[n][1]))}
	case op.LayerNormalization, op.RMSNormalization:
		x := f.Mul(f.Sub(in[0], f.about[n][0]), f.about[n][1])
		if scale := n.Arg(1); scale != nil {
			x = f.Mul(x, in[1])
		}
		if bias := n.Arg(2); bias != nil {
			x = f.Add(x, in[2])
		}
		out = []*kernel.Value{x}
	case op.ScatterElements:
		join, err := update(o.Reduction, v.Type.DType)
		if err != nil {
			f.Fail("%w", err)
		}
		memory := func(x *kernel.Value) *kernel.Value { return f.Convert(kernels.Memory(v.Type.DType), x) }
		x := f.Convert(in[0].Type.DType, join(f.Emitter, memory(in[0]), memory(in[2])))
		here := f.Eq(l.Index, place(f.Emitter, in[1], f.shape[len(f.shape)-1]))
		out = []*kernel.Value{f.Select(here, x, in[0])}
	default:
		f.Fail("%s in rows", n.Text())
	}
	for i, r := range n.Results {
		l.Known[r] = f.Rounded(r.Type.DType, out[i])
	}
	return l.Known[v]
}

// store writes the results of the fusion n. They are the results of its block.
func (f *rowFusion) store(block *ir.Block, n *ir.Node) {
	var whole []int
	for i, r := range block.Results {
		if f.kinds[r] == PerRow {
			f.Do(f.Eq(f.Thread(0), f.Int(0)), func() { f.Write(n.Results[i]).Set(f.Index, f.fixed[r]) })
		} else {
			whole = append(whole, i)
		}
	}
	if len(whole) == 0 {
		return
	}
	f.Each(func(m *kernels.Group) {
		for _, l := range m.Lanes {
			for _, i := range whole {
				f.at(l, block.Results[i], Whole)
			}
		}
	}, func(m *kernels.Group) {
		for _, l := range m.Lanes {
			for _, i := range whole {
				f.Write(n.Results[i]).Set(f.Add(f.start, l.Index), f.at(l, block.Results[i], Whole))
			}
		}
	})
}
