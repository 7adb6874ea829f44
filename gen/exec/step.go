package exec

import (
	"fmt"
	"reflect"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/runtime/rt"
)

func (r *Frame) step(s program.Step) error {
	if err := r.spend(s); err != nil {
		return err
	}
	err := r.carryOut(s)
	if node := s.At(); err != nil && node != nil && node.Pos != "" {
		return rt.At(node.Pos, err)
	}
	return err
}

func (r *Frame) spend(s program.Step) error {
	if r.spent.steps++; r.Budget.Steps > 0 && r.spent.steps > r.Budget.Steps {
		return ErrBudget
	}
	if r.Budget.Work == 0 {
		return nil
	}
	work := int64(0)
	if n := s.At(); n != nil && n != r.charged && program.Computes(s) {
		work, r.charged = n.Work().Total(r.symbol), n
	}
	if work > r.Budget.Work-r.spent.work {
		return ErrBudget
	}
	r.spent.work += work
	return nil
}

func (r *Frame) carryOut(s program.Step) (err error) {
	switch s := s.(type) {
	case *program.Invoke:
		return r.invoke(s)
	case *program.Check:
		return r.check(s)
	case *program.Branch:
		return r.branch(s)
	case *program.Repeat:
		return r.iterate(s)
	case *program.Bind:
		return r.bind(s)
	case *program.Alloc:
		r.tails[s.Index], err = r.fresh(s.Buffer.DType, s.Buffer.Elems)
		return err
	case *program.Hold:
		room, err := r.fresh(s.Variable.Type.DType, s.Variable.Type.Elems())
		if err == nil {
			r.held[s.Variable].Elem().Set(reflect.ValueOf(room))
		}
		return err
	case *program.Resize:
		r.results[s.Index], err = r.fresh(r.fn.IR.Results[s.Index].Type.DType, dim.Product(s.Shape...))
		return err
	}
	return r.runner.Run(r, s)
}

// fresh returns a slice of zeros of type d. elems is their number. fresh returns [ErrBudget] if the slice exceeds the
// budget. It returns another error if the slice exceeds [rt.ArenaLimit] or a symbol of elems has no value.
func (r *Frame) fresh(d ir.DType, elems dim.Dim) (any, error) {
	n, err := r.Int(elems)
	if err != nil {
		return nil, err
	}
	size := int64(GoType(d).Size())
	if limit := r.Budget.Bytes; limit > 0 && int64(n) > limit/size {
		return nil, ErrBudget
	}
	if limit := rt.ArenaLimit(0); n < 0 || int64(n) > limit/size {
		return nil, fmt.Errorf("%s = %d elements: limit is %d bytes (rt.ArenaLimit)", elems, n, limit)
	}
	return MakeSlice(d, n), nil
}

func (r *Frame) bind(s *program.Bind) error {
	for i, m := range s.Measures {
		value, err := r.runner.Measure(r, m)
		if err != nil {
			return err
		}
		r.symbols[s.Symbols[i]] = value
	}
	return nil
}

func (r *Frame) check(s *program.Check) error {
	a, err := r.Int(s.A)
	if err != nil {
		return err
	}
	b, err := r.Int(s.B)
	if err != nil {
		return err
	}
	if s.One {
		return rt.CheckBroadcast(ir.OpName(s.Node.Op), s.What, a, b)
	}
	return rt.CheckDim(ir.OpName(s.Node.Op), s.What, a, b)
}
