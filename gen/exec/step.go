package exec

import (
	"fmt"
	"reflect"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/rt"
)

func (r *run) step(s program.Step) error {
	if err := r.spend(s); err != nil {
		return err
	}
	err := r.carryOut(s)
	if node := s.At(); err != nil && node != nil && node.Pos != "" {
		return rt.At(node.Pos, err)
	}
	return err
}

// spend takes what a step needs from the budget. It returns [ErrBudget] if the budget does
// not have as much.
func (r *run) spend(s program.Step) error {
	if r.spent.steps++; r.Budget.Steps > 0 && r.spent.steps > r.Budget.Steps {
		return ErrBudget
	}
	if r.Budget.Work == 0 {
		return nil
	}
	work := int64(0)
	switch s.(type) {
	case *program.Call, *program.Loop:
		if n := s.At(); n != nil && n != r.charged {
			work, r.charged = n.Work(r.symbol), n
		}
	}
	if work > r.Budget.Work-r.spent.work {
		return ErrBudget
	}
	r.spent.work += work
	return nil
}

func (r *run) carryOut(s program.Step) (err error) {
	switch s := s.(type) {
	case *program.Call:
		return r.call(s)
	case *program.Loop:
		return r.loop(s)
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
		r.results[s.Index], err = r.fresh(r.fn.IR.Results[s.Index].Type.DType, ir.Product(s.Shape...))
		return err
	}
	return fmt.Errorf("%s cannot be run without generating", s.At())
}

// fresh returns memory of a size that is known by now.
func (r *run) fresh(d ir.DType, elems ir.Dim) (any, error) {
	n, err := r.int(elems)
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

func (r *run) bind(s *program.Bind) error {
	for i, c := range s.Calls {
		k, err := kernel(c.Kernel)
		if err != nil {
			return err
		}
		out, err := k.call(len(c.Args), func(i int, want reflect.Type) (reflect.Value, error) { return r.value(c.Args[i], want) })
		if err != nil {
			return err
		}
		r.symbols[s.Symbols[i]] = out.Int()
	}
	return nil
}

func (r *run) check(s *program.Check) error {
	a, err := r.int(s.A)
	if err != nil {
		return err
	}
	b, err := r.int(s.B)
	if err != nil {
		return err
	}
	if s.One {
		return rt.CheckBroadcast(ir.OpName(s.Node.Op), s.What, a, b)
	}
	return rt.CheckDim(ir.OpName(s.Node.Op), s.What, a, b)
}

func (r *run) call(c *program.Call) error {
	k, err := kernel(c.Kernel)
	if err != nil {
		return err
	}
	_, err = k.call(len(c.Args), func(i int, want reflect.Type) (reflect.Value, error) { return r.value(c.Args[i], want) })
	return err
}

// value returns an argument of a call as the Go value that the kernel wants.
func (r *run) value(arg any, want reflect.Type) (reflect.Value, error) {
	switch a := arg.(type) {
	case nil:
		return reflect.Zero(want), nil
	case ir.Context:
		if r.ctx == nil {
			return reflect.Zero(want), nil
		}
		return reflect.ValueOf(r.ctx), nil
	case *program.Ref:
		if a == nil {
			return reflect.Zero(want), nil
		}
		return r.slice(a)
	case program.Scalar:
		s, err := r.slice(a.Ref)
		if err != nil {
			return s, err
		}
		if s.Len() == 0 {
			return s, fmt.Errorf("%s is empty", a.Ref.Value)
		}
		return s.Index(0), nil
	case program.Pointer:
		_, pointer := r.container(a.Ref)
		return pointer, nil
	case ir.Dim:
		n, err := r.int(a)
		return convert(reflect.ValueOf(n), want), err
	case []ir.Dim:
		n, err := r.dims(a)
		if err != nil {
			return reflect.Value{}, err
		}
		return r.list(len(n), want, func(i int) any { return ir.Const(n[i]) })
	case []any:
		return r.list(len(a), want, func(i int) any { return a[i] })
	case ir.Number:
		return numberValue(a), nil
	case *program.Struct:
		return r.composite(a)
	case *program.Chain:
		return reflect.ValueOf(r.chain(a)), nil
	}
	return convert(reflect.ValueOf(arg), want), nil
}

// convert gives constants of the IR the width that the kernel wants.
func convert(v reflect.Value, want reflect.Type) reflect.Value {
	if want != nil && v.Type() != want && v.CanConvert(want) {
		return v.Convert(want)
	}
	return v
}

func (r *run) list(n int, want reflect.Type, item func(int) any) (reflect.Value, error) {
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

func numberValue(n ir.Number) reflect.Value {
	v := reflect.New(GoType(n.DType)).Elem()
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

func (r *run) composite(s *program.Struct) (reflect.Value, error) {
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

// chain returns the function that a kernel applies to runs of its result.
func (r *run) chain(c *program.Chain) func(t []float32, at int, in *[2][]float32) {
	return func(t []float32, at int, in *[2][]float32) {
		tiles := func(x program.Tile) reflect.Value {
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

func (r *run) tileCall(c program.TileCall, tile func(program.Tile) reflect.Value) error {
	k, err := kernel(c.Kernel)
	if err != nil {
		return err
	}
	_, err = k.call(len(c.Args), func(i int, want reflect.Type) (reflect.Value, error) {
		if t, ok := c.Args[i].(program.Tile); ok {
			return tile(t), nil
		}
		return r.value(c.Args[i], want)
	})
	return err
}

// loop runs a pointwise region as the emitted loops do.
func (r *run) loop(l *program.Loop) error {
	outer, err := r.dims(l.Outer)
	if err != nil {
		return err
	}
	inner, err := r.int(l.Inner)
	if err != nil {
		return err
	}
	step := l.Tile
	if l.Direct() {
		step = max(inner, 1)
	}
	var lists [3][]reflect.Value
	for _, o := range l.Operands {
		if err := r.appendSlice(&lists[program.TileOperand], o.Ref); err != nil {
			return err
		}
	}
	for _, ref := range l.Results {
		if err := r.appendSlice(&lists[program.TileResult], ref); err != nil {
			return err
		}
	}
	for _, ref := range l.Temps {
		if err := r.appendSlice(&lists[program.TileTemp], ref); err != nil {
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
			strides, err := r.dims(o.Strides)
			if err != nil {
				return err
			}
			for j, s := range strides {
				starts[i] += at[j] * s
			}
			if o.Period > 0 {
				tile, err := r.slice(o.Tile)
				if err != nil {
					return err
				}
				repeated[i] = tile.Slice(0, min(inner, l.Tile))
				x := lists[program.TileOperand][i].Slice(starts[i], starts[i]+o.Period)
				if err := r.repeat(repeated[i], x); err != nil {
					return err
				}
			}
		}
		for lo := 0; lo < inner; lo += step {
			n := min(step, inner-lo)
			for _, call := range l.Body {
				err := r.tileCall(call, func(t program.Tile) reflect.Value {
					v := lists[t.Kind][t.Index]
					switch {
					case t.Kind == program.TileTemp:
						return v.Slice(0, n)
					case t.Kind == program.TileResult:
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

func (r *run) appendSlice(list *[]reflect.Value, ref *program.Ref) error {
	v, err := r.slice(ref)
	*list = append(*list, v)
	return err
}

func (r *run) repeat(dst, src reflect.Value) error {
	k, err := kernel("Repeat")
	if err != nil {
		return err
	}
	_, err = k.call(2, func(i int, _ reflect.Type) (reflect.Value, error) { return []reflect.Value{dst, src}[i], nil })
	return err
}

func product(n []int) int {
	p := 1
	for _, v := range n {
		p *= v
	}
	return p
}

// structs are the composite arguments of kernels.
var structs = map[string]reflect.Type{
	"AttentionMask":  reflect.TypeFor[cpu.AttentionMask](),
	"AttentionShape": reflect.TypeFor[cpu.AttentionShape](),
	"ConvShape":      reflect.TypeFor[cpu.ConvShape](),
	"Epilogue":       reflect.TypeFor[cpu.Epilogue](),
	"MatMulShape":    reflect.TypeFor[cpu.MatMulShape](),
	"PoolShape":      reflect.TypeFor[cpu.PoolShape](),
	"ResizeSpec":     reflect.TypeFor[cpu.ResizeSpec](),
	"WinogradShape":  reflect.TypeFor[cpu.WinogradShape](),
}

// FieldType returns the Go type of a field of a kernel's composite argument, ""
// when there is none.
func FieldType(name, field string) string {
	t, ok := structs[name]
	if !ok {
		return ""
	}
	f, ok := t.FieldByName(field)
	if !ok {
		return ""
	}
	return f.Type.String()
}
