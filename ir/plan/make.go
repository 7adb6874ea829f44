package plan

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/runtime/rt"
)

// line is the unit that buffers' sizes are rounded up to, in bytes.
const line = 64

// Make plans a lowered function. scratch gives the memory that a node asks for
// beside its results.
func Make(f *ir.Func, scratch func(n *ir.Node) ([]ir.Scratch, error)) (*Plan, error) {
	p := &planner{
		Plan:    &Plan{Func: f, Places: map[*ir.Value]Place{}, Scratch: map[*ir.Node][]Place{}, Late: map[string]bool{}},
		life:    map[*ir.Value]int{},
		storage: map[*ir.Value]*storage{},
	}
	for _, n := range f.Nodes {
		if b, ok := n.Op.(ir.Binder); ok {
			for _, s := range b.Binds() {
				p.Late[s] = true
			}
		}
	}
	p.lifetimes()
	for i, v := range f.Params {
		p.storage[v] = &storage{place: Place{Kind: Param, Index: i}, last: math.MaxInt}
	}
	for i, n := range f.Nodes {
		if err := p.node(i, n, scratch); err != nil {
			return nil, fmt.Errorf("%s: %w", n, err)
		}
	}
	p.results()
	for v, s := range p.storage {
		place := s.place
		place.Offset = p.offsets[v]
		p.Places[v] = place
	}
	p.layout()
	return p.Plan, nil
}

// storage is memory that one or more values share.
type storage struct {
	place  Place
	last   int // the last node that reads it
	buffer *Buffer
}

type planner struct {
	*Plan
	life    map[*ir.Value]int // the last node that reads a value
	storage map[*ir.Value]*storage
	offsets map[*ir.Value]ir.Dim // where a value begins in its storage, in elements
	// shown maps values to a view of them that is a result of the function.
	shown map[*ir.Value]*ir.Value
	// parts are the operands that live inside the memory of a later concatenation.
	parts map[*ir.Value]part
}

// lifetimes finds the last reader of every value. A value that is read through a
// view lives as long as the view.
func (p *planner) lifetimes() {
	f := p.Func
	p.offsets, p.shown = map[*ir.Value]ir.Dim{}, map[*ir.Value]*ir.Value{}
	for _, r := range f.Results {
		p.life[r] = len(f.Nodes)
	}
	for i, n := range slices.Backward(f.Nodes) {
		for _, a := range n.Args {
			if a == nil {
				continue
			}
			p.life[a] = max(p.life[a], i)
			if isView(n) {
				p.life[a] = max(p.life[a], p.life[n.Results[0]])
				if p.resultIndex(n.Results[0]) >= 0 {
					p.shown[a] = n.Results[0]
				}
			}
		}
	}
	p.findParts()
}

func isView(n *ir.Node) bool {
	_, ok := n.Op.(ir.Viewer)
	return ok && len(n.Results) == 1
}

// IsView reports whether the result of a node is its operand's memory.
func (p *Plan) IsView(n *ir.Node) bool {
	return isView(n) && p.Places[n.Results[0]].Same(p.Places[n.Args[0]])
}

func (p *planner) node(i int, n *ir.Node, scratch func(n *ir.Node) ([]ir.Scratch, error)) error {
	switch op := n.Op.(type) {
	case ir.Constant:
		p.storage[n.Results[0]] = &storage{last: math.MaxInt}
		return nil
	case ir.Load:
		p.storage[n.Results[0]] = &storage{place: Place{Kind: Weight, Weight: op.Name}, last: math.MaxInt}
		return nil
	}
	if isView(n) {
		if at, sure := p.viewed(n); sure {
			p.storage[n.Results[0]], p.offsets[n.Results[0]] = p.storage[n.Args[0]], at
			return nil
		}
	}
	for k, r := range n.Results {
		s := p.overwritten(i, n, k)
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
		b := p.buffer(name, r.DType, r.Len, i)
		p.Scratch[n] = append(p.Scratch[n], p.at(b))
	}
	return nil
}

// viewed returns where a view begins in its operand's storage. A result of the
// function is no view of an operand that is written for it elsewhere.
func (p *planner) viewed(n *ir.Node) (at ir.Dim, ok bool) {
	a := n.Args[0]
	if p.storage[a].place.Kind == None {
		return at, false
	}
	return p.offsets[a], true
}

// overwritten returns the storage of an operand that result k of node i may take:
// one that the operator reads before it writes, that nothing reads later, and
// that is the operand's alone.
func (p *planner) overwritten(i int, n *ir.Node, k int) *storage {
	op, ok := n.Op.(ir.Overwriter)
	if !ok || k > 0 || p.isPart(n.Results[0]) || p.resultIndex(n.Results[0]) >= 0 {
		return nil
	}
	want := bytesOf(n.Results[0].Type)
	for _, a := range op.Overwrites() {
		v := n.Arg(a)
		if v == nil {
			continue
		}
		s := p.storage[v]
		if s.buffer == nil || s.last != i || p.isPart(v) || !s.buffer.Bytes.Equal(roundUp(want)) || !p.offsets[v].Equal(ir.Dim{}) ||
			!bytesOf(v.Type).Equal(want) {
			continue
		}
		// Another operand that shares the storage under another shape would be read
		// after it is written.
		shared := false
		for j, other := range n.Args {
			if other != nil && j != a && other != v && p.storage[other] == s {
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
		return p.whole(part.whole, i)
	}
	if k := p.resultIndex(v); k >= 0 {
		return &storage{place: Place{Kind: Result, Index: k}, last: math.MaxInt}
	}
	return p.buffered(v, i)
}

func (p *planner) buffered(v *ir.Value, i int) *storage {
	b := p.buffer(v.Name, v.Type.DType, v.Type.Elems(), i)
	return &storage{place: p.at(b), last: i, buffer: b}
}

// at returns the place that a whole buffer is.
func (p *planner) at(b *Buffer) Place {
	if p.IsLate(ir.TensorOf(b.DType, b.Elems)) {
		return Place{Kind: Tail, Buffer: b}
	}
	return Place{Kind: Arena, Buffer: b}
}

// resultIndex returns the first result of the function that v is, or that views
// v, or -1. The caller cannot give memory for a result of an extent that is
// known late.
func (p *planner) resultIndex(v *ir.Value) int {
	if p.IsLate(v.Type) {
		return -1
	}
	if k := slices.Index(p.Func.Results, v); k >= 0 {
		return k
	}
	if view, ok := p.shown[v]; ok {
		return p.resultIndex(view)
	}
	return -1
}

func (p *planner) buffer(name string, d ir.DType, elems ir.Dim, i int) *Buffer {
	b := &Buffer{Name: name, DType: d, Elems: elems, Bytes: roundUp(elems.Mul(ir.Const(d.Size()))), First: i, Last: i}
	if p.at(b).Kind == Tail {
		p.Tails = append(p.Tails, b)
	} else {
		p.Buffers = append(p.Buffers, b)
	}
	return b
}

func bytesOf(t ir.Type) ir.Dim { return t.Elems().Mul(ir.Const(t.DType.Size())) }

// roundUp rounds a number of bytes up to whole lines. A multiple of one symbol
// keeps that form: its coefficient is rounded.
func roundUp(bytes ir.Dim) ir.Dim {
	if symbols := bytes.Symbols(); len(symbols) == 1 {
		if coef, rest, ok := bytes.Linear(symbols[0]); ok && rest.Equal(ir.Dim{}) && coef.IsConst() {
			return coef.CeilDiv(ir.Const(line)).Mul(ir.Const(line)).Mul(ir.Sym(symbols[0]))
		}
	}
	return bytes.CeilDiv(ir.Const(line)).Mul(ir.Const(line))
}

// results lists the copies that the function ends with: of results that no node
// wrote to the caller's memory.
func (p *planner) results() {
	for k, r := range p.Func.Results {
		place := p.storage[r].place
		if place.Kind == Result && place.Index == k && p.offsets[r].Equal(ir.Dim{}) {
			continue
		}
		p.Copies = append(p.Copies, Copy{From: r, To: Place{Kind: Result, Index: k}})
	}
}

// layout chooses the arena's mode and the buffers' offsets.
func (p *planner) layout() {
	symbols := map[string]bool{}
	linear := true
	fixed := p.Buffers[:0:0] // buffers of constant size
	scaled := p.Buffers[:0:0]
	for _, b := range p.Buffers {
		list := b.Bytes.Symbols()
		for _, s := range list {
			symbols[s] = true
		}
		if len(list) == 0 {
			fixed = append(fixed, b)
			continue
		}
		scaled = append(scaled, b)
		coef, rest, ok := b.Bytes.Linear(list[0])
		linear = linear && len(list) == 1 && ok && rest.Equal(ir.Dim{}) && coef.IsConst()
	}
	switch {
	case len(scaled) == 0:
		p.Size, p.Live = place(fixed, "")
	case linear && len(symbols) == 1:
		p.Mode, p.Symbol = Scaled, scaled[0].Bytes.Symbols()[0]
		head, headLive := place(fixed, "")
		body, bodyLive := place(scaled, p.Symbol)
		for _, b := range scaled {
			b.Offset = b.Offset.Add(head)
		}
		p.Size, p.Live = head.Add(body), headLive.Add(bodyLive)
	default:
		p.Mode = Dynamic
	}
}

// place gives buffers offsets, in units of symbol when it is not empty, and
// returns the size they take together and the size of the largest live set.
func place(buffers []*Buffer, symbol string) (size, live ir.Dim) {
	n := len(buffers)
	bytes, offsets := make([]int64, n), make([]int64, n)
	first, last := make([]int32, n), make([]int32, n)
	unit := ir.Const(1)
	if symbol != "" {
		unit = ir.Sym(symbol)
	}
	steps := map[int]int64{}
	for i, b := range buffers {
		c := b.Bytes
		if symbol != "" {
			c, _, _ = c.Linear(symbol)
		}
		bytes[i], _ = c.Int64()
		first[i], last[i] = int32(b.First), int32(b.Last)
		for s := b.First; s <= b.Last; s++ {
			steps[s] += bytes[i]
		}
	}
	total := rt.Layout(bytes, first, last, offsets)
	var most int64
	for _, s := range steps {
		most = max(most, s)
	}
	for i, b := range buffers {
		b.Offset = ir.Const64(offsets[i]).Mul(unit)
	}
	return ir.Const64(total).Mul(unit), ir.Const64(most).Mul(unit)
}
