package ir

import (
	"fmt"
	"slices"
)

// Rewrite calls the function `visit` for each node of f and of its nested blocks, in order. The builder inserts
// new nodes before the node. If visit returns nil, the node stays. If visit returns values, they
// replace the results of n in all later nodes and results, and n is removed. Nodes that only n used
// stay until dead-code elimination.
//
// Rewrite reports whether it replaced a node. It returns an error if visit calls [Fail], or if
// visit does not return one value for each result of n. It also returns an error if a value is the
// result that it replaces, or differs from it in type. After an error, f may be invalid.
func (f *Func) Rewrite(visit func(b *Builder, n *Node) []*Value) (changed bool, err error) {
	r := &rewriter{visit: visit, replaced: map[*Value]*Value{}, b: newBuilder(f)}
	r.b.uses = f.Uses()
	err = Try(func() { r.block(&f.Block) })
	return len(r.replaced) > 0, err
}

type rewriter struct {
	b        *Builder
	visit    func(*Builder, *Node) []*Value
	replaced map[*Value]*Value
}

func (r *rewriter) block(block *Block) {
	out := &Block{}
	b := &Builder{fn: r.b.fn, block: out, state: r.b.state, uses: r.b.uses}
	for _, n := range block.Nodes {
		r.resolve(n.Args)
		for _, inner := range n.Blocks {
			r.block(inner)
		}
		b.At(n.Pos)
		values := r.visit(b, n)
		if values == nil {
			out.Nodes = append(out.Nodes, n)
			continue
		}
		if len(values) != len(n.Results) {
			Fail("%s: %d values replace %d", n, len(values), len(n.Results))
		}
		for i, v := range values {
			r.replace(n, n.Results[i], v)
		}
	}
	block.Nodes = out.Nodes
	r.resolve(block.Results)
}

// replace makes later nodes use v instead of `old`, a result of n. If v is computed by a node that the function
// `visit` has just built, v and `old` also swap names.
func (r *rewriter) replace(n *Node, old, v *Value) {
	if v == old {
		Fail("%s: replaced by itself", n)
	}
	if !v.Type.Equal(old.Type) {
		Fail("%s: %s is replaced by a value of another type: %s, %s", n, old, v.Type, old.Type)
	}
	if v.Def != nil && !r.existed(v) {
		v.Name, old.Name = old.Name, v.Name
	}
	r.replaced[old] = v
}

// existed reports whether v was in use before the rewrite began. It also returns true if it has
// been called for v before, so that a value that replaces several results is renamed only once.
func (r *rewriter) existed(v *Value) bool {
	if _, used := r.b.uses[v]; used {
		return true
	}
	r.b.uses[v] = 0
	return false
}

func (r *rewriter) resolve(values []*Value) {
	for i, v := range values {
		for v != nil && r.replaced[v] != nil {
			v = r.replaced[v]
		}
		values[i] = v
	}
}

// Prune removes the nodes of f that nothing needs, and reports whether it removed any. A node is
// needed if a result is used, if it binds a symbol that is used, or if it has an effect.
func (f *Func) Prune() bool {
	p := &pruner{uses: f.Uses()}
	for n := range f.All() {
		if _, binder := n.Op.(Binder); binder {
			p.symbols = map[string]bool{}
		}
	}
	return p.block(&f.Block)
}

type pruner struct {
	uses map[*Value]int
	// symbols are the symbols used by the nodes visited so far. Nodes are visited from last to
	// first. It is nil if no node binds symbols.
	symbols map[string]bool
}

func (p *pruner) block(b *Block) bool {
	changed := false
	kept := make([]*Node, 0, len(b.Nodes))
	p.note(b.Results)
	for _, n := range slices.Backward(b.Nodes) {
		if !p.isUsed(n) {
			dropUses(n, p.uses)
			changed = true
			continue
		}
		for _, inner := range n.Blocks {
			changed = p.block(inner) || changed
		}
		if p.symbols != nil {
			symbolsOf(n.Op, func(s string) { p.symbols[s] = true })
			p.note(n.Results)
		}
		kept = append(kept, n)
	}
	slices.Reverse(kept)
	b.Nodes = kept
	return changed
}

func (p *pruner) note(values []*Value) {
	if p.symbols == nil {
		return
	}
	for _, s := range SymbolsOf(values) {
		p.symbols[s] = true
	}
}

func (p *pruner) isUsed(n *Node) bool {
	_, effect := n.Op.(Effect)
	if effect || slices.ContainsFunc(n.Results, func(v *Value) bool { return p.uses[v] > 0 }) {
		return true
	}
	b, ok := n.Op.(Binder)
	return ok && slices.ContainsFunc(b.Binds(), func(s string) bool { return p.symbols[s] })
}

func dropUses(n *Node, uses map[*Value]int) {
	for _, a := range n.Args {
		uses[a]--
	}
	for _, inner := range n.Blocks {
		for _, r := range inner.Results {
			uses[r]--
		}
		for _, m := range inner.Nodes {
			dropUses(m, uses)
		}
	}
}

// Clone returns a copy of b with copies of its nodes and parameters. Values from outside of b are
// not copied. rename returns the name of a copied value.
func (b *Block) Clone(rename func(string) string) *Block {
	return b.clone(map[*Value]*Value{}, rename)
}

func (b *Block) clone(copies map[*Value]*Value, rename func(string) string) *Block {
	fresh := func(values []*Value, def *Node) []*Value {
		out := make([]*Value, len(values))
		for i, v := range values {
			c := *v
			c.Def, c.Name, c.Elems = def, rename(v.Name), slices.Clone(v.Elems)
			out[i], copies[v] = &c, &c
		}
		return out
	}
	mapped := func(values []*Value) []*Value {
		out := slices.Clone(values)
		for i, v := range out {
			if c := copies[v]; c != nil {
				out[i] = c
			}
		}
		return out
	}
	c := &Block{Params: fresh(b.Params, nil)}
	for _, n := range b.Nodes {
		m := &Node{Op: n.Op, Args: mapped(n.Args), Pos: n.Pos}
		for _, inner := range n.Blocks {
			m.Blocks = append(m.Blocks, inner.clone(copies, rename))
		}
		m.Results = fresh(n.Results, m)
		c.Nodes = append(c.Nodes, m)
	}
	c.Results = mapped(b.Results)
	return c
}

// Clone returns a copy of f that shares no nodes or values with it.
func (f *Func) Clone() *Func {
	same := func(name string) string { return name }
	return &Func{Name: f.Name, Scope: slices.Clone(f.Scope), Block: *f.Block.Clone(same), ResultNames: slices.Clone(f.ResultNames)}
}

// Clone returns a copy of m. The copy shares only the data of the weights with m.
func (m *Module) Clone() *Module {
	c := &Module{}
	for _, w := range m.Weights {
		copied := *w
		c.Weights = append(c.Weights, &copied)
	}
	for _, f := range m.Funcs {
		c.Funcs = append(c.Funcs, f.Clone())
	}
	return c
}

// Inline appends copies of fn's nodes, which read args instead of fn's parameters. It returns the
// results. `prefix` is prepended to the positions of the copies. Inline panics, as [Fail] does,
// unless there is one argument for each parameter.
func (b *Builder) Inline(fn *Block, args []*Value, prefix string) []*Value {
	if len(args) != len(fn.Params) {
		Fail("%d arguments for %d parameters", len(args), len(fn.Params))
	}
	copies := map[*Value]*Value{}
	for i, p := range fn.Params {
		copies[p] = args[i]
	}
	inner := &Block{Nodes: fn.Nodes, Results: fn.Results}
	c := inner.clone(copies, b.Name)
	for _, n := range c.Nodes {
		n.Pos = fmt.Sprint(prefix, n.Pos)
	}
	b.block.Nodes = append(b.block.Nodes, c.Nodes...)
	return c.Results
}
