package ir

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir/dim"
)

// Evaluator runs functions with the Eval methods of the operators.
type Evaluator struct {
	Module *Module
	// Watch, if not nil, is called with every value of the outermost function.
	Watch func(v *Value, t *Tensor)

	byName  map[string]*Weight // weights of Module by name; nil until one is loaded
	weights map[string]*Tensor // decoded weights by name
}

// Run evaluates f on args and returns its results. The shapes of the arguments bind the symbols in
// the types of the parameters. It returns an error if an argument does not have its parameter's
// type, or if a node fails.
func (e *Evaluator) Run(f *Func, args []*Tensor) ([]*Tensor, error) {
	symbols, err := BindShapes(f.Params, shapesOf(args))
	if err != nil {
		return nil, err
	}
	for i, p := range f.Params {
		if !p.Type.IsTensor() {
			if err := args[i].conforms(p.Type); err != nil {
				return nil, fmt.Errorf("%s: %w", p, err)
			}
			continue
		}
		if args[i].DType != p.Type.DType {
			return nil, fmt.Errorf("%s: %s expected, not %s", p, p.Type, args[i].Type())
		}
	}
	return e.run(f, symbols, args)
}

func (e *Evaluator) run(f *Func, symbols map[string]int64, args []*Tensor) ([]*Tensor, error) {
	r := &run{Evaluator: e, symbols: symbols, values: map[*Value]*Tensor{}, left: f.Uses()}
	return r.block(&f.Block, args)
}

func shapesOf(tensors []*Tensor) [][]int {
	shapes := make([][]int, len(tensors))
	for i, t := range tensors {
		if t != nil {
			shapes[i] = t.Shape
		}
	}
	return shapes
}

type run struct {
	*Evaluator
	symbols map[string]int64   // values of the symbols bound so far
	values  map[*Value]*Tensor // values computed so far that are still needed
	left    map[*Value]int     // remaining uses of values outside of loops
	nested  int                // number of blocks around the current node
}

func (r *run) block(b *Block, args []*Tensor) ([]*Tensor, error) {
	if len(args) != len(b.Params) {
		return nil, fmt.Errorf("%d arguments for %d parameters", len(args), len(b.Params))
	}
	for i, p := range b.Params {
		r.define(p, args[i])
	}
	for _, n := range b.Nodes {
		if err := r.node(n); err != nil {
			if n.Pos != "" {
				return nil, fmt.Errorf("node %q: %w", n.Pos, err)
			}
			return nil, err
		}
	}
	out := make([]*Tensor, len(b.Results))
	for i, v := range b.Results {
		out[i] = r.values[v]
	}
	return out, nil
}

func (r *run) define(v *Value, t *Tensor) {
	r.values[v] = t
	if r.Watch != nil && r.nested == 0 {
		r.Watch(v, t)
	}
}

func (r *run) symbol(name string) (dim.Dim, bool) {
	n, ok := r.symbols[name]
	return dim.Const(int(n)), ok
}

func (r *run) node(n *Node) error {
	args := make([]*Tensor, len(n.Args))
	for i, a := range n.Args {
		if a != nil {
			args[i] = r.values[a]
		}
	}
	out, err := r.results(n, args)
	if err != nil {
		return err
	}
	for i, v := range n.Results {
		r.define(v, out[i])
	}
	if r.nested == 0 {
		for _, a := range n.Args {
			if r.left[a]--; a != nil && r.left[a] <= 0 {
				delete(r.values, a)
			}
		}
	}
	return nil
}

// Node evaluates a node on its operands and returns the results. symbols holds the values of the
// symbols in the node; Node adds the symbols that the node binds. It returns an error if the
// operator fails or a result does not have its type.
func (e *Evaluator) Node(n *Node, symbols map[string]int64, args []*Tensor) ([]*Tensor, error) {
	r := &run{Evaluator: e, symbols: symbols, values: map[*Value]*Tensor{}}
	return r.results(n, args)
}

// results computes the results of a node, binds its symbols, and returns an error if a result does
// not have its type.
func (r *run) results(n *Node, args []*Tensor) ([]*Tensor, error) {
	out, err := r.apply(n, args)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", OpName(n.Op), err)
	}
	if len(out) != len(n.Results) {
		return nil, fmt.Errorf("%s: %d results, %d expected", OpName(n.Op), len(out), len(n.Results))
	}
	if b, ok := SubstOp(n.Op, r.symbol).(Binder); ok {
		values, err := b.BindValues(args, out)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", OpName(n.Op), err)
		}
		for i, s := range b.Binds() {
			r.symbols[s] = values[i]
		}
	}
	for i, v := range n.Results {
		if err := r.check(v.Type, out[i]); err != nil {
			return nil, fmt.Errorf("%s: result %s: %w", OpName(n.Op), v, err)
		}
	}
	return out, nil
}

func (r *run) apply(n *Node, args []*Tensor) ([]*Tensor, error) {
	switch op := n.Op.(type) {
	case Load:
		return r.load(op.Name)
	case Invoke:
		return r.invoke(r.Module.Func(op.Func), args)
	case RegionOp:
		r.nested++
		defer func() { r.nested-- }()
		return SubstOp(op, r.symbol).(RegionOp).EvalBlocks(args, n.Blocks, func(b *Block, args []*Tensor) ([]*Tensor, error) {
			if s, ok := op.(Scoper); ok {
				r.bindScope(s.Scope(), b.Params, args)
			}
			return r.block(b, args)
		})
	}
	return SubstOp(n.Op, r.symbol).Eval(args)
}

// invoke evaluates another function on args. The function sees the symbols in its Scope.
func (r *run) invoke(f *Func, args []*Tensor) ([]*Tensor, error) {
	symbols := map[string]int64{}
	for _, s := range f.Scope {
		symbols[s] = r.symbols[s]
	}
	if err := bindShapes(f.Params, shapesOf(args), symbols); err != nil {
		return nil, err
	}
	if r.weights == nil {
		r.weights = map[string]*Tensor{}
	}
	inner := &Evaluator{Module: r.Module, byName: r.byName, weights: r.weights}
	return inner.run(f, symbols, args)
}

func (r *run) bindScope(symbols []string, params []*Value, args []*Tensor) {
	for i, p := range params {
		for k, d := range p.Type.Shape {
			if s := d.String(); slices.Contains(symbols, s) && k < args[i].Rank() {
				r.symbols[s] = int64(args[i].Shape[k])
			}
		}
	}
}

func (r *run) load(name string) ([]*Tensor, error) {
	if t := r.weights[name]; t != nil {
		return []*Tensor{t}, nil
	}
	if r.byName == nil {
		r.byName = r.Module.ByName()
	}
	w := r.byName[name]
	if w == nil || w.Data == nil {
		return Load{Name: name}.Eval(nil)
	}
	t, err := w.Tensor()
	if err != nil {
		return nil, err
	}
	if r.weights == nil {
		r.weights = map[string]*Tensor{}
	}
	r.weights[name] = t
	return []*Tensor{t}, nil
}

// Tensor decodes the weight's data. It returns an error if the data do not fit the weight's type.
func (w *Weight) Tensor() (*Tensor, error) {
	shape, _ := w.Type.Static()
	t, err := DecodeTensor(w.Type.DType, shape, w.Data)
	if err != nil {
		return nil, fmt.Errorf("weight %q: %w", w.Name, err)
	}
	return t, nil
}

func (r *run) check(typ Type, t *Tensor) error {
	if !typ.IsTensor() {
		return t.conforms(typ)
	}
	if t == nil || t.DType != typ.DType || len(t.Shape) != len(typ.Shape) {
		return fmt.Errorf("%s expected", typ)
	}
	for i, d := range typ.Shape {
		want, err := d.Eval(func(s string) (int64, bool) { n, ok := r.symbols[s]; return n, ok })
		if err != nil {
			return fmt.Errorf("dimension %d: %w", i, err)
		}
		if want != int64(t.Shape[i]) {
			return fmt.Errorf("dimension %d is %d, not %s = %d", i, t.Shape[i], d, want)
		}
	}
	return nil
}

// BindShapes returns the values of the symbols in the types of params, given the shapes of the
// arguments. It returns an error that names the parameter and axis if a shape does not fit.
func BindShapes(params []*Value, shapes [][]int) (map[string]int64, error) {
	symbols := map[string]int64{}
	err := bindShapes(params, shapes, symbols)
	return symbols, err
}

// bindShapes is [BindShapes] with some symbols already bound. It adds the other symbols to the map.
func bindShapes(params []*Value, shapes [][]int, symbols map[string]int64) error {
	if len(shapes) != len(params) {
		return fmt.Errorf("%d arguments, %d expected", len(shapes), len(params))
	}
	for i, p := range params {
		if p.Type.IsTensor() && len(shapes[i]) != p.Type.Rank() {
			return fmt.Errorf("%s: rank %d, %s expected", p, len(shapes[i]), p.Type)
		}
	}
	// Each pass binds the symbols that follow from those already bound.
	for {
		known := len(symbols)
		for i, p := range params {
			for j, d := range p.Type.Shape {
				bindDim(d, int64(shapes[i][j]), symbols)
			}
		}
		if len(symbols) == known {
			break
		}
	}
	var errs []error
	for i, p := range params {
		for j, d := range p.Type.Shape {
			want, err := d.Eval(func(s string) (int64, bool) { n, ok := symbols[s]; return n, ok })
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: dimension %d: %w", p, j, err))
			} else if want != int64(shapes[i][j]) {
				errs = append(errs, fmt.Errorf("%s: dimension %d is %d, not %s = %d", p, j, shapes[i][j], d, want))
			}
		}
	}
	return errors.Join(errs...)
}

// bindDim solves d = n for the only unbound symbol of d, and adds its value to symbols. It does
// nothing if d has another number of unbound symbols, or if there is no solution of at least 0.
func bindDim(d dim.Dim, n int64, symbols map[string]int64) {
	d = d.Subst(func(s string) (dim.Dim, bool) { v, ok := symbols[s]; return dim.Const(int(v)), ok })
	free := d.Symbols()
	if len(free) != 1 {
		return
	}
	coef, rest, ok := d.Linear(free[0])
	if !ok {
		return
	}
	c, okC := coef.Int()
	r, okR := rest.Int()
	if okC && okR && c > 0 && (n-int64(r))%int64(c) == 0 && n >= int64(r) {
		symbols[free[0]] = (n - int64(r)) / int64(c)
	}
}

// Flops returns the number of floating-point operations of a call of f. The function `value` returns the value of a
// symbol. Flops leaves out operators that do not report operations. It also leaves out numbers that are negative or
// overflow int64.
func (f *Func) Flops(value func(symbol string) int64) (n int64) {
	for node := range f.All() {
		c, ok := node.Op.(Coster)
		if !ok {
			continue
		}
		v, err := c.Flops(node.ArgTypes(), node.ResultTypes()).Eval(func(symbol string) (int64, bool) { return value(symbol), true })
		if err == nil && v > 0 && n <= math.MaxInt64-v {
			n += v
		}
	}
	return n
}

// Symbols returns the symbols in the types of f's parameters and in its Scope, sorted.
func (f *Func) Symbols() []string {
	symbols := append(SymbolsOf(f.Params), f.Scope...)
	slices.Sort(symbols)
	return slices.Compact(symbols)
}
