package metric_test

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/metric"
)

// reference is what other libraries compute, see testdata/make.py.
type reference struct {
	Classes []struct {
		Name    string
		Scores  []float32
		Targets []int64
		Want    map[string]float64
		Matrix  [][]int64
	}
	Labels []struct {
		Name            string
		Scores, Targets []float32
		Labels          int
		Want            map[string]float64
	}
	Values []struct {
		Name               string
		Predicted, Targets []float32
		Width              int
		Want               map[string]float64
	}
	Texts []struct {
		Name       string
		Predicted  []string
		References [][]string
		Want       map[string]float64
	}
	Masks []struct {
		Name    string
		Scores  []float32
		Targets []int64
		Pixels  int
		Want    map[string]float64
	}
	Pictures []struct {
		Name                    string
		Predicted, Targets      []float32
		Channels, Height, Width int
		Want                    map[string]float64
	}
	Boxes []struct {
		Name               string
		Predicted, Targets [][]box
		Want               map[string]float64
	}
}

// box is a box as a list of its fields.
type box metric.Box

func (b *box) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&b.Left, &b.Top, &b.Right, &b.Bottom, &b.Class, &b.Score, &b.Crowd})
}

func boxes(items [][]box) [][]metric.Box {
	list := make([][]metric.Box, len(items))
	for i, item := range items {
		for _, b := range item {
			list[i] = append(list[i], metric.Box(b))
		}
	}
	return list
}

func readReference(t *testing.T) *reference { return readJSON[reference](t, "reference.json") }

func readJSON[T any](t *testing.T, name string) *T {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	x := new(T)
	if err := json.Unmarshal(data, x); err != nil {
		t.Fatal(err)
	}
	return x
}

// compare compares the values of an output with the reference. Each value of the reference must have
// a metric of its name. It adds the names that were compared to seen.
func compare[O any](t *testing.T, name string, o O, list []metric.Metric[O], want map[string]float64, seen map[string]bool) {
	compareWithin(t, 1e-9, name, o, list, want, seen)
}

// compareWithin is compare with a tolerance, which is relative for values above 1.
func compareWithin[O any](t *testing.T, tolerance float64, name string, o O, list []metric.Metric[O], want map[string]float64, seen map[string]bool) {
	t.Run(name, func(t *testing.T) {
		left := len(want)
		for _, m := range list {
			w, ok := want[m.Name]
			if !ok {
				continue
			}
			left--
			seen[m.Name] = true
			c := m.New()
			c.Add(o)
			if err := metric.Err(c); err != nil {
				t.Errorf("%s: %v", m.Name, err)
			}
			if got := c.Value(); !(math.Abs(got-w) <= tolerance*max(1, math.Abs(w))) {
				t.Errorf("%s: %v, want %v", m.Name, got, w)
			}
		}
		if left != 0 {
			t.Errorf("%d values of the reference have no metric: %v", left, want)
		}
	})
}

// checkSeen asserts that each metric was compared with a reference.
func checkSeen[O any](t *testing.T, list []metric.Metric[O], seen map[string]bool, without ...string) {
	t.Helper()
	for _, name := range without {
		seen[name] = true
	}
	for _, m := range list {
		if !seen[m.Name] {
			t.Errorf("no reference has a value of %s", m.Name)
		}
	}
}

func TestReference(t *testing.T) {
	r := readReference(t)
	t.Run("classes", func(t *testing.T) {
		seen := map[string]bool{}
		for _, c := range r.Classes {
			o := metric.Classes{Scores: c.Scores, Targets: c.Targets, Ignore: []int64{99}}
			compare(t, c.Name, o, classMetrics, c.Want, seen)
			m := metric.ConfusionMatrix().New().(*metric.Confusion)
			if m.Add(o); !reflect.DeepEqual(m.Matrix(), c.Matrix) {
				t.Errorf("%s: matrix %v, want %v", c.Name, m.Matrix(), c.Matrix)
			}
			k := len(c.Scores) / len(c.Targets)
			if k > 2 {
				tokens := metric.Tokens(o)
				compare(t, c.Name+" as tokens", tokens, tokenMetrics, map[string]float64{
					"token accuracy": c.Want["accuracy"], "perplexity": math.Exp(c.Want["log loss"]),
				}, map[string]bool{})
			}
		}
		checkSeen(t, classMetrics, seen, "loss", "confusion matrix")
	})
	t.Run("labels", func(t *testing.T) {
		seen := map[string]bool{}
		for _, c := range r.Labels {
			compare(t, c.Name, metric.Labels{Scores: c.Scores, Targets: c.Targets, Labels: c.Labels}, labelMetrics, c.Want, seen)
		}
		checkSeen(t, labelMetrics, seen)
	})
	t.Run("values", func(t *testing.T) {
		seen := map[string]bool{}
		for _, c := range r.Values {
			compare(t, c.Name, metric.Values{Predicted: c.Predicted, Targets: c.Targets, Width: c.Width}, valueMetrics, c.Want, seen)
		}
		checkSeen(t, valueMetrics, seen)
	})
	t.Run("texts", func(t *testing.T) {
		seen := map[string]bool{}
		for _, c := range r.Texts {
			compare(t, c.Name, metric.Texts{Predicted: c.Predicted, References: c.References}, textMetrics, c.Want, seen)
		}
		checkSeen(t, textMetrics, seen)
	})
	t.Run("masks", func(t *testing.T) {
		seen := map[string]bool{}
		for _, c := range r.Masks {
			o := metric.Masks{Scores: c.Scores, Targets: c.Targets, Pixels: c.Pixels, Ignore: []int64{255}}
			compare(t, c.Name, o, maskMetrics, c.Want, seen)
		}
		checkSeen(t, maskMetrics, seen)
	})
	t.Run("pictures", func(t *testing.T) {
		seen := map[string]bool{}
		for _, c := range r.Pictures {
			o := metric.Pictures{Predicted: c.Predicted, Targets: c.Targets, Channels: c.Channels, Height: c.Height, Width: c.Width}
			compare(t, c.Name, o, pictureMetrics, c.Want, seen)
		}
		checkSeen(t, pictureMetrics, seen)
	})
	t.Run("boxes", func(t *testing.T) {
		seen := map[string]bool{}
		for _, c := range r.Boxes {
			compare(t, c.Name, metric.Boxes{Predicted: boxes(c.Predicted), Targets: boxes(c.Targets)}, boxMetrics, c.Want, seen)
		}
		checkSeen(t, boxMetrics, seen)
	})
}

// TestTorchmetrics compares metrics with what torchmetrics computes of the same outputs, see testdata/make_torchmetrics.py.
// It rounds sums to float32.
func TestTorchmetrics(t *testing.T) {
	const tolerance = 5e-7
	r := readReference(t)
	want := *readJSON[map[string]map[string]map[string]float64](t, "torchmetrics.json") // of kinds of outputs, outputs and metrics
	seen := map[string]bool{}
	for _, c := range r.Classes {
		o := metric.Classes{Scores: c.Scores, Targets: c.Targets, Ignore: []int64{99}}
		compareWithin(t, tolerance, c.Name, o, classMetrics, want["classes"][c.Name], seen)
	}
	for _, c := range r.Labels {
		compareWithin(t, tolerance, c.Name, metric.Labels{Scores: c.Scores, Targets: c.Targets, Labels: c.Labels}, labelMetrics, want["labels"][c.Name], seen)
	}
	for _, c := range r.Values {
		compareWithin(t, tolerance, c.Name, metric.Values{Predicted: c.Predicted, Targets: c.Targets, Width: c.Width}, valueMetrics, want["values"][c.Name], seen)
	}
	for _, c := range r.Texts {
		of := map[bool]map[string]float64{false: {}, true: {}} // of all references, and of the first one
		for name, w := range want["texts"][c.Name] {
			name, first := strings.CutSuffix(name, " of the first reference")
			of[first][name] = w
		}
		compareWithin(t, tolerance, c.Name, metric.Texts{Predicted: c.Predicted, References: c.References}, textMetrics, of[false], seen)
		var first [][]string
		for _, list := range c.References {
			first = append(first, list[:1])
		}
		compareWithin(t, tolerance, c.Name+", first reference", metric.Texts{Predicted: c.Predicted, References: first}, textMetrics, of[true], seen)
	}
	for _, c := range r.Masks {
		o := metric.Masks{Scores: c.Scores, Targets: c.Targets, Pixels: c.Pixels, Ignore: []int64{255}}
		compareWithin(t, tolerance, c.Name, o, maskMetrics, want["masks"][c.Name], seen)
	}
	for _, c := range r.Pictures {
		o := metric.Pictures{Predicted: c.Predicted, Targets: c.Targets, Channels: c.Channels, Height: c.Height, Width: c.Width}
		compareWithin(t, tolerance, c.Name, o, pictureMetrics, want["pictures"][c.Name], seen)
	}
	if len(seen) != 45 {
		t.Errorf("%d metrics were compared: %v", len(seen), slices.Sorted(maps.Keys(seen)))
	}
}
