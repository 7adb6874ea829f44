package targettest

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/grad"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/runtime/rt"
)

// domains holds the ranges in which operators are differentiated. The default is −2 to 2. An
// operator has a derivative everywhere in its range.
var domains = map[string][2]float64{
	"acos": {-0.9, 0.9}, "asin": {-0.9, 0.9}, "atanh": {-0.9, 0.9}, "acosh": {1.2, 3},
	"log": {0.3, 3}, "sqrt": {0.3, 3}, "reciprocal": {0.4, 2}, "pow": {0.3, 2},
	"batch_normalization": {0.3, 2}, "div": {0.4, 2}, "mod": {0.4, 2}, "tan": {-1.2, 1.2},
}

// undifferentiated gives the reasons why some operators with a derivative are not compared.
var undifferentiated = map[string]string{
	"custom":            "a function of the user's program computes it",
	"dequantize_linear": "it computes in f32; package ir/grad tests it",
	"detach":            "its gradient is zero, which its derivative is not; package ir/grad tests it",
	"quantize_linear":   "its results are rounded, which has a derivative of zero",
}

// Gradients agree with finite differences along random directions.
func TestGradients(t *testing.T) {
	Fewer(t, 40)
	for _, o := range op.Ops {
		name := ir.OpName(o)
		_, differentiable := o.(ir.Differentiable)
		_, composite := o.(ir.Composite)
		if !differentiable && !composite || undifferentiated[name] != "" {
			continue
		}
		if trials[name] == nil {
			t.Errorf("%s has a derivative, and no trial", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			checked := 0
			rapid.Check(t, func(r *rapid.T) {
				d := &Draw{T: r, extents: map[string]int{}}
				if trials[name](d).differentiate(d, name) {
					checked++
				}
			})
			if checked == 0 {
				t.Error("no draw could be differentiated")
			}
		})
	}
}

// differentiate converts a trial's float operands to f64, and compares their gradients with finite
// differences. It reports whether there is anything to compare. This requires numbers at which the
// operator has a derivative, and results of f64.
func (c Trial) differentiate(d *Draw, name string) bool {
	domain, ok := domains[name]
	if !ok {
		domain = [2]float64{-2, 2}
	}
	switch o := c.Op.(type) {
	case op.Cast:
		if o.To.IsFloat() {
			c.Op = op.Cast{To: ir.F64}
		}
	case op.Attention:
		o.Precision = ir.Invalid // differences of f32 are steps
		c.Op = o
	}
	args := slices.Clone(c.Args)
	for i, x := range args {
		if x != nil && x.Kind == ir.TensorKind && x.DType.IsFloat() {
			args[i] = d.smooth(domain, x.Shape...)
		}
	}
	f, point := c.objective(d, args)
	if f == nil || len(point) == 0 {
		return false
	}
	module := &ir.Module{Funcs: []*ir.Func{f}}
	if err := ir.Verify(module); err != nil {
		d.Fatalf("%v\n%s", err, f)
	}
	at := func(args []*ir.Tensor) []*ir.Tensor {
		out, err := (&ir.Evaluator{Module: module}).Run(f, args)
		if err != nil {
			return nil
		}
		return out
	}
	here := at(point)
	if here == nil {
		return false
	}
	direction := make([]*ir.Tensor, len(point))
	want, size := 0.0, 0.0
	for i, x := range point {
		direction[i] = d.smooth([2]float64{-1, 1}, x.Shape...)
		for k := range x.Len() {
			part := here[1+i].Float(k) * direction[i].Float(k)
			want += part
			size += math.Abs(part)
		}
	}
	slope := func(h float64) float64 {
		moved := func(h float64) float64 {
			args := make([]*ir.Tensor, len(point))
			for i, x := range point {
				args[i] = ir.NewTensor(x.DType, x.Shape...)
				for k := range x.Len() {
					args[i].SetFloat(k, x.Float(k)+h*direction[i].Float(k))
				}
			}
			if y := at(args); y != nil {
				return y[0].Float(0)
			}
			return math.NaN()
		}
		return (moved(h) - moved(-h)) / (2 * h)
	}
	const h = 1e-5
	got, again := slope(h), slope(h/4)
	scale := 1 + size + math.Abs(here[0].Float(0))
	if !(math.Abs(got-again) < 1e-6*scale) {
		return false // it has no derivative here
	}
	if !(math.Abs(got-want) < 1e-5*scale) {
		d.Fatalf("%#v\nof %v\nthe slope is %g, its gradient's %g\n%s", c.Op, args, got, want, f)
	}
	return true
}

// objective returns a function of the f64 operands. Its first result is the weighted sum of the
// trial's results, and its other results are the gradients of that sum. It is nil if the results
// have other types.
func (c Trial) objective(d *Draw, args []*ir.Tensor) (*ir.Func, []*ir.Tensor) {
	f := &ir.Func{Name: "objective"}
	b := ir.NewBuilder(f)
	var point []*ir.Tensor
	typed := true
	err := ir.Try(func() {
		values, wrt := make([]*ir.Value, len(args)), []*ir.Value(nil)
		for i, x := range args {
			if x != nil && x.Kind == ir.TensorKind && x.DType.IsFloat() {
				values[i], point = b.Param("x", x.Type()), append(point, x)
				wrt = append(wrt, values[i])
			}
		}
		for i, x := range args {
			if x != nil && values[i] == nil {
				values[i] = b.Const(x)
			}
		}
		var results []*ir.Value
		if c.Build != nil {
			results = c.Build(b, c.Op, values)
		} else {
			results = b.Nodes(c.Op, values...)
		}
		total := b.Scalar(ir.F64, 0)
		floats := false
		for _, y := range results {
			if !y.Type.IsTensor() || !y.Type.DType.IsFloat() {
				continue
			}
			if y.Type.DType != ir.F64 {
				typed = false
				return
			}
			floats = true
			shape, _ := y.Type.Static()
			weights := b.Const(d.smooth([2]float64{-1, 1}, shape...))
			var axes []int
			for i := range shape {
				axes = append(axes, i)
			}
			total = b.Node(op.Add{}, total, b.Node(op.Reduce{Kind: op.ReduceSum, Axes: axes}, b.Node(op.Mul{}, y, weights)))
		}
		typed = floats
		grads, err := grad.Append(b, total, nil, wrt)
		var none *grad.NoDerivative
		if errors.As(err, &none) {
			typed = false
			return
		}
		if err != nil {
			d.Fatalf("%v\n%s", err, f)
		}
		b.Return(append([]*ir.Value{total}, grads...)...)
	})
	if !typed || err != nil && f.Results == nil && len(f.Nodes) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, nil // the operator does not take f64 here
	}
	for range f.Results {
		f.ResultNames = append(f.ResultNames, "y")
	}
	return f, point
}

// smooth draws f64 within a domain, no two of them alike.
func (d *Draw) smooth(domain [2]float64, shape ...int) *ir.Tensor {
	x := ir.NewTensor(ir.F64, shape...)
	d.smooths++
	seed := rt.Keyed(rapid.Int64().Draw(d.T, "seed"), []int64{d.smooths})
	for i := range x.Len() {
		x.SetFloat(i, domain[0]+(domain[1]-domain[0])*rt.UniformAt(uint64(seed), uint64(i)))
	}
	return x
}
