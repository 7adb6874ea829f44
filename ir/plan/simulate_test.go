package plan_test

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/plan"
	"github.com/burngen/burngen/runtime/rt"
)

// mark is the content of a byte of memory: byte at of the data that write number of produced.
// Memory that was not written holds the zero mark.
type mark struct{ of, at uint32 }

// machine carries out a planned function on marks. It does not know how the plan was made.
type machine struct {
	*plan.Plan
	extents  map[string]int64
	memory   map[any][]mark // by parameter, result, weight, tail and arena
	offsets  map[*plan.Buffer]int64
	contents map[*ir.Value][]mark // what each value has to hold
	step     int
	writers  uint32
}

type memoryName struct {
	kind  plan.Kind
	index int
	name  string
}

// simulate runs a plan with values of the symbols and reports the first error. refs are the scratch
// values of nodes.
func simulate(p *plan.Plan, extents map[string]int64, refs map[*ir.Node][]*plan.Ref) (err error) {
	defer func() {
		if e, ok := recover().(fault); ok {
			err = e
		}
	}()
	m := &machine{Plan: p, extents: extents, memory: map[any][]mark{}, contents: map[*ir.Value][]mark{}}
	m.layout()
	for i, v := range p.Func.Params {
		m.contents[v] = m.made(v.Type)
		m.memory[memoryName{kind: plan.Param, index: i}] = slices.Clone(m.contents[v])
	}
	for k, v := range p.Func.Results {
		m.memory[memoryName{kind: plan.Result, index: k}] = make([]mark, m.bytes(v.Type))
	}
	for i, n := range p.Func.Nodes {
		m.step = i
		m.node(n, refs[n])
	}
	m.step = len(p.Func.Nodes)
	for k, v := range p.Func.Results {
		copy(m.at(plan.Place{Kind: plan.Result, Index: k}, v.Type), m.at(p.Places[v], v.Type))
	}
	for k, v := range p.Func.Results {
		if !slices.Equal(m.memory[memoryName{kind: plan.Result, index: k}], m.contents[v]) {
			failf("result %d is not %s", k, v)
		}
	}
	for i, v := range p.Func.Params {
		if !slices.Equal(m.memory[memoryName{kind: plan.Param, index: i}], m.contents[v]) {
			failf("parameter %s is written", v)
		}
	}
	return nil
}

type fault struct{ error }

func failf(format string, args ...any) { panic(fault{fmt.Errorf(format, args...)}) }

func (m *machine) int(d dim.Dim) int64 {
	v, err := d.Eval(func(s string) (int64, bool) { n, ok := m.extents[s]; return n, ok })
	if err != nil {
		failf("%s: %v", d, err)
	}
	return v
}

func (m *machine) bytes(t ir.Type) int64 { return m.int(t.Elems()) * int64(t.DType.Size()) }

// made returns the marks of a value of a type that something writes.
func (m *machine) made(t ir.Type) []mark {
	m.writers++
	out := make([]mark, m.bytes(t))
	for i := range out {
		out[i] = mark{m.writers, uint32(i)}
	}
	return out
}

// bound returns the node that binds a symbol, -1 for the parameters' symbols.
func (m *machine) bound(symbol string) int {
	return slices.IndexFunc(m.Func.Nodes, func(n *ir.Node) bool {
		b, ok := n.Op.(ir.Binder)
		return ok && slices.Contains(b.Binds(), symbol)
	})
}

// layout checks the buffers and makes the arena.
func (m *machine) layout() {
	count := len(m.Buffers)
	bytes, offsets := make([]int64, count), make([]int64, count)
	first, last := make([]int32, count), make([]int32, count)
	for i, b := range m.Buffers {
		bytes[i], first[i], last[i] = m.int(b.Bytes), int32(b.First), int32(b.Last)
		if need := m.int(b.Elems) * int64(b.DType.Size()); bytes[i] < need || bytes[i]%64 != 0 {
			failf("%s has %d bytes for %d", b.Name, bytes[i], need)
		}
	}
	var size int64
	if m.Mode == plan.Dynamic {
		size = rt.Layout(bytes, first, last, offsets)
	} else {
		size = m.int(m.Size)
		if live := m.int(m.Live); live > size {
			failf("%d bytes for a live set of %d", size, live)
		}
	}
	m.offsets = map[*plan.Buffer]int64{}
	for i, b := range m.Buffers {
		if m.Mode != plan.Dynamic {
			offsets[i] = m.int(b.Offset)
		}
		if o := offsets[i]; o < 0 || o%64 != 0 || o+bytes[i] > size {
			failf("%s lies at %d of %d", b.Name, o, size)
		}
		m.offsets[b] = offsets[i]
	}
	m.memory[memoryName{kind: plan.Arena}] = make([]mark, size)
	for _, b := range m.Tails {
		for _, s := range b.Elems.Symbols() {
			if m.bound(s) > b.First {
				failf("%s is made at node %d, %s at %d", b.Name, b.First, s, m.bound(s))
			}
		}
		m.memory[b] = make([]mark, m.int(b.Elems)*int64(b.DType.Size()))
	}
}

// span is a run of bytes of one memory.
type span struct {
	memory   any
	from, to int64
}

func (s span) meets(t span) bool {
	return s.memory == t.memory && max(s.from, t.from) < min(s.to, t.to)
}

func (m *machine) span(at plan.Place, t ir.Type) span {
	s := span{from: m.int(at.Offset) * int64(t.DType.Size())}
	switch at.Kind {
	case plan.Param, plan.Result:
		if at.Kind == plan.Result && m.IsLate(m.Func.Results[at.Index].Type) && m.step < len(m.Func.Nodes) {
			failf("result %d is written at step %d", at.Index, m.step)
		}
		s.memory = memoryName{kind: at.Kind, index: at.Index}
		values := m.Func.Params
		if at.Kind == plan.Result {
			values = m.Func.Results
		}
		if typ := values[at.Index].Type; typ.DType != t.DType {
			failf("%s of the caller is used as %s", typ, t)
		}
	case plan.Weight:
		s.memory = memoryName{kind: at.Kind, name: at.Weight}
	case plan.Arena:
		s.memory = memoryName{kind: at.Kind}
		s.from += m.offsets[at.Buffer]
	case plan.Tail:
		s.memory = at.Buffer
		if at.Buffer.DType != t.DType {
			failf("%s is used as %s", at.Buffer.DType, t)
		}
	default:
		failf("a value of %s has no memory", t)
	}
	if b := at.Buffer; b != nil && (m.step < b.First || m.step > b.Last) {
		failf("%s is used at step %d, not from %d to %d", b.Name, m.step, b.First, b.Last)
	}
	s.to = s.from + m.bytes(t)
	if s.from < 0 || s.to > int64(len(m.memory[s.memory])) {
		failf("bytes %d to %d of %d", s.from, s.to, len(m.memory[s.memory]))
	}
	return s
}

func (m *machine) at(p plan.Place, t ir.Type) []mark {
	s := m.span(p, t)
	return m.memory[s.memory][s.from:s.to]
}

func (m *machine) node(n *ir.Node, scratch []*plan.Ref) {
	if l, ok := n.Op.(ir.Load); ok {
		name := memoryName{kind: plan.Weight, name: l.Name}
		if m.memory[name] == nil {
			m.memory[name] = m.made(l.Type)
		}
		m.contents[n.Results[0]] = slices.Clone(m.memory[name])
		return
	}
	for _, a := range n.Args {
		if a != nil && !slices.Equal(m.at(m.Places[a], a.Type), m.contents[a]) {
			failf("%s is lost before %s reads it", a, n.Text())
		}
	}
	if _, ok := n.Op.(ir.Viewer); ok {
		a, r := n.Args[0], n.Results[0]
		m.contents[r] = m.contents[a]
		if !m.Places[r].Same(m.Places[a]) {
			m.write(n, scratch, []int{})
			copy(m.at(m.Places[r], r.Type), m.at(m.Places[a], a.Type))
		}
		return
	}
	if o, ok := n.Op.(plan.Joiner); ok && o.Parts(n) != nil {
		m.join(n, o.Parts(n))
		return
	}
	var may []int
	if o, ok := n.Op.(ir.Overwriter); ok {
		may = o.Overwrites()
	}
	m.write(n, scratch, may)
	for _, r := range n.Results {
		m.contents[r] = m.made(r.Type)
		copy(m.at(m.Places[r], r.Type), m.contents[r])
	}
}

// join copies what is not in place yet, as package program does.
func (m *machine) join(n *ir.Node, offsets []dim.Dim) {
	r := n.Results[0]
	whole := m.at(m.Places[r], r.Type)
	for i, a := range n.Args {
		m.contents[r] = append(m.contents[r], m.contents[a]...)
		to := m.Places[r]
		to.Offset = to.Offset.Add(offsets[i])
		if !to.Same(m.Places[a]) {
			m.writable(to, n)
			copy(m.at(to, a.Type), m.at(m.Places[a], a.Type))
		}
	}
	if !slices.Equal(whole, m.contents[r]) {
		failf("%s is not its parts", r)
	}
}

func (m *machine) writable(at plan.Place, n *ir.Node) {
	if at.Kind == plan.Param || at.Kind == plan.Weight {
		failf("%s writes memory of kind %d", n.Text(), at.Kind)
	}
}

// write checks the memory that a node writes. It may be the memory of an operand only if the
// operator allows that, and otherwise must not hold a live value. write also fills the scratch
// memory.
func (m *machine) write(n *ir.Node, scratch []*plan.Ref, may []int) {
	var written []span
	for k, r := range n.Results {
		m.writable(m.Places[r], n)
		to := m.span(m.Places[r], r.Type)
		for i, a := range n.Args {
			if a == nil {
				continue
			}
			from := m.span(m.Places[a], a.Type)
			sized := a.Type.DType.Size() == r.Type.DType.Size() && from == to
			if from.meets(to) && !(k == 0 && slices.Contains(may, i) && sized) {
				failf("%s writes %s over operand %d", n.Text(), r, i)
			}
		}
		written = append(written, to)
	}
	for i, q := range scratch {
		t := q.Value.Type
		if !q.Place.Same(m.Places[q.Value]) {
			failf("scratch %d of %s is not where its value is", i, n.Text())
		}
		to := m.span(q.Place, t)
		for _, a := range n.Args {
			if a != nil && m.span(m.Places[a], a.Type).meets(to) {
				failf("scratch %d of %s meets %s", i, n.Text(), a)
			}
		}
		written = append(written, to)
		copy(m.at(q.Place, t), m.made(t))
	}
	for i, s := range written {
		for _, t := range written[:i] {
			if s.meets(t) {
				failf("%s writes the same memory twice", n.Text())
			}
		}
	}
}
