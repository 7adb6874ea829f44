package exec

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir/plan"
	"github.com/burngen/burngen/runtime/rt"
)

func (r *Frame) branch(s *program.Branch) error {
	v, err := r.first(s.Condition)
	if err != nil {
		return err
	}
	taken := s.Otherwise
	if v.Bool() {
		taken = s.Then
	}
	if err := r.invoke(taken); err != nil {
		return err
	}
	r.bindExtents(s.Extents)
	return nil
}

// bindExtents gives symbols their values. The value of a symbol is an extent of a tensor. The tensor is in a variable
// that holds a [box] with the tensor's shape.
func (r *Frame) bindExtents(extents []program.Extent) {
	for _, e := range extents {
		r.symbols[e.Symbol] = int64(r.held[e.Ref.Variable()].Elem().Interface().(box).shape[e.Axis])
	}
}

func (r *Frame) iterate(s *program.Repeat) error {
	trips, going, err := r.trips(s)
	if err != nil {
		return err
	}
	state := make([]any, len(s.Carried))
	for i, c := range s.Carried {
		first, err := r.Slice(c.First)
		if err != nil {
			return err
		}
		state[i] = first.Interface()
		if len(c.Varying) > 0 {
			shape, err := r.Ints(c.First.Value.Type.Shape)
			if err != nil {
				return err
			}
			state[i] = box{state[i], shape}
		}
	}
	rows, room := make([][]box, len(s.Scans)), rt.ArenaLimit(0)
	for trip := int64(0); trip < trips && going; trip++ {
		if err := rt.Done(r.ctx); err != nil {
			return err
		}
		args := []any{[]int64{trip}, []bool{going}}
		for i, c := range s.Carried {
			arg := state[i]
			if b, ok := arg.(box); ok {
				arg = b.data
				for _, e := range c.Varying {
					r.symbols[e.Symbol] = int64(b.shape[e.Axis])
				}
			}
			args = append(args, arg)
		}
		for _, ref := range s.Captured {
			v, err := r.Slice(ref)
			if err != nil {
				return err
			}
			args = append(args, v.Interface())
		}
		again := []bool{false}
		results := []any{again}
		for _, c := range s.Carried {
			var to any
			if !c.Next.IsTensor() {
				to = reflect.New(HeldType(c.Next)).Interface()
			}
			results = append(results, to)
		}
		made, err := r.enter(s.Callee, args, append(results, make([]any, len(s.Scans))...))
		if err != nil {
			return err
		}
		for i, c := range s.Carried {
			switch {
			case !c.Next.IsTensor():
				state[i] = reflect.ValueOf(results[1+i]).Elem().Interface()
			case len(c.Varying) > 0:
				state[i] = made[1+i]
			default:
				state[i] = made[1+i].data
			}
		}
		for i := range rows {
			b := made[1+len(s.Carried)+i]
			rows[i] = append(rows[i], b)
			if size := 1 + int64(reflect.ValueOf(b.data).Len())*int64(GoType(s.Scans[i].Row.DType).Size()); size > room {
				return fmt.Errorf("scan %d: %d rows: limit is %d bytes (rt.ArenaLimit)", i, len(rows[i]), rt.ArenaLimit(0))
			} else {
				room -= size
			}
		}
		going = again[0] || s.Counted
	}
	for i, c := range s.Carried {
		if err := r.store(c.Result, state[i]); err != nil {
			return err
		}
	}
	for i, scan := range s.Scans {
		b, err := r.stack(scan, rows[i])
		if err != nil {
			return fmt.Errorf("scan %d: %w", i, err)
		}
		if scan.Result.Boxed() {
			err = r.store(scan.Result, b)
		} else {
			err = r.store(scan.Result, b.data)
		}
		if err != nil {
			return err
		}
	}
	r.bindExtents(s.Extents)
	return nil
}

// trips returns the largest number of iterations of a loop. going says whether the condition is true
// before the first iteration.
func (r *Frame) trips(s *program.Repeat) (trips int64, going bool, err error) {
	if s.Counted {
		n, err := r.Int(s.Trips)
		return int64(n), true, err
	}
	trips, going = math.MaxInt64, true
	if s.Limit != nil {
		v, err := r.first(s.Limit)
		if err != nil {
			return 0, false, err
		}
		trips = v.Convert(reflect.TypeFor[int64]()).Int()
	}
	if s.Condition != nil {
		v, err := r.first(s.Condition)
		if err != nil {
			return 0, false, err
		}
		going = v.Bool()
	}
	return trips, going, nil
}

func (r *Frame) first(ref *plan.Ref) (reflect.Value, error) {
	v, err := r.Slice(ref)
	switch {
	case err != nil:
		return v, err
	case v.Len() == 0:
		return v, fmt.Errorf("%s is empty", ref.Value)
	}
	return v.Index(0), nil
}

func (r *Frame) store(ref *plan.Ref, value any) error {
	if v := ref.Variable(); v != nil && (v.Boxed || !v.Type.IsTensor()) {
		r.held[v].Elem().Set(reflect.ValueOf(value))
		return nil
	}
	to, err := r.Slice(ref)
	if err != nil {
		return err
	}
	reflect.Copy(to, reflect.ValueOf(value))
	return nil
}

// stack stacks the rows of a scan along a new first axis. If there are no rows, the result has 0 rows of shape
// scan.None. It returns an error if the shapes of rows differ.
func (r *Frame) stack(scan program.Scan, rows []box) (box, error) {
	row, err := r.Ints(scan.None)
	if err != nil {
		return box{}, err
	}
	data := reflect.ValueOf(MakeSlice(scan.Row.DType, 0))
	for i, b := range rows {
		if i == 0 {
			row = b.shape
		}
		if !slices.Equal(b.shape, row) {
			return box{}, fmt.Errorf("trip %d gives %v, trips before it %v", i, b.shape, row)
		}
		data = reflect.AppendSlice(data, reflect.ValueOf(b.data))
	}
	return box{data.Interface(), append([]int{len(rows)}, row...)}, nil
}
