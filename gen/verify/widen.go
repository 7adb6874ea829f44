package verify

import (
	"reflect"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

type wide struct {
	fn *ir.Func
	// weights are the names of the float weights, which are additional last parameters.
	weights []string
}

// inF64 returns f with every float of 16 bits or more converted to f64. This affects values, constants, type
// attributes, and weights. The weights become parameters. inF64 returns an error if an operator does not support f64.
func inF64(m *ir.Module, f *ir.Func) (*wide, error) {
	d := &wide{fn: f.Clone()}
	w := &widener{params: map[string]*ir.Value{}, same: map[*ir.Value]*ir.Value{}, narrow: map[*ir.Node]narrow{}}
	for n := range d.fn.All() {
		w.narrow[n] = narrow{n.Op, n.ArgTypes()}
	}
	w.block(&d.fn.Block)
	d.fn.ReplaceUses(w.same)
	for _, name := range w.names {
		p := w.params[name]
		p.Index = len(d.fn.Params)
		d.fn.Params, d.weights = append(d.fn.Params, p), append(d.weights, name)
	}
	if _, err := d.fn.Rewrite(w.refused); err != nil {
		return nil, err
	}
	return d, ir.Verify(&ir.Module{Funcs: []*ir.Func{d.fn}, Weights: m.Weights})
}

type widener struct {
	names  []string
	params map[string]*ir.Value    // parameters that replace weights
	same   map[*ir.Value]*ir.Value // values that replace loads
	narrow map[*ir.Node]narrow     // types of nodes before the conversion
}

// narrow is the original form of a node.
type narrow struct {
	op   ir.Op
	args []ir.Type
}

func (w *widener) block(b *ir.Block) {
	w.values(b.Params)
	b.Nodes = slices.DeleteFunc(b.Nodes, func(n *ir.Node) bool {
		l, ok := n.Op.(ir.Load)
		if !ok || !isWide(l.Type.DType) {
			return false
		}
		if w.params[l.Name] == nil {
			w.names = append(w.names, l.Name)
			w.params[l.Name] = &ir.Value{Name: n.Results[0].Name, Type: ir.TensorOf(ir.F64, l.Type.Shape...)}
		}
		w.same[n.Results[0]] = w.params[l.Name]
		return true
	})
	for _, n := range b.Nodes {
		attr := reflect.New(reflect.TypeOf(n.Op)).Elem()
		attr.Set(reflect.ValueOf(n.Op))
		widen(attr)
		n.Op = attr.Interface().(ir.Op)
		w.values(n.Results)
		for _, inner := range n.Blocks {
			w.block(inner)
		}
	}
}

// refused replaces a node whose operator does not support f64 by equivalent operators, or by the
// original operator between casts. It returns nil for other nodes.
func (w *widener) refused(b *ir.Builder, n *ir.Node) []*ir.Value {
	if _, err := ir.Infer(n); err == nil {
		return nil
	}
	if o, ok := n.Op.(ir.Composite); ok {
		return o.Compose(b, n)
	}
	was := w.narrow[n]
	args := make([]*ir.Value, len(n.Args))
	for i, a := range n.Args {
		if args[i] = a; a != nil && a.Type.IsTensor() && a.Type.DType == ir.F64 {
			args[i] = b.Node(op.Cast{To: was.args[i].DType}, a)
		}
	}
	results := b.Nodes(was.op, args...)
	for i, r := range results {
		if r.Type.IsTensor() && isWide(r.Type.DType) {
			results[i] = b.Node(op.Cast{To: ir.F64}, r)
		}
	}
	return results
}

func (w *widener) values(values []*ir.Value) {
	for _, v := range values {
		widen(reflect.ValueOf(&v.Type).Elem())
	}
}

func isWide(d ir.DType) bool { return d == ir.F16 || d == ir.BF16 || d == ir.F32 }

// widen replaces float types in an attribute by f64, and converts its tensors.
func widen(v reflect.Value) {
	switch x := v.Interface().(type) {
	case dim.Dim:
		return
	case ir.DType:
		if isWide(x) {
			v.Set(reflect.ValueOf(ir.F64))
		}
		return
	case *ir.Tensor:
		if x != nil && x.Kind == ir.TensorKind {
			v.Set(reflect.ValueOf(widened(x)))
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			copied := reflect.New(v.Type().Elem())
			copied.Elem().Set(v.Elem())
			widen(copied.Elem())
			v.Set(copied)
		}
	case reflect.Slice:
		if v.Len() > 0 {
			s := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(s, v)
			for i := range s.Len() {
				widen(s.Index(i))
			}
			v.Set(s)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				widen(v.Field(i))
			}
		}
	}
}

func widened(x *ir.Tensor) *ir.Tensor {
	if !isWide(x.DType) {
		return x
	}
	if x.IsSplat() {
		one := ir.NewTensor(ir.F64)
		if x.Len() > 0 {
			one.SetFloat(0, x.Float(0))
		}
		return ir.Splat(one, x.Shape...)
	}
	y := ir.NewTensor(ir.F64, x.Shape...)
	for i := range y.Len() {
		y.SetFloat(i, x.Float(i))
	}
	return y
}
