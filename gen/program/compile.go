package program

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/plan"
)

// Compile plans a function of a module, and those that it calls, and lists their
// steps. A function that the module does not have has none.
func Compile(m *ir.Module, name string) (*Func, error) {
	c := &compiler{module: m, done: map[string]*Func{}, open: map[string]bool{}, early: map[string]bool{}}
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
	done   map[string]*Func
	open   map[string]bool // functions being compiled
	early  map[string]bool // symbols that are known before anything runs
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
	p, err := plan.Make(f, func(symbol string) bool { return !c.early[symbol] }, c.scratch)
	if err != nil {
		return nil, err
	}
	return c.build(p)
}

// scratch returns the memory that a node asks for beside its results: the runs
// of a loop, a kernel's own, the arena of a function that is called.
func (c *compiler) scratch(n *ir.Node) ([]plan.Request, error) {
	var out []plan.Request
	ask := func(d ir.DType, elems ir.Dim) {
		out = append(out, plan.Request{Scratch: ir.Scratch{DType: d, Len: elems}})
	}
	switch o := n.Op.(type) {
	case op.Pointwise:
		types, err := LoopScratch(n)
		for _, d := range types {
			ask(d, ir.Const(TileLen))
		}
		return out, err
	case ir.Invoke:
		return c.arenaOf(o.Func)
	case op.If:
		return c.branchScratch(n)
	case op.Loop:
		return c.repeatScratch(n, o)
	case ir.Caller:
		call, err := o.Call(n)
		if err != nil {
			return nil, err
		}
		for _, a := range call.Args {
			if s, ok := a.(ir.Scratch); ok {
				ask(s.DType, s.Len)
			}
		}
	}
	return out, nil
}

// arenaOf returns the memory that a function works in.
func (c *compiler) arenaOf(name string) ([]plan.Request, error) {
	callee, err := c.function(name)
	if err != nil {
		return nil, err
	}
	return []plan.Request{{Scratch: ir.Scratch{DType: ir.U8, Len: callee.ArenaBytes()}}}, nil
}

// Line is the unit of [Func.LinesSymbol] in bytes.
const Line = 64

// ArenaBytes returns the size of a function's arena. Where that is known only
// once its buffers are laid out, it is a multiple of [Func.LinesSymbol].
func (f *Func) ArenaBytes() ir.Dim {
	if f.Plan.Mode == plan.Dynamic {
		return ir.Sym(f.LinesSymbol()).Mul(ir.Const(Line))
	}
	return f.Plan.Size
}

// LinesSymbol is the symbol that stands for the size of a Dynamic arena, in lines.
func (f *Func) LinesSymbol() string { return f.IR.Name + ".lines" }

// Callees returns the functions that f calls, and those that they call, each
// once and before its callers.
func (f *Func) Callees() []*Func {
	var out []*Func
	seen := map[*Func]bool{}
	var visit func(*Func)
	visit = func(f *Func) {
		for _, s := range f.Steps {
			for _, callee := range callees(s) {
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

// callees returns the functions that a step calls.
func callees(s Step) []*Func {
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

// Invoke is a call of another function of the program, whose arena begins at Base.
type Invoke struct {
	Node          *ir.Node
	Callee        *Func
	Results, Args []*Ref
	Base          *Ref
}

// At returns Node.
func (s *Invoke) At() *ir.Node { return s.Node }

func (b *builder) invoke(n *ir.Node, o ir.Invoke) (Step, error) {
	callee, err := b.compiler.function(o.Func)
	if err != nil {
		return nil, err
	}
	s := &Invoke{Node: n, Callee: callee, Base: &Ref{Place: b.plan.Scratch[n][0], DType: ir.U8, Len: callee.ArenaBytes()}}
	for _, r := range n.Results {
		s.Results = append(s.Results, b.ref(r))
	}
	for _, a := range n.Args {
		s.Args = append(s.Args, b.ref(a))
	}
	return s, nil
}
