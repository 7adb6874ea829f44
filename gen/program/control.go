package program

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/plan"
)

// Branch calls one of two functions. Condition is a bool of one element. Branch calls Then if it is true, and
// Otherwise if it is false. If the called function determines the shape of a result, the result is stored with its
// shape, see [plan.Ref.Boxed]. Extents then binds symbols to extents of these shapes.
type Branch struct {
	Node            *ir.Node
	Condition       *plan.Ref
	Then, Otherwise *Invoke
	Extents         []Extent
}

// Extent binds Symbol to the extent of a tensor along Axis. Ref refers to the variable that holds the tensor and its
// shape.
type Extent struct {
	Symbol string
	Ref    *plan.Ref
	Axis   int
}

// Repeat calls the function Callee in each iteration of a loop. The arguments of the call are Trip, Going, the
// carried values and Captured. The results of the call are Again, the carried values and a row of each scan. Extents
// binds symbols to extents of the loop's results.
type Repeat struct {
	Node *ir.Node
	// Counted loops run Trips iterations. Other loops run while the condition is true, but at most
	// as many iterations as the first element of Limit. Both Limit and Condition may be nil.
	Counted          bool
	Trips            dim.Dim
	Limit, Condition *plan.Ref
	Callee           *Func
	Bases            []*plan.Ref // where the arenas of Callee begin
	// Trip is the index of the current iteration, from 0. Going is true. Again says whether another iteration
	// follows.
	Trip, Going, Again *plan.Ref
	Carried            []Carried
	Scans              []Scan
	// Captured are the remaining operands of the function.
	Captured []*plan.Ref
	Extents  []Extent
}

// Carried is a value that each iteration passes to the next. The first iteration gets the value of
// First. Iterations write their values to Result and Other in turn. At the end of the loop the last
// value is in Result.
type Carried struct {
	First, Result, Other *plan.Ref
	// Type is the type of an iteration's operand, and Next the type of its result.
	Type, Next ir.Type
	// Varying lists the symbols that each iteration binds to extents of the operand.
	Varying []Extent
}

// Scan is a result of a loop. Every iteration appends a row of type Row to it.
type Scan struct {
	Result *plan.Ref
	Row    ir.Type
	// None holds the extents of a row for a loop without iterations. Unknown extents are 0.
	None []dim.Dim
	// Buffer holds a row whose shape the function determines; it is nil for other rows.
	Buffer *plan.Ref
}

// At implements [Step].
func (s *Branch) At() *ir.Node { return s.Node }

// At implements [Step].
func (s *Repeat) At() *ir.Node { return s.Node }

// Refs implements [Step]. It returns the condition, and the operands, results and arenas of the two
// calls.
func (s *Branch) Refs() []*plan.Ref {
	return slices.Concat([]*plan.Ref{s.Condition}, s.Then.Refs(), s.Otherwise.Refs())
}

// Refs implements [Step]. It includes the references of the iterations.
func (s *Repeat) Refs() []*plan.Ref {
	refs := append([]*plan.Ref{s.Limit, s.Condition, s.Trip, s.Going, s.Again}, s.Bases...)
	for _, c := range s.Carried {
		refs = append(refs, c.First, c.Result, c.Other)
	}
	for _, scan := range s.Scans {
		refs = append(refs, scan.Result, scan.Buffer)
	}
	return Present(refs, s.Captured)
}

// called returns the call in a block of control flow, and the name of the function that it calls. The call must be
// the only node in the block. Otherwise called returns an error.
func called(b *ir.Block) (*ir.Node, string, error) {
	if len(b.Nodes) == 1 {
		if o, ok := b.Nodes[0].Op.(ir.Invoke); ok {
			return b.Nodes[0], o.Func, nil
		}
	}
	return nil, "", fmt.Errorf("its block is not a call of a function")
}

func (b *Builder) callee(block *ir.Block) (*ir.Node, *Func, error) {
	call, name, err := called(block)
	if err != nil {
		return nil, nil, err
	}
	f, err := b.compiler.function(name)
	return call, f, err
}

func (b *Builder) branch(n *ir.Node, o op.If) error {
	s := &Branch{Node: n, Condition: b.Read(n.Args[0])}
	for i, into := range []**Invoke{&s.Then, &s.Otherwise} {
		call, callee, err := b.callee(n.Blocks[i])
		if err != nil {
			return err
		}
		*into = &Invoke{Node: call, Callee: callee, Results: b.shaped(n), Args: b.Reads(call.Args)}
		for k, r := range (*into).Results {
			r.Len = call.Results[k].Type.Elems()
		}
	}
	s.Extents = extents(s.Then.Results, o.Extents)
	b.arenasOf(s.Then, s.Otherwise)
	b.Add(s)
	return nil
}

// arenasOf sets the arenas of the two functions of a branch. If the sizes of both arenas are
// constant, the functions share the larger one, because only one of the functions is called.
func (b *Builder) arenasOf(then, otherwise *Invoke) {
	x, y := then.Callee.Arenas(), otherwise.Callee.Arenas()
	m, known := x[0].Int64()
	n, both := y[0].Int64()
	if !known || !both || len(x)+len(y) > 2 {
		then.Bases, otherwise.Bases = b.arenas(then.Callee), b.arenas(otherwise.Callee)
		return
	}
	shared := then.Callee
	if n > m {
		shared = otherwise.Callee
	}
	then.Bases = b.arenas(shared)
	otherwise.Bases = then.Bases
}

func extents(results []*plan.Ref, list []ir.ResultExtent) []Extent {
	var out []Extent
	for _, e := range list {
		out = append(out, Extent{e.Symbol, results[e.Result], e.Axis})
	}
	return out
}

func (b *Builder) repeat(n *ir.Node, o op.Loop) error {
	call, callee, err := b.callee(n.Blocks[0])
	if err != nil {
		return err
	}
	results := b.shaped(n)
	s := &Repeat{Node: n, Counted: o.Counted, Trips: o.Trips, Callee: callee, Extents: extents(results, o.Extents)}
	s.Bases = b.arenas(callee)
	s.Trip, s.Going, s.Again = b.Scratch(ir.TensorOf(ir.I64)), b.Scratch(ir.TensorOf(ir.Bool)), b.Scratch(ir.TensorOf(ir.Bool))
	first := n.Args
	if !o.Counted {
		s.Limit, s.Condition = b.Read(n.Arg(0)), b.Read(n.Arg(1))
		first = n.Args[min(2, len(n.Args)):]
	}
	params := n.Blocks[0].Params
	carried := len(params) - 2
	for i, p := range params[2:] {
		c := Carried{First: b.Read(first[i]), Result: results[i], Type: p.Type, Next: call.Results[1+i].Type}
		c.Other = b.Scratch(n.Results[i].Type)
		c.Other.Shaped = c.Result.Shaped
		for _, symbol := range o.Varying {
			for axis, d := range p.Type.Shape {
				if p.Type.IsTensor() && d.String() == symbol {
					c.Varying = append(c.Varying, Extent{symbol, c.Result, axis})
				}
			}
		}
		s.Carried = append(s.Carried, c)
	}
	for i := range o.Scans {
		scan := Scan{Result: results[carried+i], Row: call.Results[1+carried+i].Type}
		inside := append(call.Op.(ir.Invoke).Binds(), o.Varying...)
		for _, d := range scan.Row.Shape {
			if slices.ContainsFunc(d.Symbols(), func(s string) bool { return slices.Contains(inside, s) }) {
				d = dim.Const(0)
			}
			scan.None = append(scan.None, d)
		}
		if callee.Plan.IsLate(callee.IR.Results[1+carried+i].Type) {
			scan.Buffer = b.Scratch(scan.Row)
			scan.Buffer.Shaped = true
		}
		s.Scans = append(s.Scans, scan)
	}
	s.Captured = b.Reads(call.Args[len(params):])
	b.Add(s)
	return nil
}
