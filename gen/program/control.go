package program

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/plan"
)

// Branch calls one of two functions. A result that is Boxed takes the shape that
// the function gives it; Extents bind symbols to such shapes then.
type Branch struct {
	Node            *ir.Node
	Condition       Scalar
	Then, Otherwise *Invoke
	Extents         []Extent
}

// Extent binds a symbol to an extent of what a variable holds.
type Extent struct {
	Symbol   string
	Variable *plan.Variable
	Axis     int
}

// Repeat calls a function for each trip of a loop.
type Repeat struct {
	Node *ir.Node
	// Counted loops make Trips trips, others at most First of Limit, while the
	// condition holds; both may be nil.
	Counted          bool
	Trips            ir.Dim
	Limit, Condition *Ref
	Callee           *Func
	Base             *Ref
	// Trip, Going and Again are the number of the trip, whether it is made, and
	// whether another is.
	Trip, Going, Again *Ref
	Carried            []Carried
	Scans              []Scan
	// Captured are the function's further operands.
	Captured []*Ref
	Extents  []Extent
}

// Carried is a value that goes from trip to trip: out of First into one of two
// places, and from there into the other, until Result has it.
type Carried struct {
	First, Result, Other *Ref
	// Type is that of a trip's operand, Next that of its result.
	Type, Next ir.Type
	// Varying are the symbols that a trip binds to the operand's extents.
	Varying []Extent
}

// Scan is a result that every trip adds a row to.
type Scan struct {
	Result *Ref
	Row    ir.Type
	// None are the extents of a row while there is none: 0 where they are not known.
	None []ir.Dim
	// Buffer holds a row whose shape only the function knows; it is nil for others.
	Buffer *Ref
}

// At returns Node.
func (s *Branch) At() *ir.Node { return s.Node }

// At returns Node.
func (s *Repeat) At() *ir.Node { return s.Node }

// IsContainer reports whether a reference is to a sequence, an optional or a map.
func (r *Ref) IsContainer() bool { return r.Value != nil && !r.Value.Type.IsTensor() }

// Variable returns what a reference to one refers to, nil for another.
func (r *Ref) Variable() *plan.Variable {
	if r.Place.Kind != plan.Held {
		return nil
	}
	return r.Place.Variable
}

// Boxed reports whether a reference is to a tensor that is held with its shape.
func (r *Ref) Boxed() bool { v := r.Variable(); return v != nil && v.Boxed }

// called returns the call that a block of control flow is.
func called(b *ir.Block) (*ir.Node, string, error) {
	if len(b.Nodes) == 1 {
		if o, ok := b.Nodes[0].Op.(ir.Invoke); ok {
			return b.Nodes[0], o.Func, nil
		}
	}
	return nil, "", fmt.Errorf("its block is no call of a function")
}

func (c *compiler) branchScratch(n *ir.Node) ([]plan.Request, error) {
	var out []plan.Request
	for _, b := range n.Blocks {
		_, name, err := called(b)
		if err != nil {
			return nil, err
		}
		arena, err := c.arenaOf(name)
		if err != nil {
			return nil, err
		}
		out = append(out, arena...)
	}
	// One arena serves both where the larger is known.
	then, ok := out[0].Len.Int64()
	if otherwise, both := out[1].Len.Int64(); ok && both {
		out[0].Len = ir.Const64(max(then, otherwise))
		out = out[:1]
	}
	return out, nil
}

func (b *builder) branch(n *ir.Node, o op.If) (*Branch, error) {
	s := &Branch{Node: n, Condition: Scalar{b.ref(n.Args[0])}, Extents: b.extents(n, o.Extents)}
	arenas := b.plan.Scratch[n]
	for i, into := range []**Invoke{&s.Then, &s.Otherwise} {
		call, name, err := called(n.Blocks[i])
		if err != nil {
			return nil, err
		}
		callee, err := b.compiler.function(name)
		if err != nil {
			return nil, err
		}
		*into = &Invoke{Node: call, Callee: callee, Base: arenaRef(arenas[min(i, len(arenas)-1)], callee)}
		for k, r := range n.Results {
			ref := b.ref(r)
			ref.Len = call.Results[k].Type.Elems()
			(*into).Results = append((*into).Results, ref)
		}
		for _, a := range call.Args {
			(*into).Args = append((*into).Args, b.ref(a))
		}
	}
	return s, nil
}

func arenaRef(p plan.Place, callee *Func) *Ref {
	return &Ref{Place: p, DType: ir.U8, Len: callee.ArenaBytes()}
}

// extents returns the extents of n's results that symbols are bound to.
func (b *builder) extents(n *ir.Node, list []ir.ResultExtent) []Extent {
	var out []Extent
	for _, e := range list {
		out = append(out, Extent{e.Symbol, b.plan.Places[n.Results[e.Result]].Variable, e.Axis})
	}
	return out
}

// repeatScratch asks for the arena of the body, the trip's number and two flags, a
// second place for every carried value, and one for rows of shapes that only the
// body knows.
func (c *compiler) repeatScratch(n *ir.Node, o op.Loop) ([]plan.Request, error) {
	call, name, err := called(n.Blocks[0])
	if err != nil {
		return nil, err
	}
	out, err := c.arenaOf(name)
	if err != nil {
		return nil, err
	}
	for _, d := range []ir.DType{ir.I64, ir.Bool, ir.Bool} {
		out = append(out, plan.Request{Scratch: ir.Scratch{DType: d, Len: ir.Const(1)}})
	}
	carried := len(n.Blocks[0].Params) - 2
	for _, r := range n.Results[:carried] {
		request := plan.Request{Scratch: ir.Scratch{DType: r.Type.DType, Len: r.Type.Elems()}}
		if boxed := boxes(o.Extents, r.Index); boxed || plan.IsHeld(r.Type) {
			request = plan.Request{Held: r.Type, Boxed: boxed}
		}
		out = append(out, request)
	}
	for i := range o.Scans {
		row := call.Results[1+carried+i].Type
		if callee := c.done[name]; callee.Plan.IsLate(callee.IR.Results[1+carried+i].Type) {
			out = append(out, plan.Request{Held: row, Boxed: true})
		}
	}
	return out, nil
}

// boxes reports whether an extent of a result is bound.
func boxes(extents []ir.ResultExtent, result int) bool {
	for _, e := range extents {
		if e.Result == result {
			return true
		}
	}
	return false
}

func (b *builder) repeat(n *ir.Node, o op.Loop) (*Repeat, error) {
	call, name, err := called(n.Blocks[0])
	if err != nil {
		return nil, err
	}
	callee, err := b.compiler.function(name)
	if err != nil {
		return nil, err
	}
	places := b.plan.Scratch[n]
	scratch := func(t ir.Type) *Ref {
		p := places[0]
		places = places[1:]
		return &Ref{Place: p, DType: t.DType, Len: t.Elems(), Value: &ir.Value{Type: t}}
	}
	s := &Repeat{Node: n, Counted: o.Counted, Trips: o.Trips, Callee: callee, Extents: b.extents(n, o.Extents)}
	s.Base, places = arenaRef(places[0], callee), places[1:]
	s.Trip, s.Going, s.Again = scratch(ir.TensorOf(ir.I64)), scratch(ir.TensorOf(ir.Bool)), scratch(ir.TensorOf(ir.Bool))
	first := n.Args
	if !o.Counted {
		s.Limit, s.Condition = b.ref(n.Arg(0)), b.ref(n.Arg(1))
		first = n.Args[min(2, len(n.Args)):]
	}
	params := n.Blocks[0].Params
	carried := len(params) - 2
	for i, p := range params[2:] {
		c := Carried{First: b.ref(first[i]), Result: b.ref(n.Results[i]), Type: p.Type, Next: call.Results[1+i].Type}
		c.Other = scratch(n.Results[i].Type)
		for _, symbol := range o.Varying {
			for axis, d := range p.Type.Shape {
				if p.Type.IsTensor() && d.String() == symbol {
					c.Varying = append(c.Varying, Extent{symbol, c.Result.Variable(), axis})
				}
			}
		}
		s.Carried = append(s.Carried, c)
	}
	for i := range o.Scans {
		scan := Scan{Result: b.ref(n.Results[carried+i]), Row: call.Results[1+carried+i].Type}
		inside := append(call.Op.(ir.Invoke).Binds(), o.Varying...)
		for _, d := range scan.Row.Shape {
			if slices.ContainsFunc(d.Symbols(), func(s string) bool { return slices.Contains(inside, s) }) {
				d = ir.Const(0)
			}
			scan.None = append(scan.None, d)
		}
		if callee.Plan.IsLate(callee.IR.Results[1+carried+i].Type) {
			scan.Buffer = scratch(scan.Row)
		}
		s.Scans = append(s.Scans, scan)
	}
	for _, a := range call.Args[len(params):] {
		s.Captured = append(s.Captured, b.ref(a))
	}
	return s, nil
}
