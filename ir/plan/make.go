package plan

import (
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// Make plans the memory of a lowered function, and sets the places of its memory references. A step
// is an operation of the generated code, such as a kernel call. A node has one or more steps.
// refs[n] holds the references of the steps of node n, in the order of the steps. refs[nil] holds
// the references of the steps after the last node. `late` returns true for a symbol that gets its
// value only while the caller of f runs. Make returns an error if a size overflows 64 bits.
func Make(f *ir.Func, late func(symbol string) bool, refs map[*ir.Node][]*Ref) (*Plan, error) {
	p := &planner{
		Plan:    &Plan{Func: f, Places: map[*ir.Value]Place{}, Late: map[string]bool{}, Tailed: map[string]bool{}},
		life:    map[*ir.Value]int{},
		result:  map[*ir.Value]int{},
		shaped:  map[*ir.Value]bool{},
		storage: map[*ir.Value]*storage{},
		offsets: map[*ir.Value]dim.Dim{},
	}
	for _, list := range refs {
		for _, r := range list {
			p.shaped[r.Value] = p.shaped[r.Value] || r.Shaped
		}
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
		p.node(i, n)
		p.scratch(i, refs[n])
	}
	for v, s := range p.storage {
		place := s.place
		place.Offset = p.offsets[v]
		p.Places[v] = place
	}
	for _, list := range refs {
		for _, r := range list {
			if r.Place.Kind == None {
				r.Place = p.Places[r.Value]
				r.Place.Offset = r.Place.Offset.Add(r.Offset)
			}
		}
	}
	if err := p.arena(); err != nil {
		return nil, err
	}
	return p.Plan, nil
}

// storage is memory that one or more values share.
type storage struct {
	place  Place
	dtype  ir.DType // element type in the memory's declaration
	last   int      // last node that reads it
	buffer *Buffer
}

type planner struct {
	*Plan
	life    map[*ir.Value]int  // last node that reads each value
	result  map[*ir.Value]int  // the index of the function's result that each value is, or is a view of
	shaped  map[*ir.Value]bool // see Ref.Shaped
	storage map[*ir.Value]*storage
	offsets map[*ir.Value]dim.Dim // offset of each value in its storage, in elements
	parts   map[*ir.Value]part
}

// lifetimes finds the last reader of each value, and the values that are computed in the caller's
// memory. A value that is read through a view lives as long as the view. If the view is a result of
// the function, the value is computed in the caller's memory for this result, provided that
// [sameMemory] is true for the types of both. The caller cannot provide memory for containers. It
// also cannot provide memory for results whose extents are known only while the function runs.
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

// sameMemory reports whether two types have the same number of elements and the same element type.
// A view can be computed in the caller's memory only then, because this memory is a slice of one
// element type.
func sameMemory(t, u ir.Type) bool { return t.DType == u.DType && t.Elems().Same(u.Elems()) }

func isView(n *ir.Node) bool {
	_, ok := n.Op.(ir.Viewer)
	return ok && len(n.Results) == 1
}

func (p *planner) node(i int, n *ir.Node) {
	switch op := n.Op.(type) {
	case ir.Constant:
		p.storage[n.Results[0]] = &storage{last: math.MaxInt}
		return
	case ir.Load:
		r := n.Results[0]
		p.storage[r] = &storage{place: Place{Kind: Weight, Weight: op.Name}, dtype: r.Type.DType, last: math.MaxInt}
		return
	}
	if isView(n) {
		if s := p.storage[n.Args[0]]; s.views(n.Results[0].Type) {
			p.storage[n.Results[0]], p.offsets[n.Results[0]] = s, p.offsets[n.Args[0]]
			return
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
}

func (p *planner) scratch(i int, refs []*Ref) {
	for _, r := range refs {
		if v := r.Value; r.Access == Scratch && p.storage[v] == nil {
			p.storage[v] = p.fresh(v, i)
		}
	}
}

// views reports whether the storage can be read as t. An arena holds bytes, which can be read as
// any type. Other memory has a fixed element type.
func (s *storage) views(t ir.Type) bool {
	return s.place.Kind == Arena || s.place.Kind != None && s.dtype == t.DType
}

// overwritten returns storage that the first result of n may reuse, or nil. It is the storage of an
// operand that n's operator may overwrite, and that no node after n reads. i is the index of n. If
// another operand has the same storage, it must be the same value, and the operator must be allowed
// to overwrite it too.
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

// fresh returns storage for v, which node i computes. It is the first of these that applies:
//
//   - the storage of the concatenation that v is part of
//   - the caller's memory, if v is a result of the function
//   - a variable, if an arena cannot hold v
//   - a new buffer
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
	if p.shaped[v] || IsHeld(v.Type) {
		return &storage{place: p.variable(v, i), dtype: v.Type.DType, last: math.MaxInt}
	}
	b := p.buffer(v, i)
	return &storage{place: p.at(b), dtype: b.DType, last: i, buffer: b}
}

func (p *planner) variable(v *ir.Value, i int) Place {
	held := &Variable{Name: v.Name, Value: v, Type: v.Type, First: i, Boxed: p.shaped[v]}
	p.Variables = append(p.Variables, held)
	return Place{Kind: Held, Variable: held}
}
