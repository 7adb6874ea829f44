package pass

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/runtime/rt"
)

// The names of the functions of a lowered model.
const (
	Forward = "forward" // computes the results from the inputs and the prepared weights
	Prepare = "prepare" // computes the prepared weights from the model's own weights
)

const (
	// inflatedBytes and inflatedBy bound the size of one prepared weight. If a prepared weight is
	// larger than inflatedBytes and more than inflatedBy times as large as its sources, it is
	// computed in each run instead.
	inflatedBytes = 1 << 20
	inflatedBy    = 4
	// roomBytes and roomPerElem bound the size of all prepared weights together. They take at most
	// roomBytes, plus roomPerElem bytes for each element of the model's weights. For each of these
	// elements there is thus room for inflatedBy elements of 32 bits.
	roomBytes   = 64 << 20
	roomPerElem = inflatedBy * 4
	// prepareWork and prepareWorkPerElem bound the number of operations in @prepare. It takes at
	// most prepareWork operations, plus prepareWorkPerElem for each element of the model's weights.
	// For example, a product of the weights and a matrix of 128 columns takes prepareWorkPerElem
	// operations for each weight.
	prepareWork        = 1 << 30
	prepareWorkPerElem = 256
)

// splitPrepare moves nodes that depend only on weights and constants to a new function @prepare. It
// moves them from @forward, and from other functions that load prepared weights. Each result of
// @prepare is named prepared/…, after the largest weight that it is computed from. Views of weights
// are not moved. Nodes that exceed the budgets for memory and work are not moved either.
func splitPrepare(ctx *Context, m *ir.Module) (changed bool, err error) {
	prepare := &ir.Func{Name: Prepare}
	allowed := ctx.allowance(m)
	for _, f := range ctx.prepared(m) {
		s := newSplitter(f, allowed)
		switch {
		case len(s.prepared) == 0:
			continue
		case m.Func(Prepare) != nil:
			return false, fmt.Errorf("@%s is there already", Prepare)
		}
		if err := s.move(m, prepare); err != nil {
			return true, fmt.Errorf("@%s: %w", f.Name, err)
		}
	}
	if len(prepare.Results) == 0 {
		return false, nil
	}
	dropUnread(m, ctx.prepared(m), prepare)
	m.Funcs = append(m.Funcs, prepare)
	return true, nil
}

// dropUnread removes the results of @prepare that no function in `loading` loads. There are such
// results because @prepare returns all results of a node, even if only one is read.
func dropUnread(m *ir.Module, loading []*ir.Func, prepare *ir.Func) {
	read := map[string]bool{}
	for _, f := range loading {
		for n := range f.All() {
			if load, ok := n.Op.(ir.Load); ok {
				read[load.Name] = true
			}
		}
	}
	var results []*ir.Value
	var names []string
	unread := map[string]bool{}
	for i, name := range prepare.ResultNames {
		if read[name] {
			results, names = append(results, prepare.Results[i]), append(names, name)
		} else {
			unread[name] = true
		}
	}
	prepare.Results, prepare.ResultNames = results, names
	m.Weights = slices.DeleteFunc(m.Weights, func(w *ir.Weight) bool { return unread[w.Name] })
}

// allowance is the remaining budget for preparing weights: a number of bytes of prepared weights,
// and a number of operations.
type allowance struct{ bytes, work int64 }

// allowance returns the budgets of memory and work for @prepare. They depend on the number of
// elements of m's weights. Weights that were created by constant folding do not count, because they
// may be large even if the file is small.
func (c *Context) allowance(m *ir.Module) *allowance {
	const most = 1 << 50 // more than any file has; the products still fit an int64
	elems := int64(0)
	for _, w := range m.Weights {
		if c.folded[w.Name] == nil {
			elems = min(elems+min(elemsOf(w.Type), most), most)
		}
	}
	return &allowance{bytes: roomBytes + roomPerElem*elems, work: prepareWork + prepareWorkPerElem*elems}
}

func newSplitter(f *ir.Func, allowed *allowance) *splitter {
	s := &splitter{f: f, allowed: allowed, fixed: map[*ir.Node]bool{}, prepared: map[*ir.Value]bool{}, needed: map[*ir.Node]bool{}}
	known := fixed{}
	for _, n := range f.Nodes {
		s.fixed[n] = len(n.Results) > 0 && known.has(n.Results[0]) && s.affords(n)
	}
	for n := range f.All() {
		for _, b := range n.Blocks {
			s.useAll(b.Results)
		}
		if !s.fixed[n] {
			s.useAll(n.Args)
		}
	}
	s.useAll(f.Results)
	return s
}

func (s *splitter) move(m *ir.Module, prepare *ir.Func) error {
	loads := map[*ir.Value]ir.Load{}
	part, own := &ir.Block{}, &weights{module: m}
	for _, n := range s.f.Nodes {
		if s.needed[n] {
			part.Nodes = append(part.Nodes, n)
		}
		for _, r := range n.Results {
			if s.prepared[r] {
				load := own.add(rt.PreparedPrefix+sourceName(r), r.Type, nil)
				prepare.ResultNames, part.Results = append(prepare.ResultNames, load.Name), append(part.Results, r)
				loads[r] = load
			}
		}
	}
	names := namesOf(prepare)
	part = part.Clone(func(name string) string { return freshName(names, name) })
	prepare.Nodes, prepare.Results = append(prepare.Nodes, part.Nodes...), append(prepare.Results, part.Results...)
	_, err := s.f.Rewrite(func(b *ir.Builder, n *ir.Node) []*ir.Value {
		if len(n.Results) == 0 || !s.prepared[n.Results[0]] {
			return nil
		}
		values := make([]*ir.Value, len(n.Results))
		for i, r := range n.Results {
			values[i] = b.Node(loads[r])
		}
		return values
	})
	s.f.Prune()
	return err
}

type splitter struct {
	f        *ir.Func
	allowed  *allowance
	fixed    map[*ir.Node]bool  // nodes of f, without its blocks' nodes, that may be prepared
	prepared map[*ir.Value]bool // results of @prepare
	needed   map[*ir.Node]bool  // nodes to move to @prepare
}

// affords reports whether n may be prepared: its operands may be prepared, and its results and its
// work are within the budget. If so, affords deducts the work from the budget.
func (s *splitter) affords(n *ir.Node) bool {
	if _, load := n.Op.(ir.Load); load {
		return true
	}
	for _, a := range n.Args {
		if a != nil && !s.fixed[a.Def] {
			return false
		}
	}
	if bytesOf(n.Results) > s.allowed.bytes {
		return false
	}
	if isLeaf(n) {
		return true
	}
	work := n.Work().Total(nil)
	if work > s.allowed.work {
		return false
	}
	s.allowed.work -= work
	return true
}

func (s *splitter) useAll(values []*ir.Value) {
	for _, v := range values {
		s.use(v)
	}
}

// use decides how v is computed. v is an operand of a node that runs each time. use marks v as a
// result of @prepare if v is fixed, within the budget, and not much larger than its sources.
// Otherwise v is computed in each run, and use decides about the operands of v's node.
func (s *splitter) use(v *ir.Value) {
	if v == nil || !s.fixed[v.Def] || s.prepared[v] || isLeaf(v.Def) {
		return
	}
	made := bytesOf(v.Def.Results)
	if _, view := v.Def.Op.(ir.Viewer); view || inflates(v.Def) || made > s.allowed.bytes {
		s.useAll(v.Def.Args)
		return
	}
	s.allowed.bytes -= made
	for _, r := range v.Def.Results {
		s.prepared[r] = true
	}
	s.need(v.Def)
}

func (s *splitter) need(n *ir.Node) {
	if s.needed[n] {
		return
	}
	s.needed[n] = true
	for _, a := range n.Args {
		if a != nil {
			s.need(a.Def)
		}
	}
}

// inflates reports whether the results of n are too large to be stored. They are too large if they
// take more than inflatedBytes, and more than inflatedBy times the memory of n's operands. inflates
// returns false for an [op.Weighed].
func inflates(n *ir.Node) bool {
	if _, ok := n.Op.(op.Weighed); ok {
		return false
	}
	var args []*ir.Value
	for _, a := range n.Args {
		if a != nil {
			args = append(args, a)
		}
	}
	made := bytesOf(n.Results)
	return made > inflatedBytes && made/inflatedBy > bytesOf(args)
}

// bytesOf returns the size of values in bytes. Their types must be static. It returns math.MaxInt64
// if the size overflows. A string counts as one byte.
func bytesOf(values []*ir.Value) int64 {
	total := int64(0)
	for _, v := range values {
		elems, size := elemsOf(v.Type), int64(max(v.Type.DType.Size(), 1))
		if elems > (math.MaxInt64-total)/size {
			return math.MaxInt64
		}
		total += elems * size
	}
	return total
}

// sourceName returns the name of the largest weight that v is computed from. If several are equally
// large, it returns the first. A weight that was made from a constant counts as empty. If v does
// not depend on a weight, sourceName returns v's own name.
func sourceName(v *ir.Value) string {
	name, size, seen := v.Name, -1, map[*ir.Node]bool{}
	var visit func(n *ir.Node)
	visit = func(n *ir.Node) {
		seen[n] = true
		if load, ok := n.Op.(ir.Load); ok {
			elems := 0
			if !isConst(load.Name) {
				elems, _ = load.Type.Elems().Int()
			}
			if elems > size {
				name, size = load.Name, elems
			}
		}
		for _, a := range n.Args {
			if a != nil && !seen[a.Def] {
				visit(a.Def)
			}
		}
	}
	visit(v.Def)
	return name
}

func isConst(name string) bool { return strings.HasPrefix(name, rt.ConstPrefix) }
