package record

import (
	"errors"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/burngen/burngen/runtime/optim"
	"github.com/burngen/burngen/runtime/rt"
)

// stepper is an optimizer of any kind.
type stepper struct {
	rt.Stater
	step func(rate float64) error
}

// of makes what binds an optimizer to parameters.
func of[O optim.Optimizer, C any](make func(*rt.Params, C) (O, error), c C) func(*rt.Params) (stepper, error) {
	return func(p *rt.Params) (stepper, error) {
		o, err := make(p, c)
		if err != nil {
			return stepper{}, err
		}
		return stepper{o, o.Step}, nil
	}
}

// optimizers have a constructor each, by its name.
var optimizers = map[string]func(*rt.Params) (stepper, error){
	"NewSGD":     of(optim.NewSGD, optim.SGDConfig{Momentum: 0.9, Nesterov: true}),
	"NewAdam":    of(optim.NewAdam, optim.AdamConfig{AMSGrad: true, WeightDecay: 0.1}),
	"NewAdamW":   of(optim.NewAdamW, optim.AdamWConfig{}),
	"NewAdaGrad": of(optim.NewAdaGrad, optim.AdaGradConfig{RateDecay: 0.1}),
	"NewRMSProp": of(optim.NewRMSProp, optim.RMSPropConfig{Centered: true, Momentum: 0.7}),
	"NewAdan":    of(optim.NewAdan, optim.AdanConfig{}),
	"NewLion":    of(optim.NewLion, optim.LionConfig{}),
	"NewMuon":    of(optim.NewMuon, optim.MuonConfig{}),
	"NewLBFGS": func(p *rt.Params) (stepper, error) {
		o, err := optim.NewLBFGS(p, optim.LBFGSConfig{Iterations: 2, History: 3})
		if err != nil {
			return stepper{}, err
		}
		return stepper{o, func(rate float64) error {
			_, err := o.Step(rate, func() (float64, error) { return backward(p), nil })
			return err
		}}, nil
	},
}

// schedules have a constructor each, by its name.
var schedules = map[string]optim.Schedule{
	"Constant":    optim.Constant(0.01),
	"Linear":      optim.Linear(0.1, 0.01, 10),
	"Cosine":      optim.Cosine(0.1, 0.01, 9),
	"Exponential": optim.Exponential(0.1, 0.9),
	"Step":        optim.Step(0.1, 0.5, 4),
	"Noam":        optim.Noam(0.1, 16, 5),
	"Warmup":      optim.Warmup(6, optim.Constant(0.05)),
	"OneCycle":    optim.OneCycle(0.1, 12),
	"Composed":    optim.Composed(optim.Constant(0.1), optim.Exponential(1, 0.9)),
	"Sequential":  optim.Sequential(optim.Phase{Steps: 5, Rate: optim.Constant(0.1)}, optim.Phase{Rate: optim.Exponential(0.1, 0.8)}),
}

// TestEveryOptimizerAndScheduleIsTested looks them up in the source of package optim.
func TestEveryOptimizerAndScheduleIsTested(t *testing.T) {
	paths, err := filepath.Glob("../optim/*.go")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no source: %v", err)
	}
	var missing []string
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(gotoken.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || !fn.Name.IsExported() || fn.Type.Results == nil {
				continue
			}
			name := fn.Name.Name
			_, optimizer := optimizers[name]
			_, schedule := schedules[name]
			if result, ok := fn.Type.Results.List[0].Type.(*ast.Ident); ok && result.Name == "Schedule" && !schedule || strings.HasPrefix(name, "New") && !optimizer {
				missing = append(missing, name)
			}
		}
	}
	if missing != nil {
		t.Errorf("not tested: %v", missing)
	}
}

// backward sets the gradients of a loss, the mean of (x - target)⁴, and returns it.
func backward(p *rt.Params) float64 {
	var loss float64
	for i, x := range p.Data {
		d := float64(x) - float64(i%5-2)
		loss += math.Pow(d, 4) / float64(len(p.Data))
		p.Grad[i] = float32(4 * d * d * d / float64(len(p.Data)))
	}
	p.Renew()
	return loss
}

// progress is what a program knows of its training.
type progress struct {
	Step   int
	Losses []float64
	Name   string
}

// run is a training: parameters, an optimizer, a schedule that follows the steps.
type run struct {
	params   *rt.Params
	optim    stepper
	rate     optim.Schedule
	progress progress
}

func newRun(t testing.TB, bind func(*rt.Params) (stepper, error), rate optim.Schedule) *run {
	p, err := rt.NewParams([]rt.Param{{Name: "a.weight", Shape: []int{3, 5}}, {Name: "b.weight", Shape: []int{4, 2}, Off: 15}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Data {
		p.Data[i] = float32(i%7) / 8
	}
	o, err := bind(p)
	if err != nil {
		t.Fatal(err)
	}
	return &run{params: p, optim: o, rate: rate}
}

func (r *run) parts() map[string]rt.Stater {
	return map[string]rt.Stater{"model": r.params, "optimizer": r.optim, "progress": Value(&r.progress)}
}

func (r *run) train(t testing.TB, steps int) {
	for range steps {
		r.progress.Losses = append(r.progress.Losses, backward(r.params))
		if err := r.optim.step(r.rate(r.progress.Step)); err != nil {
			t.Fatal(err)
		}
		r.progress.Step++
	}
}

// TestResumedTrainingIsUninterrupted saves every optimizer and every schedule in the middle of
// training, in every lossless format.
func TestResumedTrainingIsUninterrupted(t *testing.T) {
	check := func(t *testing.T, bind func(*rt.Params) (stepper, error), rate optim.Schedule) {
		a := newRun(t, bind, rate)
		a.progress.Name = "first"
		a.train(t, 6)
		saved := map[string][]byte{}
		for _, p := range []Precision{AsIs, Double} {
			for name, r := range recorders(p) {
				file, err := r.EncodeState(a.parts())
				if err != nil {
					t.Fatal(name, err)
				}
				saved[name+", "+p.String()] = file
			}
		}
		a.train(t, 6)
		for name, file := range saved {
			b := newRun(t, bind, rate)
			clear(b.params.Data)
			if err := DecodeState(file, b.parts()); err != nil {
				t.Fatal(name, err)
			}
			b.train(t, 6)
			if !slices.Equal(a.params.Data, b.params.Data) {
				t.Errorf("%s: parameters are %v, uninterrupted %v", name, b.params.Data, a.params.Data)
			}
			if d := cmp.Diff(a.progress, b.progress); d != "" {
				t.Errorf("%s: %s", name, d)
			}
		}
	}
	for name, bind := range optimizers {
		t.Run(name, func(t *testing.T) { check(t, bind, schedules["Cosine"]) })
	}
	for name, rate := range schedules {
		t.Run(name, func(t *testing.T) { check(t, optimizers["NewAdam"], rate) })
	}
}

// TestStatesInPrecision restores what a lower precision leaves.
func TestStatesInPrecision(t *testing.T) {
	for _, p := range []Precision{Full, Half} {
		a := newRun(t, optimizers["NewAdamW"], schedules["Linear"])
		a.train(t, 3)
		file, err := Recorder{Format: MessagePack, Precision: p}.EncodeState(a.parts())
		if err != nil {
			t.Fatal(err)
		}
		b := newRun(t, optimizers["NewAdamW"], schedules["Linear"])
		if err := DecodeState(file, b.parts()); err != nil {
			t.Fatal(err)
		}
		for i, x := range a.params.Data {
			want := x
			if p == Half {
				want = rt.ToFloat16(x).Float32()
			}
			if b.params.Data[i] != want {
				t.Errorf("%v: %v became %v", p, x, b.params.Data[i])
			}
		}
		if d := cmp.Diff(a.progress, b.progress); d != "" {
			t.Error(d)
		}
	}
}

func TestStatesThatDoNotLoad(t *testing.T) {
	dir := t.TempDir()
	fresh := func() *run { return newRun(t, optimizers["NewAdam"], schedules["Step"]) }
	a := fresh()
	a.train(t, 2)
	for name, r := range recorders(AsIs) {
		path := filepath.Join(dir, "state"+r.Extension())
		if err := r.SaveState(path, a.parts()); err != nil {
			t.Fatal(err)
		}
		if err := LoadState(path, fresh().parts()); err != nil {
			t.Error(name, err)
		}
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, whole[:len(whole)-20], 0o600); err != nil {
			t.Fatal(err)
		}
		b := fresh()
		before := slices.Clone(b.params.Data)
		if err := LoadState(path, b.parts()); err == nil || !strings.HasPrefix(err.Error(), "record: ") {
			t.Errorf("%s, cut off: %v", name, err)
		}
		if !slices.Equal(before, b.params.Data) || b.progress.Step != 0 {
			t.Errorf("%s: half loaded", name)
		}
	}
	file, err := Recorder{}.EncodeState(a.parts())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		parts map[string]rt.Stater
		want  string
	}{
		{"another optimizer", map[string]rt.Stater{"optimizer": newRun(t, optimizers["NewLion"], nil).optim}, `"optimizer": saved state is of "adam", but the part is "lion"`},
		{"a part that is missing", map[string]rt.Stater{"scheduler": Value(new(int))}, "file has no such tensor"},
		{"a value of another type", map[string]rt.Stater{"progress": Value(new(int))}, "cannot unmarshal"},
		{"a value without a variable", map[string]rt.Stater{"progress": Value[int](nil)}, "the pointer is nil"},
		{"a part that is nil", map[string]rt.Stater{"a": nil}, "is nil"},
	} {
		if err := DecodeState(file, tt.parts); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	for name, err := range map[string]error{
		"weights of others":          DecodeState(burnMessagePack(t), nil),
		"no file":                    LoadState(filepath.Join(dir, "none"), nil),
		"a value JSON lacks":         Recorder{}.SaveState(filepath.Join(dir, "f"), map[string]rt.Stater{"f": Value(new(func()))}),
		"a value without a variable": Recorder{}.SaveState(filepath.Join(dir, "f"), map[string]rt.Stater{"f": Value[int](nil)}),
		"no writer":                  Recorder{}.Write(nil, rt.NewWeights()),
		"a value JSON lacks ": func() error {
			_, err := Recorder{}.EncodeState(map[string]rt.Stater{"f": Value(new(chan int))})
			return err
		}(),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "f")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestStatesOfRT loads what package rt saves, and the other way round.
func TestStatesOfRT(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.safetensors")
	a := newRun(t, optimizers["NewAdan"], schedules["Noam"])
	a.train(t, 2)
	b := newRun(t, optimizers["NewAdan"], schedules["Noam"])
	if err := rt.SaveState(path, a.parts()); err != nil {
		t.Fatal(err)
	}
	if err := LoadState(path, b.parts()); err != nil {
		t.Fatal(err)
	}
	b.train(t, 1)
	if err := SaveState(path, b.parts()); err != nil {
		t.Fatal(err)
	}
	if err := rt.LoadState(path, a.parts()); err != nil || !slices.Equal(a.params.Data, b.params.Data) || a.progress.Step != 3 {
		t.Error(err)
	}
}

// TestLossScale saves the loss scale of a trainer in each format and precision, and restores it.
func TestLossScale(t *testing.T) {
	open := func() *rt.Training {
		w := rt.NewWeights()
		rt.Add(w, "w", []float32{1}, 1)
		tr, err := rt.NewTraining(w, []rt.Variable{{Name: "w", Shape: []int{1}}}, rt.TrainingOptions{Where: "net", Batch: 1, Scaled: true})
		if err != nil {
			t.Fatal(err)
		}
		return tr
	}
	from := open()
	p := from.Pass(&rt.Method{Ends: []int{1}})
	p.Begin()
	from.Gradient(0, false)[0] = float32(math.Inf(1))
	if err := p.End(nil); err != nil {
		t.Fatal(err)
	}
	for format := range formats {
		for _, precision := range []Precision{Full, Half} {
			r := Recorder{Format: Format(format), Precision: precision}
			data, err := r.EncodeState(map[string]rt.Stater{"trainer": from})
			if err != nil {
				t.Fatal(err)
			}
			to := open()
			if err := DecodeState(data, map[string]rt.Stater{"trainer": to}); err != nil {
				t.Fatalf("%+v: %v", r, err)
			}
			if got := to.Scale()[0]; got != 1<<15 {
				t.Errorf("%+v: the loss scale is %g, want 32768", r, got)
			}
		}
	}
}
