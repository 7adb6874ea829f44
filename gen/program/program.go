// Package program turns a lowered and planned function into the list of steps
// that package emit prints and package exec runs: kernel calls whose arguments
// are places in memory, extents and constants. It does not know Go syntax, nor
// how a kernel is found.
package program

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/plan"
)

// Func is a function as steps.
type Func struct {
	IR    *ir.Func
	Plan  *plan.Plan
	Steps []Step
}

// Step is one thing a function does: a [*Call], [*Loop], [*Invoke], [*Check],
// [*Bind], [*Alloc], [*Hold], [*Resize], [*Branch], [*Repeat] or [*Custom].
type Step interface {
	// At returns the node that the step is of, nil for the copy of a result.
	At() *ir.Node
}

// Ref is the memory of a value, or of a part of it.
type Ref struct {
	Place plan.Place
	DType ir.DType
	Len   ir.Dim // elements
	Value *ir.Value
}

// Call is a call of a kernel. An argument is a *Ref (nil for an absent operand),
// [Scalar], [Pointer], [ir.Dim], []ir.Dim, [ir.Context], [ir.Number], *[Struct], *[Chain],
// []any, bool, string or float64.
type Call struct {
	Node   *ir.Node // nil for a copy of a result
	Kernel string
	Args   []any
}

// Scalar is the first element of a place, passed by value.
type Scalar struct{ Ref *Ref }

// Pointer points to the container that a place holds.
type Pointer struct{ Ref *Ref }

// Struct is a pointer to a composite value of the kernels' package.
type Struct struct {
	Type   string
	Fields []ir.Field // with arguments of a Call as values
}

// Check compares two extents at run time.
type Check struct {
	Node *ir.Node
	A, B ir.Dim
	What string
	One  bool // A may also be 1
}

// Bind gives symbols the values that kernels return, one for each.
type Bind struct {
	Node    *ir.Node
	Symbols []string
	Calls   []*Call
}

// Alloc makes room for a buffer whose size was not known before.
type Alloc struct {
	Node   *ir.Node
	Buffer *plan.Buffer
	Index  int // in the plan's Tails
}

// Hold makes room for strings.
type Hold struct {
	Node     *ir.Node
	Variable *plan.Variable
}

// Resize gives a result of the function the extents that are known by now.
type Resize struct {
	Index int
	Shape []ir.Dim
}

// At returns Node.
func (s *Call) At() *ir.Node { return s.Node }

// At returns Node.
func (s *Check) At() *ir.Node { return s.Node }

// At returns Node.
func (s *Loop) At() *ir.Node { return s.Node }

// At returns Node.
func (s *Bind) At() *ir.Node { return s.Node }

// At returns Node.
func (s *Alloc) At() *ir.Node { return s.Node }

// At returns Node.
func (s *Hold) At() *ir.Node { return s.Node }

// At returns nil.
func (*Resize) At() *ir.Node { return nil }

// build returns the steps of a planned function.
func (c *compiler) build(p *plan.Plan) (*Func, error) {
	b := &builder{compiler: c, plan: p, scratch: map[*ir.Node]int{}}
	f := &Func{IR: p.Func, Plan: p}
	room := allocations(p)
	for i, n := range p.Func.Nodes {
		for _, k := range room[i] {
			if t := p.Tails[k]; t.First > i {
				f.Steps = append(f.Steps, &Alloc{Node: n, Buffer: t, Index: k})
			}
		}
		bind, err := b.bind(n)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", n, err)
		}
		f.Steps = append(f.Steps, bind...)
		for _, k := range room[i] {
			if t := p.Tails[k]; t.First == i {
				f.Steps = append(f.Steps, &Alloc{Node: n, Buffer: t, Index: k})
			}
		}
		for _, v := range p.Variables {
			if v.First == i && v.Type.IsTensor() && !v.Boxed {
				f.Steps = append(f.Steps, &Hold{Node: n, Variable: v})
			}
		}
		steps, err := b.node(n)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", n, err)
		}
		f.Steps = append(f.Steps, steps...)
	}
	for _, c := range p.Copies {
		if r := p.Func.Results[c.To.Index]; p.IsLate(r.Type) {
			f.Steps = append(f.Steps, &Resize{Index: c.To.Index, Shape: r.Type.Shape})
		}
		from := b.ref(c.From)
		to := *from
		to.Place = c.To
		f.Steps = append(f.Steps, copyTo(nil, &to, from))
	}
	return f, nil
}

// allocations returns the tails that are allocated before each node, by the node's index.
// Where several nodes come of one node of the model, as of Resize, a tail of the last is
// allocated as soon as its extents are known and checked: a size that is refused ends the
// function before the others compute anything for it.
func allocations(p *plan.Plan) map[int][]int {
	out := map[int][]int{}
	for k, t := range p.Tails {
		symbols, nodes := t.Elems.Symbols(), p.Func.Nodes
		at, pos := t.First, nodes[t.First].Pos
		for at > 0 && nodes[at-1].Pos == pos && !bindsAny(nodes[at], symbols) && !bindsAny(nodes[at-1], symbols) {
			at--
		}
		for at < t.First && isCheck(nodes[at]) {
			at++
		}
		out[at] = append(out[at], k)
	}
	return out
}

// bindsAny reports whether a node gives one of the symbols its value.
func bindsAny(n *ir.Node, symbols []string) bool {
	o, ok := n.Op.(ir.Binder)
	return ok && slices.ContainsFunc(o.Binds(), func(s string) bool { return slices.Contains(symbols, s) })
}

// isCheck reports whether a node only checks extents, or names a weight or a constant.
func isCheck(n *ir.Node) bool {
	_, check := n.Op.(ir.CheckDim)
	return check || isLeaf(n)
}

type builder struct {
	plan     *plan.Plan
	scratch  map[*ir.Node]int // requests of each node that were given out
	compiler *compiler
}

func (b *builder) ref(v *ir.Value) *Ref {
	if v == nil {
		return nil
	}
	return &Ref{Place: b.plan.Places[v], DType: v.Type.DType, Len: v.Type.Elems(), Value: v}
}

// bind returns the step that binds a node's symbols, if it has any.
func (b *builder) bind(n *ir.Node) ([]Step, error) {
	o, ok := n.Op.(ir.Binder)
	if !ok {
		return nil, nil
	}
	calls, err := o.Measure(n)
	if err != nil || len(calls) == 0 {
		return nil, err
	}
	step := &Bind{Node: n, Symbols: o.Binds()}
	for _, c := range calls {
		args, err := b.args(n, c.Args)
		if err != nil {
			return nil, err
		}
		step.Calls = append(step.Calls, &Call{Node: n, Kernel: c.Kernel, Args: args})
	}
	return []Step{step}, nil
}

func (b *builder) node(n *ir.Node) ([]Step, error) {
	if len(n.Results) == 0 {
		if _, ok := n.Op.(ir.Binder); ok {
			return nil, nil
		}
	}
	switch o := n.Op.(type) {
	case ir.Constant, ir.Load:
		return nil, nil
	case ir.CheckDim:
		return []Step{&Check{Node: n, A: o.A, B: o.B, What: o.What, One: o.One}}, nil
	case ir.Extents:
		args := []any{b.ref(n.Results[0])}
		for _, d := range o.Elems {
			args = append(args, d)
		}
		return []Step{&Call{Node: n, Kernel: "Elements", Args: args}}, nil
	case ir.Invoke:
		s, err := b.invoke(n, o)
		return []Step{s}, err
	case op.If:
		s, err := b.branch(n, o)
		return []Step{s}, err
	case op.Loop:
		s, err := b.repeat(n, o)
		return []Step{s}, err
	case op.Custom:
		return []Step{b.custom(n, o)}, nil
	case op.Pointwise:
		l, err := b.loop(n)
		return []Step{l}, err
	case plan.Joiner:
		if offsets := o.Parts(n); offsets != nil {
			return b.join(n, offsets), nil
		}
	case ir.Viewer:
		if b.plan.IsView(n) {
			return nil, nil
		}
		to, from := b.ref(n.Results[0]), b.ref(n.Args[0])
		from.DType, from.Len = to.DType, to.Len
		return []Step{copyTo(n, to, from)}, nil
	}
	if _, ok := n.Op.(op.Elementwise); ok {
		for _, a := range n.Args {
			if a != nil && !slices.EqualFunc(a.Type.Shape, n.Results[0].Type.Shape, ir.Dim.Equal) {
				return nil, fmt.Errorf("no kernel broadcasts %s", a.Type)
			}
		}
	}
	o, ok := n.Op.(ir.Caller)
	if !ok {
		return nil, fmt.Errorf("no kernel computes it")
	}
	call, err := o.Call(n)
	if err != nil {
		return nil, err
	}
	args, err := b.args(n, call.Args)
	if err != nil {
		return nil, err
	}
	return []Step{&Call{Node: n, Kernel: call.Kernel, Args: args}}, nil
}

// copyTo returns the call that copies a value.
func copyTo(n *ir.Node, to, from *Ref) *Call {
	t := from.Value.Type
	if t.IsTensor() {
		return &Call{Node: n, Kernel: "Copy", Args: []any{to, from}}
	}
	return &Call{Node: n, Kernel: containerCopies[t.Kind][t.Elem.Kind], Args: []any{Pointer{to}, from}}
}

// containerCopies are the kernels that copy containers, by their kind and that of
// their elements.
var containerCopies = map[ir.Kind]map[ir.Kind]string{
	ir.SequenceKind: {ir.TensorKind: "CopySequence", ir.MapKind: "CopyMaps"},
	ir.OptionalKind: {ir.TensorKind: "CopyOptional", ir.SequenceKind: "CopyOptionalSequence"},
	ir.MapKind:      {ir.TensorKind: "CopyMap"},
}

// join copies the operands of a concatenation that were not made in its memory.
func (b *builder) join(n *ir.Node, offsets []ir.Dim) []Step {
	var steps []Step
	whole := b.ref(n.Results[0])
	for i, a := range n.Args {
		from := b.ref(a)
		to := &Ref{Place: whole.Place, DType: from.DType, Len: from.Len, Value: n.Results[0]}
		to.Place.Offset = whole.Place.Offset.Add(offsets[i])
		if !from.Place.Same(to.Place) {
			steps = append(steps, &Call{Node: n, Kernel: "Copy", Args: []any{to, from}})
		}
	}
	return steps
}

func (b *builder) args(n *ir.Node, args []any) ([]any, error) {
	out := make([]any, len(args))
	for i, a := range args {
		v, err := b.arg(n, a)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func (b *builder) arg(n *ir.Node, a any) (any, error) {
	switch a := a.(type) {
	case ir.Out:
		r := n.Results[a]
		if !r.Type.IsTensor() {
			return Pointer{b.ref(r)}, nil
		}
		return b.ref(r), nil
	case ir.In:
		return b.ref(n.Arg(int(a))), nil
	case ir.InScalar:
		return Scalar{b.ref(n.Arg(int(a)))}, nil
	case ir.Scratch:
		place := b.plan.Scratch[n][b.scratch[n]]
		b.scratch[n]++
		return &Ref{Place: place, DType: a.DType, Len: a.Len}, nil
	case ir.Struct:
		s := &Struct{Type: a.Type}
		for _, f := range a.Fields {
			v, err := b.arg(n, f.Value)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.Name, err)
			}
			if !isZero(v) {
				s.Fields = append(s.Fields, ir.Field{Name: f.Name, Value: v})
			}
		}
		return s, nil
	case ir.Chain:
		if a.Region == nil {
			return nil, nil
		}
		return newChain(a.Region)
	case []any:
		return b.args(n, a)
	case int:
		return ir.Const(a), nil
	case []int:
		return ir.Dims(a...), nil
	case ir.Dim, []ir.Dim, ir.Context, ir.Number, bool, string, float64, float32, nil:
		return a, nil
	}
	return nil, fmt.Errorf("a kernel argument cannot be a %T", a)
}

// isZero reports whether a field of a struct need not be given.
func isZero(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case *Ref:
		return v == nil
	case *Chain:
		return v == nil
	case bool:
		return !v
	case float32:
		return math.Float32bits(v) == 0
	case ir.Dim:
		return v.Equal(ir.Dim{})
	case []any:
		return !slices.ContainsFunc(v, func(item any) bool { return !isZero(item) })
	}
	return false
}
