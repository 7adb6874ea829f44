package ir

import (
	"fmt"
	"iter"
	"maps"
	"slices"
)

// Module is a model: functions that share weights.
type Module struct {
	Funcs   []*Func
	Weights []*Weight
}

// Func returns the function called name, or nil.
func (m *Module) Func(name string) *Func {
	for _, f := range m.Funcs {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Weight returns the weight called name, or nil.
func (m *Module) Weight(name string) *Weight {
	for _, w := range m.Weights {
		if w.Name == name {
			return w
		}
	}
	return nil
}

// Weight is a named constant tensor that stands outside the text form.
type Weight struct {
	Name string
	Type Type // static
	// Data holds the elements, little-endian and contiguous; it may alias a
	// model file. It is nil where only the text form is known.
	Data []byte
}

// Func is a function in SSA form.
type Func struct {
	Name string
	// Scope lists the symbols of its callers that it uses, beside those in the types
	// of its parameters: its callers have symbols of these names.
	Scope []string
	Block
	// ResultNames are the results' names, one for each.
	ResultNames []string
}

// Block is a list of nodes in schedule order, with parameters and results. Nodes
// of a nested block may use values of the blocks around it.
type Block struct {
	Params  []*Value
	Nodes   []*Node
	Results []*Value
}

// Node applies an operator.
type Node struct {
	Op      Op
	Args    []*Value // nil where an optional operand is absent
	Results []*Value
	Blocks  []*Block // of control flow and fused regions
	Pos     string   // the name of the ONNX node, or file:line; printed in the last comment
}

// Value is a parameter of a block or a result of a node.
type Value struct {
	Name  string // unique in the function; any text
	Type  Type
	Def   *Node // nil for a parameter
	Index int   // among Def's results, or the block's parameters
	// Elems are the elements of a small tensor that are known as expressions,
	// in row-major order; nil when they are not. They follow from Def.
	Elems []Ratio
}

// Ratio is a known element of a tensor: Num divided by Den, which is positive
// and 1 for integers.
type Ratio struct {
	Num Dim
	Den int
}

// Dims returns v's elements when all are known integers.
func (v *Value) Dims() ([]Dim, bool) {
	if v == nil || v.Elems == nil {
		return nil, false
	}
	dims := make([]Dim, len(v.Elems))
	for i, e := range v.Elems {
		if e.Den != 1 {
			return nil, false
		}
		dims[i] = e.Num
	}
	return dims, true
}

// ConstValue returns the tensor that v is, when it is a constant.
func (v *Value) ConstValue() (*Tensor, bool) {
	if v == nil || v.Def == nil {
		return nil, false
	}
	c, ok := v.Def.Op.(Constant)
	return c.Value, ok
}

// Arg returns operand i, nil when it is absent.
func (n *Node) Arg(i int) *Value {
	if i < len(n.Args) {
		return n.Args[i]
	}
	return nil
}

// ArgTypes returns the types of the operands, the zero Type for absent ones.
func (n *Node) ArgTypes() []Type { return typesOf(n.Args) }

// ResultTypes returns the types of the results.
func (n *Node) ResultTypes() []Type { return typesOf(n.Results) }

func typesOf(values []*Value) []Type {
	types := make([]Type, len(values))
	for i, v := range values {
		if v != nil {
			types[i] = v.Type
		}
	}
	return types
}

// String names n for messages: its operator, and the model's name for it.
func (n *Node) String() string {
	if n.Pos == "" {
		return OpName(n.Op)
	}
	return fmt.Sprintf("%s %q", OpName(n.Op), n.Pos)
}

// All yields the nodes of b and of the blocks nested in it, a node after the
// nodes of its blocks.
func (b *Block) All() iter.Seq[*Node] {
	return func(yield func(*Node) bool) { b.walk(yield) }
}

func (b *Block) walk(yield func(*Node) bool) bool {
	for _, n := range b.Nodes {
		for _, inner := range n.Blocks {
			if !inner.walk(yield) {
				return false
			}
		}
		if !yield(n) {
			return false
		}
	}
	return true
}

// Uses counts how often each value is an operand or a block's result.
func (b *Block) Uses() map[*Value]int {
	uses := map[*Value]int{}
	b.countUses(uses)
	return uses
}

func (b *Block) countUses(uses map[*Value]int) {
	for _, n := range b.Nodes {
		for _, a := range n.Args {
			if a != nil {
				uses[a]++
			}
		}
		for _, inner := range n.Blocks {
			inner.countUses(uses)
		}
	}
	for _, r := range b.Results {
		uses[r]++
	}
}

// FreeSymbols returns the symbols that b, its parameters and its results mention
// and that no node in it binds, sorted.
func (b *Block) FreeSymbols() []string {
	used := map[string]bool{}
	note := func(s string) { used[s] = true }
	values := append(slices.Clone(b.Params), b.Results...)
	for n := range b.All() {
		symbolsOf(n.Op, note)
		values = append(values, n.Results...)
		for _, a := range n.Args {
			if a != nil {
				values = append(values, a)
			}
		}
	}
	for _, s := range SymbolsOf(values) {
		used[s] = true
	}
	for s := range b.BoundSymbols() {
		delete(used, s)
	}
	return slices.Sorted(maps.Keys(used))
}

// BoundSymbols returns the symbols that the nodes in b bind, for what follows or for
// their blocks.
func (b *Block) BoundSymbols() map[string]bool {
	bound := map[string]bool{}
	note := func(symbols []string) {
		for _, s := range symbols {
			bound[s] = true
		}
	}
	for n := range b.All() {
		if op, ok := n.Op.(Binder); ok {
			note(op.Binds())
		}
		if op, ok := n.Op.(Scoper); ok {
			note(op.Scope())
		}
	}
	return bound
}

// Captured returns the values that b takes from the blocks around it, in the order
// of their first uses.
func (b *Block) Captured() []*Value {
	inside, seen := map[*Value]bool{}, map[*Value]bool{}
	var out []*Value
	var visit func(b *Block)
	use := func(list []*Value) {
		for _, v := range list {
			if v != nil && !inside[v] && !seen[v] {
				seen[v] = true
				out = append(out, v)
			}
		}
	}
	visit = func(b *Block) {
		for _, p := range b.Params {
			inside[p] = true
		}
		for _, n := range b.Nodes {
			use(n.Args)
			for _, inner := range n.Blocks {
				visit(inner)
			}
			for _, r := range n.Results {
				inside[r] = true
			}
		}
		use(b.Results)
	}
	visit(b)
	return out
}
