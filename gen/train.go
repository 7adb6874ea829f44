package gen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/internal/meant"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/grad"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
	"github.com/burngen/burngen/runtime/rt"
)

// Training holds the functions that train a model. They use its original weights.
type Training struct {
	// Params are the weights that are trained. Buffers are the other weights that steps update, such as
	// running statistics. Both are in the order of the model's weights.
	Params, Buffers []string
	// Steps are the training functions, one for each loss.
	Steps []*TrainFunc
	// Evals evaluate the model's functions that have no states, in their order.
	Evals []*TrainFunc
	// Outer computes the first function, and the gradients of the parameters from the gradients of
	// its results. It is nil if the model has no such function.
	Outer *TrainFunc
}

// TrainFunc is a function of a trainer.
type TrainFunc struct {
	*program.Func
	// Of is the function of the model that this function evaluates, or whose loss it trains. Method
	// is the name of the trainer's method.
	Of     Function
	Method string
	// Source is the function before the passes.
	Source *ir.Func
	// Seeds are indices of results. The caller passes the gradients of these results as further
	// parameters, in this order. Only Outer has Seeds.
	Seeds []int
}

// Functions returns all functions of the training.
func (t *Training) Functions() []*TrainFunc {
	all := slices.Concat(t.Steps, t.Evals)
	if t.Outer != nil {
		all = append(all, t.Outer)
	}
	return all
}

func (t *Training) differentiated() []*TrainFunc {
	all := slices.Clone(t.Steps)
	if t.Outer != nil {
		all = append(all, t.Outer)
	}
	return all
}

// StepMethod returns the trainer's method for a loss method: Step for Loss, StepDisc for DiscLoss.
func StepMethod(loss string) string { return "Step" + strings.TrimSuffix(loss, "Loss") }

// trained returns the names of the trained weights. It returns an error if there are no such weights, or
// if a pattern matches nothing.
func (m *Model) trained() ([]string, error) {
	params := m.Source.Params
	if params == nil {
		params = Parameters(m.Source.Func())
	}
	var floats []string
	for _, w := range m.Source.Module.Weights {
		if slices.Contains(trainable, w.Type.DType) {
			floats = append(floats, w.Name)
		}
	}
	if len(m.options.Params) > 0 {
		var err error
		if params, err = matching("-params", m.options.Params, floats, true); err != nil {
			return nil, err
		}
	}
	params = slices.DeleteFunc(slices.Clone(floats), func(name string) bool { return !slices.Contains(params, name) })
	params, err := matching("-freeze", m.options.Freeze, params, false)
	if err == nil && len(params) == 0 {
		err = fmt.Errorf("-train: the model has no parameters to train (burngen inspect lists them, -params chooses them)")
	}
	return params, err
}

// trainable lists the element types of weights that can be trained; all are trained as f32.
var trainable = []ir.DType{ir.F32, ir.F16, ir.BF16, ir.F64}

// masterPrefix starts the names of f32 copies of weights of another type during training.
const masterPrefix = "master/"

// addMasters adds an f32 weight for each parameter of another type, and returns the new names of
// the parameters.
func (m *Model) addMasters(params []string) []string {
	out, weights := slices.Clone(params), m.Module.ByName()
	for i, name := range params {
		w := weights[name]
		if w.Type.DType == ir.F32 {
			continue
		}
		out[i] = masterPrefix + name
		master := &ir.Weight{Name: out[i], Type: w.Type.With(ir.F32)}
		if x, err := w.Tensor(); err == nil && w.Data != nil {
			wide := ir.NewTensor(ir.F32, x.Shape...)
			for k := range x.Len() {
				wide.SetFloat(k, x.Float(k))
			}
			master.Data = wide.Bytes()
		}
		m.Module.Weights = append(m.Module.Weights, master)
	}
	return out
}

// withMasters returns a copy of a function that loads the f32 weights and rounds them to the
// original types.
func (m *Model) withMasters(f *ir.Func) (*ir.Func, error) {
	f = f.Clone()
	weights := m.Module.ByName()
	_, err := f.Rewrite(func(b *ir.Builder, n *ir.Node) []*ir.Value {
		l, ok := n.Op.(ir.Load)
		if !ok || weights[masterPrefix+l.Name] == nil {
			return nil
		}
		master := b.Node(ir.Load{Name: masterPrefix + l.Name, Type: l.Type.With(ir.F32)})
		return []*ir.Value{b.Node(op.Cast{To: l.Type.DType}, master)}
	})
	return f, err
}

// matching returns the names that match one of the patterns. If want is false, it returns the other names instead. It
// returns an error for a pattern that matches no name. flag is the name of the flag that holds the patterns, for
// errors.
func matching(flag string, patterns, names []string, want bool) ([]string, error) {
	found := map[string]bool{}
	for _, p := range patterns {
		some := false
		for _, name := range names {
			ok, err := rt.MatchName(p, name)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", flag, err)
			}
			found[name], some = found[name] || ok, some || ok
		}
		if !some {
			return nil, fmt.Errorf("%s: pattern %.100q matches no parameter%s", flag, p, meant.Suffix(p, names, "%.100q"))
		}
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return found[name] != want }), nil
}

func (m *Model) addTraining() error {
	params, err := m.trained()
	if err != nil {
		return err
	}
	params = m.addMasters(params)
	t := &Training{}
	changed := map[string]bool{}
	add := func(f *ir.Func, fn *TrainFunc) {
		fn.Source = f.Clone()
		m.Module.Funcs = append(m.Module.Funcs, f)
		for _, r := range f.ResultNames {
			for _, prefix := range []string{grad.GradPrefix, grad.StatePrefix} {
				if name, ok := strings.CutPrefix(r, prefix); ok {
					changed[name] = true
				}
			}
		}
	}
	for _, of := range m.Source.Functions {
		f, err := m.withMasters(m.Module.Func(of.Name))
		if err != nil {
			return err
		}
		if of.Loss {
			method := StepMethod(of.Method)
			step, err := m.differentiate(f, snakeCase(method), params)
			if err != nil {
				return err
			}
			fn := &TrainFunc{Of: of, Method: method}
			dropZeros(step)
			add(step, fn)
			t.Steps = append(t.Steps, fn)
		}
		if len(of.States) > 0 {
			continue // kept by sessions
		}
		eval := f.Clone()
		eval.Name = m.freeName("eval_" + f.Name)
		fn := &TrainFunc{Of: of, Method: of.Method}
		add(eval, fn)
		t.Evals = append(t.Evals, fn)
	}
	m.Training = t
	if err := m.addOuter(params, add); err != nil {
		return err
	}
	for _, w := range m.Source.Module.Weights {
		switch {
		case slices.Contains(params, w.Name), slices.Contains(params, masterPrefix+w.Name):
			t.Params = append(t.Params, w.Name)
		case changed[w.Name]:
			t.Buffers = append(t.Buffers, w.Name)
		}
	}
	return nil
}

// addOuter adds a function for training with a loss that the caller computes. The function takes the arguments of
// the model's first function, and the gradients of that function's float results. It returns the results, and the
// gradients of params. addOuter computes these gradients as the gradients of the sum of result · gradient over all
// elements of the results. The function `add` adds the new function to the module.
//
// addOuter adds nothing if the first function is a loss, has states, has no float result or trains no parameter. It
// also adds nothing if the forward pass computes an extent at run time: the backward pass is a call of its own, and
// does not know this extent.
func (m *Model) addOuter(params []string, add func(*ir.Func, *TrainFunc)) error {
	of := m.Source.Functions[0]
	if of.Loss || len(of.States) > 0 {
		return nil
	}
	f, err := m.withMasters(m.Module.Func(of.Name))
	if err != nil {
		return err
	}
	fn := &TrainFunc{Of: of, Method: "Train" + of.Method}
	results := len(f.Results)
	err = ir.Try(func() {
		b := ir.NewBuilder(f)
		var sum *ir.Value
		for i, r := range f.Results {
			if !r.Type.IsTensor() || !r.Type.DType.IsFloat() {
				continue
			}
			d := b.Param("d_"+f.ResultNames[i], r.Type)
			fn.Seeds = append(fn.Seeds, i)
			part := total(b, b.Node(op.Mul{}, b.Now(r), d))
			if sum != nil {
				part = b.Node(op.Add{}, sum, part)
			}
			sum = part
		}
		if sum == nil {
			ir.Fail("no result is a float tensor")
		}
		f.Results, f.ResultNames = slices.Insert(f.Results, 0, sum), slices.Insert(f.ResultNames, 0, "")
	})
	if err != nil {
		return nil // the caller has no gradients to pass
	}
	step, err := m.differentiate(f, "train_"+of.Name, params)
	if err != nil {
		return err
	}
	step.Results, step.ResultNames = step.Results[1:], step.ResultNames[1:]
	dropZeros(step)
	if len(step.Results) == results || len(step.BoundSymbols()) > 0 {
		return nil // nothing to train, or extents that are known only between the two halves
	}
	add(step, fn)
	m.Training.Outer = fn
	return nil
}

// differentiate returns the training step of a loss f. The step's name is `name`, followed by a number if another
// function has that name. If the precision is f16, the gradients are scaled, see [grad.ScaledStep]. If the target has
// kernels for the gradient of an attention, the attention becomes one operator first.
func (m *Model) differentiate(f *ir.Func, name string, params []string) (*ir.Func, error) {
	if t, ok := m.options.Target.(gpu.Target); ok && !m.options.Strict {
		f = f.Clone()
		if err := pass.FuseAttention(f, t.TrainsAttention); err != nil {
			return nil, err
		}
	}
	step := grad.Step
	if m.isScaled() {
		step = grad.ScaledStep
	}
	return step(m.Module, f, m.freeName(name), loadedBy(f, params))
}

func (m *Model) isScaled() bool {
	t, ok := m.options.Target.(gpu.Target)
	return ok && t.Precision == gpu.F16
}

func total(b *ir.Builder, x *ir.Value) *ir.Value {
	axes := make([]int, x.Type.Rank())
	for i := range axes {
		axes[i] = i
	}
	return b.Node(op.Reduce{Kind: op.ReduceSum, Axes: axes}, x)
}

func (m *Model) freeName(hint string) string {
	name := hint
	for i := 2; m.Module.Func(name) != nil; i++ {
		name = fmt.Sprint(hint, i)
	}
	return name
}

func snakeCase(method string) string {
	var b strings.Builder
	for i, c := range method {
		if i > 0 && 'A' <= c && c <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(c)
	}
	return strings.ToLower(b.String())
}

func loadedBy(f *ir.Func, names []string) []string {
	loaded := map[string]bool{}
	for n := range f.All() {
		if l, ok := n.Op.(ir.Load); ok {
			loaded[l.Name] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !loaded[name] })
}

// dropZeros removes the results of f that are zero gradients. The loss does not depend on the weights of these
// gradients.
func dropZeros(f *ir.Func) {
	results, names := f.Results, f.ResultNames
	f.Results, f.ResultNames = nil, nil
	for i, r := range results {
		if strings.HasPrefix(names[i], grad.GradPrefix) && grad.IsZero(r) {
			continue
		}
		f.Results, f.ResultNames = append(f.Results, r), append(f.ResultNames, names[i])
	}
	f.Prune()
}

// planTraining compiles the functions that train. It removes Outer if its results cannot be computed before its
// gradients, see [program.Func.Halve].
func (m *Model) planTraining() error {
	if m.Training == nil {
		return nil
	}
	for _, f := range m.Training.Functions() {
		var err error
		if f.Func, err = program.Compile(m.Module, f.Source.Name, m.options.Target); err != nil {
			return err
		}
	}
	if f := m.Training.Outer; f != nil {
		at := len(m.Module.Func(f.Of.Name).Params)
		if _, _, ok := f.Halve(f.IR.Params[at:][:len(f.Seeds)], len(m.Module.Func(f.Of.Name).Results)); !ok {
			m.Training.Outer = nil
		}
	}
	return nil
}

func (m *Model) trainer(e *emit.Model) {
	t := &emit.Trainer{CheckNaN: m.options.CheckNaN, Scaled: m.isScaled()}
	for _, w := range m.Source.Module.Weights {
		buffer := slices.Contains(m.Training.Buffers, w.Name)
		if buffer || slices.Contains(m.Training.Params, w.Name) {
			v := emit.Variable{Name: w.Name, Weight: w.Name, Type: w.Type, Buffer: buffer}
			if _, ok := m.Raw.Info(masterPrefix + w.Name); ok {
				v.Weight = masterPrefix + w.Name
			}
			t.Variables = append(t.Variables, v)
		}
	}
	function := func(f *TrainFunc) *emit.Function {
		i := slices.IndexFunc(m.Source.Functions, func(s Function) bool { return s.Name == f.Of.Name })
		return &emit.Function{Func: f.Func, Method: f.Method, Inputs: f.Of.Inputs, Outputs: f.Of.Outputs, Direct: f.Of.Direct, Like: e.Functions[i]}
	}
	for _, f := range m.Training.Steps {
		t.Steps = append(t.Steps, function(f))
	}
	if f := m.Training.Outer; f != nil {
		t.Outer = function(f)
		t.Outer.Seeds = f.Seeds
	}
	for _, f := range m.Training.Evals {
		t.Evals = append(t.Evals, function(f))
	}
	seen := map[string]bool{}
	for _, f := range m.Training.Functions() {
		for n := range f.IR.All() {
			l, ok := n.Op.(ir.Load)
			if !ok || seen[l.Name] {
				continue
			}
			seen[l.Name] = true
			t.Weights = append(t.Weights, emit.Prepared{Name: l.Name, Type: l.Type})
			known := slices.ContainsFunc(e.Outside, func(w ir.Weight) bool { return w.Name == l.Name })
			if m.isConstant(l.Name) && !known && !strings.HasPrefix(l.Name, masterPrefix) {
				t.Constants = append(t.Constants, ir.Weight{Name: l.Name, Type: l.Type})
			}
		}
	}
	e.Trainer = t
}
