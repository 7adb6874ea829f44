package golden

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/verify"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/onnx"
	"github.com/burngen/burngen/onnx/onnxtest"
)

// TestRandomQuantised compares results for random quantised networks: the evaluator's results, and
// the results of the kernels on the compiled network.
func TestRandomQuantised(t *testing.T) {
	nets := uint64(150)
	if testing.Short() {
		nets = 30
	}
	var all tieCount
	for seed := range nets {
		if err := all.check(onnxtest.Quantised(seeded(seed)).Bytes(), seed); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	// Halves rounded by another rule than to even would turn every other tie.
	if all.ties < 1000 || all.turned > all.ties/20 {
		t.Errorf("%d of %d ties are not what they are evaluated to", all.turned, all.ties)
	}
}

// FuzzQuantised runs the comparison of [TestRandomQuantised] on networks that the bytes of the
// fuzzer determine.
func FuzzQuantised(f *testing.F) {
	fuzzDrawn(f, onnxtest.Quantised, func(data []byte, seed uint64) error { return new(tieCount).check(data, seed) })
}

// tieSlack is the distance from a tie, in steps of a quantised value, within which the kernels may
// round the other way. The sums of the drawn networks have terms below 2¹² steps in total, and a
// few roundings to f32 change each by less than 2⁻²² of itself.
const tieSlack = 1e-3

// tieCount counts the values within tieSlack of a tie. It also counts how many of them the kernels
// and the evaluator rounded in different directions.
type tieCount struct{ ties, turned int }

// check compiles a model and compares every quantised value with the evaluator. The evaluator
// computes each value from the integers that the kernels computed before it, so that differences do
// not propagate. Integers must be equal, but a value within tieSlack of a tie may become either
// neighbour. An odd seed compiles with strict sums.
func (c *tieCount) check(data []byte, seed uint64) error {
	m, err := onnx.Read("net.onnx", data, nil, onnx.Options{})
	if err != nil {
		return err
	}
	o := gen.Options{Strict: seed%2 == 1}
	whole, err := gen.Compile(m, o)
	if err != nil {
		return err
	}
	args := graphArgs(m, seed)
	outputs, err := runCompiled(whole, m.Module.Func("forward").Results, args)
	if err != nil {
		return err
	}
	tapped := m.Module.Clone()
	f := tapped.Func("forward")
	quantisers := map[*ir.Value]*ir.Node{}
	var cuts []*ir.Value
	for _, n := range f.Nodes {
		if _, ok := n.Op.(op.QuantizeLinear); ok {
			quantisers[n.Results[0]] = n
			cuts = append(cuts, n.Results[0])
			f.ResultNames = append(f.ResultNames, fmt.Sprint("cut ", len(cuts)))
		}
	}
	f.Results = append(f.Results, cuts...)
	compiled, err := gen.FromModule("net", tapped, o)
	if err != nil {
		return err
	}
	got, err := runCompiled(compiled, f.Results, args)
	if err != nil {
		return err
	}
	for i, y := range outputs {
		if !y.Equal(got[i]) {
			return fmt.Errorf("%s is another where quantised values are outputs too", f.ResultNames[i])
		}
	}
	floats := map[*ir.Value]*ir.Tensor{}
	var wrong error
	e := &ir.Evaluator{Module: tapped, Watch: func(v *ir.Value, t *ir.Tensor) {
		floats[v] = t
		n := quantisers[v]
		if n == nil {
			return
		}
		kernel := got[len(outputs)+slices.Index(cuts, v)]
		if err := c.compare(kernel, t, floats[n.Args[0]], floats[n.Args[1]].Float(0)); err != nil && wrong == nil {
			wrong = fmt.Errorf("%s, of %s: %w", v, n.Args[0], err)
		}
		for i := range t.Len() {
			t.Copy(i, kernel, i) // later nodes are evaluated on the kernel's integers
		}
	}}
	want, err := e.Run(f, args)
	if err != nil {
		return fmt.Errorf("evaluator: %w", err)
	}
	if why := verify.Compare(m, outputs, want[:len(outputs)]); wrong == nil && why != "" {
		return errors.New(why)
	}
	return wrong
}

// compare returns an error unless the integers equal the rounded floats, or are off by one where a
// float is within tieSlack of a tie.
func (c *tieCount) compare(got, want, floats *ir.Tensor, scale float64) error {
	for i := range want.Len() {
		steps := floats.Float(i) / scale
		tie := math.Abs(math.Abs(steps-math.Trunc(steps))-0.5) <= tieSlack
		if tie {
			c.ties++
		}
		switch d := got.Int(i) - want.Int(i); {
		case d == 0:
		case tie && d*d == 1:
			c.turned++
		default:
			return fmt.Errorf("element %d of %s is %d, want %d: %g steps", i, want.Type(), got.Int(i), want.Int(i), steps)
		}
	}
	return nil
}
