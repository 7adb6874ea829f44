package op

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// Loop executes its block repeatedly. The block's parameters are the iteration number, an i64 scalar from 0; the
// condition, a bool scalar; and the carried values. The block's results are the condition for another iteration;
// the next carried values; and one tensor for each scan. A scan collects the tensors of all iterations, stacked
// along a new first axis. The results of the loop are the final carried values and the scans.
//
// The operands are the maximum number of iterations, an optional i64 of one element; the initial condition, true if
// absent; and the initial carried values. A Counted loop has only carried values as operands. It runs Trips times
// and ignores the condition.
type Loop struct {
	Counted bool
	Trips   dim.Dim
	// Varying are the symbols of extents of carried values that differ between iterations. Each
	// iteration binds them for its parameters.
	Varying []string
	// Scans are the types of the elements of scans. An extent that the field Extents binds is a
	// symbol.
	Scans []ir.Type
	// Extents binds extents of results that are known only after the last trip.
	Extents []ir.ResultExtent
}

// Infer returns an error: [Loop.InferBlocks] is used instead.
func (op Loop) Infer([]ir.Type) ([]ir.Type, error) { return nil, errNoBlocks }

// Eval returns an error: [Loop.EvalBlocks] is used instead.
func (op Loop) Eval([]*ir.Tensor) ([]*ir.Tensor, error) { return nil, errNoBlocks }

func (op Loop) first() int {
	if op.Counted {
		return 0
	}
	return 2
}

// InferBlocks returns the types of the results. A carried value has the type of the block's parameter. A scan has
// its type in Scans with a new first axis.
func (op Loop) InferBlocks(in []ir.Type, blocks []*ir.Block) ([]ir.Type, error) {
	if len(blocks) != 1 || len(blocks[0].Params) < 2 {
		return nil, fmt.Errorf("a block with two parameters or more expected")
	}
	params, results := blocks[0].Params[2:], resultTypes(blocks[0])
	in = slices.Clone(in)
	for len(in) < op.first()+len(params) {
		in = append(in, ir.Type{})
	}
	if len(in) != op.first()+len(params) || len(results) != 1+len(params)+len(op.Scans) {
		return nil, fmt.Errorf("%d operands and %d results of the body for %d carried values and %d scans", len(in), len(results), len(params), len(op.Scans))
	}
	if !op.Counted {
		if n, ok := in[0].Elems().Int(); !in[0].IsZero() && (!in[0].DType.IsInt() || ok && n != 1) {
			return nil, fmt.Errorf("the number of trips: one integer expected, not %s", in[0])
		}
		if !in[0].IsZero() {
			if err := Same(in[0].Elems(), dim.Const(1), "the number of trips"); err != nil {
				return nil, err
			}
		}
		if !in[1].IsZero() {
			if err := isFlag(in[1], "the condition"); err != nil {
				return nil, err
			}
		}
	}
	if err := isFlag(results[0], "the condition of the body"); err != nil {
		return nil, err
	}
	var out []ir.Type
	for i, p := range params {
		for _, t := range []ir.Type{in[op.first()+i], results[1+i]} {
			if err := op.carries(t, p.Type); err != nil {
				return nil, fmt.Errorf("carried value %d: %w", i, err)
			}
		}
		out = append(out, op.withExtents(p.Type, i))
	}
	for i, t := range op.Scans {
		r := results[1+len(params)+i]
		if !r.IsTensor() || r.DType != t.DType || r.Rank() != t.Rank() {
			return nil, fmt.Errorf("scan %d: %s where a trip gives %s", i, t, r)
		}
		stacked := op.withExtents(ir.TensorOf(t.DType, append([]dim.Dim{op.Trips}, t.Shape...)...), len(params)+i)
		for k, d := range r.Shape {
			if _, late := bound(op.Extents, len(params)+i, k+1); late {
				continue
			}
			if err := Same(d, t.Shape[k], "extents of a scan"); err != nil {
				return nil, err
			}
		}
		out = append(out, stacked)
	}
	return out, nil
}

// carries returns an error unless a value of type t can be passed to a block's parameter of type param. A symbol of
// param that is in Varying accepts any extent.
func (op Loop) carries(t, param ir.Type) error {
	if !param.IsTensor() {
		if !t.Within(param) {
			return fmt.Errorf("%s is not %s", t, param)
		}
		return nil
	}
	if !t.IsTensor() || t.DType != param.DType || t.Rank() != param.Rank() {
		return fmt.Errorf("%s is not %s", t, param)
	}
	for k, d := range param.Shape {
		if slices.Contains(op.Varying, d.String()) {
			continue
		}
		if err := Same(d, t.Shape[k], "extents of a carried value"); err != nil {
			return err
		}
	}
	return nil
}

func (op Loop) withExtents(t ir.Type, result int) ir.Type {
	t.Shape = slices.Clone(t.Shape)
	for k := range t.Shape {
		if s, ok := bound(op.Extents, result, k); ok {
			t.Shape[k] = s
		}
	}
	return t
}

// maxTrips is the maximum number of iterations of a loop that the evaluator runs.
const maxTrips = 1 << 24

// EvalBlocks runs the block until the condition is false or the maximum number of iterations is
// reached. It returns the final carried values and the scans. It returns an error if an iteration
// after maxTrips would start, or if the elements of a scan differ in shape.
func (op Loop) EvalBlocks(in []*ir.Tensor, blocks []*ir.Block, run func(*ir.Block, []*ir.Tensor) ([]*ir.Tensor, error)) ([]*ir.Tensor, error) {
	body := blocks[0]
	carried := len(body.Params) - 2
	trips, going := int64(math.MaxInt64), true
	state := slices.Clone(in)
	switch {
	case op.Counted:
		n, ok := op.Trips.Int64()
		if !ok {
			return nil, fmt.Errorf("the number of trips, %s, is not known", op.Trips)
		}
		trips = n
	default:
		for len(state) < 2+carried {
			state = append(state, nil)
		}
		if state[0] != nil {
			trips = state[0].Int(0)
		}
		if state[1] != nil {
			going = state[1].Bool(0)
		}
		state = state[2:]
	}
	rows := make([][]*ir.Tensor, len(op.Scans))
	for i := int64(0); i < trips && (going || op.Counted); i++ {
		if i == maxTrips {
			return nil, fmt.Errorf("more than %d trips", maxTrips)
		}
		flag := ir.NewTensor(ir.Bool)
		flag.SetBool(0, going)
		out, err := run(body, append([]*ir.Tensor{ir.Scalar(ir.I64, float64(i)), flag}, state...))
		if err != nil {
			return nil, err
		}
		going = out[0].Bool(0)
		state = out[1 : 1+carried]
		for k := range rows {
			rows[k] = append(rows[k], out[1+carried+k])
		}
	}
	out := slices.Clone(state)
	for k, t := range op.Scans {
		stacked, err := stack(t, rows[k])
		if err != nil {
			return nil, fmt.Errorf("scan %d: %w", k, err)
		}
		out = append(out, stacked)
	}
	return out, nil
}

// stack stacks `rows`, tensors of type t, along a new first axis. If rows is empty, symbolic extents of t are 0 in
// the result. stack returns an error if the rows differ in shape.
func stack(t ir.Type, rows []*ir.Tensor) (*ir.Tensor, error) {
	shape := []int{len(rows)}
	for k, d := range t.Shape {
		n, _ := d.Int()
		if len(rows) > 0 {
			n = rows[0].Shape[k]
		}
		shape = append(shape, n)
	}
	y := ir.NewTensor(t.DType, shape...)
	for i, row := range rows {
		if !slices.Equal(row.Shape, shape[1:]) {
			return nil, fmt.Errorf("trip %d gives %v, trips before it %v", i, row.Shape, shape[1:])
		}
		for k := range row.Len() {
			y.Copy(i*row.Len()+k, row, k)
		}
	}
	return y, nil
}

// Scope returns Varying.
func (op Loop) Scope() []string { return op.Varying }

// Binds returns the symbols of Extents.
func (op Loop) Binds() []string { return ir.Invoke{Extents: op.Extents}.Binds() }

// BindValues returns the values of the symbols in Extents, which are extents of the results.
func (op Loop) BindValues(_, out []*ir.Tensor) ([]int64, error) {
	return ir.Invoke{Extents: op.Extents}.BindValues(nil, out)
}

// importLoop imports Loop. If the body changes an extent of a carried value, the extent becomes a symbol that each
// iteration binds, and importLoop builds the body again. It repeats this until no further extent changes.
func importLoop(c ir.Importer) ([]*ir.Value, error) {
	b := c.Builder()
	if c.NumArgs() < 2 {
		return nil, fmt.Errorf("%d operands, 2 or more expected", c.NumArgs())
	}
	trips, condition := c.Arg(0), c.Arg(1)
	var first []*ir.Value
	for i := 2; i < c.NumArgs(); i++ {
		v := c.Arg(i)
		if v == nil {
			return nil, fmt.Errorf("carried value %d is absent", i-2)
		}
		first = append(first, v)
	}
	scalars := []ir.Type{ir.TensorOf(ir.I64), ir.TensorOf(ir.Bool)}
	declared := slices.Clone(scalars)
	for i := range declared {
		if c.GraphRank("body", i) == 1 {
			declared[i].Shape = dim.Consts(1)
		}
	}
	results, err := loop{
		first: first,
		body: func(carried []ir.Type) *ir.Block {
			return ofScalars(b, c.Graph("body", slices.Concat(declared, carried)))
		},
	}.build(b, trips, condition)
	if err != nil && !slices.EqualFunc(declared, scalars, ir.Type.Equal) {
		// A carried scalar became a vector: the body expects scalars, whatever it declares.
		return loop{
			first: first,
			body:  func(carried []ir.Type) *ir.Block { return c.Graph("body", slices.Concat(scalars, carried)) },
		}.build(b, trips, condition)
	}
	return results, err
}

// ofScalars returns a block that does what body does, but gets the iteration number and the condition as scalars. In
// a body that an old exporter has written, they may be vectors of one element.
func ofScalars(b *ir.Builder, body *ir.Block) *ir.Block {
	if body.Params[0].Type.Rank()+body.Params[1].Type.Rank() == 0 {
		return body
	}
	return b.Block(func(b *ir.Builder) {
		args := make([]*ir.Value, len(body.Params))
		for i, p := range body.Params {
			if i < 2 {
				args[i] = ReshapeTo(b, b.Param(p.Name, ir.TensorOf(p.Type.DType)), p.Type.Shape...)
			} else {
				args[i] = b.Param(p.Name, p.Type)
			}
		}
		b.Return(b.Inline(body, args, "")...)
	})
}

type loop struct {
	first []*ir.Value // initial carried values
	// body builds the block for carried values of these types.
	body func(carried []ir.Type) *ir.Block
	// varied lists the axes that have symbols, as pairs of a carried value's index and the axis.
	varied [][2]int
}

func (l loop) build(b *ir.Builder, trips, condition *ir.Value) ([]*ir.Value, error) {
	op := Loop{}
	body, err := l.fixpoint(b, &op)
	if err != nil {
		return nil, err
	}
	args := append([]*ir.Value{trips, condition}, l.first...)
	if n, ok := tripCount(trips); ok && isTrue(condition) && keepsGoing(body) {
		op.Counted, op.Trips, args = true, n, l.first
	}
	inside := body.BoundSymbols()
	for _, s := range op.Varying {
		inside[s] = true
	}
	carried := len(l.first)
	for i, p := range body.Params[2:] {
		for k, d := range p.Type.Shape {
			if p.Type.IsTensor() && slices.Contains(op.Varying, d.String()) {
				op.Extents = append(op.Extents, ir.ResultExtent{Symbol: b.Symbol(fmt.Sprintf("loop%d_%d", i, k)), Result: i, Axis: k})
			}
		}
	}
	for i, r := range body.Results[1+carried:] {
		if !r.Type.IsTensor() {
			return nil, fmt.Errorf("scan %d is %s: only tensors are stacked", i, r.Type)
		}
		at := carried + i
		if !op.Counted {
			op.Extents = append(op.Extents, ir.ResultExtent{Symbol: b.Symbol(fmt.Sprintf("trips%d", i)), Result: at})
		}
		t := ir.TensorOf(r.Type.DType, slices.Clone(r.Type.Shape)...)
		for k, d := range t.Shape {
			if mentions(d, inside) {
				s := b.Symbol(fmt.Sprintf("scan%d_%d", i, k))
				op.Extents = append(op.Extents, ir.ResultExtent{Symbol: s, Result: at, Axis: k + 1})
				t.Shape[k] = dim.Sym(s)
			}
		}
		op.Scans = append(op.Scans, t)
	}
	return b.NodeBlocks(op, []*ir.Block{body}, args...), nil
}

// fixpoint builds the body again and again, until the types of the carried values no longer change. It returns the
// last body and sets op.Varying.
func (l *loop) fixpoint(b *ir.Builder, op *Loop) (*ir.Block, error) {
	types := make([]ir.Type, len(l.first))
	for i, v := range l.first {
		types[i] = v.Type
		if !v.Type.IsTensor() {
			continue
		}
		types[i].Shape = slices.Clone(v.Type.Shape)
	}
	for {
		body := l.body(types)
		if len(body.Params) != 2+len(types) || len(body.Results) < 1+len(types) {
			return nil, fmt.Errorf("the body has %d inputs and %d outputs for %d carried values", len(body.Params), len(body.Results), len(types))
		}
		changed := false
		for i := range types {
			wide, again, err := l.widen(b, op, i, b.Now(l.first[i]).Type, body.Params[2+i].Type, body.Results[1+i].Type)
			if err != nil {
				b.Drop(body)
				return nil, fmt.Errorf("carried value %d: %w", i, err)
			}
			types[i], changed = wide, changed || again
		}
		if !changed {
			op.Varying = slices.DeleteFunc(op.Varying, func(s string) bool {
				return !slices.Contains(ir.SymbolsOf(body.Params), s)
			})
			return body, nil
		}
		b.Drop(body)
	}
}

// widen returns a type for carried value i that fits its values before and after an iteration. `first` is the type of
// the initial value. param is the type for which the body was built, and result the type after an iteration. If an
// iteration changes an extent, widen replaces the extent by a new symbol in op.Varying, and changed is true. The
// caller then builds the body for the new type.
//
// That body may set the symbol equal to some other extent, so that the next call of widen replaces the extent a
// second time. widen then calls [ir.Builder.Keep] for the new symbol, so that the body cannot replace it.
func (l *loop) widen(b *ir.Builder, op *Loop, i int, first, param, result ir.Type) (wide ir.Type, changed bool, err error) {
	if !param.IsTensor() {
		if wide, err = ir.Join(param, result); err != nil {
			return wide, false, err
		}
		if !first.Within(wide) && wide.Kind == ir.SequenceKind { // of another rank
			wide = ir.SequenceOf(ir.Type{DType: wide.Elem.DType})
		}
		return wide, !wide.Equal(param), nil
	}
	if !result.IsTensor() || result.DType != param.DType || result.Rank() != param.Rank() {
		return wide, false, fmt.Errorf("it is %s, and after a trip %s", first, result)
	}
	wide = ir.TensorOf(param.DType, slices.Clone(param.Shape)...)
	for k, d := range wide.Shape {
		if !d.Equal(result.Shape[k]) && !slices.Contains(op.Varying, d.String()) {
			s := b.Symbol("carried")
			if again := slices.Contains(l.varied, [2]int{i, k}); again {
				b.Keep(s)
			}
			l.varied = append(l.varied, [2]int{i, k})
			op.Varying = append(op.Varying, s)
			wide.Shape[k], changed = dim.Sym(s), true
		}
	}
	return wide, changed, nil
}

// tripCount returns the number of iterations if it is a constant or an expression. trips is a tensor with this
// number as its only element. tripCount returns false if the number is not known.
func tripCount(trips *ir.Value) (dim.Dim, bool) {
	dims, ok := trips.Dims()
	if !ok || len(dims) != 1 {
		return dim.Dim{}, false
	}
	return dims[0].Max(dim.Const(0)), true
}

func isTrue(condition *ir.Value) bool {
	if condition == nil {
		return true
	}
	t, ok := knownTensor(condition)
	return ok && t.Len() == 1 && t.Bool(0)
}

// keepsGoing reports whether the body never ends the loop: the condition that it returns is a constant true, or the
// condition that it has as a parameter.
func keepsGoing(body *ir.Block) bool {
	v := body.Results[0]
	for v.Def != nil && v.Type.IsTensor() {
		if _, ok := v.Def.Op.(Reshape); !ok {
			break
		}
		v = v.Def.Arg(0)
	}
	return v == body.Params[1] || isTrue(v)
}
