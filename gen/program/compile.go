package program

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/plan"
)

// Target makes the steps that compute nodes.
type Target interface {
	// Build adds the steps of a node to b. It returns an error if the node cannot be computed.
	Build(b *Builder, n *ir.Node) error
}

// Compile makes the steps of a function and of the functions that it calls, and plans their memory. `name` is the
// name of the function in the module m. If the module has no such function, the result has no steps. It returns an
// error if a node cannot be computed, or if a function that is called does not exist or calls itself.
func Compile(m *ir.Module, name string, target Target) (*Func, error) {
	c := &compiler{module: m, target: target, done: map[string]*Func{}, open: map[string]bool{}, early: map[string]bool{}}
	f := m.Func(name)
	if f == nil {
		return c.plan(&ir.Func{Name: name})
	}
	for _, s := range f.Symbols() {
		c.early[s] = true
	}
	return c.function(name)
}

type compiler struct {
	module *ir.Module
	target Target
	done   map[string]*Func
	open   map[string]bool // functions being compiled
	early  map[string]bool // symbols known before anything runs
}

func (c *compiler) function(name string) (*Func, error) {
	if f := c.done[name]; f != nil {
		return f, nil
	}
	f := c.module.Func(name)
	if f == nil || c.open[name] {
		return nil, fmt.Errorf("@%s is not defined, or calls itself", name)
	}
	c.open[name] = true
	out, err := c.plan(f)
	c.done[name] = out
	return out, err
}

func (c *compiler) plan(f *ir.Func) (*Func, error) {
	steps, err := c.build(f)
	if err != nil {
		return nil, err
	}
	refs := map[*ir.Node][]*plan.Ref{}
	for _, list := range steps {
		for _, s := range list {
			refs[s.At()] = append(refs[s.At()], s.Refs()...)
		}
	}
	p, err := plan.Make(f, func(symbol string) bool { return !c.early[symbol] }, refs)
	if err != nil {
		return nil, err
	}
	return &Func{IR: f, Plan: p, Steps: arrange(p, steps)}, nil
}

// Line is the unit of [Func.LinesSymbol]: the size of a cache line in bytes.
const Line = 64

// Arenas returns the sizes in bytes of the arenas that f needs if another function calls it. There is usually one. If
// [Func.IsSplit] is true, there are two: one for buffers of constant size, and one for buffers that grow with a
// symbol. The offsets of the caller's own buffers can then be constants and multiples of that symbol. If the plan's
// mode is [plan.Dynamic], the size is known only after the buffers are placed, and is [Func.LinesSymbol] times
// [Line].
func (f *Func) Arenas() []dim.Dim {
	if f.Plan.Mode == plan.Dynamic {
		return []dim.Dim{dim.Sym(f.LinesSymbol()).Mul(dim.Const(Line))}
	}
	if f.IsSplit() {
		return []dim.Dim{f.Fixed(), f.Plan.Size.Sub(f.Fixed())}
	}
	return []dim.Dim{f.Plan.Size}
}

// IsSplit reports whether a function has two arenas: one for buffers of constant size, and one for
// the others.
func (f *Func) IsSplit() bool {
	return f.Plan.Mode == plan.Scaled && !f.Fixed().Equal(dim.Dim{})
}

// Fixed returns the size in bytes of the buffers of constant size. The mode of the plan must be
// [plan.Scaled].
func (f *Func) Fixed() dim.Dim {
	_, fixed, _ := f.Plan.Size.Linear(f.Plan.Symbol)
	return fixed
}

// Arena returns the index in [Func.Arenas] of a buffer's arena, and the offset of the buffer in this
// arena in bytes.
func (f *Func) Arena(b *plan.Buffer) (i int, offset dim.Dim) {
	if f.IsSplit() && !b.Bytes.IsConst() {
		return 1, b.Offset.Sub(f.Fixed())
	}
	return 0, b.Offset
}

// LinesSymbol returns the symbol whose value is the size of the arena in cache lines of 64 bytes. Only plans in the
// mode [plan.Dynamic] use it.
func (f *Func) LinesSymbol() string { return f.IR.Name + ".lines" }

// Callees returns the functions that f calls, directly or indirectly, each once and before its
// callers.
func (f *Func) Callees() []*Func {
	var out []*Func
	seen := map[*Func]bool{}
	var visit func(*Func)
	visit = func(f *Func) {
		for _, s := range f.Steps {
			for _, callee := range CalleesOf(s) {
				if !seen[callee] {
					seen[callee] = true
					visit(callee)
					out = append(out, callee)
				}
			}
		}
	}
	visit(f)
	return out
}

// CalleesOf returns the functions that a step calls.
func CalleesOf(s Step) []*Func {
	switch s := s.(type) {
	case *Invoke:
		return []*Func{s.Callee}
	case *Branch:
		return []*Func{s.Then.Callee, s.Otherwise.Callee}
	case *Repeat:
		return []*Func{s.Callee}
	}
	return nil
}

// Invoke is a call of the function Callee of the program, with references to its results and
// operands. Bases are the starts of Callee's arenas.
type Invoke struct {
	Node          *ir.Node
	Callee        *Func
	Results, Args []*plan.Ref
	Bases         []*plan.Ref
}

// At implements [Step].
func (s *Invoke) At() *ir.Node { return s.Node }

// Refs implements [Step]. It returns the results, the operands, and the arenas.
func (s *Invoke) Refs() []*plan.Ref { return Present(s.Results, s.Args, s.Bases) }

// Present returns the references in the lists that are not nil.
func Present(lists ...[]*plan.Ref) []*plan.Ref {
	return slices.DeleteFunc(slices.Concat(lists...), func(r *plan.Ref) bool { return r == nil })
}

func (b *Builder) invoke(n *ir.Node, o ir.Invoke) error {
	callee, err := b.compiler.function(o.Func)
	if err != nil {
		return err
	}
	s := &Invoke{Node: n, Callee: callee, Results: b.shaped(n), Args: b.Reads(n.Args), Bases: b.arenas(callee)}
	b.Add(s)
	return nil
}

func (b *Builder) arenas(callee *Func) []*plan.Ref {
	var refs []*plan.Ref
	for _, bytes := range callee.Arenas() {
		refs = append(refs, scratch(callee.IR.Name+"Arena", ir.TensorOf(ir.U8, bytes)))
	}
	return refs
}

// shaped returns references to n's results. If n binds a symbol in the shape of a result, the result is stored with
// its shape.
func (b *Builder) shaped(n *ir.Node) []*plan.Ref {
	refs := b.Writes(n.Results)
	for _, r := range refs {
		r.Shaped = r.Value.Type.IsTensor() && bindsAny(n, symbolsIn(r.Value.Type))
	}
	return refs
}

func symbolsIn(t ir.Type) []string {
	var symbols []string
	for _, d := range t.Shape {
		symbols = append(symbols, d.Symbols()...)
	}
	return symbols
}
