package op

import (
	"fmt"
	"maps"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// If executes one of its two blocks: the first if its operand is true, and the second otherwise. The operand is a
// bool of one element. Extents binds symbols to extents of the results. These are extents that differ between the
// blocks, or that are known only inside a block.
type If struct{ Extents []ir.ResultExtent }

// Infer returns an error: [If.InferBlocks] is used instead.
func (op If) Infer([]ir.Type) ([]ir.Type, error) { return nil, errNoBlocks }

// Eval returns an error: [If.EvalBlocks] is used instead.
func (op If) Eval([]*ir.Tensor) ([]*ir.Tensor, error) { return nil, errNoBlocks }

var errNoBlocks = fmt.Errorf("its blocks are missing")

// InferBlocks returns the types of the results. An extent that differs between the blocks becomes a symbol of
// Extents. InferBlocks returns an error if the results of the blocks differ in another way.
func (op If) InferBlocks(in []ir.Type, blocks []*ir.Block) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	if err := isFlag(in[0], "condition"); err != nil {
		return nil, err
	}
	if len(blocks) != 2 || len(blocks[0].Params)+len(blocks[1].Params) != 0 {
		return nil, fmt.Errorf("two blocks without parameters expected")
	}
	return op.join(resultTypes(blocks[0]), resultTypes(blocks[1]))
}

func (op If) join(then, els []ir.Type) ([]ir.Type, error) {
	if len(then) != len(els) {
		return nil, fmt.Errorf("the branches give %d and %d results", len(then), len(els))
	}
	out := make([]ir.Type, len(then))
	for i, t := range then {
		u := els[i]
		if !t.IsTensor() {
			joined, err := ir.Join(t, u)
			if err != nil {
				return nil, fmt.Errorf("result %d: %w", i, err)
			}
			out[i] = joined
			continue
		}
		if !u.IsTensor() || t.DType != u.DType || t.Rank() != u.Rank() {
			return nil, fmt.Errorf("result %d: the branches give %s and %s", i, t, u)
		}
		t.Shape = slices.Clone(t.Shape)
		for k, d := range t.Shape {
			if s, ok := bound(op.Extents, i, k); ok {
				t.Shape[k] = s
			} else if err := Same(d, u.Shape[k], "extents of the branches' results"); err != nil {
				return nil, err
			}
		}
		out[i] = t
	}
	return out, nil
}

// bound returns the symbol to which extents binds an axis of a result. It returns false if extents has no such
// symbol.
func bound(extents []ir.ResultExtent, result, axis int) (dim.Dim, bool) {
	for _, e := range extents {
		if e.Result == result && e.Axis == axis {
			return dim.Sym(e.Symbol), true
		}
	}
	return dim.Dim{}, false
}

// EvalBlocks returns the results of the block that the condition selects.
func (op If) EvalBlocks(in []*ir.Tensor, blocks []*ir.Block, run func(*ir.Block, []*ir.Tensor) ([]*ir.Tensor, error)) ([]*ir.Tensor, error) {
	if in[0].Bool(0) {
		return run(blocks[0], nil)
	}
	return run(blocks[1], nil)
}

// Binds returns the symbols of Extents.
func (op If) Binds() []string { return ir.Invoke{Extents: op.Extents}.Binds() }

// BindValues returns the values of the symbols in Extents, which are extents of the results.
func (op If) BindValues(_, out []*ir.Tensor) ([]int64, error) {
	return ir.Invoke{Extents: op.Extents}.BindValues(nil, out)
}

func resultTypes(b *ir.Block) []ir.Type {
	types := make([]ir.Type, len(b.Results))
	for i, r := range b.Results {
		types[i] = r.Type
	}
	return types
}

func isFlag(t ir.Type, label string) error {
	if n, ok := t.Elems().Int(); t.DType != ir.Bool || ok && n != 1 {
		return fmt.Errorf("%s: one bool expected, not %s", label, t)
	}
	return Same(t.Elems(), dim.Const(1), label)
}

func mentions(d dim.Dim, symbols map[string]bool) bool {
	return slices.ContainsFunc(d.Symbols(), func(s string) bool { return symbols[s] })
}

func importIf(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	branches := []string{"then_branch", "else_branch"}
	for _, name := range branches {
		if !c.Has(name) {
			return nil, fmt.Errorf("%s is missing", name)
		}
	}
	if t, ok := knownTensor(c.Arg(0)); ok && t.Len() == 1 {
		if !t.Bool(0) {
			branches = branches[1:]
		}
		return b.Inline(c.Graph(branches[0], nil), nil, ""), nil
	}
	then, otherwise := c.Graph(branches[0], nil), c.Graph(branches[1], nil)
	if taken, ranks := onlyBranch(c, then, otherwise); !ranks {
		b.Nodes(Require{Value: taken == then, What: "the other branch gives a result of another rank"}, c.Arg(0))
		return b.Inline(taken, nil, ""), nil
	}
	inside := then.BoundSymbols()
	maps.Copy(inside, otherwise.BoundSymbols())
	var op If
	for i := range min(len(then.Results), len(otherwise.Results)) {
		t, u := then.Results[i].Type, otherwise.Results[i].Type
		for k := range min(len(t.Shape), len(u.Shape)) {
			if t.IsTensor() && (!t.Shape[k].Equal(u.Shape[k]) || mentions(t.Shape[k], inside)) {
				op.Extents = append(op.Extents, ir.ResultExtent{Symbol: b.Symbol(fmt.Sprintf("if%d_%d", i, k)), Result: i, Axis: k})
			}
		}
	}
	return b.NodeBlocks(op, []*ir.Block{then, otherwise}, c.Arg(0)), nil
}

// onlyBranch compares the ranks of the results of two branches. ranks is true if they are equal. It is also true if
// the results differ in number, kind or element type, because [If] reports this error. If ranks is false, only one
// branch can be compiled, because every value has a single rank. taken is this branch: the one whose results match
// the types in the model, or else the first.
func onlyBranch(c ir.Importer, then, els *ir.Block) (taken *ir.Block, ranks bool) {
	differ := func(t, u ir.Type) bool { return t.IsTensor() && u.IsTensor() && t.Rank() != u.Rank() }
	taken, ranks = then, true
	for i := range min(len(then.Results), len(els.Results)) {
		t, u := then.Results[i].Type, els.Results[i].Type
		if t.Kind != u.Kind || t.DType != u.DType || len(then.Results) != len(els.Results) {
			return then, true
		}
		if !differ(t, u) {
			continue
		}
		ranks = false
		if declared, ok := c.ResultType(i); ok && differ(declared, t) && !differ(declared, u) {
			taken = els
		}
	}
	return taken, ranks
}

// knownTensor returns v as a tensor if v is a constant, or if all its elements are known as constants. It returns
// false for other values and for nil.
func knownTensor(v *ir.Value) (*ir.Tensor, bool) {
	if v == nil {
		return nil, false
	}
	if t, ok := v.ConstValue(); ok {
		return t, true
	}
	dims, ok := v.Dims()
	values, static := dim.Ints(dims)
	if !ok || !static || !v.Type.IsStatic() {
		return nil, false
	}
	shape, _ := v.Type.Static()
	t := ir.NewTensor(v.Type.DType, shape...)
	for i, n := range values {
		t.SetInt(i, int64(n))
	}
	return t, true
}
