// Package exec runs a program without generating code. It executes the steps that package emit
// would print, and leaves the steps that compute nodes to their target. It runs models that are
// loaded at run time, and is the reference for generated code.
package exec

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/plan"
	"github.com/burngen/burngen/runtime/rt"
)

// Runner executes the steps of a target.
type Runner interface {
	// Run runs a copy, or a step that belongs to the target.
	Run(f *Frame, s program.Step) error
	// Measure carries out a step of a [program.Bind] and returns its value.
	Measure(f *Frame, s program.Step) (int64, error)
}

// Machine executes the function fn, whose steps runner runs.
type Machine struct {
	fn     *program.Func
	runner Runner
	// weight returns the elements of a weight as a Go slice.
	weight func(name string) (any, error)
	// Budget bounds a run.
	Budget Budget
}

// Budget is the maximum that a run may use; a zero field means no limit.
type Budget struct {
	Steps int64 // steps of the function and its callees, counted in each iteration of a loop
	Bytes int64 // bytes of each arena, and of each other allocation
	Work  int64 // operations of these steps, as given by [ir.Node.Work]
}

// ErrBudget is returned by runs that exceed their budget.
var ErrBudget = errors.New("it takes more than the budget of the run")

// spent is the part of the budget used so far by a run and its callees: steps, and work in
// operations.
type spent struct{ steps, work int64 }

// New returns a machine that runs f, without a budget. The steps of f must be steps of the runner's target. The
// function `weight` returns the elements of a weight as a Go slice.
func New(f *program.Func, runner Runner, weight func(name string) (any, error)) *Machine {
	return &Machine{fn: f, runner: runner, weight: weight}
}

// Frame is one call of a function. It holds the values of symbols, the arguments and the results. It also holds the
// arena, and the offset of each buffer in it, in bytes. tails is the memory of buffers outside of the arena.
type Frame struct {
	*Machine
	symbols map[string]int64
	arena   []byte
	offsets map[*plan.Buffer]int
	params  []any
	results []any
	tails   []any
	// held holds pointers to the values of the variables.
	held  map[*plan.Variable]reflect.Value
	ctx   context.Context
	spent *spent
	// charged is the last node whose work was deducted from the budget. A node may have many steps.
	charged *ir.Node
}

// Run computes the function. Arguments are Go slices of elements with their shapes. A container is of the type
// [HeldType] and has no shape. outShapes are the shapes of the results. Run returns an error if the arguments do not
// fit the parameters, if the function has custom operators, or if a step fails. It returns [ErrBudget] if the budget
// is exceeded, and the error of ctx if ctx is done.
func (m *Machine) Run(ctx context.Context, args []any, shapes [][]int) (results []any, outShapes [][]int, err error) {
	return m.RunInto(ctx, args, shapes, nil)
}

// RunInto is like Run, but writes the results to the slices in dst. The slices must have the right lengths. RunInto
// allocates memory for a result whose slice is nil, and for all results if dst is nil.
func (m *Machine) RunInto(ctx context.Context, args []any, shapes [][]int, dst []any) (results []any, outShapes [][]int, err error) {
	if err := Refuses(m.fn); err != nil {
		return nil, nil, err
	}
	f := m.fn.IR
	symbols, err := ir.BindShapes(f.Params, shapes)
	if err != nil {
		return nil, nil, err
	}
	r := &Frame{Machine: m, symbols: symbols, params: args, ctx: ctx, spent: new(spent)}
	for i, p := range f.Params {
		if err := checkParam(p, args[i], shapes[i]); err != nil {
			return nil, nil, err
		}
	}
	if err := r.open(); err != nil {
		return nil, nil, err
	}
	defer rt.Recover(f.Name, &err)
	if err := r.allocate(dst); err != nil {
		return nil, nil, err
	}
	if program.MayShare(m.fn) {
		rt.Begin()
		defer rt.End()
	}
	for _, s := range m.fn.Steps {
		if err := rt.Done(ctx); err != nil {
			return nil, nil, err
		}
		if err := r.step(s); err != nil {
			return nil, nil, err
		}
	}
	for i, v := range f.Results {
		shape, err := r.Ints(v.Type.Shape)
		if err != nil {
			return nil, nil, err
		}
		outShapes = append(outShapes, shape)
		if !v.Type.IsTensor() {
			r.results[i] = reflect.ValueOf(r.results[i]).Elem().Interface()
		}
	}
	return r.results, outShapes, nil
}

func checkParam(p *ir.Value, arg any, shape []int) error {
	if !p.Type.IsTensor() {
		return checkContainer(p.String(), p.Type, reflect.ValueOf(arg))
	}
	want, err := ir.CheckedLen(shape)
	if err != nil {
		return fmt.Errorf("%s: %w", p, err)
	}
	v := reflect.ValueOf(arg)
	if v.Kind() != reflect.Slice || v.Type().Elem() != GoType(p.Type.DType) || v.Len() != want {
		return fmt.Errorf("%s: %d elements of %s expected, got %T", p, want, p.Type.DType, arg)
	}
	return nil
}

// open allocates the arena and the variables. It returns [ErrBudget] if the budget does not allow
// the size of the arena.
func (r *Frame) open() error {
	for _, callee := range r.fn.Callees() {
		if callee.Plan.Mode == plan.Dynamic {
			sub := &Frame{Machine: New(callee, r.runner, r.weight), symbols: r.symbols}
			size, _, err := sub.layout()
			if err != nil {
				return err
			}
			r.symbols[callee.LinesSymbol()] = size / program.Line
		}
	}
	size, offsets, err := r.layout()
	if err != nil {
		return err
	}
	r.offsets = map[*plan.Buffer]int{}
	for i, b := range r.fn.Plan.Buffers {
		r.offsets[b] = int(offsets[i])
	}
	r.tails = make([]any, len(r.fn.Plan.Tails))
	r.held = map[*plan.Variable]reflect.Value{}
	for _, v := range r.fn.Plan.Variables {
		if v.Boxed {
			r.held[v] = reflect.New(reflect.TypeFor[box]())
		} else {
			r.held[v] = reflect.New(HeldType(v.Type))
		}
	}
	if limit := r.Budget.Bytes; limit > 0 && size > limit {
		return ErrBudget
	}
	r.arena, err = rt.NewArena(size)
	return err
}

// layout returns the size of the arena and the offsets of the buffers, in bytes.
func (r *Frame) layout() (size int64, offsets []int64, err error) {
	p := r.fn.Plan
	bytes := make([]int64, len(p.Buffers))
	first, last := make([]int32, len(p.Buffers)), make([]int32, len(p.Buffers))
	offsets = make([]int64, len(p.Buffers))
	for i, b := range p.Buffers {
		first[i], last[i] = int32(b.First), int32(b.Last)
		if bytes[i], err = b.Bytes.Eval(r.symbol); err != nil {
			return 0, nil, err
		}
		if p.Mode != plan.Dynamic {
			if offsets[i], err = b.Offset.Eval(r.symbol); err != nil {
				return 0, nil, err
			}
			size = max(size, offsets[i]+bytes[i])
		}
	}
	if p.Mode == plan.Dynamic {
		size = rt.Layout(bytes, first, last, offsets)
	}
	return size, offsets, nil
}

// allocate sets the results: the slices in dst where they are not nil, and otherwise new memory. A
// result whose size is not known yet stays nil.
func (r *Frame) allocate(dst []any) error {
	for i, v := range r.fn.IR.Results {
		if i < len(dst) && dst[i] != nil {
			r.results = append(r.results, dst[i])
			continue
		}
		if r.fn.Plan.IsLate(v.Type) {
			r.results = append(r.results, nil)
			continue
		}
		if !v.Type.IsTensor() {
			r.results = append(r.results, reflect.New(HeldType(v.Type)).Interface())
			continue
		}
		made, err := r.fresh(v.Type.DType, v.Type.Elems())
		if err != nil {
			return fmt.Errorf("%s: %w", v, err)
		}
		r.results = append(r.results, made)
	}
	return nil
}

// invoke runs another function, which has an arena of its own. Its arguments and results are in the
// caller's memory.
func (r *Frame) invoke(s *program.Invoke) error {
	var args, results []any
	for _, ref := range s.Args {
		v, err := r.Slice(ref)
		if err != nil {
			return err
		}
		args = append(args, v.Interface())
	}
	for _, ref := range s.Results {
		v, err := r.result(ref)
		if err != nil {
			return err
		}
		results = append(results, v)
	}
	made, err := r.enter(s.Callee, args, results)
	if err != nil {
		return err
	}
	for i, ref := range s.Results {
		if ref.Boxed() {
			r.held[ref.Variable()].Elem().Set(reflect.ValueOf(made[i]))
		}
	}
	return nil
}

// result returns the memory to which a callee writes a result. It is nil for a tensor that the
// callee allocates.
func (r *Frame) result(ref *plan.Ref) (any, error) {
	switch v := ref.Variable(); {
	case v != nil && v.Boxed:
		return nil, nil
	case ref.IsContainer():
		_, pointer := r.container(ref)
		return pointer.Interface(), nil
	}
	v, err := r.Slice(ref)
	if err != nil {
		return nil, err
	}
	return v.Interface(), nil
}

// box is a tensor. data is a Go slice of its elements.
type box struct {
	data  any
	shape []int
}

func (r *Frame) enter(callee *program.Func, args, results []any) ([]box, error) {
	m := &Machine{fn: callee, runner: r.runner, weight: r.weight, Budget: r.Budget}
	sub := &Frame{Machine: m, symbols: r.symbols, ctx: r.ctx, spent: r.spent, params: args, results: results}
	for i, v := range callee.IR.Results {
		if results[i] != nil || callee.Plan.IsLate(v.Type) {
			continue
		}
		var err error
		if sub.results[i], err = r.fresh(v.Type.DType, v.Type.Elems()); err != nil {
			return nil, fmt.Errorf("%s: %w", v, err)
		}
	}
	if err := sub.open(); err != nil {
		return nil, err
	}
	for _, step := range callee.Steps {
		if err := rt.Done(r.ctx); err != nil {
			return nil, err
		}
		if err := sub.step(step); err != nil {
			return nil, err
		}
	}
	boxes := make([]box, len(results))
	for i, v := range callee.IR.Results {
		shape, err := sub.Ints(v.Type.Shape)
		if err != nil {
			return nil, err
		}
		boxes[i] = box{sub.results[i], shape}
	}
	return boxes, nil
}

func (r *Frame) symbol(s string) (int64, bool) { n, ok := r.symbols[s]; return n, ok }

// Context returns the context of the call, which may be nil.
func (r *Frame) Context() context.Context { return r.ctx }

// Int returns the value of an extent. It returns an error if a symbol has no value or the result
// overflows.
func (r *Frame) Int(d dim.Dim) (int, error) {
	n, err := d.Eval(r.symbol)
	if err == nil && int64(int(n)) != n {
		err = fmt.Errorf("%s = %d does not fit", d, n)
	}
	return int(n), err
}

// Ints returns the values of extents, or the first error of [Frame.Int].
func (r *Frame) Ints(dims []dim.Dim) ([]int, error) {
	out := make([]int, len(dims))
	for i, d := range dims {
		var err error
		if out[i], err = r.Int(d); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Symbols returns a copy of the values of the symbols that are already known.
func (r *Frame) Symbols() map[string]int64 { return maps.Clone(r.symbols) }

// Pointer returns a pointer to the container that ref refers to. The container must not be a parameter.
func (r *Frame) Pointer(ref *plan.Ref) reflect.Value {
	_, pointer := r.container(ref)
	return pointer
}

// container returns the container that ref refers to. pointer points to it. pointer is the zero Value if the
// container is a parameter, because a parameter cannot be written.
func (r *Frame) container(ref *plan.Ref) (v, pointer reflect.Value) {
	switch p := ref.Place; p.Kind {
	case plan.Param:
		return reflect.ValueOf(r.params[p.Index]), pointer
	case plan.Result:
		pointer = reflect.ValueOf(r.results[p.Index])
	default:
		pointer = r.held[p.Variable]
	}
	return pointer.Elem(), pointer
}

// Slice returns the memory that ref refers to as a Go slice. If ref refers to a container, Slice returns the
// container. It returns an error if extents are not known or exceed the memory.
func (r *Frame) Slice(ref *plan.Ref) (reflect.Value, error) {
	if ref.IsContainer() {
		v, _ := r.container(ref)
		return v, nil
	}
	n, err := r.Int(ref.Len)
	if err != nil {
		return reflect.Value{}, err
	}
	at, err := r.Int(ref.Place.Offset)
	if err != nil {
		return reflect.Value{}, err
	}
	var base any
	switch p := ref.Place; p.Kind {
	case plan.Param:
		base = r.params[p.Index]
	case plan.Result:
		base = r.results[p.Index]
	case plan.Weight:
		if base, err = r.weight(p.Weight); err != nil {
			return reflect.Value{}, err
		}
	case plan.Tail:
		base = r.tails[slices.Index(r.fn.Plan.Tails, p.Buffer)]
	case plan.Held:
		base = r.held[p.Variable].Elem().Interface()
		if b, boxed := base.(box); boxed {
			base = b.data
		}
	case plan.Arena:
		return reflect.ValueOf(view(r.arena, ref.DType, r.offsets[p.Buffer]+at*ref.DType.Size(), n)), nil
	default:
		return reflect.Value{}, fmt.Errorf("%s has no memory", ref.Value)
	}
	v := reflect.ValueOf(base)
	if want := GoType(ref.DType); v.Kind() == reflect.Slice && v.Type().Elem() != want && v.Type().Elem().Size() == want.Size() && elements[ref.DType].of != nil {
		v = reflect.ValueOf(elements[ref.DType].of(v))
	}
	if at < 0 || n < 0 || at+n > v.Len() {
		return reflect.Value{}, fmt.Errorf("%s: elements %d to %d of %d", ref.Value, at, at+n, v.Len())
	}
	return v.Slice3(at, at+n, at+n), nil
}

// Set copies elements into the memory that ref refers to, or sets the container that it refers to.
func (r *Frame) Set(ref *plan.Ref, v reflect.Value) error {
	if ref.IsContainer() {
		r.Pointer(ref).Elem().Set(v)
		return nil
	}
	memory, err := r.Slice(ref)
	if err == nil {
		reflect.Copy(memory, v)
	}
	return err
}
