package optim_test

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/optim"
	"github.com/burngen/burngen/runtime/rt"
)

// rosenbrock returns Rosenbrock's function, a narrow bent valley, and adds its gradient to g. The
// bits are the same on every machine.
func rosenbrock(x, g []float64) float64 {
	loss := 0.0
	for i := range len(x) - 1 {
		a, b := x[i+1]-x[i]*x[i], 1-x[i]
		loss += 100*a*a + b*b
		g[i] += -400*a*x[i] - 2*b
		g[i+1] += 200 * a
	}
	return loss
}

// bowl returns a convex function and adds its gradient to g. The bits are the same on every machine.
func bowl(x, g []float64) float64 {
	loss, sum := 0.0, -3.0
	for i, v := range x {
		loss += float64(float64(i+1) * (v - 1) * (v - 1))
		g[i] += float64(2 * float64(i+1) * (v - 1))
		sum += v
	}
	for i := range g {
		g[i] += float64(sum*sum*sum) / 16
	}
	return loss + float64(sum*sum*sum*sum)/64
}

// evaluation returns what computes the loss of parameters, and counts.
func evaluation(p *rt.Params, f func(x, g []float64) float64, calls *int) func() (float64, error) {
	return func() (float64, error) {
		*calls++
		x := floats(values(p))
		g := make([]float64, len(x))
		loss := f(x, g)
		at := 0
		for i := range p.Items {
			for k := range p.Gradient(i) {
				p.Gradient(i)[k] = float32(g[at])
				at++
			}
		}
		p.Renew()
		return loss, nil
	}
}

// at makes two parameters of numbers.
func at(t *testing.T, x []float64) *rt.Params {
	p := params(t, rt.Param{Name: "a", Shape: []int{1}}, rt.Param{Name: "b", Shape: []int{len(x) - 1}, Off: 16})
	for i := range x {
		if i == 0 {
			p.Value(0)[0] = float32(x[0])
		} else {
			p.Value(1)[i-1] = float32(x[i])
		}
	}
	return p
}

func TestLBFGSIsPyTorchs(t *testing.T) {
	var wide []float64
	for i := range 8 {
		wide = append(wide, float64(i*7%11-5)/4)
	}
	want := readReference(t).LBFGS
	for _, tt := range []struct {
		name  string
		f     func(x, g []float64) float64
		start []float64
		rate  float64
		c     optim.LBFGSConfig
		steps int // until rounding to float32 shows
	}{
		{"bowl", bowl, wide, 1, optim.LBFGSConfig{Iterations: 4}, 3},
		{"bowl, short history", bowl, wide, 0.5, optim.LBFGSConfig{Iterations: 4, History: 2}, 4},
		{"rosenbrock", rosenbrock, []float64{-1.25, 1}, 1, optim.LBFGSConfig{Iterations: 5}, 4},
		{"rosenbrock, far", rosenbrock, []float64{-1.25, 1, 2, -0.5}, 1, optim.LBFGSConfig{Iterations: 4, Evaluations: 6}, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, calls := at(t, tt.start), 0
			o, err := optim.NewLBFGS(p, tt.c)
			if err != nil {
				t.Fatal(err)
			}
			for step, w := range want[tt.name][:tt.steps] {
				loss, err := o.Step(tt.rate, evaluation(p, tt.f, &calls))
				if err != nil {
					t.Fatal(err)
				}
				if math.Abs(loss-w.Loss) > 1e-3*math.Abs(w.Loss) || calls != w.Evaluations {
					t.Errorf("step %d: loss %v after %d evaluations, want %v after %d", step, loss, calls, w.Loss, w.Evaluations)
				}
				near(t, "parameters", values(p), w.X, 1e-3)
			}
		})
	}
}

func TestLBFGSFindsTheMinimum(t *testing.T) {
	for name, f := range map[string]func(x, g []float64) float64{"bowl": bowl, "rosenbrock": rosenbrock} {
		p, calls := at(t, []float64{-1.25, 1, 2, -0.5}), 0
		o, err := optim.NewLBFGS(p, optim.LBFGSConfig{})
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			if _, err := o.Step(1, evaluation(p, f, &calls)); err != nil {
				t.Fatal(err)
			}
		}
		g := make([]float64, 4)
		f(floats(values(p)), g)
		for i, v := range g {
			if math.Abs(v) > 1e-3 {
				t.Errorf("%s: slope %d is %v at %v", name, i, v, values(p))
			}
		}
		if !p.UsedUp() {
			t.Error("gradients are left")
		}
	}
}

func TestLBFGSResumes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	c := optim.LBFGSConfig{Iterations: 3, History: 4}
	// run makes steps from one to another and returns the parameters.
	run := func(from, to int) []float32 {
		p, calls := at(t, []float64{-1.25, 1, 2, -0.5}), 0
		o, err := optim.NewLBFGS(p, c)
		if err != nil {
			t.Fatal(err)
		}
		parts := map[string]rt.Stater{"model": p, "lbfgs": o}
		if from > 0 {
			if err := rt.LoadState(path, parts); err != nil {
				t.Fatal(err)
			}
		}
		for step := from; step < to; step++ {
			if step == 3 && from == 0 {
				if err := rt.SaveState(path, parts); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := o.Step(1, evaluation(p, rosenbrock, &calls)); err != nil {
				t.Fatal(err)
			}
		}
		return values(p)
	}
	if want, got := run(0, 6), run(3, 6); !slices.Equal(got, want) {
		t.Errorf("parameters are %v, uninterrupted %v", got, want)
	}
}

func TestLBFGSOfOddLosses(t *testing.T) {
	t.Run("an error", func(t *testing.T) {
		p, calls := at(t, []float64{-1.25, 1}), 0
		o, err := optim.NewLBFGS(p, optim.LBFGSConfig{})
		if err != nil {
			t.Fatal(err)
		}
		full := errors.New("full")
		f := evaluation(p, rosenbrock, &calls)
		before := values(p)
		_, err = o.Step(1, func() (float64, error) {
			if calls == 1 {
				return 0, full
			}
			return f()
		})
		if !errors.Is(err, full) || !slices.Equal(values(p), before) || !p.UsedUp() {
			t.Errorf("error %v, parameters %v", err, values(p))
		}
		if _, err := o.Step(1, f); err != nil {
			t.Error(err)
		}
		if slices.Equal(values(p), before) {
			t.Error("no step after an error")
		}
	})
	for name, f := range map[string]func(x, g []float64) float64{
		"not a number": func(x, g []float64) float64 { g[0] = math.NaN(); return math.NaN() },
		"not a number far away": func(x, g []float64) float64 {
			loss := bowl(x, g)
			if x[0] > 0.9 {
				g[0], loss = math.NaN(), math.NaN()
			}
			return loss
		},
		"flat":     func(x, g []float64) float64 { return 3 },
		"endless":  func(x, g []float64) float64 { g[0] = 1; return x[0] },
		"rising":   func(x, g []float64) float64 { g[0] = -1; return x[0] },
		"infinite": func(x, g []float64) float64 { g[0] = math.Inf(1); return math.Inf(1) },
	} {
		t.Run(name, func(t *testing.T) {
			p, calls := at(t, []float64{-1.25, 1}), 0
			o, err := optim.NewLBFGS(p, optim.LBFGSConfig{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := o.Step(1, evaluation(p, f, &calls)); err != nil {
				t.Fatal(err)
			}
			for _, v := range values(p) {
				if v != v {
					t.Errorf("parameters are %v after %d evaluations", values(p), calls)
				}
			}
		})
	}
	t.Run("a rate that is none", func(t *testing.T) {
		p, calls := at(t, []float64{1, 2}), 0
		o, err := optim.NewLBFGS(p, optim.LBFGSConfig{})
		if err != nil {
			t.Fatal(err)
		}
		for _, rate := range []float64{math.NaN(), math.Inf(1), -1} {
			if _, err := o.Step(rate, evaluation(p, bowl, &calls)); err == nil || calls > 0 {
				t.Errorf("rate %v: %v after %d evaluations", rate, err, calls)
			}
		}
	})
	t.Run("no evaluation", func(t *testing.T) {
		o, err := optim.NewLBFGS(at(t, []float64{1, 2}), optim.LBFGSConfig{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.Step(1, nil); err == nil {
			t.Error("a step without a loss")
		}
	})
	t.Run("released by the loss", func(t *testing.T) {
		for last := range 2 {
			p, calls := at(t, []float64{-1.25, 1}), 0
			o, err := optim.NewLBFGS(p, optim.LBFGSConfig{})
			if err != nil {
				t.Fatal(err)
			}
			f := evaluation(p, rosenbrock, &calls)
			_, err = o.Step(1, func() (float64, error) {
				if calls == last {
					o.Release()
				}
				return f()
			})
			if err == nil || calls != last+1 {
				t.Errorf("error %v after %d evaluations", err, calls)
			}
		}
	})
}
