package ir

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/burngen/burngen/ir/dim"
)

// Builder appends nodes to a block of the function fn. Its methods panic with a private type if a
// node cannot be built; [Try] turns the panic into an error.
type Builder struct {
	fn    *Func
	block *Block
	state *buildState
	uses  map[*Value]int // number of uses of each value when the current [Func.Rewrite] began
	// outer is the number of symbols that are bound before the block.
	outer int
}

// buildState is the state that the builders of a function and of its nested blocks share.
type buildState struct {
	names   map[string]bool    // names of values in use
	symbols map[string]bool    // symbols in use
	open    []*Block           // blocks under construction, outermost first
	pos     string             // source position of the next nodes
	unify   bool               // whether extents that an operator requires to be equal are unified
	next    map[string]int     // the last number tried for each hint
	order   map[string]int     // position of each symbol in the order of binding
	made    map[string]bool    // symbols that nodes bind
	kept    map[string]bool    // symbols that must not be replaced
	solved  map[string]dim.Dim // replaced symbols and their values
	taken   map[*Value]*Value  // replaced values and their replacements
	loose   []*Block           // finished blocks that no node has yet
	unified int                // number of values that Unify has visited
	extents int                // number of atoms in the extents so far
	elems   elemBudget
}

// buildError is the panic value of a Builder.
type buildError struct{ err error }

// Try runs the function `build` and returns nil. If the function panics with the error of a [Builder], or calls
// [Fail] or [FailWith], Try returns that error.
func Try(build func()) (err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case buildError:
			err = e.err
		default:
			panic(e)
		}
	}()
	build()
	return nil
}

// Fail panics with a formatted error, which the surrounding [Try] returns.
func Fail(format string, args ...any) { panic(buildError{fmt.Errorf(format, args...)}) }

// FailWith panics with err, which the surrounding [Try] returns.
func FailWith(err error) { panic(buildError{err}) }

// NewBuilder returns a builder that appends to f. It unifies symbolic extents that an operator
// requires to be equal.
func NewBuilder(f *Func) *Builder {
	b := newBuilder(f)
	b.state.unify = true
	return b
}

func newBuilder(f *Func) *Builder {
	s := &buildState{names: map[string]bool{}, symbols: map[string]bool{}, open: []*Block{&f.Block}, next: map[string]int{}, order: map[string]int{}, made: map[string]bool{}, kept: map[string]bool{}, solved: map[string]dim.Dim{}, taken: map[*Value]*Value{}}
	use := func(name string) (dim.Dim, bool) { s.bind(name); return dim.Dim{}, false }
	note := func(values []*Value) {
		for _, v := range values {
			s.names[v.Name] = true
			v.Type.Subst(use)
		}
	}
	for _, name := range f.Scope {
		s.bind(name)
	}
	note(f.Params)
	for n := range f.All() {
		note(n.Results)
		for _, inner := range n.Blocks {
			note(inner.Params)
		}
	}
	return &Builder{fn: f, block: &f.Block, state: s}
}

func (s *buildState) bind(symbol string) {
	s.symbols[symbol] = true
	if _, ok := s.order[symbol]; !ok {
		s.order[symbol] = len(s.order)
	}
}

// Func returns the function under construction.
func (b *Builder) Func() *Func { return b.fn }

// Here returns the block under construction.
func (b *Builder) Here() *Block { return b.block }

// At sets the source position of the nodes that are built next.
func (b *Builder) At(pos string) { b.state.pos = pos }

// Uses returns the number of uses of v when the current [Func.Rewrite] began.
func (b *Builder) Uses(v *Value) int { return b.uses[v] }

// Name returns an unused name for a value: hint, or hint with a number.
func (b *Builder) Name(hint string) string { return unique(b.state.names, b.state.next, hint) }

// Symbol returns an unused symbol with a name similar to hint.
func (b *Builder) Symbol(hint string) string {
	return unique(b.state.symbols, b.state.next, SymbolName(hint))
}

func unique(taken map[string]bool, next map[string]int, hint string) string {
	name := hint
	for taken[name] {
		next[hint]++
		name = hint + strconv.Itoa(next[hint])
	}
	taken[name] = true
	return name
}

// SymbolName converts arbitrary text to a valid symbol name.
func SymbolName(text string) string {
	var s strings.Builder
	for _, c := range text {
		if c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' && s.Len() > 0 {
			s.WriteRune(c)
		} else {
			s.WriteByte('_')
		}
		if s.Len() >= 40 {
			break
		}
	}
	switch name := s.String(); {
	case strings.Trim(name, "_") == "":
		return "d"
	case dim.IsReserved(name):
		return name + "_"
	default:
		return name
	}
}

// Param appends a parameter of type t to the block and returns it. The parameter's name is `name`, followed by a
// number if another value has that name. Nodes that are built later may use the symbols in t. Param panics, as [Fail]
// does, if t is not valid.
func (b *Builder) Param(name string, t Type) *Value {
	if err := t.Check(); err != nil {
		Fail("%q: %w", name, err)
	}
	v := &Value{Name: b.Name(name), Type: t, Index: len(b.block.Params)}
	b.block.Params = append(b.block.Params, v)
	t.Subst(func(s string) (dim.Dim, bool) { b.state.bind(s); return dim.Dim{}, false })
	return v
}

// Return sets the results of the block.
func (b *Builder) Return(values ...*Value) {
	b.block.Results = slices.Clone(values)
	for i, v := range values {
		b.block.Results[i] = b.Now(v)
	}
}

// Block builds a nested block. The nodes of the block may also use the values of the block under construction and of
// the blocks around it.
func (b *Builder) Block(build func(*Builder)) *Block {
	inner := &Builder{fn: b.fn, block: &Block{}, state: b.state, uses: b.uses, outer: len(b.state.order)}
	b.state.open = append(b.state.open, inner.block)
	defer func() { b.state.open = b.state.open[:len(b.state.open)-1] }()
	build(inner)
	b.state.loose = append(b.state.loose, inner.block)
	return inner.block
}

// Drop discards a block that [Builder.Block] built and that no node uses.
func (b *Builder) Drop(block *Block) {
	b.state.loose = slices.DeleteFunc(b.state.loose, func(l *Block) bool { return l == block })
}

// Node appends a node and returns its only result. It panics, as [Fail] does, if the node has
// another number of results or the operator does not accept the operands.
func (b *Builder) Node(op Op, args ...*Value) *Value {
	r := b.Nodes(op, args...)
	if len(r) != 1 {
		Fail("%s: %d results where one is used", OpName(op), len(r))
	}
	return r[0]
}

// Nodes appends a node and returns its results. It panics, as [Fail] does, if the operator does not
// accept the operands; [Try] turns the panic into an error. If the elements of an integer result
// are known, and are few enough to be tracked, a [Constant] or [Extents] is appended instead.
func (b *Builder) Nodes(op Op, args ...*Value) []*Value { return b.NodeBlocks(op, nil, args...) }

// NodeBlocks is like [Builder.Nodes] for an operator with blocks.
func (b *Builder) NodeBlocks(op Op, blocks []*Block, args ...*Value) []*Value {
	for len(args) > 0 && args[len(args)-1] == nil {
		args = args[:len(args)-1]
	}
	n := &Node{Op: op, Args: slices.Clone(args), Blocks: blocks, Pos: b.state.pos}
	b.resolve(n)
	types, err := b.infer(n)
	if err != nil {
		FailWith(err)
	}
	for i, t := range types {
		if err := t.Check(); err != nil {
			Fail("%s: result %s: %w", OpName(op), t, err)
		}
		n.Results = append(n.Results, &Value{Type: t, Def: n, Index: i})
		for _, d := range t.Shape {
			b.state.extents += d.Size()
		}
	}
	if b.state.extents > maxExtents {
		Fail("%s: the extents of the model are too complex", OpName(op))
	}
	inferElems(n, &b.state.elems)
	if known := knownElems(n); known != nil {
		n.Op, n.Args = known, nil
	}
	for _, r := range n.Results {
		r.Name = b.Name("h")
	}
	if op, ok := n.Op.(Binder); ok {
		for _, s := range op.Binds() {
			b.state.bind(s)
			b.state.made[s] = true
		}
	}
	b.block.Nodes = append(b.block.Nodes, n)
	if len(blocks) > 0 {
		b.state.loose = slices.DeleteFunc(b.state.loose, func(l *Block) bool { return slices.Contains(blocks, l) })
	}
	return n.Results
}

const (
	// maxExtents is the maximum number of atoms, see [dim.Dim], in all extents of a function. More are an error.
	maxExtents = 1 << 24
	// maxUnified is the maximum number of values per function that are visited to make extents equal. More are an
	// error.
	maxUnified = 1 << 26
)

// Const appends a [Constant] with the elements of t and returns its result.
func (b *Builder) Const(t *Tensor) *Value { return b.Node(Constant{t}) }

// Scalar appends a constant of rank 0, v rounded to the element type d. It panics, as [Fail] does,
// if d is String.
func (b *Builder) Scalar(d DType, v float64) *Value {
	if d == String {
		Fail("%s where numbers are expected", d)
	}
	return b.Const(Scalar(d, v))
}

// Dims appends an i64 tensor of rank 1 whose elements are the given extents.
func (b *Builder) Dims(dims ...dim.Dim) *Value {
	return b.Node(Extents{Type: StaticTensor(I64, len(dims)), Elems: dims})
}

// infer returns the types of n's results. An operator may require extents of its operands to be equal. If the builder
// unifies extents, infer first makes these extents equal.
func (b *Builder) infer(n *Node) ([]Type, error) {
	extents := 1
	for _, a := range n.Args {
		if a != nil {
			extents += a.Type.Rank()
		}
	}
	for tries := 0; ; tries++ {
		types, err := Infer(n)
		var u *Unproven
		if !b.state.unify || !errors.As(err, &u) || tries > 2*extents {
			return types, err
		}
		if !b.Equate(u.A, u.B, n.Args) {
			return nil, err
		}
		n.Op = SubstOp(n.Op, b.state.solution)
	}
}

// resolve updates n, a node that was made earlier. The function may since have replaced values and symbols. resolve
// replaces them in the operands and in the operator of n. The operator of a [CheckDim] keeps its symbols.
func (b *Builder) resolve(n *Node) {
	for i, a := range n.Args {
		n.Args[i] = b.Now(a)
	}
	if _, check := n.Op.(CheckDim); !check && len(b.state.solved) > 0 {
		n.Op = SubstOp(n.Op, b.state.solution)
	}
}

// solution returns the value by which [Builder.Unify] replaced a symbol, or false if it did not
// replace it.
func (s *buildState) solution(sym string) (dim.Dim, bool) {
	d, ok := s.solved[sym]
	if ok && d.Mentions(s.solution) {
		d = d.Subst(s.solution)
		s.solved[sym] = d
	}
	return d, ok
}

// Unify makes two extents equal by replacing a symbol everywhere in the function. It reports
// whether it succeeded. If a parameter binds the symbol, the caller's arguments are checked. If a
// node binds it, Unify appends a [CheckDim] after the node, and an [Assume] for its results.
func (b *Builder) Unify(x, y dim.Dim) bool {
	sym, value, ok := b.solve(x, y)
	if _, again := b.state.solved[sym]; !ok || again {
		return false
	}
	b.state.solved[sym] = value
	var makers []*Node
	if b.state.made[sym] {
		makers = b.makers(sym)
	}
	env := func(s string) (dim.Dim, bool) { return value, s == sym }
	for _, block := range slices.Concat(b.state.open, b.state.loose) {
		b.state.unified += substBlock(block, env)
	}
	for _, n := range makers {
		b.assume(n, dim.Sym(sym), value)
	}
	if b.state.unified > maxUnified {
		Fail("too many extents have to be made equal")
	}
	return true
}

// Keep prevents [Builder.Unify] from replacing a symbol.
func (b *Builder) Keep(symbol string) { b.state.kept[symbol] = true }

// isOuter reports whether making x and y equal would replace a symbol that is bound before the
// block. The equality may then hold only where the block runs.
func (b *Builder) isOuter(x, y dim.Dim) bool {
	sym, _, ok := b.solve(x, y)
	return ok && b.state.order[sym] < b.outer
}

// Assume returns v with the extents of `shape`, one for each axis of v. It unifies each extent with the extent of
// v. If this fails, or would replace a symbol that is bound before the block, it instead appends a check that the
// extents are equal at run time.
func (b *Builder) Assume(v *Value, shape ...dim.Dim) *Value {
	for i := range shape {
		if now := b.Now(v).Type.Shape[i]; !now.Equal(shape[i]) && (b.isOuter(now, shape[i]) || !b.Unify(now, shape[i])) {
			b.Nodes(CheckDim{A: now, B: shape[i], What: whatEqual})
		}
	}
	v = b.Now(v)
	typ := TensorOf(v.Type.DType, shape...).Subst(b.state.solution)
	if v.Type.Equal(typ) {
		return v
	}
	return b.Node(Assume{typ}, v)
}

// Equate makes x and y equal, and reports whether it succeeded. It has two ways. The first is [Builder.Unify]. The
// second is to append a check for run time, and to replace one extent by the other in the types of values; it fails
// if no extent can be replaced. Equate uses the first way, or the second if the first fails. If Unify would replace a
// symbol that is bound before the block, Equate tries the second way before the first. Elements of values may be nil.
// Equate stores the values with their new types in this slice.
func (b *Builder) Equate(x, y dim.Dim, values []*Value) bool {
	if !(b.isOuter(x, y) && b.exchange(x, y, values)) && !b.Unify(x, y) && !b.exchange(x, y, values) {
		return false
	}
	for i, v := range values {
		values[i] = b.Now(v)
	}
	return true
}

// exchange appends a check that x equals y, and replaces one of them by the other in the types of values. An extent
// can be replaced if it occurs in one of the types and is not constant. exchange replaces x if possible, or else y.
// If neither can be replaced, it returns false and appends nothing.
func (b *Builder) exchange(x, y dim.Dim, values []*Value) bool {
	has := func(v *Value, d dim.Dim) bool {
		return v != nil && v.Type.IsTensor() && slices.ContainsFunc(v.Type.Shape, d.Equal)
	}
	for _, pair := range [][2]dim.Dim{{x, y}, {y, x}} {
		from, to := pair[0], pair[1]
		if from.IsConst() || !slices.ContainsFunc(values, func(v *Value) bool { return has(v, from) }) {
			continue
		}
		b.Nodes(CheckDim{A: from, B: to, What: whatEqual})
		for i, v := range values {
			if !has(v, from) {
				continue
			}
			t := TensorOf(v.Type.DType, slices.Clone(v.Type.Shape)...)
			for k, d := range t.Shape {
				if d.Equal(from) {
					t.Shape[k] = to
				}
			}
			values[i] = b.Node(Assume{t}, v)
		}
		return true
	}
	return false
}

const whatEqual = "extents that have to be equal"

// makers returns the nodes that bind a symbol. There are several nodes if the block with the node was inlined more
// than once.
func (b *Builder) makers(sym string) []*Node {
	var makers []*Node
	for _, block := range slices.Concat(b.state.open, b.state.loose) {
		for n := range block.All() {
			if o, ok := n.Op.(Binder); ok && slices.Contains(o.Binds(), sym) && !slices.Contains(makers, n) {
				makers = append(makers, n)
			}
		}
	}
	return makers
}

// assume inserts a check that sym equals value after maker, the node that binds sym. Later nodes
// then use maker's results with sym replaced by value. The results of maker itself get the types
// that its operator infers.
func (b *Builder) assume(maker *Node, sym, value dim.Dim) {
	nodes := []*Node{{Op: CheckDim{A: sym, B: value, What: whatEqual}, Pos: maker.Pos}}
	types, err := Infer(maker)
	if err != nil {
		FailWith(err)
	}
	taken := map[*Value]*Value{}
	for i, r := range maker.Results {
		if types[i].Equal(r.Type) {
			continue
		}
		n := &Node{Op: Assume{r.Type}, Args: []*Value{r}, Pos: maker.Pos}
		n.Results = []*Value{{Name: b.Name("h"), Type: r.Type, Def: n, Elems: r.Elems}}
		r.Type = types[i]
		taken[r], b.state.taken[r] = n.Results[0], n.Results[0]
		nodes = append(nodes, n)
	}
	for _, block := range slices.Concat(b.state.open, b.state.loose) {
		block.ReplaceUses(taken)
		block.insertAfter(maker, nodes)
	}
}

// Now returns the value that replaced v when extents were made equal, or v if it was not replaced.
func (b *Builder) Now(v *Value) *Value {
	for b.state.taken[v] != nil {
		v = b.state.taken[v]
	}
	return v
}

func (b *Block) insertAfter(n *Node, nodes []*Node) {
	if i := slices.Index(b.Nodes, n); i >= 0 {
		b.Nodes = slices.Insert(b.Nodes, i+1, nodes...)
		return
	}
	for _, m := range b.Nodes {
		for _, inner := range m.Blocks {
			inner.insertAfter(n, nodes)
		}
	}
}

// ReplaceUses replaces operands and results in b and its nested blocks.
func (b *Block) ReplaceUses(replacements map[*Value]*Value) {
	replace := func(list []*Value) {
		for i, v := range list {
			if to := replacements[v]; to != nil {
				list[i] = to
			}
		}
	}
	for _, n := range b.Nodes {
		replace(n.Args)
		for _, inner := range n.Blocks {
			inner.ReplaceUses(replacements)
		}
	}
	replace(b.Results)
}

// solve solves x = y for a symbol, and returns the symbol and its value. It does not solve for symbols that
// [Builder.Keep] names. If there are several candidates, it takes the symbol that was bound last. ok is false if
// there is no candidate.
func (b *Builder) solve(x, y dim.Dim) (sym string, value dim.Dim, ok bool) {
	d := x.Sub(y)
	symbols := d.Symbols()
	slices.SortFunc(symbols, func(s, t string) int { return b.state.order[t] - b.state.order[s] })
	for _, s := range symbols {
		coef, rest, ok := d.Linear(s)
		if !ok || b.state.kept[s] {
			continue
		}
		switch c, _ := coef.Int(); c {
		case 1:
			return s, rest.Neg(), true
		case -1:
			return s, rest, true
		}
	}
	return "", dim.Dim{}, false
}

// substBlock replaces symbols in b and its nested blocks by the values that the function `env` returns. A symbol for
// which `env` returns false stays. substBlock returns the number of values that it visited.
func substBlock(b *Block, env func(string) (dim.Dim, bool)) int {
	values := len(b.Params)
	for _, p := range b.Params {
		substValue(p, env)
	}
	for _, n := range b.Nodes {
		values += 1 + len(n.Results)
		if hasDims(n.Op) {
			n.Op = SubstOp(n.Op, env)
		}
		for _, r := range n.Results {
			values += len(r.Elems)
			substValue(r, env)
		}
		for _, inner := range n.Blocks {
			values += substBlock(inner, env)
		}
	}
	return values
}

func substValue(v *Value, env func(string) (dim.Dim, bool)) {
	mentions := func(d dim.Dim) bool { return d.Mentions(env) }
	if slices.ContainsFunc(v.Type.Shape, mentions) {
		v.Type = v.Type.Subst(env)
	}
	for i, e := range v.Elems {
		if mentions(e.Num) {
			v.Elems[i].Num = e.Num.Subst(env)
		}
	}
}

// Subst replaces the symbols in env by their values, in all types and attributes of f.
func (f *Func) Subst(env map[string]dim.Dim) {
	substBlock(&f.Block, func(s string) (dim.Dim, bool) { d, ok := env[s]; return d, ok })
}

// Infer returns the types of n's results, from its operator, operands and blocks. It returns an
// error if the operator does not accept them.
func Infer(n *Node) (types []Type, err error) {
	defer func() {
		if _, ok := recover().(runtime.Error); ok {
			err = fmt.Errorf("%s: its operands and attributes do not fit it", OpName(n.Op))
		}
	}()
	if op, ok := n.Op.(RegionOp); ok {
		types, err = op.InferBlocks(n.ArgTypes(), n.Blocks)
	} else {
		types, err = n.Op.Infer(n.ArgTypes())
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", OpName(n.Op), err)
	}
	return types, nil
}

// elemBudget counts the elements that are tracked as expressions, and the atoms in these expressions, see
// [dim.Dim].
type elemBudget int

// maxElemBudget bounds an elemBudget. Elements that would exceed it are not tracked.
const maxElemBudget = 1 << 22

func (b *elemBudget) take(elems []Ratio) bool {
	for _, e := range elems {
		*b += elemBudget(1 + e.Num.Size())
	}
	return *b <= maxElemBudget
}

func inferElems(n *Node, budget *elemBudget) {
	op, ok := n.Op.(ElemsOp)
	if !ok || len(n.Results) != 1 || !n.Results[0].Type.IsTensor() {
		return
	}
	out := n.Results[0].Type
	if count, ok := out.Elems().Int(); !ok || count > maxElems || !out.IsStatic() {
		return
	}
	for _, a := range n.Args {
		if a != nil && a.Elems == nil {
			return
		}
	}
	for _, a := range n.Args {
		if a != nil && !budget.take(a.Elems) {
			return
		}
	}
	elems := op.InferElems(n.Args, out)
	for _, e := range elems {
		if e.Num.Overflow() {
			return
		}
	}
	if budget.take(elems) {
		n.Results[0].Elems = elems
	}
}

// knownElems returns a [Constant] or [Extents] with the integer elements of n's result. It returns nil if they are
// not known, or if n has no operands and is not an [Extents].
func knownElems(n *Node) Op {
	if len(n.Results) != 1 {
		return nil
	}
	r := n.Results[0]
	dims, ok := r.Dims()
	if _, isExtents := n.Op.(Extents); !ok || len(n.Args) == 0 && !isExtents || r.Type.DType.IsFloat() {
		return nil
	}
	values, ok := dim.Ints(dims)
	if !ok {
		if r.Type.DType == Bool {
			return nil
		}
		return Extents{Type: r.Type, Elems: dims}
	}
	shape, _ := r.Type.Static()
	t := NewTensor(r.Type.DType, shape...)
	for i, v := range values {
		t.SetInt(i, int64(v))
	}
	return Constant{t}
}

// SymbolsOf returns the symbols in the types of values, sorted.
func SymbolsOf(values []*Value) []string {
	set := map[string]bool{}
	for _, v := range values {
		v.Type.Subst(func(s string) (dim.Dim, bool) { set[s] = true; return dim.Dim{}, false })
	}
	return slices.Sorted(maps.Keys(set))
}
