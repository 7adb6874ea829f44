package learn

import (
	"math"
	"testing"
	"time"

	"github.com/burngen/burngen/runtime/metric"
	"github.com/burngen/burngen/runtime/optim"
	"github.com/burngen/burngen/runtime/rt"
)

// TestNewErrors asserts that wrong options have errors that say what is wrong.
func TestNewErrors(t *testing.T) {
	m := newToy(t)
	sgd, err := optim.NewSGD(m.params, optim.SGDConfig{})
	if err != nil {
		t.Fatal(err)
	}
	ok := Optimizer{Of: sgd, Rate: optim.Constant(1)}
	for _, tt := range []struct {
		o    Options
		want string
	}{
		{Options{}, "nothing ends the run: Epochs, Steps or Stop expected"},
		{Options{Epochs: -1}, "Epochs is -1: at least 0 expected"},
		{Options{Epochs: 1, Recent: -1}, "Recent is -1"},
		{Options{Epochs: 1, ClipNorm: math.NaN()}, "ClipNorm is NaN"},
		{Options{Epochs: 1, ClipValue: 1}, "Accumulate, ClipNorm and ClipValue need Optimizers"},
		{Options{Epochs: 1, Optimizers: []Optimizer{ok, {Of: sgd}}}, "optimizer 1: Of and Rate expected"},
		{Options{Epochs: 1, Resume: Continue}, "Resume is Continue: Refuse, Continue, Fresh or From(epoch), and a Dir, expected"},
		{Options{Epochs: 1, Dir: "x", Resume: From(0)}, "Resume is invalid"},
		{Options{Epochs: 1, Keep: []Keeper{Last(1)}}, "Keep without Dir"},
		{Options{Epochs: 1, Dir: "x", Keep: []Keeper{nil}}, "keeper 0 is nil"},
		{Options{Epochs: 1, Log: []Logger{TensorBoard()}}, "Log without Dir"},
		{Options{Epochs: 1, Dir: "x", Log: []Logger{nil}}, "logger 0 is nil"},
		{Options{Epochs: 1, SystemEvery: -time.Second}, "SystemEvery is -1s"},
		{Options{Epochs: 1, Stop: Above("loss", 1)}, `stop: no metric "loss"`},
		{Options{Epochs: 1, Dir: "x", Keep: []Keeper{Best("valid f1")}}, `keep: best: no metric "valid f1"`},
		{Options{Epochs: 1, Optimizers: []Optimizer{{Of: sgd, Rate: optim.Constant(1), Factor: Plateau("x", 0.5, 1)}}}, `plateau: no metric "x"`},
		{Options{Epochs: 1, State: map[string]rt.Stater{"a/b": m}}, `State "a/b": a name without slashes`},
		{Options{Epochs: 1, State: map[string]rt.Stater{"a": nil}}, `State "a"`},
	} {
		_, err := New(m, m.task(), tt.o)
		wantError(t, err, "learn: ", tt.want)
	}
	_, err = New[set, metric.Values](nil, m.task(), Options{Epochs: 1})
	wantError(t, err, "no trainer")
	_, err = New(&toy{}, m.task(), Options{Epochs: 1})
	wantError(t, err, "no trainer, or one without parameters")
	_, err = New(m, Task[set, metric.Values]{}, Options{Epochs: 1})
	wantError(t, err, "the task has no Step")
	_, err = New(m, Pairs[vector, float32, fitted, metric.Values](m.step, m.loss, nil), Options{Epochs: 1})
	wantError(t, err, "the task has no Step, or no function that makes its output")
	task := m.task()
	task.Items = nil
	_, err = New(m, task, Options{Epochs: 1, Accumulate: 2, Optimizers: []Optimizer{ok}})
	wantError(t, err, "the task has no Items, which Accumulate needs without Sum")
	_, err = New(m, m.task(), Options{Epochs: 1}, metric.MAE(), metric.MAE())
	wantError(t, err, `metric "MAE" is given twice`)
	_, err = New(m, m.task(), Options{Epochs: 1}, metric.Loss[metric.Values]())
	wantError(t, err, `metric "loss" is given twice; the loss is always measured`)
	_, err = New(m, m.task(), Options{Epochs: 1}, metric.Metric[metric.Values]{Name: "x"})
	wantError(t, err, "metric 1: Name and New expected")
}
