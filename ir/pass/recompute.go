package pass

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/plan"
)

// Remat selects which values a training function computes again in the backward pass, instead of
// keeping them from the forward pass. This is gradient checkpointing; see Chen et al., "Training
// Deep Nets with Sublinear Memory Cost", 2016.
type Remat uint8

// These are the modes of recomputing. The results of a function are the same in all modes, to the
// last bit.
const (
	RematAuto Remat = iota // recompute values that take about as long to compute as to store and load
	RematAll               // also recompute products, convolutions and the like
	RematNone              // recompute nothing
)

var rematNames = [...]string{RematAuto: "auto", RematAll: "all", RematNone: "none"}

// String returns r as written in flags.
func (r Remat) String() string { return rematNames[r] }

// Set sets r from "none", "auto" or "all". It returns an error for another text.
func (r *Remat) Set(text string) error {
	i := slices.Index(rematNames[:], text)
	if i < 0 {
		return fmt.Errorf("none, auto or all expected")
	}
	*r = Remat(i)
	return nil
}

// Recomputed says how many values of a function are recomputed, and how much memory this saves.
type Recomputed struct {
	Func   string
	Values int // number of values that are computed again
	// Before and After are the sizes of Func's arena in bytes, if every symbolic extent is
	// RematExtent. They do not count the arenas of outlined functions that Func calls. IsScaled
	// reports whether there are symbolic extents.
	Before, After int64
	IsScaled      bool
}

// RematExtent is the value that symbolic extents are assumed to have when sizes are compared.
const RematExtent = 32

const (
	// maxRecomputed is the maximum number of nodes that are computed again for one value. At most
	// maxRecomputedBound of these nodes are not memory-bound. A value that needs more nodes is
	// kept.
	maxRecomputed, maxRecomputedBound = 24, 4
	// maxRecopies is the maximum number of copies of a memory-bound node. A node that is not
	// memory-bound is copied at most once, so that recomputing takes no longer than the forward
	// pass.
	maxRecopies = 2
	// minSaved is a fraction of the memory in use at the peak. A value that is smaller than this is
	// not recomputed.
	minSaved = 1.0 / 256
	// maxRecomputeTries is the maximum number of values that are tried to lower one peak. If they
	// do not lower it, recomputing ends.
	maxRecomputeTries = 12
	// maxRecomputeRounds is the maximum number of values that are recomputed in a function.
	maxRecomputeRounds = 2048
)

// isMemoryBound reports whether a node spends most of its time on memory accesses. A node that
// draws random numbers is not memory-bound: it is faster to keep a mask of bytes than to draw the
// numbers again.
func isMemoryBound(n *ir.Node) bool {
	_, bound := n.Op.(op.MemoryBound)
	return bound || isViewer(n)
}

func isViewer(n *ir.Node) bool {
	_, ok := n.Op.(ir.Viewer)
	return ok && len(n.Results) == 1
}

// AtExtent evaluates d with every symbol set to RematExtent. It returns 0 if the result is not
// defined.
func AtExtent(d dim.Dim) int64 {
	v, err := d.Eval(func(string) (int64, bool) { return RematExtent, true })
	if err != nil {
		return 0
	}
	return v
}

// Recompute reduces the memory of f, and returns the number of values that it recomputes. The peak
// is the node at which most memory is in use. Recompute chooses a value that is computed before the
// peak and read only after it. It does not keep this value, but computes it again before the first
// reader after the peak. An operand that is no longer in memory there is computed again too, or
// kept if that still saves memory. Recompute repeats this until the peak cannot be lowered. Nodes
// that draw random numbers are never computed again.
func Recompute(ctx *Context, f *ir.Func, mode Remat) (values int, err error) {
	err = ir.Try(func() {
		r := &recomputer{f: f, b: ir.NewBuilder(f), mode: mode, ctx: ctx, origin: map[*ir.Node]*ir.Node{}, copies: map[*ir.Node]int{}}
		for values < maxRecomputeRounds && r.round() {
			values++
		}
	})
	if err != nil || values == 0 {
		return values, err
	}
	_, err = fuseLoops(ctx, f)
	return values, err
}

type recomputer struct {
	f      *ir.Func
	b      *ir.Builder
	mode   Remat
	origin map[*ir.Node]*ir.Node // the node that a copy was made of
	copies map[*ir.Node]int      // number of copies of each original node
	ctx    *Context
}

// life records when the memory of values is in use.
type life struct {
	at    map[*ir.Node]int        // index of each node
	root  map[*ir.Value]*ir.Value // for each view, the value whose memory it shares
	bytes map[*ir.Value]int64     // size of each root in the arena
	last  map[*ir.Value]int       // index of the last reader of each root in the arena
	live  []int64                 // bytes in use at each node
	peak  int                     // index of the node at which most memory is in use
}

func lives(f *ir.Func) *life {
	l := &life{at: map[*ir.Node]int{}, root: map[*ir.Value]*ir.Value{}, bytes: map[*ir.Value]int64{}, last: map[*ir.Value]int{}}
	read := func(v *ir.Value, i int) {
		if r := l.root[v]; r != nil {
			l.last[r] = i
		}
	}
	for i, n := range f.Nodes {
		l.at[n] = i
		for _, a := range n.Args {
			read(a, i)
		}
		for _, b := range n.Blocks {
			for _, v := range b.Captured() {
				read(v, i)
			}
		}
		if isViewer(n) {
			if r := l.root[n.Args[0]]; r != nil {
				l.root[n.Results[0]] = r
			}
			continue
		}
		if n.IsStored() {
			continue
		}
		for _, v := range n.Results {
			if v.Type.IsTensor() && !plan.IsHeld(v.Type) {
				l.root[v], l.last[v], l.bytes[v] = v, i, AtExtent(v.Type.Elems().Mul(dim.Const(v.Type.DType.Size())))
			}
		}
	}
	for _, v := range f.Results { // are in the caller's memory
		if r := l.root[v]; r != nil {
			l.last[r], l.bytes[r] = len(f.Nodes), 0
		}
	}
	change := make([]int64, len(f.Nodes)+2)
	for v, size := range l.bytes {
		from := l.at[v.Def]
		if l.overwrites(v) {
			from++
		}
		if from <= l.last[v] {
			change[from] += size
			change[l.last[v]+1] -= size
		}
	}
	l.live = make([]int64, len(f.Nodes))
	var now int64
	for i := range l.live {
		now += change[i]
		if l.live[i] = now; now > l.live[l.peak] {
			l.peak = i
		}
	}
	return l
}

// overwrites reports whether v is computed in the memory of an operand that no later node reads.
func (l *life) overwrites(v *ir.Value) bool {
	o, ok := v.Def.Op.(ir.Overwriter)
	if !ok || v.Index > 0 {
		return false
	}
	for _, i := range o.Overwrites() {
		r := l.root[v.Def.Arg(i)]
		if r != nil && l.bytes[r] == l.bytes[v] && l.last[r] == l.at[v.Def] {
			return true
		}
	}
	return false
}

type again struct {
	value  *ir.Value
	before int        // index of the first node that reads it again
	nodes  []*ir.Node // the nodes to compute again, in order
	bound  int        // number of nodes that are not memory-bound
	gain   int64      // bytes saved at the peak
	cost   int64      // bytes that the nodes read and write
}

// round recomputes one value so that less memory is in use at the peak. The peak is the node at
// which most memory is in use. round reports whether it found such a value.
func (r *recomputer) round() bool {
	l := lives(r.f)
	if len(l.live) == 0 {
		return false
	}
	most := l.live[l.peak]
	var list []*again
	readers := r.readers(l)
	for v, size := range l.bytes {
		if l.at[v.Def] < l.peak && l.last[v] > l.peak && l.last[v] < len(r.f.Nodes) && float64(size) > minSaved*float64(most) {
			if a := r.again(l, v, readers); a != nil && float64(a.gain) > minSaved*float64(most) {
				list = append(list, a)
			}
		}
	}
	slices.SortFunc(list, func(a, b *again) int {
		return cmp.Or(cmp.Compare(a.bound, b.bound), cmp.Compare(b.score(), a.score()), cmp.Compare(l.at[a.value.Def], l.at[b.value.Def]))
	})
	for _, a := range list[:min(len(list), maxRecomputeTries)] {
		at := r.f.Nodes[l.peak]
		undo := r.apply(l, a)
		now := lives(r.f)
		if now.live[now.peak] <= most && now.live[now.at[at]] < most {
			return true
		}
		undo()
	}
	return false
}

// score returns the bytes of memory that recomputing saves, divided by the bytes that it reads and
// writes.
func (a *again) score() float64 { return float64(a.gain) / float64(a.cost+1) }

// readers maps each value with memory of its own to the index of its first reader after node
// l.peak. It leaves out values that node l.peak itself reads, and values that are captured by a
// block of this node or of a later one.
func (r *recomputer) readers(l *life) map[*ir.Value]int {
	first := map[*ir.Value]int{}
	never := map[*ir.Value]bool{}
	for i, n := range r.f.Nodes[l.peak:] {
		for _, a := range n.Args {
			if v := l.root[a]; v != nil && !isViewer(n) {
				if _, known := first[v]; !known {
					first[v] = l.peak + i
				}
			}
		}
		for _, b := range n.Blocks {
			for _, v := range b.Captured() {
				never[l.root[v]] = true
			}
		}
	}
	for v, i := range first {
		if i == l.peak || never[v] {
			delete(first, v)
		}
	}
	return first
}

// again returns how to compute v again before its first reader after the peak of l. It returns nil
// if that is not possible, or would take too many nodes. readers is the result of
// [recomputer.readers].
func (r *recomputer) again(l *life, v *ir.Value, readers map[*ir.Value]int) *again {
	before, ok := readers[v]
	if !ok || !r.may(v.Def) {
		return nil
	}
	a := &again{value: v, before: before, gain: l.bytes[v]}
	seen := map[*ir.Node]bool{}
	kept := map[*ir.Value]bool{}
	var need func(n *ir.Node)
	need = func(n *ir.Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		a.nodes = append(a.nodes, n)
		if !isMemoryBound(n) {
			a.bound++
		}
		if len(a.nodes) > maxRecomputed {
			return
		}
		for _, x := range append(slices.Clone(n.Args), n.Results...) {
			if x != nil && !isViewer(n) {
				a.cost += AtExtent(x.Type.Elems().Mul(dim.Const(x.Type.DType.Size())))
			}
		}
		for _, x := range n.Args {
			root := l.root[x]
			switch {
			case root == nil || l.last[root] >= before:
			case l.bytes[root]*8 > l.bytes[v] && r.may(root.Def) && !r.least(l, root, before):
				for x != root { // the views
					need(x.Def)
					x = x.Def.Args[0]
				}
				need(root.Def)
			case !kept[root]:
				kept[root] = true
				if l.last[root] < l.peak {
					a.gain -= l.bytes[root]
				}
			}
		}
	}
	need(v.Def)
	if len(a.nodes) > maxRecomputed || a.bound > maxRecomputedBound {
		return nil
	}
	slices.SortFunc(a.nodes, func(m, n *ir.Node) int { return l.at[m] - l.at[n] })
	return a
}

// least reports whether it is better to keep v than to recompute it at node number `until`. It is
// better if an operand of v is no longer in memory at this node, cannot be recomputed, and takes at
// least as much memory as v. For example, a mask is kept instead of the random numbers that it is
// computed from.
func (r *recomputer) least(l *life, v *ir.Value, until int) bool {
	return slices.ContainsFunc(v.Def.Args, func(x *ir.Value) bool {
		root := l.root[x]
		return root != nil && l.last[root] < until && !r.may(root.Def) && l.bytes[root] >= l.bytes[v]
	})
}

// may reports whether a node can be computed again. The node must have one result. It must not be a
// copy itself, and must not have blocks of control flow. A memory-bound node may have up to
// maxRecopies copies, and a view any number. Any other node may have one copy, and only in mode
// RematAll.
func (r *recomputer) may(n *ir.Node) bool {
	if n == nil || r.origin[n] != nil || len(n.Results) != 1 {
		return false
	}
	for _, b := range n.Blocks {
		if !isFused(n.Op) || len(b.Captured()) > 0 {
			return false
		}
	}
	if isMemoryBound(n) {
		return isViewer(n) || r.copies[n] < maxRecopies
	}
	if r.mode != RematAll || r.copies[n] > 0 {
		return false
	}
	_, binder := n.Op.(ir.Binder)
	return !binder && isPure(n.Op) && r.ctx.Target.Computes(n) == nil
}

// apply inserts copies of a.nodes before the node with index a.before. That node and all later
// nodes then read the copy of a.value. undo reverts this.
func (r *recomputer) apply(l *life, a *again) (undo func()) {
	nodes := slices.Clone(a.nodes)
	old := r.f.Nodes
	copied := map[*ir.Value]bool{a.value: true}
	for _, n := range old[:a.before] { // views that are read later
		if isViewer(n) && copied[n.Args[0]] {
			copied[n.Results[0]] = true
			if !slices.Contains(nodes, n) {
				nodes = append(nodes, n)
			}
		}
	}
	slices.SortFunc(nodes, func(m, n *ir.Node) int { return l.at[m] - l.at[n] })
	block := (&ir.Block{Nodes: nodes}).Clone(r.b.Name)
	with := map[*ir.Value]*ir.Value{}
	for i, c := range block.Nodes {
		r.origin[c] = nodes[i]
		r.copies[nodes[i]]++
		if v := nodes[i].Results[0]; copied[v] {
			with[v] = c.Results[0]
		}
	}
	changed := map[*ir.Node][]*ir.Value{}
	for _, n := range old[a.before:] {
		if slices.ContainsFunc(n.Args, func(v *ir.Value) bool { return with[v] != nil }) {
			changed[n] = slices.Clone(n.Args)
			for i, v := range n.Args {
				if with[v] != nil {
					n.Args[i] = with[v]
				}
			}
		}
	}
	r.f.Nodes = slices.Insert(slices.Clone(old), a.before, block.Nodes...)
	r.f.Prune() // views that nothing reads
	return func() {
		r.f.Nodes = old
		for n, args := range changed {
			copy(n.Args, args)
		}
		for i, c := range block.Nodes {
			delete(r.origin, c)
			r.copies[nodes[i]]--
		}
	}
}
