package ir

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/burngen/burngen/ir/dim"
)

// Module is a model: functions that share weights. Funcs and Weights have unique names.
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

// ByName returns the weights of m by their names. The map does not follow later changes.
func (m *Module) ByName() map[string]*Weight {
	byName := make(map[string]*Weight, len(m.Weights))
	for _, w := range m.Weights {
		byName[w.Name] = w
	}
	return byName
}

// Weight returns the weight called name, or nil. It searches the list of weights; to look up many
// names, use [Module.ByName].
func (m *Module) Weight(name string) *Weight {
	for _, w := range m.Weights {
		if w.Name == name {
			return w
		}
	}
	return nil
}

// Weight is a named constant tensor whose elements are not in the text form.
type Weight struct {
	Name string
	Type Type // with constant extents
	// Data holds the elements, little-endian and contiguous. It may share the memory of a model
	// file. It is nil if only the text form is known.
	Data []byte
}

// Func is a function in SSA form.
type Func struct {
	Name string
	// Scope lists the symbols that the function takes from its callers, besides the symbols in the
	// types of its parameters. The callers have symbols of the same names.
	Scope []string
	Block
	// ResultNames are the names of the results.
	ResultNames []string
}

// Block is a list of nodes in execution order, with parameters and results. Nodes of a nested block
// may also use values of the enclosing blocks.
type Block struct {
	Params  []*Value
	Nodes   []*Node
	Results []*Value
}

// Node applies an operator.
type Node struct {
	Op      Op
	Args    []*Value // nil for an absent optional operand
	Results []*Value
	Blocks  []*Block // blocks of control flow and fused regions
	Pos     string   // name of the ONNX node, or file:line; printed as the last comment
}

// Value is a parameter of a block or a result of a node.
type Value struct {
	Name  string // unique in the function; arbitrary text
	Type  Type
	Def   *Node // nil for a parameter
	Index int   // index among Def's results, or among the parameters of the block
	// Elems are the elements of a small tensor as expressions, in row-major order, or nil if
	// unknown. They are derived from Def.
	Elems []Ratio
}

// Ratio is a known element of a tensor: Num divided by Den. Den is positive, and 1 for integers.
type Ratio struct {
	Num dim.Dim
	Den int
}

// Dims returns v's elements if all are known integers, else false.
func (v *Value) Dims() ([]dim.Dim, bool) {
	if v == nil || v.Elems == nil {
		return nil, false
	}
	dims := make([]dim.Dim, len(v.Elems))
	for i, e := range v.Elems {
		if e.Den != 1 {
			return nil, false
		}
		dims[i] = e.Num
	}
	return dims, true
}

// ConstValue returns the tensor of v if a [Constant] computes v. Otherwise it returns false.
func (v *Value) ConstValue() (*Tensor, bool) {
	if v == nil || v.Def == nil {
		return nil, false
	}
	c, ok := v.Def.Op.(Constant)
	return c.Value, ok
}

// Arg returns operand i, or nil if it is absent.
func (n *Node) Arg(i int) *Value {
	if i < len(n.Args) {
		return n.Args[i]
	}
	return nil
}

// IsStored reports whether n is a weight or a constant. Such a node computes nothing: the module stores its tensor.
func (n *Node) IsStored() bool {
	switch n.Op.(type) {
	case Constant, Load:
		return true
	}
	return false
}

// ArgTypes returns the types of the operands, with zero Types for absent ones.
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

// String returns a name of n for messages: the name of its operator and, if n has one, its own name in the model.
func (n *Node) String() string {
	if n.Pos == "" {
		return OpName(n.Op)
	}
	return fmt.Sprintf("%s %q", OpName(n.Op), n.Pos)
}

// All yields the nodes of b and of its nested blocks. The nodes in the blocks of a node come before the node.
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

// Uses returns, for each value, how often b uses it as an operand of a node or as a result of a block. It includes
// nested blocks.
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

// FreeSymbols returns the symbols that b uses but does not bind, sorted. It includes the symbols in its parameters
// and results.
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

// BoundSymbols returns the symbols that the nodes in b bind. Later nodes, or the nodes' own blocks, may use them.
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

// Captured returns the values that b uses but that enclosing blocks define, in the order of first use.
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
