package rt_test

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/rt"
)

// layers are two layers, the second of them with statistics.
var layers = []rt.Variable{
	{Name: "a.weight", Shape: []int{3}},
	{Name: "b.weight", Shape: []int{2}, Needed: true},
	{Name: "b.bias", Shape: []int{2}},
	{Name: "b.mean", Shape: []int{2}, Buffer: true},
}

// layerWeights are their weights, and one that is not trained.
func layerWeights() *rt.Weights {
	w := rt.NewWeights()
	rt.Add(w, "a.weight", []float32{1, 2, 3}, 3)
	rt.Add(w, "b.weight", []float32{4, 5}, 2)
	rt.Add(w, "b.bias", []float32{6, 7}, 2)
	rt.Add(w, "b.mean", []float32{8, 9}, 2)
	rt.Add(w, "table", []int64{10}, 1)
	return w
}

func training(t *testing.T, o rt.TrainingOptions) *rt.Training {
	t.Helper()
	o.Where, o.Batch = "net", max(o.Batch, 1)
	tr, err := rt.NewTraining(layerWeights(), layers, o)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// step writes gradients x and a new mean, as a generated step does.
func step(tr *rt.Training, p *rt.Pass, x float32, err error) error {
	aside := p.Begin()
	for i := range layers[:3] {
		g := tr.Gradient(i, aside)
		for k := range g {
			g[k] = x
		}
	}
	for k := range tr.Next(3) {
		tr.Next(3)[k] = 10 * x
	}
	return p.End(err)
}

// whole computes the gradients of the three parameters, and a new mean.
var whole = &rt.Method{Ends: []int{3, 2, 1}, Updates: []int{3}}

func TestPassAddsOrReplaces(t *testing.T) {
	tr := training(t, rt.TrainingOptions{})
	p := tr.Pass(whole)
	grad := func() float32 { return tr.Params().Gradient(0)[0] }
	for _, c := range []struct {
		name string
		do   func() error
		want float32
	}{
		{"none was there", func() error { return step(tr, p, 2, nil) }, 2},
		{"one is there", func() error { return step(tr, p, 3, nil) }, 5},
		{"a step fails beside it", func() error { step(tr, p, 100, errors.New("no")); return nil }, 5},
		{"it is used up", func() error { tr.Params().UseUp(); return step(tr, p, 4, nil) }, 4},
	} {
		if err := c.do(); err != nil {
			t.Fatal(err)
		}
		if got := grad(); got != c.want || !tr.Params().Fresh(0) {
			t.Errorf("%s: the gradient is %g, want %g", c.name, got, c.want)
		}
	}
	if got := tr.Weight(3)[0]; got != 40 {
		t.Errorf("the mean is %g, that of the last step without an error is 40", got)
	}
	if got := tr.Key()[1]; got != 3 {
		t.Errorf("%d steps, want 3", got)
	}
}

func TestFailedStepLeavesNothing(t *testing.T) {
	tr := training(t, rt.TrainingOptions{})
	want := errors.New("no")
	if err := step(tr, tr.Pass(whole), 2, want); !errors.Is(err, want) {
		t.Fatalf("got %v", err)
	}
	if !tr.Params().UsedUp() || tr.Weight(3)[0] != 8 || tr.Key()[1] != 0 {
		t.Error("a step that failed changed something")
	}
}

func TestFreeze(t *testing.T) {
	for _, c := range []struct {
		freeze         string
		params         []string
		ends           int
		meanMoves      bool
		needed, absent []int // gradients that have memory all the same, and that have none
	}{
		{"table", nil, 0, false, nil, nil},
		{"a", []string{"b.weight", "b.bias"}, 2, true, nil, []int{0}},
		{"b", []string{"a.weight"}, 3, false, []int{1}, []int{2}},
		{"b.weight", []string{"a.weight", "b.bias"}, 3, true, []int{1}, nil},
		{"b.mean", []string{"a.weight", "b.weight", "b.bias"}, 3, false, nil, nil},
		{"*.weight", []string{"b.bias"}, 1, true, []int{1}, []int{0}},
	} {
		t.Run(c.freeze, func(t *testing.T) {
			tr, err := rt.NewTraining(layerWeights(), layers, rt.TrainingOptions{Where: "net", Batch: 1, Freeze: []string{c.freeze}})
			if c.params == nil {
				if err == nil || err.Error() != `net: freeze: pattern "table" matches no parameter` {
					t.Fatalf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, it := range tr.Params().Items {
				names = append(names, it.Name)
			}
			if !slices.Equal(names, c.params) {
				t.Errorf("parameters %v, want %v", names, c.params)
			}
			p := tr.Pass(whole)
			if p.Ends() != c.ends {
				t.Errorf("ends at %d, want %d", p.Ends(), c.ends)
			}
			for _, i := range c.needed {
				if len(tr.Gradient(i, false)) == 0 || len(tr.Gradient(i, true)) == 0 {
					t.Errorf("the gradient %d has no memory", i)
				}
			}
			for _, i := range c.absent {
				if tr.Gradient(i, false) != nil || tr.Gradient(i, true) != nil {
					t.Errorf("the gradient %d has memory", i)
				}
			}
			if err := step(tr, p, 1, nil); err != nil {
				t.Fatal(err)
			}
			if moves := tr.Weight(3)[0] != 8; moves != c.meanMoves {
				t.Errorf("the mean moves: %t", moves)
			}
		})
	}
}

func TestTrainingErrorsComeTogether(t *testing.T) {
	_, err := rt.NewTraining(layerWeights(), layers, rt.TrainingOptions{Where: "net", Freeze: []string{"c", "[", "**"}})
	if err == nil {
		t.Fatal("no error")
	}
	want := []string{
		"net: batch 0: 1 or more expected",
		`net: freeze: pattern "c" matches no parameter`,
		`net: freeze: pattern "[": malformed`,
		"net: nothing to train",
	}
	if got := strings.Split(err.Error(), "\n"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	_, err = rt.NewTraining(rt.NewWeights(), layers, rt.TrainingOptions{Where: "net", Batch: 1})
	if err == nil || strings.Count(err.Error(), "file has no such tensor") != len(layers) {
		t.Errorf("weights that are missing: %v", err)
	}
}

func TestWatchNamesTheFirstNode(t *testing.T) {
	tr := training(t, rt.TrainingOptions{CheckNaN: true})
	p := tr.Pass(&rt.Method{Ends: whole.Ends})
	nan := float32(math.NaN())
	p.Begin()
	tr.Watch().See("first", []float32{1, 2})
	tr.Watch().See("second", []float32{1, nan})
	tr.Watch().See("third", []float32{nan})
	if err := p.End(nil); err == nil || err.Error() != `node "second": computed a NaN` {
		t.Errorf("got %v", err)
	}
	p.Begin()
	if err := p.End(nil); err != nil {
		t.Errorf("the next step: %v", err)
	}
	var none *rt.Watch
	none.See("anything", []float32{nan})
}

func TestCheckNaNNeedsChecks(t *testing.T) {
	_, err := rt.NewTraining(layerWeights(), layers, rt.TrainingOptions{Where: "net", Batch: 1, CheckNaN: true, Unchecked: true})
	if want := "net: CheckNaN: the package has no checks for NaN: generate it with -check-nan"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
	training(t, rt.TrainingOptions{Unchecked: true})
}

func TestTrainingWeights(t *testing.T) {
	tr := training(t, rt.TrainingOptions{Freeze: []string{"a"}})
	tr.Params().Value(0)[0] = 40
	w := tr.Weights()
	tr.Params().Value(0)[0] = 41
	for name, want := range map[string][]float32{"a.weight": {1, 2, 3}, "b.weight": {40, 5}, "b.mean": {8, 9}} {
		if got := rt.WeightsOf[float32](w, name, len(want)); !slices.Equal(got, want) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if got := rt.WeightsOf[int64](w, "table", 1); len(got) != 1 || got[0] != 10 {
		t.Errorf("table is %v", got)
	}
	if err := w.Err(); err != nil {
		t.Error(err)
	}
}

func TestTrainingState(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	one := training(t, rt.TrainingOptions{Seed: 5})
	if err := step(one, one.Pass(whole), 2, nil); err != nil {
		t.Fatal(err)
	}
	one.Params().Value(0)[0] = 17
	if err := rt.SaveState(path, map[string]rt.Stater{"t": one}); err != nil {
		t.Fatal(err)
	}
	other := training(t, rt.TrainingOptions{})
	if err := rt.LoadState(path, map[string]rt.Stater{"t": other}); err != nil {
		t.Fatal(err)
	}
	if other.Params().Value(0)[0] != 17 || other.Weight(3)[0] != 20 || !slices.Equal(other.Key(), []int64{5, 1}) {
		t.Errorf("restored %v, %v, key %v", other.Params().Value(0), other.Weight(3), other.Key())
	}
}

func TestWithout(t *testing.T) {
	w := layerWeights()
	own := w.Without("b.", "x.")
	if got := own.Names(); !slices.Equal(got, []string{"a.weight", "table"}) {
		t.Errorf("names %v", got)
	}
	if got := rt.WeightsOf[float32](own, "a.weight", 3); !slices.Equal(got, []float32{1, 2, 3}) || own.Err() != nil {
		t.Errorf("a.weight is %v: %v", got, own.Err())
	}
	if err := rt.OpenWeights("nothing").Without("b.").Err(); err == nil {
		t.Error("no error of a broken file")
	}
}
