package nn_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/nn"
	"github.com/burngen/burngen/ir/nn/record"
)

// recorded records a function of inputs of these types, writes the file and reads it.
func recorded(model any, types []ir.Type, f func([]nn.Value) []nn.Value, results int) (*record.Model, error) {
	texts, params, names := make([]string, len(types)), make([]string, len(types)), make([]string, results)
	for i, t := range types {
		texts[i], params[i] = t.String(), fmt.Sprintf("x%d", i)
	}
	for i := range names {
		names[i] = fmt.Sprintf("y%d", i)
	}
	m, err := nn.Record(func(r *nn.Recorder) {
		if model == nil {
			model = &struct{}{}
		}
		r.Model(model)
		r.Method(method("Forward", "("+strings.Join(texts, ", ")+")", strings.Join(params, " "), strings.Join(names, " ")), f)
	})
	if err != nil {
		return nil, err
	}
	var file bytes.Buffer
	if _, err := m.WriteTo(&file); err != nil {
		return nil, err
	}
	return record.Read(&file)
}

// evaluated evaluates a recorded function with weights of a model.
func evaluated(t *testing.T, m *record.Model, model any, inputs []nn.Value) []*ir.Tensor {
	t.Helper()
	values := map[string]nn.Value{}
	if model != nil {
		for _, p := range nn.Params(model) {
			values[p.Name()] = p.Value()
		}
		for _, b := range nn.Buffers(model) {
			values[b.Name()] = b.Value()
		}
	}
	for _, w := range m.Module.Weights {
		w.Data = tensor(values[w.Name]).Bytes()
	}
	args := make([]*ir.Tensor, len(inputs))
	for i, x := range inputs {
		args[i] = tensor(x)
	}
	out, err := (&ir.Evaluator{Module: m.Module}).Run(m.Module.Func("forward"), args)
	if err != nil {
		t.Fatalf("%v\n%s", err, m.Module)
	}
	return out
}

// tensor returns a value's elements.
func tensor(v nn.Value) *ir.Tensor {
	x := ir.NewTensor(v.DType(), shapeOf(v)...)
	for i, n := range v.Floats() {
		x.SetNumber(i, n)
	}
	return x
}

// static are trials whose first extents are equal by chance, or are numbers.
var static = map[string]string{
	"SelectAssign": "as many slices as indices, which are not those of the operand",
	"Trace":        "the places of a diagonal follow from the extents",
}

// TestRecordingsGiveWhatValuesGive records every trial with numbers as extents. If all operands
// have the same first extent, it also records the trial with a symbol for that extent. It writes
// and reads each recording, and evaluates the result.
func TestRecordingsGiveWhatValuesGive(t *testing.T) {
	table := trials()
	for _, c := range references(t) {
		trial, inputs := table[c.Name], make([]nn.Value, len(c.Inputs))
		types, symbolic := make([]ir.Type, len(inputs)), make([]ir.Type, len(inputs))
		same := true
		for i, e := range c.Inputs {
			inputs[i] = e.value()
			types[i] = ir.StaticTensor(inputs[i].DType(), e.Shape...)
			symbolic[i] = types[i].Subst(nil)
			if same = same && len(e.Shape) > 0 && e.Shape[0] == c.Inputs[0].Shape[0]; same {
				symbolic[i].Shape[0] = dim.Sym("N")
			}
		}
		run := func(t *testing.T, types []ir.Type) {
			if trial.module != nil {
				nn.Name(trial.module)
			}
			want := trial.f(inputs)
			m, err := recorded(trial.module, types, trial.f, len(want))
			if err != nil {
				t.Fatal(err)
			}
			for i, got := range evaluated(t, m, trial.module, inputs) {
				if w := tensor(want[i]); !got.Equal(w) {
					t.Errorf("result %d is\n%s, want\n%s", i, got, w)
				}
			}
			runs(t, m.Module, inputs, want)
		}
		if c.After != nil {
			continue
		}
		t.Run(c.Name+"/numbers", func(t *testing.T) { run(t, types) })
		if _, ok := static[c.Name]; same && !ok {
			t.Run(c.Name+"/symbol", func(t *testing.T) { run(t, symbolic) })
		}
	}
	for name := range static {
		if !slices.ContainsFunc(references(t), func(c reference) bool { return c.Name == name }) {
			t.Errorf("%s is not a trial", name)
		}
	}
}
