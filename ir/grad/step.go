package grad

import (
	"errors"
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// Names of additional parameters and results of a [Step].
const (
	KeyName     = "key"        // parameter with the key of random numbers
	ScaleName   = "loss_scale" // parameter with the loss scale and its inverse, see [ScaledStep]
	GradPrefix  = "grad/"      // prefix of a gradient's name, followed by the weight
	StatePrefix = "state/"     // prefix of the name of a weight's new value, followed by the weight
)

// Step returns a training function called name, without adding it to m. The training function differentiates the
// function loss, whose first result must be a float tensor of one element. Its parameters are the parameters of
// loss. If loss draws random numbers, it has one more parameter, KeyName of i64[2]. Its results are, in this order:
//
//   - the results of loss
//   - the gradients of the loss with respect to the weights that params names, in the order of params. Their names
//     have the prefix GradPrefix.
//   - the new values of weights that change without a gradient, such as running statistics. Their names have the
//     prefix StatePrefix.
//
// [ir.Trainable] operators are replaced by their training form. Step returns an error if the loss is not a float of
// one element, if a name in params is not a float weight, or if a node has no derivative.
func Step(m *ir.Module, loss *ir.Func, name string, params []string) (*ir.Func, error) {
	return step(m, loss, name, params, false)
}

// ScaledStep is [Step] with one more parameter at the end, ScaleName of f32[2]. Element 0 is the gradient of the
// loss, which is 1 in a Step. A larger value keeps the gradients of activations from becoming too small for f16.
// Element 1 multiplies the gradients of the weights; the inverse of element 0 undoes the scale.
func ScaledStep(m *ir.Module, loss *ir.Func, name string, params []string) (*ir.Func, error) {
	return step(m, loss, name, params, true)
}

func step(m *ir.Module, loss *ir.Func, name string, params []string, isScaled bool) (*ir.Func, error) {
	f := loss.Clone()
	f.Name = name
	if len(f.Results) == 0 {
		return nil, fmt.Errorf("@%s: no loss", loss.Name)
	}
	if t := f.Results[0].Type; !t.IsTensor() || !t.DType.IsFloat() || !t.Elems().Equal(dim.Const(1)) {
		return nil, fmt.Errorf("@%s: the loss %q is %s, a float of one element expected", loss.Name, f.ResultNames[0], t)
	}
	if err := link(m, f); err != nil {
		return nil, fmt.Errorf("@%s: %w", loss.Name, err)
	}
	mergeLoads(f)
	t := &training{f: f, params: params}
	if _, err := f.Rewrite(func(b *ir.Builder, n *ir.Node) []*ir.Value {
		if o, ok := n.Op.(ir.Trainable); ok {
			return o.Train(b, n, t)
		}
		return nil
	}); err != nil {
		return nil, fmt.Errorf("@%s: %w", loss.Name, err)
	}
	loads := loadsOf(f)
	b := ir.NewBuilder(f)
	weights := m.ByName()
	wrt := make([]*ir.Value, len(params))
	var errs []error
	var scale, inverse *ir.Value
	err := ir.Try(func() {
		if isScaled {
			pair := b.Param(ScaleName, ir.StaticTensor(ir.F32, 2))
			scale = op.ConvertTo(b, elementOf(b, pair, 0), f.Results[0].Type.DType)
			scale = op.ReshapeTo(b, scale, f.Results[0].Type.Shape...)
			inverse = elementOf(b, pair, 1)
		}
		for i, p := range params {
			w := weights[p]
			if w == nil || !w.Type.DType.IsFloat() {
				errs = append(errs, fmt.Errorf("parameter %q is not a float weight", p))
				continue
			}
			if wrt[i] = loads[p]; wrt[i] == nil {
				wrt[i] = b.Node(ir.Load{Name: p, Type: w.Type})
			}
		}
	})
	if err = errors.Join(append(errs, err)...); err != nil {
		return nil, fmt.Errorf("@%s: %w", loss.Name, err)
	}
	grads, err := Append(b, f.Results[0], scale, wrt)
	if err != nil {
		return nil, fmt.Errorf("@%s: %w", loss.Name, err)
	}
	for i, g := range grads {
		if isScaled && !IsZero(g) {
			g = b.Node(op.Mul{}, g, op.ConvertTo(b, inverse, g.Type.DType))
		}
		f.Results, f.ResultNames = append(f.Results, b.Now(g)), append(f.ResultNames, GradPrefix+params[i])
	}
	for _, u := range t.updates {
		f.Results, f.ResultNames = append(f.Results, b.Now(u.next)), append(f.ResultNames, StatePrefix+u.name)
	}
	f.Prune()
	return f, nil
}

func elementOf(b *ir.Builder, x *ir.Value, i int) *ir.Value {
	one := op.Slice{Starts: dim.Consts(i), Shape: dim.Consts(1), Steps: []int{1}}
	return op.ReshapeTo(b, b.Node(one, x))
}

// IsZero reports whether all elements of a value are known to be zero. They are known only for a constant that
// stores a single element and for the result of an [op.Fill].
func IsZero(v *ir.Value) bool {
	if t, ok := v.ConstValue(); ok {
		return t.Stored() == 1 && t.Number(0) == 0
	}
	if v.Def == nil {
		return false
	}
	fill, ok := v.Def.Op.(op.Fill)
	return ok && fill.Value.Number(0) == 0
}

type training struct {
	f       *ir.Func
	params  []string
	key     *ir.Value
	updates []update
}

type update struct {
	name string
	next *ir.Value
}

// Key returns the parameter [KeyName] of the training function. The first call of Key adds this parameter.
func (t *training) Key(b *ir.Builder) *ir.Value {
	if t.key == nil {
		t.key = &ir.Value{Name: b.Name(KeyName), Type: ir.StaticTensor(ir.I64, 2), Index: len(t.f.Params)}
		t.f.Params = append(t.f.Params, t.key)
	}
	return t.key
}

func (t *training) IsFrozen(v *ir.Value) bool {
	name, ok := weightOf(v)
	return ok && !slices.Contains(t.params, name)
}

// Update records `next` as the new value of the weight that v loads. It does nothing if v does not
// load a weight. If a weight is updated twice, the last value counts.
func (t *training) Update(v, next *ir.Value) {
	name, ok := weightOf(v)
	if !ok {
		return
	}
	t.updates = slices.DeleteFunc(t.updates, func(u update) bool { return u.name == name })
	t.updates = append(t.updates, update{name, next})
}

func weightOf(v *ir.Value) (string, bool) {
	if v == nil || v.Def == nil {
		return "", false
	}
	l, ok := v.Def.Op.(ir.Load)
	return l.Name, ok
}

func loadsOf(f *ir.Func) map[string]*ir.Value {
	loads := map[string]*ir.Value{}
	for _, n := range f.Nodes {
		if l, ok := n.Op.(ir.Load); ok {
			loads[l.Name] = n.Results[0]
		}
	}
	return loads
}

func mergeLoads(f *ir.Func) {
	first := map[string]*ir.Value{}
	same := map[*ir.Value]*ir.Value{}
	var loads, rest []*ir.Node
	for _, n := range f.Nodes {
		l, ok := n.Op.(ir.Load)
		switch {
		case !ok:
			rest = append(rest, n)
		case first[l.Name] == nil:
			first[l.Name] = n.Results[0]
			loads = append(loads, n)
		default:
			same[n.Results[0]] = first[l.Name]
		}
	}
	f.Nodes = append(loads, rest...)
	f.ReplaceUses(same)
}
