package cpu

import (
	"fmt"
	"reflect"

	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/plan"
)

// Run implements [exec.Runner]. It executes a [Call], a [Loop] or a [program.Copy], and returns an
// error for other steps.
func (Target) Run(f *exec.Frame, s program.Step) error {
	r := &runner{f}
	switch s := s.(type) {
	case *Call:
		_, err := r.call(s)
		return err
	case *Loop:
		return r.loop(s)
	case *program.Copy:
		_, err := r.call(copyCall(s))
		return err
	}
	return fmt.Errorf("%s cannot be run without generating", s.At())
}

// Measure implements [exec.Runner]. It calls a kernel and returns its result, an int.
func (Target) Measure(f *exec.Frame, s program.Step) (int64, error) {
	out, err := (&runner{f}).call(s.(*Call))
	if err != nil {
		return 0, err
	}
	return out.Int(), nil
}

type runner struct{ *exec.Frame }

func (r *runner) call(c *Call) (reflect.Value, error) {
	return apply(c.Kernel, c.Instance, len(c.Args), func(i int, want reflect.Type) (reflect.Value, error) { return r.value(c.Args[i], want) })
}

func (r *runner) value(arg any, want reflect.Type) (reflect.Value, error) {
	switch a := arg.(type) {
	case nil:
		return reflect.Zero(want), nil
	case kernel.Context:
		if r.Context() == nil {
			return reflect.Zero(want), nil
		}
		return reflect.ValueOf(r.Context()), nil
	case *plan.Ref:
		if a == nil {
			return reflect.Zero(want), nil
		}
		return r.Slice(a)
	case Scalar:
		s, err := r.Slice(a.Ref)
		if err != nil {
			return s, err
		}
		if s.Len() == 0 {
			return s, fmt.Errorf("%s is empty", a.Ref.Value)
		}
		return s.Index(0), nil
	case Pointer:
		return r.Pointer(a.Ref), nil
	case dim.Dim:
		n, err := r.Int(a)
		return convert(reflect.ValueOf(n), want), err
	case []dim.Dim:
		n, err := r.Ints(a)
		if err != nil {
			return reflect.Value{}, err
		}
		return r.list(len(n), want, func(i int) any { return dim.Const(n[i]) })
	case []any:
		return r.list(len(a), want, func(i int) any { return a[i] })
	case kernel.Number:
		return numberValue(a), nil
	case kernel.Constant:
		return reflect.ValueOf(constants[a]), nil
	case *Struct:
		return r.composite(a)
	case *Chain:
		return reflect.ValueOf(r.chain(a)), nil
	}
	return convert(reflect.ValueOf(arg), want), nil
}

// convert returns v, converted to the type `want` if possible. It returns v unchanged if v cannot be converted, or if
// `want` is nil.
func convert(v reflect.Value, want reflect.Type) reflect.Value {
	if want != nil && v.Type() != want && v.CanConvert(want) {
		return v.Convert(want)
	}
	return v
}

func (r *runner) list(n int, want reflect.Type, item func(int) any) (reflect.Value, error) {
	if want == nil {
		return reflect.ValueOf(n), nil
	}
	list := reflect.New(want).Elem()
	if want.Kind() == reflect.Slice {
		list = reflect.MakeSlice(want, n, n)
	}
	for i := range n {
		v, err := r.value(item(i), want.Elem())
		if err != nil {
			return list, err
		}
		list.Index(i).Set(v)
	}
	return list, nil
}

func numberValue(n kernel.Number) reflect.Value {
	v := reflect.New(exec.GoType(n.DType)).Elem()
	switch {
	case n.DType == ir.Bool:
		v.SetBool(n.Int != 0)
	case v.CanFloat():
		v.SetFloat(n.Float)
	case v.CanInt():
		v.SetInt(n.Int)
	case n.DType.IsFloat():
		v.SetUint(n.Bits())
	default:
		v.SetUint(uint64(n.Int))
	}
	return v
}

func (r *runner) composite(s *Struct) (reflect.Value, error) {
	typ, ok := structs[s.Type]
	if !ok {
		return reflect.Value{}, fmt.Errorf("unknown type %s", s.Type)
	}
	v := reflect.New(typ)
	for _, f := range s.Fields {
		field := v.Elem().FieldByName(f.Name)
		if !field.IsValid() {
			return v, fmt.Errorf("%s has no field %s", s.Type, f.Name)
		}
		x, err := r.value(f.Value, field.Type())
		if err != nil {
			return v, err
		}
		field.Set(x)
	}
	return v, nil
}

// chain returns the function that a kernel applies to runs of its result. The arguments of this function are t, the
// run; `at`, the index of its first element in the result; and `in`, the further operands.
func (r *runner) chain(c *Chain) func(t []float32, at int, in *[2][]float32) {
	return func(t []float32, at int, in *[2][]float32) {
		tiles := func(x Tile) reflect.Value {
			if x.Index == 0 {
				return reflect.ValueOf(t)
			}
			return reflect.ValueOf(in[x.Index-1][at : at+len(t)])
		}
		for _, call := range c.Body {
			if err := r.tileCall(call, tiles); err != nil {
				panic(err)
			}
		}
	}
}

func (r *runner) tileCall(c TileCall, tile func(Tile) reflect.Value) error {
	_, err := apply(c.Kernel, c.Instance, len(c.Args), func(i int, want reflect.Type) (reflect.Value, error) {
		if t, ok := c.Args[i].(Tile); ok {
			return tile(t), nil
		}
		return r.value(c.Args[i], want)
	})
	return err
}

func (r *runner) loop(l *Loop) error {
	outer, err := r.Ints(l.Outer)
	if err != nil {
		return err
	}
	inner, err := r.Int(l.Inner)
	if err != nil {
		return err
	}
	step := l.Tile
	if l.Direct() {
		step = max(inner, 1)
	}
	var lists [3][]reflect.Value
	for _, o := range l.Operands {
		if err := r.appendSlice(&lists[TileOperand], o.Ref); err != nil {
			return err
		}
	}
	for _, ref := range l.Results {
		if err := r.appendSlice(&lists[TileResult], ref); err != nil {
			return err
		}
	}
	for _, ref := range l.Temps {
		if err := r.appendSlice(&lists[TileTemp], ref); err != nil {
			return err
		}
	}
	at := make([]int, len(outer))
	for row := range product(outer) {
		rest := row
		for i := len(outer) - 1; i >= 0; i-- {
			at[i], rest = rest%outer[i], rest/outer[i]
		}
		starts := make([]int, len(l.Operands))
		repeated := make([]reflect.Value, len(l.Operands))
		for i, o := range l.Operands {
			strides, err := r.Ints(o.Strides)
			if err != nil {
				return err
			}
			for j, s := range strides {
				starts[i] += at[j] * s
			}
			if o.Period > 0 {
				tile, err := r.Slice(o.Tile)
				if err != nil {
					return err
				}
				repeated[i] = tile.Slice(0, min(inner, l.Tile))
				x := lists[TileOperand][i].Slice(starts[i], starts[i]+o.Period)
				if err := repeat(o.Tile.DType, repeated[i], x); err != nil {
					return err
				}
			}
		}
		for lo := 0; lo < inner; lo += step {
			n := min(step, inner-lo)
			for _, call := range l.Body {
				err := r.tileCall(call, func(t Tile) reflect.Value {
					v := lists[t.Kind][t.Index]
					switch {
					case t.Kind == TileTemp:
						return v.Slice(0, n)
					case t.Kind == TileResult:
						return v.Slice(row*inner+lo, row*inner+lo+n)
					case repeated[t.Index].IsValid():
						return repeated[t.Index].Slice(0, n)
					}
					return v.Slice(starts[t.Index]+lo, starts[t.Index]+lo+n)
				})
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (r *runner) appendSlice(list *[]reflect.Value, ref *plan.Ref) error {
	v, err := r.Slice(ref)
	*list = append(*list, v)
	return err
}

func repeat(d ir.DType, dst, src reflect.Value) error {
	c := kernel.Repeat(kernel.Scratch{DType: d}, kernel.Scratch{DType: d})
	_, err := apply(c.Kernel, c.Instance, 2, func(i int, _ reflect.Type) (reflect.Value, error) { return []reflect.Value{dst, src}[i], nil })
	return err
}

func product(n []int) int {
	p := 1
	for _, v := range n {
		p *= v
	}
	return p
}
