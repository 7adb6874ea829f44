package exec_test

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/value"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
	"github.com/burngen/burngen/runtime/cpu"
)

// trial is an operator and what it is applied to.
type trial struct {
	op   ir.Op
	args []*ir.Tensor // nil where an operand is absent
	// build makes the values that are compared, where they are not the results of
	// op of args.
	build func(b *ir.Builder, o ir.Op, args []*ir.Value) []*ir.Value
	// exact trials have to agree to the bit. In those of sums the errors of floats
	// are relative to the greatest number of a result, else to each; they may be
	// loose times as large as usual, and with single those of f32 in any type.
	// Integers that are truncated floats may be next to each other.
	exact, sums, single, truncates bool
	loose                          float64
}

// trials draw random applications of operators, by the names of these.
var trials = merged(elementwiseTrials, movementTrials, reductionTrials, neuralTrials, quantisedTrials, bytesTrials, loweredTrials, textTrials, containerTrials, learningTrials)

// untried says why operators that have a kernel or a lowering have no trial.
var untried = map[string]string{
	"custom":         "a function of the user's program computes it",
	"image_decoder":  "its operand is a file; package cpu/image compares with the decoders of the standard library",
	"random_normal":  "equal to rt.NormalAt, which is tested by its distribution",
	"random_uniform": "equal to rt.UniformAt, which is tested by its distribution",
}

func merged(families ...map[string]func(*draw) trial) map[string]func(*draw) trial {
	all := map[string]func(*draw) trial{}
	for _, f := range families {
		maps.Copy(all, f)
	}
	return all
}

func TestEveryOperatorThatKernelsComputeHasATrial(t *testing.T) {
	names := map[string]bool{}
	for _, o := range op.Ops {
		name := ir.OpName(o)
		names[name] = true
		_, lowers := o.(ir.Lowerer)
		_, calls := o.(ir.Caller)
		_, binds := o.(ir.Binder)
		if _, region := o.(ir.RegionOp); region && !lowers && !calls {
			continue // control flow, and what passes make of elementwise operators
		}
		if (lowers || calls || binds) && trials[name] == nil && untried[name] == "" {
			t.Errorf("%s has a kernel or a lowering, and no trial", name)
		}
		if trials[name] != nil && untried[name] != "" {
			t.Errorf("%s is tried", name)
		}
	}
	for _, list := range [][]string{slices.Collect(maps.Keys(trials)), slices.Collect(maps.Keys(untried))} {
		for _, name := range list {
			if !names[name] {
				t.Errorf("no operator %s", name)
			}
		}
	}
}

// fewer makes rapid check properties less often than it would, unless the command
// line says how often.
func fewer(t *testing.T, checks string) {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if given {
		return
	}
	f := flag.Lookup("rapid.checks")
	before := f.Value.String()
	f.Value.Set(checks)
	t.Cleanup(func() { f.Value.Set(before) })
}

// Every operator, compiled and run on the kernels, gives what it evaluates to.
func TestKernelsAgreeWithEvaluation(t *testing.T) {
	fewer(t, "25")
	for _, name := range slices.Sorted(maps.Keys(trials)) {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				d := &draw{T: r, symbolic: rapid.Bool().Draw(r, "symbolic"), extents: map[string]int{}}
				trials[name](d).run(d)
			})
		})
	}
}

// run builds the function of a trial, evaluates it, and runs it on the kernels of
// plain Go and on the machine's best ones.
func (c trial) run(d *draw) {
	f, args := c.function(d)
	if f == nil { // it needs extents that are known
		d.symbolic, c.op = false, ir.SubstOp(c.op, func(s string) (ir.Dim, bool) { n, ok := d.extents[s]; return ir.Const(n), ok })
		clear(d.extents)
		f, args = c.function(d)
	}
	module := &ir.Module{Funcs: []*ir.Func{f}}
	want, failed := (&ir.Evaluator{Module: module}).Run(f, args)
	lowered := &ir.Module{Funcs: []*ir.Func{f.Clone()}}
	machine, err := compile(lowered, pick(d, 0, 1))
	if err != nil && failed != nil {
		return // weights that do not fit
	}
	if err != nil {
		d.Fatalf("%v\n%s", err, f)
	}
	for _, level := range []cpu.Level{cpu.Generic, cpu.AVX512} {
		data, shapes := make([]any, len(args)), make([][]int, len(args))
		for i, a := range args {
			data[i], shapes[i] = toGo(a), a.Shape
		}
		restore := cpu.SetLevel(level)
		got, outShapes, err := machine.Run(d.Context(), data, shapes)
		restore()
		if err == nil && failed != nil && empty(outShapes) {
			continue // what is wrong is not looked at
		}
		if (err != nil) != (failed != nil) {
			d.Fatalf("level %d: kernels: %v, evaluation: %v\n%s\n%v\n%s", level, err, failed, f, args, lowered)
		}
		if err != nil {
			continue
		}
		for i, y := range want {
			x, err := value.FromGo(f.Results[i].Type, outShapes[i], got[i])
			if y = held(y); err != nil || !c.agrees(x, y) {
				d.Fatalf("level %d: result %d is\n%s, evaluated to\n%s\n%s\n%v\n%s", level, i, x, y, f, args, lowered)
			}
		}
		for i, a := range args {
			if x, err := value.FromGo(f.Params[i].Type, shapes[i], data[i]); err != nil || !x.Equal(a) {
				d.Fatalf("level %d: argument %d is overwritten", level, i)
			}
		}
	}
}

// empty reports whether there are no elements in tensors of these shapes.
func empty(shapes [][]int) bool {
	return !slices.ContainsFunc(shapes, func(s []int) bool { return !slices.Contains(s, 0) })
}

// compile lowers a module of constants and one function and prepares its weights. A
// stop of 1 leaves out all passes that are not required, so that what follows from
// constants is computed by kernels. What changes the rounding is left out too.
func compile(m *ir.Module, stop int) (*exec.Machine, error) {
	if err := pass.All(&pass.Context{Strict: true}, m, pass.Options{Stop: stop, Outline: true}); err != nil {
		return nil, err
	}
	return exec.Prepared(m, pass.Prepare, pass.Forward)
}

// function returns the function of a trial and its arguments; nil when operators
// need to know an extent that is a symbol.
func (c trial) function(d *draw) (*ir.Func, []*ir.Tensor) {
	f := &ir.Func{Name: pass.Forward}
	b := ir.NewBuilder(f)
	var args []*ir.Tensor
	bound := map[string]bool{}
	err := ir.Try(func() {
		values := make([]*ir.Value, len(c.args))
		for i, x := range c.args {
			if x != nil && (x.Kind != ir.TensorKind || d.int(0, 3, "constant") > 0) {
				t := d.typeOf(x)
				t.Subst(func(s string) (ir.Dim, bool) { bound[s] = true; return ir.Dim{}, false })
				values[i], args = b.Param("x", t), append(args, held(x))
			}
		}
		for _, s := range slices.Sorted(maps.Keys(d.extents)) {
			if !bound[s] {
				b.Param("extent", ir.TensorOf(ir.Bool, ir.Sym(s)))
				args = append(args, ir.NewTensor(ir.Bool, d.extents[s]))
			}
		}
		for i, x := range c.args {
			if x != nil && values[i] == nil {
				values[i] = b.Const(held(x))
			}
		}
		if c.build != nil {
			b.Return(c.build(b, c.op, values)...)
		} else {
			b.Return(b.Nodes(c.op, values...)...)
		}
	})
	if err != nil && d.symbolic {
		return nil, nil
	}
	if err != nil {
		d.Fatalf("%v\n%#v\n%v", err, c.op, c.args)
	}
	for i := range f.Results {
		f.ResultNames = append(f.ResultNames, fmt.Sprint("y", i))
	}
	return f, args
}

// units are the relative distances of neighbouring numbers of the float types that
// kernels only store, and those next to zero: kernels compute in f32, and round once
// more than Eval does.
var units = map[ir.DType]struct{ near, zero float64 }{
	ir.F16: {near: 1.0 / (1 << 10)}, ir.BF16: {near: 1.0 / (1 << 7)},
	ir.F8E4M3FN: {1.0 / 8, 1.0 / (1 << 9)}, ir.F8E4M3FNUZ: {1.0 / 8, 1.0 / (1 << 10)},
	ir.F8E5M2: {1.0 / 4, 1.0 / (1 << 16)}, ir.F8E5M2FNUZ: {1.0 / 4, 1.0 / (1 << 17)}, ir.F8E8M0: {near: 1}, ir.F4E2M1: {1, 0.5},
}

// agrees compares a result with what it is evaluated to: f64 to 1e-12, f32 to 1e-5,
// narrower floats to a unit in the last place more.
func (c trial) agrees(x, y *ir.Tensor) bool {
	switch {
	case x.Kind != ir.TensorKind:
		return x.Kind == y.Kind && slices.EqualFunc(x.Items, y.Items, c.agrees) && (x.Keys == nil && y.Keys == nil || x.Keys.Equal(y.Keys))
	case c.truncates && x.DType.IsInt() && x.Type().String() == y.Type().String():
		for i := range x.Len() {
			if v := x.Int(i) - y.Int(i); v < -1 || v > 1 {
				return false
			}
		}
		return true
	case c.exact || !x.DType.IsFloat() || x.Type().String() != y.Type().String():
		return x.Equal(y)
	}
	near := 1e-5
	if x.DType == ir.F64 && !c.single {
		near = 1e-12
	}
	near *= max(c.loose, 1)
	greatest := 1.0
	for i := range y.Len() {
		if v := math.Abs(y.Float(i)); c.sums && v <= math.MaxFloat64 {
			greatest = max(greatest, v)
		}
	}
	unit := units[x.DType]
	for i := range x.Len() {
		a, b := x.Float(i), y.Float(i)
		if a == b || a != a && b != b {
			continue
		}
		if !(math.Abs(a-b) <= near*max(greatest, math.Abs(b))+max(unit.near*math.Abs(b), unit.zero)) || math.IsInf(b, 0) {
			return false
		}
	}
	return true
}
