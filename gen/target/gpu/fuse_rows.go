package gpu

import (
	"slices"

	"github.com/burngen/burngen/gen/target/gpu/launch"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
)

// FuseRows is the pass that fuses norms, softmax and sums along the last axis with the elementwise operators around
// them. They become one [op.Fusion], which one launch computes. A block of threads reads a row once. The fusion's
// results are the values that other nodes use.
var FuseRows = pass.Pass{Name: "fuse_rows", Run: fuseRows}

const (
	// maxRowNodes is the maximum number of nodes of a group. maxRowValues is the maximum number of operands and
	// results together of a group that becomes a fusion.
	maxRowNodes, maxRowValues = 40, 12
	// shortRow is the maximum length of a row for which one thread is faster than a block of threads.
	shortRow = 64
)

func fuseRows(ctx *pass.Context, m *ir.Module) (bool, error) {
	changed := false
	for _, f := range m.Funcs {
		if f.Name == pass.Prepare { // the CPU's kernels compute it
			continue
		}
		r := &rowGroups{f: f, index: map[*ir.Node]int{}, of: map[*ir.Node]*rowGroup{}, after: map[*ir.Node]map[*rowGroup]bool{}}
		for i, n := range f.Nodes {
			r.index[n] = i
			r.visit(n)
		}
		r.shareOperands()
		count := r.replace()
		ctx.Count(pass.FusedChains, count)
		changed = changed || count > 0
	}
	return changed, nil
}

// rowGroups divides the nodes of a function into groups. A kernel may compute all nodes of a group.
type rowGroups struct {
	f     *ir.Func
	index map[*ir.Node]int // the indices of the nodes in the function
	of    map[*ir.Node]*rowGroup
	// after has, for each node x, the groups g such that x depends on a result of g, and x or a node on the way from
	// g to x is not in g. Some of these groups may have joined others and have no nodes.
	after map[*ir.Node]map[*rowGroup]bool
}

// rowGroup is a group of nodes on the rows of tensors of one shape.
type rowGroup struct {
	shape []dim.Dim
	nodes []*ir.Node // in the order of the function
	kinds map[*ir.Value]launch.RowKind
}

// visit adds a node to a group of nodes that compute its operands. It merges other groups of the operands into this
// group where [rowGroups.joins] permits. If no group takes the node, but the node can be in a group, visit starts a
// group with it.
func (r *rowGroups) visit(n *ir.Node) {
	after := map[*rowGroup]bool{}
	r.after[n] = after
	var groups []*rowGroup
	for _, v := range readBy(n) {
		if v.Def == nil {
			continue
		}
		for g := range r.after[v.Def] {
			after[g] = true
		}
		if g := r.of[v.Def]; g != nil && !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	var own *rowGroup
	for _, g := range groups {
		if after[g] {
			continue
		}
		if own == nil {
			if g.takes(n) {
				own = g
			}
			continue
		}
		if r.joins(own, g, n) {
			r.join(own, g)
		}
	}
	for _, g := range groups {
		if g != own && len(g.nodes) > 0 {
			after[g] = true
		}
	}
	if own == nil {
		if len(n.Results) == 0 {
			return
		}
		shape := n.Results[0].Type.Shape
		if launch.Reduces(n.Op) {
			shape = n.Args[0].Type.Shape
		}
		own = &rowGroup{shape: shape, kinds: map[*ir.Value]launch.RowKind{}}
		if !own.isLong() || !own.takes(n) {
			return
		}
	}
	own.add(n)
	r.of[n] = own
}

// isLong reports whether a block of threads should compute each row of the shape. The rank must be at least 2, and
// the number of columns must be unknown or more than shortRow.
func (g *rowGroup) isLong() bool {
	if len(g.shape) < 2 {
		return false
	}
	n, ok := g.shape[len(g.shape)-1].Int()
	return !ok || n > shortRow
}

func (g *rowGroup) takes(n *ir.Node) bool {
	if len(g.nodes) == maxRowNodes {
		return false
	}
	kind, _ := launch.RowRole(n, g.shape, func(v *ir.Value) launch.RowKind { return g.kinds[v] })
	return kind != launch.NotInRows
}

func (g *rowGroup) add(n *ir.Node) {
	kind, _ := launch.RowRole(n, g.shape, func(v *ir.Value) launch.RowKind { return g.kinds[v] })
	for _, v := range n.Results {
		g.kinds[v] = kind
	}
	g.nodes = append(g.nodes, n)
}

// joins reports whether the nodes of two groups can be one group. If n is not nil, the group would also have n.
func (r *rowGroups) joins(a, b *rowGroup, n *ir.Node) bool {
	if len(a.shape) != len(b.shape) || !slices.EqualFunc(a.shape, b.shape, dim.Dim.Equal) || len(a.nodes)+len(b.nodes) >= maxRowNodes {
		return false
	}
	if n != nil {
		kind, _ := launch.RowRole(n, a.shape, func(v *ir.Value) launch.RowKind { return max(a.kinds[v], b.kinds[v]) })
		if kind == launch.NotInRows {
			return false
		}
	}
	apart := func(x, y *rowGroup) bool {
		return !slices.ContainsFunc(x.nodes, func(n *ir.Node) bool {
			return r.after[n][y] || slices.ContainsFunc(n.Args, func(v *ir.Value) bool { return v != nil && y.kinds[v] != launch.NotInRows })
		})
	}
	return apart(a, b) && apart(b, a)
}

// join moves the nodes of b to a.
func (r *rowGroups) join(a, b *rowGroup) {
	a.nodes = append(a.nodes, b.nodes...)
	slices.SortFunc(a.nodes, func(x, y *ir.Node) int { return r.index[x] - r.index[y] })
	for _, n := range b.nodes {
		r.of[n] = a
	}
	for v, k := range b.kinds {
		a.kinds[v] = k
	}
	b.nodes = nil
	for _, after := range r.after {
		if after[b] {
			after[a] = true
		}
	}
}

// shareOperands joins groups that reduce rows and read the same rows.
func (r *rowGroups) shareOperands() {
	readers := map[*ir.Value]*rowGroup{}
	for _, g := range r.groups() {
		if !g.reduces() {
			continue
		}
		for _, n := range slices.Clone(g.nodes) {
			for _, v := range n.Args {
				if v == nil || g.kinds[v] != launch.NotInRows || !slices.EqualFunc(v.Type.Shape, g.shape, dim.Dim.Equal) {
					continue
				}
				if other := readers[v]; other != nil && other != g && r.joins(other, g, nil) {
					r.join(other, g)
					g = other
				}
				readers[v] = g
			}
		}
	}
}

func (g *rowGroup) reduces() bool {
	return slices.ContainsFunc(g.nodes, func(n *ir.Node) bool { return launch.Reduces(n.Op) })
}

// replace replaces groups by fusions that kernels compute. It returns the number of fusions.
func (r *rowGroups) replace() int {
	used := map[*ir.Value][]*rowGroup{} // by the groups of the nodes that use the value; nil for a node without a group
	for _, n := range r.f.Nodes {
		for _, v := range readBy(n) {
			used[v] = append(used[v], r.of[n])
		}
	}
	for _, v := range r.f.Results {
		used[v] = append(used[v], nil)
	}
	fusions := map[*rowGroup]*rowFusion{}
	b := ir.NewBuilder(r.f) // of all fusions, so that their values have different names
	for _, g := range r.groups() {
		if f := g.fusion(used); f != nil && f.build(b, r.f) {
			fusions[g] = f
		}
	}
	for len(fusions) > 0 {
		out, stuck := r.order(fusions)
		if stuck != nil { // it uses a value that depends on one of its own
			delete(fusions, stuck)
			continue
		}
		for i, n := range out {
			if f := fusions[r.of[n]]; f != nil {
				out[i] = f.replaced()
			}
		}
		r.f.Nodes = out
		break
	}
	return len(fusions)
}

// order returns the nodes of the function, sorted so that each fusion follows all nodes that compute its operands and
// precedes all nodes that use its results. The first node of a group stands for its fusion in this list. If no such
// order exists, out is nil and stuck is a group that must not become a fusion.
func (r *rowGroups) order(fusions map[*rowGroup]*rowFusion) (out []*ir.Node, stuck *rowGroup) {
	const begun, done = 1, 2
	state := map[*ir.Node]int{}
	var open []*rowGroup // the fusions whose operands are being put
	var put func(n *ir.Node)
	put = func(n *ir.Node) {
		f, reads := fusions[r.of[n]], []*ir.Value(nil)
		if f != nil {
			n, reads = f.group.nodes[0], f.args
		} else {
			reads = readBy(n)
		}
		switch {
		case state[n] == begun: // the values that lead here go through a fusion
			stuck = open[len(open)-1]
			return
		case state[n] == done:
			return
		}
		state[n] = begun
		if f != nil {
			open = append(open, f.group)
			defer func() { open = open[:len(open)-1] }()
		}
		for _, v := range reads {
			if v.Def != nil && r.after[v.Def] != nil && stuck == nil {
				put(v.Def)
			}
		}
		state[n] = done
		out = append(out, n)
	}
	for _, n := range r.f.Nodes {
		if stuck == nil {
			put(n)
		}
	}
	return out, stuck
}

// groups returns the groups in the order of their first nodes.
func (r *rowGroups) groups() []*rowGroup {
	var out []*rowGroup
	for _, n := range r.f.Nodes {
		if g := r.of[n]; g != nil && g.nodes[0] == n {
			out = append(out, g)
		}
	}
	return out
}

// rowFusion is a group that becomes an [op.Fusion]. args are the values that the group reads from other nodes.
// results are the values that other nodes read from the group.
type rowFusion struct {
	group         *rowGroup
	args, results []*ir.Value
	node          *ir.Node // has results of its own until it replaces the nodes of the group
}

// fusion returns the fusion of a group. It returns nil if no node reduces rows, or if nothing outside of the group
// reads its results. It also returns nil if there are more than maxRowValues operands and results. used maps a value
// to the groups of its readers.
func (g *rowGroup) fusion(used map[*ir.Value][]*rowGroup) *rowFusion {
	if !g.reduces() {
		return nil
	}
	f := &rowFusion{group: g}
	for _, n := range g.nodes {
		for _, v := range n.Args {
			if v != nil && g.kinds[v] == launch.NotInRows && !slices.Contains(f.args, v) {
				f.args = append(f.args, v)
			}
		}
		for _, v := range n.Results {
			if slices.ContainsFunc(used[v], func(other *rowGroup) bool { return other != g }) {
				f.results = append(f.results, v)
			}
		}
	}
	if len(f.results) == 0 || len(f.args)+len(f.results) > maxRowValues {
		return nil
	}
	return f
}

// build makes the node of a fusion, and reports whether a kernel computes the node. It does not add the node to the
// function fn. b is a builder of fn.
func (f *rowFusion) build(b *ir.Builder, fn *ir.Func) bool {
	nodes := fn.Nodes
	err := ir.Try(func() {
		block := b.Block(func(b *ir.Builder) {
			inside := map[*ir.Value]*ir.Value{}
			for _, v := range f.args {
				inside[v] = b.Param("p", v.Type)
			}
			for _, n := range f.group.nodes {
				operands := make([]*ir.Value, len(n.Args))
				for i, v := range n.Args {
					operands[i] = inside[v]
				}
				made := b.Inline(&ir.Block{Params: n.Args, Nodes: []*ir.Node{n}, Results: n.Results}, operands, "")
				for i, v := range n.Results {
					inside[v] = made[i]
				}
			}
			var results []*ir.Value
			for _, v := range f.results {
				results = append(results, inside[v])
			}
			b.Return(results...)
		})
		f.node = b.NodeBlocks(op.Fusion{Own: len(f.args), Rows: true}, []*ir.Block{block}, f.args...)[0].Def
		for _, n := range f.group.nodes {
			f.node.Pos = pass.JoinPos(f.node.Pos, n.Pos)
		}
	})
	fn.Nodes = nodes // the node is not at its place
	if err == nil {
		_, err = launch.Of(f.node, launch.Options{})
	}
	return err == nil
}

// replaced makes the values in f.results, which nodes of the group computed, the results of the fusion's node. It
// returns the node.
func (f *rowFusion) replaced() *ir.Node {
	for i, v := range f.results {
		v.Def, v.Index = f.node, i
		f.node.Results[i] = v
	}
	return f.node
}

// readBy returns the values that a node and its blocks read.
func readBy(n *ir.Node) []*ir.Value {
	var out []*ir.Value
	for _, v := range n.Args {
		if v != nil {
			out = append(out, v)
		}
	}
	for _, b := range n.Blocks {
		out = append(out, b.Captured()...)
	}
	return out
}
