// Package exec runs a program without generating it: it carries out the steps
// that package emit would print, on the runtime's kernels. It is the way to run
// models whose path is known only at run time, and the reference that generated
// code is compared with.
package exec

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/plan"
	"github.com/burngen/burngen/runtime/rt"
)

// Machine holds a function and the weights it reads.
type Machine struct {
	fn *program.Func
	// weight returns a weight's elements as a Go slice.
	weight func(name string) (any, error)
}

// New returns a machine that runs f.
func New(f *program.Func, weight func(name string) (any, error)) *Machine {
	return &Machine{fn: f, weight: weight}
}

// run is one call of a machine.
type run struct {
	*Machine
	symbols map[string]int64
	arena   []byte
	offsets map[*plan.Buffer]int
	params  []any
	results []any
	tails   []any
}

// Run computes the function. Arguments are Go slices of the elements; shapes are
// theirs. It returns the results and their shapes.
func (m *Machine) Run(ctx context.Context, args []any, shapes [][]int) (results []any, outShapes [][]int, err error) {
	f := m.fn.IR
	symbols, err := ir.BindShapes(f.Params, shapes)
	if err != nil {
		return nil, nil, err
	}
	r := &run{Machine: m, symbols: symbols, params: args}
	for i, p := range f.Params {
		if err := r.checkParam(p, args[i], shapes[i]); err != nil {
			return nil, nil, err
		}
	}
	if err := r.open(); err != nil {
		return nil, nil, err
	}
	defer rt.Recover(f.Name, &err)
	if err := r.allocate(); err != nil {
		return nil, nil, err
	}
	rt.Begin()
	defer rt.End()
	for _, s := range m.fn.Steps {
		if err := rt.Done(ctx); err != nil {
			return nil, nil, err
		}
		if err := r.step(s); err != nil {
			return nil, nil, err
		}
	}
	for _, v := range f.Results {
		shape, err := r.dims(v.Type.Shape)
		if err != nil {
			return nil, nil, err
		}
		outShapes = append(outShapes, shape)
	}
	return r.results, outShapes, nil
}

func (r *run) checkParam(p *ir.Value, arg any, shape []int) error {
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

// open allocates the arena.
func (r *run) open() error {
	for _, callee := range r.fn.Callees() {
		if callee.Plan.Mode == plan.Dynamic {
			sub := &run{Machine: &Machine{callee, r.weight}, symbols: r.symbols}
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
	r.arena, err = rt.NewArena(size)
	return err
}

// layout returns the arena's size and the buffers' offsets.
func (r *run) layout() (size int64, offsets []int64, err error) {
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

// allocate makes the results whose sizes are known.
func (r *run) allocate() error {
	for _, v := range r.fn.IR.Results {
		if r.fn.Plan.IsLate(v.Type) {
			r.results = append(r.results, nil)
			continue
		}
		n, err := r.int(v.Type.Elems())
		if err != nil {
			return err
		}
		r.results = append(r.results, MakeSlice(v.Type.DType, n))
	}
	return nil
}

// invoke runs another function on memory of this one, in an arena of its own.
func (r *run) invoke(s *program.Invoke) error {
	sub := &run{Machine: &Machine{s.Callee, r.weight}, symbols: r.symbols}
	for _, list := range []struct {
		refs []*program.Ref
		to   *[]any
	}{{s.Args, &sub.params}, {s.Results, &sub.results}} {
		for _, ref := range list.refs {
			v, err := r.slice(ref)
			if err != nil {
				return err
			}
			*list.to = append(*list.to, v.Interface())
		}
	}
	if err := sub.open(); err != nil {
		return err
	}
	for _, step := range s.Callee.Steps {
		if err := sub.step(step); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) symbol(s string) (int64, bool) { n, ok := r.symbols[s]; return n, ok }

func (r *run) int(d ir.Dim) (int, error) {
	n, err := d.Eval(r.symbol)
	if err == nil && int64(int(n)) != n {
		err = fmt.Errorf("%s = %d does not fit", d, n)
	}
	return int(n), err
}

func (r *run) dims(dims []ir.Dim) ([]int, error) {
	out := make([]int, len(dims))
	for i, d := range dims {
		var err error
		if out[i], err = r.int(d); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// slice returns the memory of a reference as a Go slice.
func (r *run) slice(ref *program.Ref) (reflect.Value, error) {
	n, err := r.int(ref.Len)
	if err != nil {
		return reflect.Value{}, err
	}
	at, err := r.int(ref.Place.Offset)
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
