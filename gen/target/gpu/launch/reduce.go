package launch

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/kernel/elementary"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

var reduce = []entry{
	ends(reduceAxes),
	ends(func(o op.Softmax, n *ir.Node, put store) ([]kernels.Launch, error) {
		return softmax(n, o.Axis, false, put)
	}),
	ends(func(o op.LogSoftmax, n *ir.Node, put store) ([]kernels.Launch, error) {
		return softmax(n, o.Axis, true, put)
	}),
}

// axes divides a tensor into rows.
type axes struct {
	shape []dim.Dim
	// along are the axes of the elements of a row, and over the axes of the rows. Both ascend.
	along, over []int
}

// along divides a tensor of this shape into rows. A row has the elements along the axes in `reduced`. The axes must
// be in ascending order.
func along(shape []dim.Dim, reduced []int) axes {
	a := axes{shape: shape}
	for i := range shape {
		if len(reduced) > 0 && reduced[0] == i {
			a.along, reduced = append(a.along, i), reduced[1:]
		} else {
			a.over = append(a.over, i)
		}
	}
	return a
}

func (a axes) extents(which []int) []dim.Dim {
	out := make([]dim.Dim, len(which))
	for i, k := range which {
		out[i] = a.shape[k]
	}
	return out
}

func (a axes) rows() dim.Dim   { return dim.Product(a.extents(a.over)...) }
func (a axes) length() dim.Dim { return dim.Product(a.extents(a.along)...) }

// columns returns the product `outer` of the extents before the axes that form a row, and the product `inner` of the
// extents after them. ok is true if these axes are adjacent and not the last ones, and inner is unknown or at least
// 32. Any `inner` adjacent elements then belong to different rows.
func (a axes) columns() (outer, inner dim.Dim, ok bool) {
	const fewest = 32
	if len(a.along) == 0 {
		return outer, inner, false
	}
	first, end := a.along[0], a.along[len(a.along)-1]+1
	outer, inner = dim.Product(a.shape[:first]...), dim.Product(a.shape[end:]...)
	n, known := inner.Int()
	return outer, inner, end-first == len(a.along) && end < len(a.shape) && (!known || n >= fewest)
}

// offset returns the index, in the tensor, of element i of a row.
func (a axes) offset(e *kernels.Emitter, row, i *kernel.Value) *kernel.Value {
	at := make([]*kernel.Value, len(a.shape))
	for k, v := range e.Unflatten(row, a.extents(a.over)) {
		at[a.over[k]] = v
	}
	for k, v := range e.Unflatten(i, a.extents(a.along)) {
		at[a.along[k]] = v
	}
	offset := e.Int(0)
	for k, d := range a.shape {
		offset = e.Add(e.Mul(offset, e.Dim(d)), at[k])
	}
	return offset
}

func reduceAxes(o op.Reduce, n *ir.Node, put store) ([]kernels.Launch, error) {
	x := n.Args[0]
	d, ok := kernels.Arithmetic(x.Type.DType)
	if !ok {
		return nil, errNarrow
	}
	a := along(x.Type.Shape, o.Axes)
	state, err := stateOf(o.Kind, x.Type.DType, d, a.length())
	if err != nil {
		return nil, err
	}
	if outer, inner, ok := a.columns(); ok {
		return kernels.ReduceColumns("reduce_"+string(o.Kind), kernels.Columns{
			Outer: outer, Rows: a.length(), Inner: inner, Size: x.Type.DType.Size(),
			Start: func(e *kernels.Emitter) []*kernel.Value { return state.start(e) },
			Add: func(e *kernels.Emitter, s []*kernel.Value, i *kernel.Value) []*kernel.Value {
				return state.add(e, s, e.Read(x).Get(i))
			},
			Join: func(e *kernels.Emitter, s, t []*kernel.Value) []*kernel.Value { return state.join(e, s, t) },
			Store: func(e *kernels.Emitter, column *kernel.Value, s []*kernel.Value) {
				put(e, column, nil, state.end(e, s))
			},
		})
	}
	return one(kernels.Reduce("reduce_"+string(o.Kind), a.rows(), a.length(), kernels.Reduction{
		Start: func(e *kernels.Emitter) []*kernel.Value { return state.start(e) },
		Add: func(e *kernels.Emitter, s []*kernel.Value, row, i *kernel.Value) []*kernel.Value {
			return state.add(e, s, e.Read(x).Get(a.offset(e, row, i)))
		},
		Join:  func(e *kernels.Emitter, s, t []*kernel.Value) []*kernel.Value { return state.join(e, s, t) },
		Store: func(e *kernels.Emitter, row *kernel.Value, s []*kernel.Value) { put(e, row, nil, state.end(e, s)) },
	}))
}

// state holds the functions of a reduction. They work on the state of the reduction so far, which is a list of values
// in registers.
type state struct {
	// start returns the state of no elements.
	start func(e *kernels.Emitter) []*kernel.Value
	// add returns s after the element x.
	add func(e *kernels.Emitter, s []*kernel.Value, x *kernel.Value) []*kernel.Value
	// join returns the state of the elements of s and t.
	join func(e *kernels.Emitter, s, t []*kernel.Value) []*kernel.Value
	// end returns the result.
	end func(e *kernels.Emitter, s []*kernel.Value) *kernel.Value
}

// stateOf returns the functions that compute the reduction `kind` of rows of `length` elements. elem is the type of
// the elements, and d the type in which kernels compute. stateOf returns an error if there is no kernel for kind and
// elem.
func stateOf(kind op.Reduction, elem, d ir.DType, length dim.Dim) (state, error) {
	number := func(x float64) func(e *kernels.Emitter) []*kernel.Value {
		return func(e *kernels.Emitter) []*kernel.Value { return []*kernel.Value{e.Number(d, x)} }
	}
	plus := func(f func(e *kernels.Emitter, x *kernel.Value) *kernel.Value) state {
		return state{
			start: number(0),
			add: func(e *kernels.Emitter, s []*kernel.Value, x *kernel.Value) []*kernel.Value {
				return []*kernel.Value{e.Add(s[0], f(e, x))}
			},
			join: func(e *kernels.Emitter, s, t []*kernel.Value) []*kernel.Value {
				return []*kernel.Value{e.Add(s[0], t[0])}
			},
			end: func(_ *kernels.Emitter, s []*kernel.Value) *kernel.Value { return s[0] },
		}
	}
	same := func(_ *kernels.Emitter, x *kernel.Value) *kernel.Value { return x }
	square := func(e *kernels.Emitter, x *kernel.Value) *kernel.Value { return e.Mul(x, x) }
	magnitude := func(e *kernels.Emitter, x *kernel.Value) *kernel.Value {
		if elem.Class() == ir.Unsigned {
			return x
		}
		return e.Abs(x)
	}
	switch kind {
	case op.ReduceSum:
		return plus(same), nil
	case op.ReduceSumSquare:
		return plus(square), nil
	case op.ReduceL1:
		return plus(magnitude), nil
	case op.ReduceMean:
		s, sum := plus(same), d
		if !d.IsFloat() { // the sum has 64 bits
			if n, ok := length.Int(); !ok || n == 0 {
				return s, fmt.Errorf("a mean of integers over %s elements", length)
			}
			if sum = ir.I64; elem.Class() == ir.Unsigned {
				sum = ir.U64
			}
			s = plus(func(e *kernels.Emitter, x *kernel.Value) *kernel.Value { return e.Convert(sum, x) })
			s.start = func(e *kernels.Emitter) []*kernel.Value { return []*kernel.Value{e.Number(sum, 0)} }
		}
		s.end = func(e *kernels.Emitter, s []*kernel.Value) *kernel.Value {
			return e.Convert(d, e.Div(s[0], e.Convert(sum, e.Dim(length))))
		}
		return s, nil
	case op.ReduceProd:
		s := plus(same)
		s.start = number(1)
		s.add = func(e *kernels.Emitter, s []*kernel.Value, x *kernel.Value) []*kernel.Value {
			return []*kernel.Value{e.Mul(s[0], x)}
		}
		s.join = func(e *kernels.Emitter, s, t []*kernel.Value) []*kernel.Value {
			return []*kernel.Value{e.Mul(s[0], t[0])}
		}
		return s, nil
	case op.ReduceMax, op.ReduceMin:
		return extreme(kind == op.ReduceMax, elem, d), nil
	}
	if !d.IsFloat() {
		return state{}, fmt.Errorf("%s of %s", kind, elem)
	}
	switch kind {
	case op.ReduceL2:
		s := plus(square)
		s.end = func(e *kernels.Emitter, s []*kernel.Value) *kernel.Value { return e.Unary(kernel.Sqrt, s[0]) }
		return s, nil
	case op.ReduceLogSum:
		s := plus(same)
		s.end = func(e *kernels.Emitter, s []*kernel.Value) *kernel.Value { return elementary.Log(e.Builder, s[0]) }
		return s, nil
	case op.ReduceLogSumExp:
		return logSumExp(d), nil
	}
	return state{}, fmt.Errorf("unknown reduction %q", kind)
}

// extreme returns the functions of a maximum if greatest is set, else of a minimum. A NaN makes the
// result NaN.
func extreme(greatest bool, elem, d ir.DType) state {
	pick := func(e *kernels.Emitter, s, t []*kernel.Value) []*kernel.Value {
		x, y := s[0], t[0]
		switch {
		case d == ir.Bool && greatest:
			return []*kernel.Value{e.Or(x, y)}
		case d == ir.Bool:
			return []*kernel.Value{e.And(x, y)}
		}
		better := e.Lt(x, y)
		if greatest {
			better = e.Gt(x, y)
		}
		if d.IsFloat() { // x also if it is NaN, y if that is
			better = e.And(e.Or(better, e.Ne(x, x)), e.Eq(y, y))
		}
		return []*kernel.Value{e.Select(better, x, y)}
	}
	return state{
		start: func(e *kernels.Emitter) []*kernel.Value {
			switch {
			case d == ir.Bool:
				return []*kernel.Value{e.Bool(!greatest)}
			case d.IsFloat() && greatest:
				return []*kernel.Value{e.Float(d, math.Inf(-1))}
			case d.IsFloat():
				return []*kernel.Value{e.Float(d, math.Inf(1))}
			}
			return []*kernel.Value{e.Whole(d, limitOf(elem, !greatest))}
		},
		add: func(e *kernels.Emitter, s []*kernel.Value, x *kernel.Value) []*kernel.Value {
			return pick(e, s, []*kernel.Value{x})
		},
		join: pick,
		end:  func(_ *kernels.Emitter, s []*kernel.Value) *kernel.Value { return s[0] },
	}
}

func limitOf(d ir.DType, largest bool) int64 {
	switch {
	case d.Class() == ir.Unsigned && !largest:
		return 0
	case d.Class() == ir.Unsigned && d.Bits() == 64:
		return -1
	case d.Class() == ir.Unsigned:
		return 1<<d.Bits() - 1
	case largest:
		return math.MaxInt64 >> (64 - d.Bits())
	}
	return math.MinInt64 >> (64 - d.Bits())
}

// logSumExp returns the functions of the reduction log(Σ exp(x)). The state has two numbers: the greatest element so
// far, and the sum of exp(x − greatest) over the elements so far.
func logSumExp(d ir.DType) state {
	// join joins two states; of no elements the greatest is −∞ and the sum 0.
	join := func(e *kernels.Emitter, s, t []*kernel.Value) []*kernel.Value {
		top := extreme(true, d, d).join(e, s[:1], t[:1])[0]
		part := func(s []*kernel.Value) *kernel.Value {
			equal := e.Eq(s[0], top) // also where both are infinite
			return e.Mul(s[1], e.Select(equal, e.Float(d, 1), elementary.Exp(e.Builder, e.Sub(s[0], top))))
		}
		return []*kernel.Value{top, e.Add(part(s), part(t))}
	}
	return state{
		start: func(e *kernels.Emitter) []*kernel.Value {
			return []*kernel.Value{e.Float(d, math.Inf(-1)), e.Float(d, 0)}
		},
		add: func(e *kernels.Emitter, s []*kernel.Value, x *kernel.Value) []*kernel.Value {
			return join(e, s, []*kernel.Value{x, e.Float(d, 1)})
		},
		join: join,
		end: func(e *kernels.Emitter, s []*kernel.Value) *kernel.Value {
			infinite := e.Eq(e.Abs(s[0]), e.Float(d, math.Inf(1)))
			return e.Select(infinite, s[0], e.Add(s[0], elementary.Log(e.Builder, s[1])))
		},
	}
}

// softmax normalises rows along an axis. A first kernel finds, for each row, the greatest element and the sum of the
// exponentials. A second kernel computes the elements. If log is set, the elements are the logarithms of the softmax.
func softmax(n *ir.Node, axis int, log bool, put store) ([]kernels.Launch, error) {
	x := n.Args[0]
	d, ok := kernels.Arithmetic(x.Type.DType)
	if !ok || !d.IsFloat() {
		return nil, errNarrow
	}
	a := along(x.Type.Shape, []int{axis})
	sums := logSumExp(d)
	scratch := &kernels.Scratch{DType: d, Shape: []dim.Dim{a.rows(), dim.Const(2)}}
	first, err := kernels.Reduce("softmax_sums", a.rows(), a.length(), kernels.Reduction{
		Start: sums.start,
		Add: func(e *kernels.Emitter, s []*kernel.Value, row, i *kernel.Value) []*kernel.Value {
			return sums.add(e, s, e.Read(x).Get(a.offset(e, row, i)))
		},
		Join: sums.join,
		Store: func(e *kernels.Emitter, row *kernel.Value, s []*kernel.Value) {
			t, at := e.Scratch(scratch), e.Mul(row, e.Int(2))
			// A distance from an infinite element is not a number.
			infinite := e.Eq(e.Abs(s[0]), e.Float(d, math.Inf(1)))
			t.Set(at, s[0])
			t.Set(e.Add(at, e.Int(1)), e.Select(infinite, e.Float(d, math.NaN()), s[1]))
		},
	})
	if err != nil {
		return nil, err
	}
	second, err := kernels.Map("softmax", x.Type.Shape, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		row := e.Int(0)
		for _, k := range a.over {
			row = e.Add(e.Mul(row, e.Dim(a.shape[k])), at[k])
		}
		t, first := e.Scratch(scratch), e.Mul(row, e.Int(2))
		distance := e.Sub(e.Read(x).Get(i), t.Get(first))
		sum := t.Get(e.Add(first, e.Int(1)))
		if log {
			put(e, i, at, e.Sub(distance, elementary.Log(e.Builder, sum)))
			return
		}
		put(e, i, at, e.Div(elementary.Exp(e.Builder, distance), sum))
	})
	return []kernels.Launch{first, second}, err
}
