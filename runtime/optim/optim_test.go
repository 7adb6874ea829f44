package optim_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/optim"
	"github.com/burngen/burngen/runtime/rt"
	"github.com/google/go-cmp/cmp"
)

// reference is what PyTorch computes, see testdata/reference.py.
type reference struct {
	Optimizers map[string]map[string][]float64
	Schedules  map[string][]float64
	LBFGS      map[string][]struct {
		Loss                    float64
		X                       []float64
		Iterations, Evaluations int
	}
}

func readReference(t *testing.T) *reference {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "reference.json"))
	if err != nil {
		t.Fatal(err)
	}
	r := &reference{}
	if err := json.Unmarshal(data, r); err != nil {
		t.Fatal(err)
	}
	return r
}

// The parameters a, of 3×5, and b, of 7 elements, and their gradients.
func value(i int) float32 { return float32((i*13)%29-14) / 8 }

func gradient(step, i int) float32 { return float32((step*31+i*17)%23-11) / 16 }

func params(t testing.TB, items ...rt.Param) *rt.Params {
	t.Helper()
	if items == nil {
		items = []rt.Param{{Name: "a", Shape: []int{3, 5}}, {Name: "b", Shape: []int{7}, Off: 16}}
	}
	p, err := rt.NewParams(items)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i := range items {
		for k := range p.Value(i) {
			p.Value(i)[k] = value(n)
			n++
		}
	}
	return p
}

// backward sets the gradients of a step, without those of the parameters that skip.
func backward(p *rt.Params, step int, skip ...string) {
	n := 0
	for i := range p.Items {
		for k := range p.Value(i) {
			p.Gradient(i)[k] = gradient(step, n)
			n++
		}
	}
	p.Renew()
	if skip != nil {
		p.Match(skip...).UseUp()
	}
}

// values returns the elements of all parameters.
func values(p *rt.Params) []float32 {
	var list []float32
	for i := range p.Items {
		list = append(list, p.Value(i)...)
	}
	return list
}

// constructor binds an optimizer.
type constructor func(p *rt.Params) (optim.Optimizer, error)

// of makes a constructor.
func of[O optim.Optimizer, C any](f func(*rt.Params, C) (O, error), c C) constructor {
	return func(p *rt.Params) (optim.Optimizer, error) {
		o, err := f(p, c)
		if err != nil {
			return nil, err
		}
		return o, nil
	}
}

const zero = optim.Zero

// pytorch are the optimizers of the reference.
var pytorch = map[string]constructor{
	"sgd":                         of(optim.NewSGD, optim.SGDConfig{}),
	"sgd, weight decay":           of(optim.NewSGD, optim.SGDConfig{WeightDecay: 0.1}),
	"sgd, momentum":               of(optim.NewSGD, optim.SGDConfig{Momentum: 0.9}),
	"sgd, dampening":              of(optim.NewSGD, optim.SGDConfig{Momentum: 0.8, Dampening: 0.3, WeightDecay: 0.05}),
	"sgd, nesterov":               of(optim.NewSGD, optim.SGDConfig{Momentum: 0.9, Nesterov: true, WeightDecay: 0.05}),
	"adam":                        of(optim.NewAdam, optim.AdamConfig{}),
	"adam, all":                   of(optim.NewAdam, optim.AdamConfig{Beta1: 0.8, Beta2: 0.95, Epsilon: 1e-3, WeightDecay: 0.1}),
	"adam, amsgrad":               of(optim.NewAdam, optim.AdamConfig{Beta1: 0.8, Beta2: 0.7, AMSGrad: true}),
	"adamw":                       of(optim.NewAdamW, optim.AdamWConfig{}),
	"adamw, all":                  of(optim.NewAdamW, optim.AdamWConfig{Beta1: 0.8, Beta2: 0.95, Epsilon: 1e-3, WeightDecay: 0.2}),
	"adamw, amsgrad":              of(optim.NewAdamW, optim.AdamWConfig{Beta1: 0.8, Beta2: 0.7, WeightDecay: zero, AMSGrad: true}),
	"adagrad":                     of(optim.NewAdaGrad, optim.AdaGradConfig{}),
	"adagrad, all":                of(optim.NewAdaGrad, optim.AdaGradConfig{RateDecay: 0.1, WeightDecay: 0.1, Start: 0.5, Epsilon: 1e-3}),
	"rmsprop":                     of(optim.NewRMSProp, optim.RMSPropConfig{}),
	"rmsprop, momentum":           of(optim.NewRMSProp, optim.RMSPropConfig{Alpha: 0.9, Epsilon: 1e-3, WeightDecay: 0.1, Momentum: 0.7}),
	"rmsprop, centered":           of(optim.NewRMSProp, optim.RMSPropConfig{Centered: true, Epsilon: 1e-3}),
	"rmsprop, centered, momentum": of(optim.NewRMSProp, optim.RMSPropConfig{Alpha: 0.9, Centered: true, Momentum: 0.7, Epsilon: 1e-3}),
}

// all are the optimizers of the reference and those that PyTorch 1.13 lacks.
var all = func() map[string]constructor {
	list := maps.Clone(pytorch)
	for name, c := range papers {
		list[name] = c.make
	}
	return list
}()

func TestOptimizersArePyTorchs(t *testing.T) {
	want := readReference(t).Optimizers
	if names, have := slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(pytorch)); !slices.Equal(names, have) {
		t.Fatalf("the reference has %q, the test %q", names, have)
	}
	for name, make := range pytorch {
		t.Run(name, func(t *testing.T) {
			p := params(t)
			o, err := make(p)
			if err != nil {
				t.Fatal(err)
			}
			compared := 0
			for step := range 20 {
				train(p, o, step)
				if !p.UsedUp() {
					t.Fatal("gradients are left")
				}
				if w, ok := want[name][fmt.Sprint(step)]; ok {
					near(t, fmt.Sprintf("after step %d", step), values(p), w, 2e-6)
					compared++
				}
			}
			if compared != 4 {
				t.Errorf("compared after %d steps", compared)
			}
		})
	}
}

// train is a step of the reference: b has no gradient in step 6.
func train(p *rt.Params, o optim.Optimizer, step int) {
	if step == 6 {
		backward(p, step, "b")
	} else {
		backward(p, step)
	}
	if err := o.Step(0.1 / float64(1+step%3)); err != nil {
		panic(err)
	}
}

// near fails the test where numbers differ by more than a part of them, or of 1.
func near(t *testing.T, what string, got []float32, want []float64, part float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d elements, want %d", what, len(got), len(want))
	}
	for i, w := range want {
		if g := float64(got[i]); !(math.Abs(g-w) <= part*max(1, math.Abs(w))) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, g, w)
		}
	}
}

// matrices has parameters for which every optimizer works.
func matrices(t testing.TB) *rt.Params {
	return params(t, rt.Param{Name: "a", Shape: []int{3, 5}}, rt.Param{Name: "b", Shape: []int{7, 2}, Off: 16})
}

func TestResumedTrainingIsUninterrupted(t *testing.T) {
	for name, make := range all {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state")
			p := matrices(t)
			o, err := make(p)
			if err != nil {
				t.Fatal(err)
			}
			for step := range 14 {
				if step == 8 {
					if err := rt.SaveState(path, map[string]rt.Stater{"model": p, "optimizer": o}); err != nil {
						t.Fatal(err)
					}
				}
				train(p, o, step)
			}
			q := matrices(t)
			clear(q.Data)
			resumed, err := make(q)
			if err != nil {
				t.Fatal(err)
			}
			if err := rt.LoadState(path, map[string]rt.Stater{"model": q, "optimizer": resumed}); err != nil {
				t.Fatal(err)
			}
			for step := 8; step < 14; step++ {
				train(q, resumed, step)
			}
			if !slices.Equal(p.Data, q.Data) {
				t.Errorf("parameters are %v, uninterrupted %v", q.Data, p.Data)
			}
			other, err := optim.NewSGD(matrices(t), optim.SGDConfig{Momentum: 0.3, Dampening: 0.1})
			if err != nil {
				t.Fatal(err)
			}
			err = rt.LoadState(path, map[string]rt.Stater{"optimizer": other})
			kind, _, _ := strings.Cut(name, ",")
			switch {
			case kind != "sgd":
				if want := fmt.Sprintf(`"optimizer": saved state is of %q, but the part is "sgd"`, kind); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("the state as one of SGD with momentum: %v", err)
				}
			case (err == nil) != (name != "sgd, weight decay" && name != "sgd"):
				t.Errorf("the state as one of SGD with momentum: %v", err)
			}
		})
	}
}

func TestStepsDoNotAllocate(t *testing.T) {
	for name, make := range all {
		t.Run(name, func(t *testing.T) {
			p := params(t, rt.Param{Name: "a", Shape: []int{60, 1000}}, rt.Param{Name: "b", Shape: []int{3, 2}, Off: 60000})
			o, err := make(p)
			if err != nil {
				t.Fatal(err)
			}
			step := func() {
				p.Renew()
				o.Step(0.01)
			}
			step()
			if n := testing.AllocsPerRun(3, step); n != 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}

func TestBitsDoNotDependOnThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for name, make := range all {
		t.Run(name, func(t *testing.T) {
			var want []float32
			for _, threads := range []int{1, 2, 3, 4} {
				func() {
					defer rt.Threads(rt.Threads(threads))
					p := params(t,
						rt.Param{Name: "a", Shape: []int{7, 11}}, rt.Param{Name: "b", Shape: []int{0, 4}, Off: 77},
						rt.Param{Name: "c", Shape: []int{60, 1000}, Off: 77}, rt.Param{Name: "d", Shape: []int{1001, 1}, Off: 60100})
					o, err := make(p)
					if err != nil {
						t.Fatal(err)
					}
					for step := range 3 {
						backward(p, step)
						o.Step(0.01)
					}
					if got := values(p); want == nil {
						want = got
					} else if !slices.Equal(got, want) {
						t.Errorf("%d threads compute something else", threads)
					}
				}()
			}
		})
	}
}

// digests are of the parameters after twenty steps, on any machine.
var digests = map[string]uint32{
	"adagrad":                     1955566922,
	"adagrad, all":                1067251682,
	"adam":                        3051740048,
	"adam, all":                   3552343222,
	"adam, amsgrad":               1403986331,
	"adamw":                       946194665,
	"adamw, all":                  594746145,
	"adamw, amsgrad":              1403986331,
	"adamw, cautious":             1506143722,
	"adamw, cautious, amsgrad":    1778451250,
	"adan":                        1433731177,
	"adan, all":                   2494920573,
	"adan, without prox":          829711493,
	"lbfgs":                       3779104829,
	"lion":                        3201253369,
	"lion, all":                   2220338292,
	"rmsprop":                     4079622084,
	"rmsprop, centered":           2970287139,
	"rmsprop, centered, momentum": 3603049356,
	"rmsprop, momentum":           2046520469,
	"sgd":                         1571662356,
	"sgd, dampening":              1277449449,
	"sgd, momentum":               3926659993,
	"sgd, nesterov":               2868048314,
	"sgd, weight decay":           3140524615,
}

func TestBitsDoNotDependOnTheMachine(t *testing.T) {
	for _, l := range cpu.Levels() {
		t.Run(l.String(), func(t *testing.T) {
			defer cpu.SetLevel(l)()
			got := map[string]uint32{}
			for name, make := range all {
				if strings.HasPrefix(name, "muon") {
					continue
				}
				p := params(t)
				o, err := make(p)
				if err != nil {
					t.Fatal(err)
				}
				for step := range 20 {
					train(p, o, step)
				}
				got[name] = digest(p)
			}
			p, calls := at(t, []float64{-1.25, 1, 2, -0.5}), 0
			o, err := optim.NewLBFGS(p, optim.LBFGSConfig{History: 3})
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if _, err := o.Step(1, evaluation(p, bowl, &calls)); err != nil {
					t.Fatal(err)
				}
			}
			got["lbfgs"] = digest(p)
			if d := cmp.Diff(digests, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func digest(p *rt.Params) uint32 {
	h := crc32.NewIEEE()
	for _, v := range values(p) {
		binary.Write(h, binary.LittleEndian, v)
	}
	return h.Sum32()
}

func TestGroups(t *testing.T) {
	sgd := of(optim.NewSGD, optim.SGDConfig{Momentum: 0.9})
	adam := of(optim.NewAdam, optim.AdamConfig{})
	// alone returns the parameters after steps with one optimizer.
	alone := func(make constructor) *rt.Params {
		p := params(t)
		o, err := make(p)
		if err != nil {
			t.Fatal(err)
		}
		for step := range 5 {
			backward(p, step)
			o.Step(0.1)
		}
		return p
	}
	p := params(t)
	a, err := sgd(p.Match("a"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := adam(p.Except("a"))
	if err != nil {
		t.Fatal(err)
	}
	for step := range 5 {
		backward(p, step)
		a.Step(0.1)
		if p.UsedUp() || p.Fresh(0) {
			t.Error("one optimizer has used up another's gradients")
		}
		b.Step(0.1)
		b.Step(0.1) // does nothing without gradients
	}
	if !slices.Equal(p.Value(0), alone(sgd).Value(0)) || !slices.Equal(p.Value(1), alone(adam).Value(1)) {
		t.Error("two optimizers of two groups are not those of all")
	}
	t.Run("overlaps", func(t *testing.T) {
		_, err := adam(p)
		wantError(t, err, "adam: params: \"a\": another optimizer has it\nparams: \"b\": another optimizer has it")
		a.Release()
		a.Step(0.1)
		if err := rt.SaveState(filepath.Join(t.TempDir(), "state"), map[string]rt.Stater{"a": a}); err != nil {
			t.Error(err)
		}
		if _, err := adam(p.Match("a")); err != nil {
			t.Error(err)
		}
	})
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if fmt.Sprint(err) != want {
		t.Errorf("error %q, want %q", fmt.Sprint(err), want)
	}
}

func TestConfigurationsThatAreNone(t *testing.T) {
	p := params(t)
	for _, tt := range []struct {
		make constructor
		want string
	}{
		{of(optim.NewSGD, optim.SGDConfig{Momentum: 1, WeightDecay: -1}),
			"sgd: Momentum is 1: at least 0 and below 1 expected\nsgd: WeightDecay is -1: at least 0 and below 3.4028234663852886e+38 expected"},
		{of(optim.NewSGD, optim.SGDConfig{Nesterov: true}), "sgd: Nesterov takes Momentum and no Dampening"},
		{of(optim.NewSGD, optim.SGDConfig{Nesterov: true, Momentum: 0.9, Dampening: 0.1}), "sgd: Nesterov takes Momentum and no Dampening"},
		{of(optim.NewAdam, optim.AdamConfig{Beta1: math.NaN()}), "adam: Beta1 is NaN: at least 0 and below 1 expected"},
		{of(optim.NewAdamW, optim.AdamWConfig{Beta2: -0.1}), "adamw: Beta2 is -0.1: at least 0 and below 1 expected"},
		{of(optim.NewAdaGrad, optim.AdaGradConfig{Epsilon: math.Inf(1)}), "adagrad: Epsilon is +Inf: at least 0 and below 3.4028234663852886e+38 expected"},
		{of(optim.NewRMSProp, optim.RMSPropConfig{Alpha: 2}), "rmsprop: Alpha is 2: at least 0 and below 1 expected"},
		{of(optim.NewAdan, optim.AdanConfig{Beta3: 1}), "adan: Beta3 is 1: at least 0 and below 1 expected"},
		{of(optim.NewLion, optim.LionConfig{Beta2: 1}), "lion: Beta2 is 1: at least 0 and below 1 expected"},
		{of(optim.NewMuon, optim.MuonConfig{Iterations: -1}),
			"muon: Iterations is -1: at least 1 and at most 100 expected\nmuon: parameter \"b\" is not a matrix: it needs another optimizer"},
		{of(optim.NewMuon, optim.MuonConfig{}), "muon: parameter \"b\" is not a matrix: it needs another optimizer"},
		{func(*rt.Params) (optim.Optimizer, error) {
			_, err := optim.NewLBFGS(p, optim.LBFGSConfig{History: -1, Iterations: 1 << 20})
			return nil, err
		}, "lbfgs: Iterations is 1048576: at least 1 and at most 65536 expected\nlbfgs: Evaluations is 1310720: at least 1 and at most 65536 expected\nlbfgs: History is -1: at least 1 and at most 65536 expected"},
	} {
		_, err := tt.make(p)
		wantError(t, err, tt.want)
	}
	for name, make := range all {
		_, err := make(p.Match("c"))
		wantError(t, err, strings.Fields(strings.ReplaceAll(name, ",", ""))[0]+`: params: pattern "c" matches no parameter`)
		if _, err := make(nil); err == nil {
			t.Errorf("%s of nothing", name)
		}
	}
	if err := p.Bind(); err != nil {
		t.Errorf("an error left parameters bound: %v", err)
	}
	t.Run("too large", func(t *testing.T) {
		p := params(t)
		defer rt.ArenaLimit(rt.ArenaLimit(100))
		for name, make := range all {
			if _, err := make(p); err == nil && name != "sgd" && name != "sgd, weight decay" {
				t.Errorf("%s is within the limit", name)
			}
			p.Release()
		}
		if _, err := optim.NewLBFGS(p, optim.LBFGSConfig{}); err == nil {
			t.Error("L-BFGS is within the limit")
		}
	})
}

// TestRatesAreChecked steps at rates that are none: nothing changes.
func TestRatesAreChecked(t *testing.T) {
	for name, make := range all {
		p := matrices(t)
		o, err := make(p)
		if err != nil {
			t.Fatal(err)
		}
		backward(p, 0)
		before := slices.Clone(p.Data)
		for _, rate := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1e-3, math.MaxFloat64} {
			if err := o.Step(rate); err == nil || !strings.Contains(err.Error(), "learning rate is ") {
				t.Errorf("%s: rate %v: %v", name, rate, err)
			}
		}
		if !slices.Equal(p.Data, before) || !p.Fresh(0) {
			t.Errorf("%s: a step that failed changed something", name)
		}
		if err := o.Step(0.1); err != nil || slices.Equal(p.Data, before) || p.Fresh(0) {
			t.Errorf("%s: the step after: %v", name, err)
		}
		o.Release()
		if err := o.Step(0.1); err != nil {
			t.Errorf("%s: after Release: %v", name, err)
		}
	}
}
