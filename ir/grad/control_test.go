package grad_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/grad"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/runtime/rt"
)

// differentiate compares the gradient of the first result of @f, f64[], with respect to
// its parameters with finite differences, element by element.
func differentiate(t *testing.T, text string, args ...*ir.Tensor) {
	t.Helper()
	m := parse(t, text, nil)
	f := m.Func("f")
	value := func(args []*ir.Tensor) float64 {
		out, err := (&ir.Evaluator{Module: m}).Run(f, args)
		if err != nil {
			t.Fatal(err)
		}
		return out[0].Float(0)
	}
	var want [][]float64
	for i, x := range args {
		var slopes []float64
		for k := range x.Len() {
			at := func(h float64) float64 {
				moved := append([]*ir.Tensor(nil), args...)
				moved[i] = ir.NewTensor(x.DType, x.Shape...)
				for j := range x.Len() {
					moved[i].SetFloat(j, x.Float(j))
				}
				moved[i].SetFloat(k, x.Float(k)+h)
				return value(moved)
			}
			const h = 1e-5
			slopes = append(slopes, (at(h)-at(-h))/(2*h))
		}
		want = append(want, slopes)
	}
	g := f.Clone()
	g.Name = "g"
	b := ir.NewBuilder(g)
	grads, err := grad.Append(b, g.Results[0], nil, g.Params)
	if err != nil {
		t.Fatal(err)
	}
	g.Results = append(g.Results, grads...)
	for range grads {
		g.ResultNames = append(g.ResultNames, "g")
	}
	out := run(t, m, g, args...)
	for i, slopes := range want {
		for k, w := range slopes {
			if got := out[1+i].Float(k); math.Abs(got-w) > 1e-6*(1+math.Abs(w)) {
				t.Errorf("argument %d, element %d: %g, the slope is %g\n%s", i, k, got, w, g)
			}
		}
	}
}

func TestGradientThroughTheTakenBranch(t *testing.T) {
	const text = `
func @f(%x: f64[2], %y: f64[2]) -> (z: f64[]) {
  %s = reduce %x {axes=[0] kind="sum"} : f64[]
  %zero = constant {value=f64[](0)} : f64[]
  %c = greater %s, %zero : bool[]
  %r = if %c : f64[2]
    region () {
      %a = mul %x, %y : f64[2]
      return %a
    }
    region () {
      %b = exp %x : f64[2]
      return %b
    }
  %q = mul %r, %r : f64[2]
  %z = reduce %q {axes=[0] kind="sum"} : f64[]
  return %z
}
`
	differentiate(t, text, ir.FloatTensor(ir.F64, 1, 2), ir.FloatTensor(ir.F64, -3, 0.5))
	differentiate(t, text, ir.FloatTensor(ir.F64, -1, -2), ir.FloatTensor(ir.F64, -3, 0.5))
}

func TestGradientThroughTripsOfALoop(t *testing.T) {
	differentiate(t, `
func @f(%x: f64[2], %w: f64[2]) -> (z: f64[]) {
  %last, %all = loop %x {counted=true trips=3 scans=[f64[2]]} : f64[2], f64[3,2]
    region (%trip: i64[], %go: bool[], %h: f64[2]) {
      %p = mul %h, %w : f64[2]
      %t = tanh %p : f64[2]
      %n = add %t, %h : f64[2]
      return %go, %n, %t
    }
  %s = reduce %all {axes=[0] kind="sum_square"} : f64[2]
  %u = mul %s, %last : f64[2]
  %z = reduce %u {axes=[0] kind="sum"} : f64[]
  return %z
}
`, ir.FloatTensor(ir.F64, 0.3, -0.7), ir.FloatTensor(ir.F64, 1.1, 0.4))
}

// TestGradientThroughTripsThatAreNotCounted runs a loop whose number of trips depends on its operand: 3, 2 and 0.
func TestGradientThroughTripsThatAreNotCounted(t *testing.T) {
	for _, x := range [][]float64{{0.3, 0.4}, {0.9, 0.8}, {5, 6}} {
		differentiate(t, `
func @f(%x: f64[2], %w: f64[2]) -> (z: f64[]) {
  %limit = constant {value=f64[](3)} : f64[]
  %before = reduce %x {axes=[0] kind="sum"} : f64[]
  %enters = less %before, %limit : bool[]
  %last, %all = loop _, %enters, %x {scans=[f64[2]] extents=[{axis=0 result=1 symbol="T"}]} : f64[2], f64[T,2]
    region (%trip: i64[], %go: bool[], %h: f64[2]) {
      %p = mul %h, %w : f64[2]
      %t = tanh %p : f64[2]
      %n = add %t, %h : f64[2]
      %sum = reduce %n {axes=[0] kind="sum"} : f64[]
      %again = less %sum, %limit : bool[]
      return %again, %n, %t
    }
  %s = reduce %all {axes=[0] kind="sum_square"} : f64[2]
  %one = constant {value=f64[](1)} : f64[]
  %s1 = add %s, %one : f64[2]
  %u = mul %s1, %last : f64[2]
  %z = reduce %u {axes=[0] kind="sum"} : f64[]
  return %z
}
`, ir.FloatTensor(ir.F64, x...), ir.FloatTensor(ir.F64, 1.1, 0.4))
	}
}

// TestGradientFunctionsKnowWhatIsWanted asserts that the gradient function of a custom operator is told which gradients
// are wanted, unless all are.
func TestGradientFunctionsKnowWhatIsWanted(t *testing.T) {
	for _, c := range []struct {
		wrt  []int
		want string
	}{{[]int{0, 1}, ""}, {[]int{1}, "[0 1]"}} {
		m := parse(t, `
func @f(%x: f32[2], %w: f32[2]) -> (z: f32[]) {
  %y = custom %x, %w {name="a.B" func="example.com/ops.B" type="(f32[2], f32[2]) -> f32[2]"} : f32[2]
  %z = reduce %y {axes=[0] kind="sum"} : f32[]
  return %z
}
`, nil)
		f := m.Func("f")
		var wrt []*ir.Value
		for _, i := range c.wrt {
			wrt = append(wrt, f.Params[i])
		}
		if _, err := grad.Append(ir.NewBuilder(f), f.Results[0], nil, wrt); err != nil {
			t.Fatal(err)
		}
		got, found := "", false
		for n := range f.All() {
			o, ok := n.Op.(op.Custom)
			if !ok || o.Name != "a.BGrad" {
				continue
			}
			found = true
			for _, a := range o.Attrs {
				got = fmt.Sprint(a.Value.Int(0), a.Value.Int(1))
				if a.Name != rt.WantAttr {
					t.Errorf("attribute %s", a.Name)
				}
			}
			if got != "" {
				got = "[" + got + "]"
			}
		}
		if !found || got != c.want {
			t.Errorf("%v: got %q, want %q\n%s", c.wrt, got, c.want, f)
		}
	}
}
