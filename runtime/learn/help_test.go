package learn

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/metric"
	"github.com/burngen/burngen/runtime/optim"
	"github.com/burngen/burngen/runtime/rt"
)

// toy is a trainer of y = w·x + b. With drop it ignores elements of x at random, as dropout does.
type toy struct {
	params *rt.Params
	steps  int64
	drop   bool
	ctx    context.Context
	grad   []float32
	y      []float32
}

const width = 4 // of x

type vector = [width]float32

// fitted is the result of a toy's methods.
type fitted struct {
	loss float32
	y    []float32
}

func newToy(t testing.TB) *toy {
	t.Helper()
	p, err := rt.NewParams([]rt.Param{{Name: "w", Shape: []int{1, width}}, {Name: "b", Shape: []int{1}, Off: width}})
	if err != nil {
		t.Fatal(err)
	}
	copy(p.Data, []float32{0.1, -0.2, 0.3, -0.4, 0.5})
	return &toy{params: p, grad: make([]float32, len(p.Grad))}
}

func (m *toy) Params() *rt.Params             { return m.params }
func (m *toy) SetContext(ctx context.Context) { m.ctx = ctx }

func (m *toy) State(s *rt.State) {
	m.params.State(s)
	rt.StateScalar(s, "steps", &m.steps)
}

// step adds the gradients of the mean squared error.
func (m *toy) step(x []vector, y []float32) (fitted, error) {
	clear(m.grad)
	r, err := m.forward(x, y, m.drop, func(x *vector, d float32) {
		for k, v := range x {
			m.grad[k] += float32(d * v)
		}
		m.grad[width] += d
	})
	if err != nil {
		return r, err
	}
	m.steps++
	return r, m.params.Accumulate(m.grad)
}

func (m *toy) loss(x []vector, y []float32) (fitted, error) {
	return m.forward(x, y, false, func(*vector, float32) {})
}

// forward calls grad with each item and the derivative of the loss.
func (m *toy) forward(x []vector, y []float32, drop bool, grad func(*vector, float32)) (fitted, error) {
	if m.ctx != nil && m.ctx.Err() != nil {
		return fitted{}, context.Cause(m.ctx)
	}
	m.y = m.y[:0]
	var sum float32
	n := float32(len(x))
	for i, v := range x {
		at := m.params.Data[width]
		for k := range v {
			if drop && rt.UniformAt(uint64(m.steps), uint64(i*width+k)) < 0.1 {
				v[k] = 0
			}
			at += float32(v[k] * m.params.Data[k])
		}
		m.y = append(m.y, at)
		d := at - y[i]
		sum += float32(d * d)
		grad(&v, 2*d/n)
	}
	return fitted{sum / n, m.y}, nil
}

func (m *toy) task() Task[data.Set[vector, float32], metric.Values] {
	return Pairs(m.step, m.loss, valuesOf)
}

func valuesOf(_ []vector, y []float32, r fitted) metric.Values {
	return metric.Values{Loss: r.loss, Predicted: r.y, Targets: y}
}

// point is an item.
type point = data.Pair[vector, float32]

// points returns n items of a noisy line.
func points(n int) []point {
	list := make([]point, n)
	for i := range list {
		r := rand.New(rand.NewPCG(7, uint64(i)))
		p := &list[i]
		p.Y = 1
		for k := range p.X {
			p.X[k] = float32(r.NormFloat64())
			p.Y += p.X[k] * float32(k+1)
		}
		p.Y += float32(r.NormFloat64()) / 10
	}
	return list
}

type (
	set        = data.Set[vector, float32]
	toyLoader  = data.Loader[set]
	toyLearner = Learner[set, metric.Values]
)

// loaded returns a loader of n points.
func loaded(n, batch int, shuffle bool) *toyLoader {
	return data.Load(data.Of(points(n)), data.Pairs(data.Copy[vector, float32]), data.LoaderOptions{Batch: batch, Shuffle: shuffle, Seed: 3, Workers: data.Inline})
}

// recorder is a renderer that keeps all events, and calls a function for each.
type recorder struct {
	events   []Event
	on       func(Event)
	controls Controls
}

func (r *recorder) Control(c Controls) { r.controls = c }

func (r *recorder) Event(e Event) {
	r.events = append(r.events, e)
	if r.on != nil {
		r.on(e)
	}
}

// rig is a run of a toy that uses everything that has a state.
type rig struct {
	toy     *toy
	learner *toyLearner
	show    *recorder
}

// newRig returns a run. change changes its options.
func newRig(t testing.TB, dir string, change func(*Options)) *rig {
	t.Helper()
	r := &rig{toy: newToy(t), show: &recorder{}}
	r.toy.drop = true
	adam, err := optim.NewAdam(r.toy.params.Match("w"), optim.AdamConfig{})
	if err != nil {
		t.Fatal(err)
	}
	sgd, err := optim.NewSGD(r.toy.params.Except("w"), optim.SGDConfig{Momentum: 0.9})
	if err != nil {
		t.Fatal(err)
	}
	slower := Plateau("valid loss", 0.5, 1)
	o := Options{
		Dir: dir, Epochs: 3, Accumulate: 2, ClipNorm: 5, Average: EMA(0.9), Recent: 3, Config: map[string]any{"rate": 0.05}, Show: r.show,
		Optimizers: []Optimizer{{Of: adam, Rate: optim.Cosine(0.05, 0.01, 20), Factor: slower}, {Of: sgd, Rate: optim.Constant(0.01), Factor: slower}},
		Stop:       Any(NoBetter("valid loss", 100), Above("valid R²", 2)),
	}
	if dir != "" {
		o.Keep = []Keeper{Last(1), Best("valid loss")}
	}
	if change != nil {
		change(&o)
	}
	if r.learner, err = New(r.toy, r.toy.task(), o, metric.MAE(), metric.R2()); err != nil {
		t.Fatal(err)
	}
	return r
}

// These are the data of a rig: 7 batches, the last of 2 items, and 2 of validation.
func (r *rig) fit(ctx context.Context) (*Run, error) {
	return r.learner.Fit(ctx, loaded(50, 8, true), loaded(12, 8, false))
}

// mustFit fits without an error.
func (r *rig) mustFit(t testing.TB) *Run {
	t.Helper()
	run, err := r.fit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// timeless returns the events that do not depend on when states are saved, without times.
func timeless(events []Event) (list []string) {
	for _, e := range events {
		switch e.(type) {
		case Started, Saved, Deleted, Warned, Stopped:
			continue
		}
		v := reflect.New(reflect.TypeOf(e)).Elem()
		v.Set(reflect.ValueOf(e))
		for i := range v.NumField() {
			switch v.Field(i).Interface().(type) {
			case time.Time, time.Duration:
				v.Field(i).SetZero()
			}
		}
		line, err := AppendEvent(nil, v.Interface().(Event))
		if err != nil {
			panic(err)
		}
		list = append(list, string(line))
	}
	return list
}

// eventsOf returns the events in the folder of a run.
func eventsOf(t testing.TB, dir string) (list []Event) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, eventsFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for e, err := range Events(f) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	return list
}

// stateOf returns the tensors of a saved state, besides the part that has times.
func stateOf(t testing.TB, dir string) map[string]string {
	t.Helper()
	w := rt.OpenWeightsFile(filepath.Join(dir, stateFile))
	defer w.Close()
	if err := errors.Join(w.Err(), w.Verify()); err != nil {
		t.Fatal(err)
	}
	tensors := map[string]string{}
	for _, name := range w.Names() {
		if !strings.HasPrefix(name, runPart+"/") {
			tensors[name] = fmt.Sprintf("%x", w.Raw(name))
		}
	}
	return tensors
}

// sameRun fails if two folders have different runs.
func sameRun(t testing.TB, got, want string) {
	t.Helper()
	if a, b := stateOf(t, got), stateOf(t, want); !reflect.DeepEqual(a, b) {
		for name := range b {
			if a[name] != b[name] {
				t.Errorf("tensor %s is %.80s, want %.80s", name, a[name], b[name])
			}
		}
	}
	if a, b := timeless(eventsOf(t, got)), timeless(eventsOf(t, want)); !reflect.DeepEqual(a, b) {
		t.Errorf("%d events, want %d%s", len(a), len(b), firstDifference(a, b))
	}
	for _, name := range filesOf(t, want) {
		if ext := filepath.Ext(name); name == bestFile || name != "experiment.log" && (ext == ".log" || ext == ".csv") {
			a, err := os.ReadFile(filepath.Join(got, name))
			b, _ := os.ReadFile(filepath.Join(want, name))
			if err != nil || string(a) != string(b) {
				t.Errorf("%s is %q, %v, want %q", name, a, err, b)
			}
		}
	}
	if a, b := filesOf(t, got), filesOf(t, want); !reflect.DeepEqual(a, b) {
		t.Errorf("files %q, want %q", a, b)
	}
}

func firstDifference(a, b []string) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("; event %d is %swant %s", i, a[i], b[i])
		}
	}
	return ""
}

// filesOf returns the files in a folder, sorted. Files for TensorBoard are left out: their names have times.
func filesOf(t testing.TB, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() && !strings.HasPrefix(e.Name(), tensorBoardPrefix) {
			name, _ := filepath.Rel(dir, path)
			names = append(names, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func wantError(t testing.TB, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v, want %q in it", err, part)
		}
	}
}
