package verify

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/target"
	"github.com/burngen/burngen/gen/value"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/grad"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/onnx"
	"github.com/burngen/burngen/runtime/rt"
)

// Slopes compares the gradient of a model with finite differences, in f64. It differentiates the
// sum of the sines of all float outputs with respect to float inputs and float weights of more than
// one element.
type Slopes struct {
	module *ir.Module
	value  *ir.Func // the sum
	both   *ir.Func // the sum, and the gradients
	wrt    []int    // indices of the differentiated parameters
	names  []string // names of the weights that became the last parameters
}

// ErrConstant is the error for a model whose outputs do not depend on differentiable floats.
var ErrConstant = errors.New("no float output depends on a float weight or input")

// NewSlopes differentiates a model. It returns [ErrConstant], or an error if operators have no
// derivative ([grad.NoDerivative]) or do not support f64.
func NewSlopes(m *onnx.Model) (*Slopes, error) {
	d, err := inF64(m.Module, m.Module.Func("forward"))
	if err != nil {
		return nil, err
	}
	s := &Slopes{module: m.Module, value: d.fn, names: d.weights}
	err = ir.Try(func() {
		b := ir.NewBuilder(d.fn)
		total := b.Scalar(ir.F64, 0)
		for _, r := range d.fn.Results {
			if r.Type.IsTensor() && r.Type.DType == ir.F64 {
				axes := make([]int, r.Type.Rank())
				for i := range axes {
					axes[i] = i
				}
				total = b.Node(op.Add{}, total, b.Node(op.Reduce{Kind: op.ReduceSum, Axes: axes}, b.Node(op.Sin{}, r)))
			}
		}
		b.Return(total)
	})
	if err != nil {
		return nil, err
	}
	d.fn.ResultNames = []string{"value"}
	d.fn.Prune()
	uses := d.fn.Uses()
	for i, p := range d.fn.Params {
		weight := i >= len(d.fn.Params)-len(d.weights)
		if n, ok := p.Type.Elems().Int(); p.Type.IsTensor() && p.Type.DType == ir.F64 && uses[p] > 0 && !(weight && ok && n < 2) {
			s.wrt = append(s.wrt, i)
		}
	}
	s.both = d.fn.Clone()
	b := ir.NewBuilder(s.both)
	var wrt []*ir.Value
	for _, i := range s.wrt {
		wrt = append(wrt, s.both.Params[i])
	}
	if len(wrt) == 0 {
		return nil, ErrConstant
	}
	grads, err := grad.Append(b, s.both.Results[0], nil, wrt)
	if err != nil {
		return nil, err
	}
	b.Return(append([]*ir.Value{s.both.Results[0]}, grads...)...)
	for range grads {
		s.both.ResultNames = append(s.both.ResultNames, "gradient")
	}
	s.both.Prune()
	return s, ir.Verify(&ir.Module{Funcs: []*ir.Func{s.both}, Weights: m.Module.Weights})
}

// Flops estimates the number of operations of the model for these arguments. An operator that does
// not report its operations counts as one operation for each element.
func (s *Slopes) Flops(args []*ir.Tensor) int64 {
	shapes := make([][]int, len(s.value.Params))
	for i, p := range s.value.Params {
		if i < len(args) {
			shapes[i] = args[i].Shape
		} else {
			shapes[i], _ = p.Type.Static()
		}
	}
	symbols, _ := ir.BindShapes(s.value.Params, shapes)
	var sum int64
	for n := range s.value.All() {
		for _, r := range n.Results {
			d := dim.Const(1)
			if o, ok := n.Op.(ir.Coster); ok {
				d = o.Flops(n.ArgTypes(), []ir.Type{r.Type})
			} else if r.Type.IsTensor() {
				d = r.Type.Elems()
			}
			v, _ := d.Eval(func(s string) (int64, bool) { v, ok := symbols[s]; return v, ok })
			sum += v
		}
	}
	return sum
}

const (
	slopeDirections = 3
	slopeNear       = 1e-4
	slopeJitter     = 1e-3
)

// slopeSteps are the step sizes of the finite differences. A shorter step crosses fewer kinks of
// piecewise functions.
var slopeSteps = []float64{1e-5, 1e-6, 1e-7, 1e-8}

// point returns arguments for s.value and s.both: values near args, and then the weights. The function `direction`
// returns a new random direction each time it is called.
func (s *Slopes) point(args []*ir.Tensor) (point []*ir.Tensor, direction func() []*ir.Tensor, err error) {
	point = make([]*ir.Tensor, len(s.value.Params))
	for i, p := range s.value.Params {
		if i < len(args) {
			point[i] = widened(args[i])
			continue
		}
		name := s.names[i-len(args)]
		w, err := s.module.Weight(name).Tensor()
		if err != nil {
			return nil, nil, err
		}
		if point[i] = widened(w); !point[i].Type().Equal(p.Type) {
			return nil, nil, fmt.Errorf("weight %q is %s, not %s", name, w.Type(), p.Type)
		}
	}
	random := uint64(0)
	direction = func() []*ir.Tensor {
		d := make([]*ir.Tensor, len(s.wrt))
		for k, i := range s.wrt {
			random++
			d[k] = relative(point[i], random)
		}
		return d
	}
	// Move away from zeros, where piecewise functions have kinks.
	return s.moved(point, direction(), slopeJitter), direction, nil
}

// AgreeOn computes the gradients at a point near args in two ways, on a target and with the evaluator in f64, and
// compares them. It compares the values of the function in the same way. An element may differ by 1e-4 of the largest
// finite element of its gradient, or by 2⁻⁴⁸ of the largest finite element of all gradients if that is more. The
// second bound is for a gradient of 0 that is a sum of large terms that cancel. AgreeOn returns an error if an
// element differs by more. It also returns the errors of the compiler and of the operators.
func (s *Slopes) AgreeOn(to target.Target, args []*ir.Tensor) error {
	point, _, err := s.point(args)
	if err != nil {
		return err
	}
	want, err := s.run(s.both, point)
	if err != nil {
		return err
	}
	f := s.both.Clone()
	f.Name = s.value.Name
	for i := range f.ResultNames {
		f.ResultNames[i] = fmt.Sprint("y", i)
	}
	m, err := gen.FromModule("gradient", &ir.Module{Funcs: []*ir.Func{f}, Weights: s.loaded(f)}, gen.Options{Target: to})
	if err != nil {
		return err
	}
	data, shapes := make([]any, len(point)), make([][]int, len(point))
	for i, x := range point {
		data[i], shapes[i] = value.ToGo(x), x.Shape
	}
	results, resultShapes, err := m.Run(data, shapes)
	if err != nil {
		return err
	}
	noise := 0.0
	for _, y := range want[1:] {
		noise = max(noise, 0x1p-48*largest(y))
	}
	for i, y := range want {
		x, err := value.FromGo(y.Type(), resultShapes[i], results[i])
		if err != nil {
			return err
		}
		most := max(slopeNear*largest(y), noise)
		for k := range y.Len() {
			got, want := x.Float(k), y.Float(k)
			if same := got == want || got != got && want != want; !same && !(math.Abs(got-want) <= most) {
				return fmt.Errorf("element %d of result %d is %g, want %g", k, i, got, want)
			}
		}
	}
	return nil
}

func largest(y *ir.Tensor) (size float64) {
	for k := range y.Len() {
		if v := math.Abs(y.Float(k)); v <= math.MaxFloat64 {
			size = max(size, v)
		}
	}
	return size
}

// loaded returns the weights that f loads because they are not parameters, such as tables of integers.
func (s *Slopes) loaded(f *ir.Func) (list []*ir.Weight) {
	for n := range f.All() {
		if load, ok := n.Op.(ir.Load); ok {
			if w := s.module.Weight(load.Name); !slices.Contains(list, w) {
				list = append(list, w)
			}
		}
	}
	return list
}

// Check compares the gradient near args with finite differences along random directions. The gradient gives the
// slope along a direction, as a sum of terms. The difference quotient of at least one step size must come close to
// this slope. The accepted deviation is 1e-4 of the slope, or 1e-7 of the sum of the magnitudes of its terms if
// that is more. If the deviation is larger for every step size, Check returns an error. It also returns an error if
// an operator fails.
func (s *Slopes) Check(args []*ir.Tensor) error {
	point, direction, err := s.point(args)
	if err != nil {
		return err
	}
	here, err := s.run(s.both, point)
	if err != nil {
		return err
	}
	for range slopeDirections {
		d := direction()
		want, size := 0.0, 0.0
		for k, g := range here[1:] {
			for i := range g.Len() {
				want += g.Float(i) * d[k].Float(i)
				size += math.Abs(g.Float(i) * d[k].Float(i))
			}
		}
		closest, slope := math.Inf(1), math.NaN()
		for _, h := range slopeSteps {
			up, err := s.run(s.value, s.moved(point, d, h))
			if err != nil {
				return err
			}
			down, err := s.run(s.value, s.moved(point, d, -h))
			if err != nil {
				return err
			}
			got := (up[0].Float(0) - down[0].Float(0)) / (2 * h)
			if off := math.Abs(got - want); off < closest {
				closest, slope = off, got
			}
			if closest <= slopeNear*math.Abs(want) {
				break
			}
		}
		if !(closest <= slopeNear*max(math.Abs(want), 1e-3*size)) {
			return fmt.Errorf("the slope is %g, its gradient's %g, of parts of %g", slope, want, size)
		}
	}
	return nil
}

func (s *Slopes) run(f *ir.Func, args []*ir.Tensor) ([]*ir.Tensor, error) {
	return (&ir.Evaluator{Module: s.module}).Run(f, args)
}

func (s *Slopes) moved(point, direction []*ir.Tensor, h float64) []*ir.Tensor {
	to := append([]*ir.Tensor(nil), point...)
	for k, i := range s.wrt {
		x := ir.NewTensor(ir.F64, point[i].Shape...)
		for j := range x.Len() {
			x.SetFloat(j, point[i].Float(j)+h*direction[k].Float(j))
		}
		to[i] = x
	}
	return to
}

// relative returns a random direction. Element i of the direction is between −b and b. If all elements of x are
// positive, such as variances, b is x[i]. Otherwise b is |x[i]| + rms/10 + 0.001, where rms is the root mean square
// of x.
func relative(x *ir.Tensor, seed uint64) *ir.Tensor {
	square, positive := 0.0, true
	for i := range x.Len() {
		square += x.Float(i) * x.Float(i)
		positive = positive && x.Float(i) > 0
	}
	least := 0.0
	if !positive {
		least = 0.1*math.Sqrt(square/float64(max(x.Len(), 1))) + 1e-3
	}
	d := ir.NewTensor(ir.F64, x.Shape...)
	for i := range d.Len() {
		d.SetFloat(i, (2*rt.UniformAt(seed, uint64(i))-1)*(math.Abs(x.Float(i))+least))
	}
	return d
}
