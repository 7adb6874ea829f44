package plan

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
)

// Request is memory that a node asks for beside its results: Scratch, or a variable
// of a type, which is Boxed or not.
type Request struct {
	ir.Scratch
	Held  ir.Type
	Boxed bool
}

// Make plans a lowered function. Symbols of its that are late for its caller are
// told by late. scratch gives the memory that a node asks for beside its results.
// Errors: those of scratch, and sizes that do not fit 64 bits.
func Make(f *ir.Func, late func(symbol string) bool, scratch func(n *ir.Node) ([]Request, error)) (*Plan, error) {
	p := &planner{
		Plan:    &Plan{Func: f, Places: map[*ir.Value]Place{}, Scratch: map[*ir.Node][]Place{}, Late: map[string]bool{}, Tailed: map[string]bool{}},
		life:    map[*ir.Value]int{},
		result:  map[*ir.Value]int{},
		storage: map[*ir.Value]*storage{},
		offsets: map[*ir.Value]ir.Dim{},
	}
	for _, n := range f.Nodes {
		if b, ok := n.Op.(ir.Binder); ok {
			for _, s := range b.Binds() {
				p.Late[s], p.Tailed[s] = true, true
			}
		}
	}
	for _, s := range f.Symbols() {
		if late(s) {
			p.Tailed[s] = true
		}
	}
	p.lifetimes()
	p.findParts()
	for i, v := range f.Params {
		p.storage[v] = &storage{place: Place{Kind: Param, Index: i}, dtype: v.Type.DType, last: math.MaxInt}
	}
	for i, n := range f.Nodes {
		if err := p.node(i, n, scratch); err != nil {
			return nil, fmt.Errorf("%s: %w", n, err)
		}
	}
	p.copies()
	for v, s := range p.storage {
		place := s.place
		place.Offset = p.offsets[v]
		p.Places[v] = place
	}
	if err := p.arena(); err != nil {
		return nil, err
	}
	return p.Plan, nil
}

// storage is memory that one or more values share.
type storage struct {
	place  Place
	dtype  ir.DType // that the memory is declared with
	last   int      // the last node that reads it
	buffer *Buffer
}

type planner struct {
	*Plan
	life    map[*ir.Value]int // the last node that reads a value
	result  map[*ir.Value]int // the result of the function that a value, or a view of it, is
	storage map[*ir.Value]*storage
	offsets map[*ir.Value]ir.Dim // where a value begins in its storage, in elements
	parts   map[*ir.Value]part
}

// lifetimes finds the last reader of every value, and the values that are made
// in the caller's memory. A value that is read through a view lives as long as
// the view, and is the result of the function that the view is. The caller cannot
// give memory for a result of an extent that is known late, nor for a container.
func (p *planner) lifetimes() {
	nodes := p.Func.Nodes
	for k := len(p.Func.Results) - 1; k >= 0; k-- {
		r := p.Func.Results[k]
		p.life[r] = len(nodes)
		if !p.IsLate(r.Type) && r.Type.IsTensor() {
			p.result[r] = k
		}
	}
	for i := len(nodes) - 1; i >= 0; i-- {
		n := nodes[i]
		for _, a := range n.Args {
			if a != nil {
				p.life[a] = max(p.life[a], i)
			}
		}
		for _, b := range n.Blocks {
			for _, v := range b.Captured() {
				p.life[v] = max(p.life[v], i)
			}
		}
		if !isView(n) {
			continue
		}
		a, r := n.Args[0], n.Results[0]
		p.life[a] = max(p.life[a], p.life[r])
		k, ok := p.result[r]
		if _, other := p.result[a]; ok && !other && sameMemory(a.Type, r.Type) {
			p.result[a] = k
		}
	}
}

// sameMemory reports whether two types are laid out alike: for Go too, as
// memory of the caller has one element type.
func sameMemory(t, u ir.Type) bool { return t.DType == u.DType && t.Elems().Same(u.Elems()) }

func isView(n *ir.Node) bool {
	_, ok := n.Op.(ir.Viewer)
	return ok && len(n.Results) == 1
}

// IsView reports whether the result of a node is its operand's memory.
func (p *Plan) IsView(n *ir.Node) bool {
	return isView(n) && p.Places[n.Results[0]].Same(p.Places[n.Args[0]])
}

func (p *planner) node(i int, n *ir.Node, scratch func(n *ir.Node) ([]Request, error)) error {
	switch op := n.Op.(type) {
	case ir.Constant:
		p.storage[n.Results[0]] = &storage{last: math.MaxInt}
		return nil
	case ir.Load:
		r := n.Results[0]
		p.storage[r] = &storage{place: Place{Kind: Weight, Weight: op.Name}, dtype: r.Type.DType, last: math.MaxInt}
		return nil
	}
	if isView(n) {
		if s := p.storage[n.Args[0]]; s.views(n.Results[0].Type) {
			p.storage[n.Results[0]], p.offsets[n.Results[0]] = s, p.offsets[n.Args[0]]
			return nil
		}
	}
	for k, r := range n.Results {
		var s *storage
		if k == 0 {
			s = p.overwritten(i, n)
		}
		if s == nil {
			s = p.fresh(r, i)
		}
		s.last = max(s.last, p.life[r], i)
		if s.buffer != nil {
			s.buffer.Last = s.last
		}
		p.storage[r] = s
		if at, ok := p.parts[r]; ok {
			p.offsets[r] = at.offset
		}
	}
	requests, err := scratch(n)
	if err != nil {
		return err
	}
	for k, r := range requests {
		name := fmt.Sprintf("scratch%d", k+1)
		if len(n.Results) > 0 {
			name = n.Results[0].Name + "." + name
		}
		if r.DType == ir.Invalid {
			p.Scratch[n] = append(p.Scratch[n], p.variable(name, r.Held, i, r.Boxed))
			continue
		}
		p.Scratch[n] = append(p.Scratch[n], p.at(p.buffer(name, r.DType, r.Len, i)))
	}
	return nil
}

// views reports whether the storage can be read as t. The arena is bytes; other
// memory has the element type that it was declared with.
func (s *storage) views(t ir.Type) bool {
	return s.place.Kind == Arena || s.place.Kind != None && s.dtype == t.DType
}

// overwritten returns the storage of an operand that the first result of node i
// may take: one that the operator reads before it writes, that nothing reads
// later, and that is the operand's alone.
func (p *planner) overwritten(i int, n *ir.Node) *storage {
	op, ok := n.Op.(ir.Overwriter)
	r := n.Results[0]
	if _, elsewhere := p.result[r]; !ok || elsewhere || p.isPart(r) {
		return nil
	}
	may := map[int]bool{}
	for _, a := range op.Overwrites() {
		may[a] = true
	}
	for _, a := range op.Overwrites() {
		v := n.Arg(a)
		if v == nil || v.Type.DType.Size() != r.Type.DType.Size() || !v.Type.Elems().Equal(r.Type.Elems()) {
			continue
		}
		s := p.storage[v]
		if s.buffer == nil || s.last != i || !s.buffer.Elems.Equal(v.Type.Elems()) || !s.views(r.Type) {
			continue
		}
		// Another operand in the same memory would be read after it is written,
		// unless it is the same one and is read as this one is.
		shared := false
		for j, other := range n.Args {
			if other != nil && p.storage[other] == s && (other != v || !may[j]) {
				shared = true
			}
		}
		if !shared {
			return s
		}
	}
	return nil
}

// fresh returns new storage for a value that node i makes: the caller's, where
// it is a result of the function, else a buffer.
func (p *planner) fresh(v *ir.Value, i int) *storage {
	if s := p.storage[v]; s != nil {
		return s // a concatenation, one of whose parts was made before
	}
	if part, ok := p.parts[v]; ok {
		s := p.fresh(part.whole, i)
		p.storage[part.whole] = s
		return s
	}
	if k, ok := p.result[v]; ok {
		return &storage{place: Place{Kind: Result, Index: k}, dtype: v.Type.DType, last: math.MaxInt}
	}
	if boxed := isBoxed(v); boxed || IsHeld(v.Type) {
		return &storage{place: p.variable(v.Name, v.Type, i, boxed), dtype: v.Type.DType, last: math.MaxInt}
	}
	b := p.buffer(v.Name, v.Type.DType, v.Type.Elems(), i)
	return &storage{place: p.at(b), dtype: b.DType, last: i, buffer: b}
}

// isBoxed reports whether v is a tensor of a shape that is known only when it is
// made, as that of control flow is: its node binds extents that it does not measure.
func isBoxed(v *ir.Value) bool {
	if v.Def == nil || !v.Type.IsTensor() {
		return false
	}
	b, ok := v.Def.Op.(ir.Binder)
	if !ok {
		return false
	}
	if calls, err := b.Measure(v.Def); err != nil || len(calls) > 0 {
		return false
	}
	bound := map[string]bool{}
	for _, s := range b.Binds() {
		bound[s] = true
	}
	return hasSymbol(v.Type, bound)
}

// variable adds a variable that node i writes first.
func (p *planner) variable(name string, t ir.Type, i int, boxed bool) Place {
	v := &Variable{Name: name, Type: t, First: i, Boxed: boxed}
	p.Variables = append(p.Variables, v)
	return Place{Kind: Held, Variable: v}
}

// copies lists the copies that the function ends with: of results that no node
// wrote to the caller's memory.
func (p *planner) copies() {
	for k, r := range p.Func.Results {
		if place := p.storage[r].place; place.Kind != Result || place.Index != k {
			p.Copies = append(p.Copies, Copy{From: r, To: Place{Kind: Result, Index: k}})
		}
	}
}
