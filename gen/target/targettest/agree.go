// Package targettest tests targets. It draws operators at random, and compares the results of a target with the
// results of the evaluator. It does not know any target.
package targettest

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/value"
	_ "github.com/burngen/burngen/internal/seeded"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/pass"
)

// Trial is an operator with its operands, to run on a target.
type Trial struct {
	Op   ir.Op
	Args []*ir.Tensor // nil where an operand is absent
	// Build appends the values to compare. If it is nil, the results of Op on Args are compared.
	Build func(b *ir.Builder, o ir.Op, args []*ir.Value) []*ir.Value
	// The tolerance is relative to each number, or to 1 for smaller numbers. Exact requires equal
	// elements; see [ir.Tensor.Equal]. Sums makes the tolerance relative to the largest number of a
	// result. Loose multiplies the tolerance if it is above 1. Single uses the tolerance of f32 also
	// for f64. Truncates allows integers that are truncated floats to differ by one.
	Exact, Sums, Single, Truncates bool
	Loose                          float64
	// Moments says that intermediate values, such as a variance, are rounded to the element type. If
	// Sums is also set, an error of one unit in the last place of the largest number is allowed.
	Moments bool
	// Rounded bounds the change of a result that is due to intermediate values which products round
	// to a lower precision. The unit of Rounded is the target's unit roundoff. It is 0 if products
	// read only operands.
	Rounded float64
}

// Trials maps the name of an operator to a function that draws an application of the operator at
// random.
type Trials map[string]func(*Draw) Trial

// trials holds the trials of all operators that models may have, except untried.
var trials = Merged(elementwiseTrials, movementTrials, reductionTrials, neuralTrials, quantisedTrials, textTrials, containerTrials, learningTrials)

// untried maps operators to the reason why they have no trial. The operators have a kernel or a lowering.
var untried = map[string]string{
	"custom":         "a function of the user's program computes it",
	"image_decoder":  "its operand is a file; package rt/image compares with the decoders of the standard library",
	"random_normal":  "equal to rt.NormalAt, which is tested by its distribution",
	"random_uniform": "equal to rt.UniformAt, which is tested by its distribution",
}

// Merged returns the trials of several families as one map. If several families have trials of an
// operator, it uses the last.
func Merged(families ...Trials) Trials {
	all := Trials{}
	for _, f := range families {
		maps.Copy(all, f)
	}
	return all
}

// Tried reports whether [Agree] knows the operator: it tries the operator, or has a reason to leave it out.
func Tried(name string) bool { return trials[name] != nil || untried[name] != "" }

// Fewer limits the number of checks that rapid makes in a test to `checks`. It does nothing if the command line sets
// -rapid.checks.
func Fewer(t *testing.T, checks int) {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if given {
		return
	}
	f := flag.Lookup("rapid.checks")
	before := f.Value.String()
	if n, err := strconv.Atoi(before); err == nil && n <= checks {
		return
	}
	f.Value.Set(strconv.Itoa(checks))
	t.Cleanup(func() { f.Value.Set(before) })
}

// Target is a target to test, see package gen/target.
type Target interface {
	exec.Target
	pass.Target
}

// rounding is a target that rounds the factors of products.
type rounding interface {
	// Unit returns the greatest relative error of rounding a number.
	Unit() float64
	// Round returns a number of f32 as a product reads it.
	Round(x float64) float64
}

// round rounds the float operands of a trial as x rounds the factors of products, except f64. The evaluator and the
// target then multiply the same factors, and the target computes sums and scores in f32. Its results must therefore
// be as close to the evaluator's results as the results of a target that does not round factors.
func (c Trial) round(x rounding) {
	for _, a := range c.Args {
		if a != nil && a.Kind == ir.TensorKind && a.DType.IsFloat() && a.DType != ir.F64 {
			for i := range a.Len() {
				a.SetFloat(i, x.Round(a.Float(i)))
			}
		}
	}
}

// refusing is a target whose machine may lack what some operators need.
type refusing interface {
	// Refuses reports whether an error says that the machine lacks something, so that a trial has no result.
	Refuses(err error) bool
}

// A Setting changes how a target runs. The change lasts until the returned function is called.
type Setting func() (restore func())

// Agree draws every operator at random, compiles it for a target and runs it in each of the
// settings. It fails the test unless the results agree with the evaluator's. Without settings it
// uses the defaults of the target.
func Agree(t *testing.T, x Target, settings ...Setting) { trials.Agree(t, x, settings...) }

// AgreeSideBySide is [Agree] for a target that is safe for concurrent use. It tests operators in parallel, because a
// device takes long to compile a kernel. The tests may still run when AgreeSideBySide returns. They have ended when
// cleanups of t run.
func AgreeSideBySide(t *testing.T, x Target) {
	trials.each(t, func(t *testing.T, trial func(*Draw) Trial) {
		t.Parallel()
		check(t, trial, x, defaults)
	})
}

// AgreeOn is [Agree] for the operators of the given names. It fails the test if an operator has no
// trial.
func AgreeOn(t *testing.T, x Target, names ...string) {
	some := Trials{}
	for _, name := range names {
		if trials[name] == nil {
			t.Fatalf("%s: there is no trial of this operator", name)
		}
		some[name] = trials[name]
	}
	some.Agree(t, x)
}

// Products are the names of operators for tests of the precision of products: products, operators that are made of
// products, and two others.
var Products = []string{"mat_mul", "gemm", "conv", "conv_weights", "attend", "attend_training", "attention", "attention_training", "conv_transpose", "deform_conv", "softmax", "concat"}

// Agree is the function [Agree] for the operators of these trials.
func (trials Trials) Agree(t *testing.T, x Target, settings ...Setting) {
	if len(settings) == 0 {
		settings = defaults
	}
	trials.each(t, func(t *testing.T, trial func(*Draw) Trial) { check(t, trial, x, settings) })
}

// defaults is the setting that changes nothing.
var defaults = []Setting{func() func() { return func() {} }}

// each calls `do` in a subtest for each trial, in the order of the names. It limits the checks of each subtest to
// 25; see [Fewer].
func (trials Trials) each(t *testing.T, do func(t *testing.T, trial func(*Draw) Trial)) {
	Fewer(t, 25)
	for _, name := range slices.Sorted(maps.Keys(trials)) {
		t.Run(name, func(t *testing.T) { do(t, trials[name]) })
	}
}

func check(t *testing.T, trial func(*Draw) Trial, x Target, settings []Setting) {
	rapid.Check(t, func(r *rapid.T) {
		d := &Draw{T: r, symbolic: rapid.Bool().Draw(r, "symbolic"), extents: map[string]int{}}
		trial(d).run(d, x, settings)
	})
}

// run builds the function of a trial, evaluates it, runs it on a target in each of the settings, and
// compares the results. It fails the test unless they agree.
func (c Trial) run(d *Draw, x Target, settings []Setting) {
	unit := 0.0
	if r, ok := x.(rounding); ok {
		unit = r.Unit()
		c.round(r)
	}
	f, args := c.function(d)
	if f == nil { // it needs extents that are known
		d.symbolic, c.Op = false, ir.SubstOp(c.Op, func(s string) (dim.Dim, bool) { n, ok := d.extents[s]; return dim.Const(n), ok })
		clear(d.extents)
		f, args = c.function(d)
	}
	module := &ir.Module{Funcs: []*ir.Func{f}}
	want, failed := (&ir.Evaluator{Module: module}).Run(f, args)
	lowered := &ir.Module{Funcs: []*ir.Func{f.Clone()}}
	machine, err := compile(x, lowered, Pick(d, 0, 1))
	r, mayRefuse := x.(refusing)
	if err != nil && (failed != nil || mayRefuse && r.Refuses(err)) {
		return // weights that do not fit, or kernels that prepare them
	}
	if err != nil {
		d.Fatalf("%v\n%s", err, f)
	}
	for setting, set := range settings {
		data, shapes := make([]any, len(args)), make([][]int, len(args))
		for i, a := range args {
			data[i], shapes[i] = value.ToGo(a), a.Shape
		}
		restore := set()
		got, outShapes, err := machine.Run(d.Context(), data, shapes)
		restore()
		if err != nil && mayRefuse && r.Refuses(err) {
			return
		}
		if err == nil && failed != nil && empty(outShapes) {
			continue // inputs that are errors are not compared
		}
		if (err != nil) != (failed != nil) {
			d.Fatalf("setting %d: kernels: %v, evaluation: %v\n%s\n%v\n%s", setting, err, failed, f, args, lowered)
		}
		if err != nil {
			continue
		}
		for i, y := range want {
			x, err := value.FromGo(f.Results[i].Type, outShapes[i], got[i])
			if y = held(y); err != nil || !c.agrees(x, y, unit) {
				d.Fatalf("setting %d: result %d is\n%s, evaluated to\n%s\n%s\n%v\n%s", setting, i, x, y, f, args, lowered)
			}
		}
		for i, a := range args {
			if x, err := value.FromGo(f.Params[i].Type, shapes[i], data[i]); err != nil || !x.Equal(a) {
				d.Fatalf("setting %d: argument %d is overwritten", setting, i)
			}
		}
	}
}

func empty(shapes [][]int) bool {
	return !slices.ContainsFunc(shapes, func(s []int) bool { return !slices.Contains(s, 0) })
}

// compile lowers a module of constants and one function, and prepares its weights. It leaves out passes that change
// the rounding. stop is [pass.Options].Stop. If it is 1, compile leaves out all passes that are not required, so
// that kernels compute on constants.
func compile(x Target, m *ir.Module, stop int) (*exec.Machine, error) {
	if err := pass.All(&pass.Context{Target: x, Strict: true}, m, pass.Options{Stop: stop, Outline: true}); err != nil {
		return nil, err
	}
	return exec.Prepared(x, m, pass.Prepare, pass.Forward)
}

// function returns the function of a trial and its arguments. It returns a nil function if an operator
// must know an extent that is a symbol.
func (c Trial) function(d *Draw) (*ir.Func, []*ir.Tensor) {
	f := &ir.Func{Name: pass.Forward}
	b := ir.NewBuilder(f)
	var args []*ir.Tensor
	bound := map[string]bool{}
	err := ir.Try(func() {
		values := make([]*ir.Value, len(c.Args))
		for i, x := range c.Args {
			if x != nil && (x.Kind != ir.TensorKind || d.Int(0, 3, "constant") > 0) {
				t := d.typeOf(x)
				t.Subst(func(s string) (dim.Dim, bool) { bound[s] = true; return dim.Dim{}, false })
				values[i], args = b.Param("x", t), append(args, held(x))
			}
		}
		for _, s := range slices.Sorted(maps.Keys(d.extents)) {
			if !bound[s] {
				b.Param("extent", ir.TensorOf(ir.Bool, dim.Sym(s)))
				args = append(args, ir.NewTensor(ir.Bool, d.extents[s]))
			}
		}
		for i, x := range c.Args {
			if x != nil && values[i] == nil {
				values[i] = b.Const(held(x))
			}
		}
		if c.Build != nil {
			b.Return(c.Build(b, c.Op, values)...)
		} else {
			b.Return(b.Nodes(c.Op, values...)...)
		}
	})
	if err != nil && d.symbolic {
		return nil, nil
	}
	if err != nil {
		d.Fatalf("%v\n%#v\n%v", err, c.Op, c.Args)
	}
	for i := range f.Results {
		f.ResultNames = append(f.ResultNames, fmt.Sprint("y", i))
	}
	return f, args
}

// units bounds the error that rounding adds to a result whose float type kernels only store. Kernels compute such a
// result in f32 and then round it, once more than Eval does. It may therefore be the number next to Eval's. near is
// the largest distance between adjacent numbers, divided by the smaller one. zero is the distance between zero and
// the number next to it. zero is left out for f16 and bf16, because the tolerance for f32 is larger. It is left out
// for f8e8m0, which cannot represent zero.
var units = map[ir.DType]struct{ near, zero float64 }{
	ir.F16: {near: 1.0 / (1 << 10)}, ir.BF16: {near: 1.0 / (1 << 7)},
	ir.F8E4M3FN: {1.0 / 8, 1.0 / (1 << 9)}, ir.F8E4M3FNUZ: {1.0 / 8, 1.0 / (1 << 10)},
	ir.F8E5M2: {1.0 / 4, 1.0 / (1 << 16)}, ir.F8E5M2FNUZ: {1.0 / 4, 1.0 / (1 << 17)}, ir.F8E8M0: {near: 1}, ir.F4E2M1: {0.5, 0.5},
}

// agrees reports whether the result x equals y, the evaluator's result, within a tolerance: |x[i] − y[i]| ≤
// t·max(1, |y[i]|) + c.Rounded·unit. t is 1e-12 for f64 and 1e-5 for other floats. Floats narrower than f32 may
// also differ by one unit in the last place. Other fields of c change these bounds. Types other than floats must be
// equal, except as c.Truncates allows. unit is the unit roundoff of the factors of products, or 0 if they are not
// rounded.
func (c Trial) agrees(x, y *ir.Tensor, unit float64) bool {
	switch {
	case x.Kind != ir.TensorKind:
		return x.Kind == y.Kind && slices.EqualFunc(x.Items, y.Items, func(x, y *ir.Tensor) bool { return c.agrees(x, y, unit) }) && (x.Keys == nil && y.Keys == nil || x.Keys.Equal(y.Keys))
	case c.Truncates && x.DType.IsInt() && x.Type().String() == y.Type().String():
		for i := range x.Len() {
			if v := x.Int(i) - y.Int(i); v < -1 || v > 1 {
				return false
			}
		}
		return true
	case c.Exact || !x.DType.IsFloat() || x.Type().String() != y.Type().String():
		return x.Equal(y)
	}
	near := 1e-5
	if x.DType == ir.F64 && !c.Single {
		near = 1e-12
	}
	near *= max(c.Loose, 1)
	greatest := 1.0
	for i := range y.Len() {
		if v := math.Abs(y.Float(i)); c.Sums && v <= math.MaxFloat64 {
			greatest = max(greatest, v)
		}
	}
	gap := units[x.DType]
	for i := range x.Len() {
		a, b := x.Float(i), y.Float(i)
		if a == b || a != a && b != b {
			continue
		}
		size := math.Abs(b)
		if c.Moments {
			size = greatest
		}
		if !(math.Abs(a-b) <= near*max(greatest, math.Abs(b))+unit*c.Rounded+max(gap.near*size, gap.zero)) || math.IsInf(b, 0) {
			return false
		}
	}
	return true
}
