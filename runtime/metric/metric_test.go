package metric_test

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	_ "github.com/burngen/burngen/internal/seeded"
	"github.com/burngen/burngen/runtime/metric"
	"github.com/burngen/burngen/runtime/rt"
	"pgregory.net/rapid"
)

// All metrics, by the type of their outputs.
var (
	classMetrics = slices.Concat([]metric.Metric[metric.Classes]{
		metric.Loss[metric.Classes](), metric.Accuracy(), metric.TopK(3), metric.ConfusionMatrix(), metric.Kappa(),
		metric.MCC(), metric.Calibration(15), metric.LogLoss(), metric.AUROC(), metric.AUPRC(),
		metric.Precision(metric.Class(1)), metric.Recall(metric.Class(1)), metric.F1(metric.Class(1)),
	}, averaged(metric.Precision), averaged(metric.Recall), averaged(metric.F1), averaged(metric.Jaccard),
		averaged(func(a metric.Average) metric.Metric[metric.Classes] { return metric.FBeta(2, a) }))
	labelMetrics = slices.Concat([]metric.Metric[metric.Labels]{
		metric.Hamming(), metric.ExactMatch(), metric.LabelAUROC(), metric.LabelAUPRC(),
		metric.LabelPrecision(metric.Class(1)), metric.LabelRecall(metric.Class(1)), metric.LabelF1(metric.Class(1)),
	}, averaged(metric.LabelPrecision), averaged(metric.LabelRecall), averaged(metric.LabelF1), averaged(metric.LabelJaccard),
		averaged(func(a metric.Average) metric.Metric[metric.Labels] { return metric.LabelFBeta(2, a) }))
	valueMetrics = []metric.Metric[metric.Values]{
		metric.MSE(), metric.RMSE(), metric.MAE(), metric.MAPE(), metric.R2(), metric.Pearson(), metric.Spearman(),
	}
	tokenMetrics = []metric.Metric[metric.Tokens]{metric.Perplexity(), metric.TokenAccuracy()}
	textMetrics  = []metric.Metric[metric.Texts]{
		metric.BLEU(), metric.ChrF(0), metric.ChrF(2), metric.ROUGE(1), metric.ROUGE(2), metric.ROUGEL(), metric.CER(), metric.WER(),
	}
	maskMetrics    = append(averaged(metric.Dice), averaged(metric.IoU)...)
	pictureMetrics = []metric.Metric[metric.Pictures]{metric.PSNR(), metric.SSIM()}
	boxMetrics     = []metric.Metric[metric.Boxes]{metric.MeanAP(), metric.MeanAP(0.5), metric.MeanAP(0.75)}
)

// averaged returns the metric of each average over classes.
func averaged[O any](f func(metric.Average) metric.Metric[O]) []metric.Metric[O] {
	return []metric.Metric[O]{f(metric.Macro), f(metric.Micro), f(metric.Weighted)}
}

// kind is a type of outputs for tests.
type kind[O any] struct {
	metrics []metric.Metric[O]
	draw    func(*rapid.T) O
	items   func(O) int
	part    func(o O, from, to int) O // some items
}

var (
	small   = rapid.IntRange(0, 3)
	scoreOf = rapid.Map(rapid.IntRange(-12, 12), func(n int) float32 { return float32(n) / 4 })
)

// scores draws n scores, of which many are equal.
func scores(r *rapid.T, n int) []float32 {
	return rapid.SliceOfN(scoreOf, n, n).Draw(r, "scores")
}

func targets(r *rapid.T, n int, values ...int64) []int64 {
	return rapid.SliceOfN(rapid.SampledFrom(values), n, n).Draw(r, "targets")
}

func floats(r *rapid.T, n int, values ...float32) []float32 {
	return rapid.SliceOfN(rapid.SampledFrom(values), n, n).Draw(r, "targets")
}

const padding = -100

var nan = float32(math.NaN())

func drawClasses(r *rapid.T) metric.Classes {
	n, k := rapid.IntRange(0, 12).Draw(r, "items"), rapid.SampledFrom([]int{1, 2, 4}).Draw(r, "classes")
	o := metric.Classes{Loss: 0.5, Scores: scores(r, n*k), Targets: targets(r, n, 0, 1, padding), Ignore: []int64{padding}}
	if rapid.Bool().Draw(r, "probabilities") {
		o.Kind = metric.Probabilities
		for i, s := range o.Scores {
			o.Scores[i] = (s + 3) / 6
		}
	}
	return o
}

func partOfClasses(o metric.Classes, from, to int) metric.Classes {
	if len(o.Targets) > 0 {
		k := len(o.Scores) / len(o.Targets)
		o.Scores, o.Targets = o.Scores[from*k:to*k], o.Targets[from:to]
	}
	return o
}

var classes = kind[metric.Classes]{classMetrics, drawClasses, func(o metric.Classes) int { return len(o.Targets) }, partOfClasses}

var tokens = kind[metric.Tokens]{tokenMetrics,
	func(r *rapid.T) metric.Tokens { return metric.Tokens(drawClasses(r)) },
	func(o metric.Tokens) int { return len(o.Targets) },
	func(o metric.Tokens, from, to int) metric.Tokens {
		return metric.Tokens(partOfClasses(metric.Classes(o), from, to))
	},
}

var labels = kind[metric.Labels]{labelMetrics,
	func(r *rapid.T) metric.Labels {
		n := rapid.IntRange(0, 12).Draw(r, "items")
		return metric.Labels{Scores: scores(r, 3*n), Targets: floats(r, 3*n, 0, 1, nan), Labels: 3, Threshold: 0.25}
	},
	func(o metric.Labels) int { return len(o.Targets) / 3 },
	func(o metric.Labels, from, to int) metric.Labels {
		o.Scores, o.Targets = o.Scores[3*from:3*to], o.Targets[3*from:3*to]
		return o
	},
}

var values = kind[metric.Values]{valueMetrics,
	func(r *rapid.T) metric.Values {
		n := rapid.IntRange(0, 12).Draw(r, "items")
		return metric.Values{Predicted: scores(r, 2*n), Targets: floats(r, 2*n, -1, 0.5, 2, 7, nan), Width: 2}
	},
	func(o metric.Values) int { return len(o.Targets) / 2 },
	func(o metric.Values, from, to int) metric.Values {
		o.Predicted, o.Targets = o.Predicted[2*from:2*to], o.Targets[2*from:2*to]
		return o
	},
}

var texts = kind[metric.Texts]{textMetrics,
	func(r *rapid.T) metric.Texts {
		text := rapid.StringMatching(`([ab]{1,2}[ .,]){0,6}`)
		refs := rapid.SliceOfN(text, 1, 2)
		n := rapid.IntRange(0, 6).Draw(r, "items")
		return metric.Texts{
			Predicted:  rapid.SliceOfN(text, n, n).Draw(r, "predicted"),
			References: rapid.SliceOfN(refs, n, n).Draw(r, "references"),
		}
	},
	func(o metric.Texts) int { return len(o.Predicted) },
	func(o metric.Texts, from, to int) metric.Texts {
		o.Predicted, o.References = o.Predicted[from:to], o.References[from:to]
		return o
	},
}

var masks = kind[metric.Masks]{maskMetrics,
	func(r *rapid.T) metric.Masks {
		n, k := rapid.IntRange(0, 5).Draw(r, "items"), rapid.SampledFrom([]int{1, 3}).Draw(r, "classes")
		return metric.Masks{Scores: scores(r, 4*k*n), Targets: targets(r, 4*n, 0, 1, padding), Pixels: 4, Ignore: []int64{padding}}
	},
	func(o metric.Masks) int { return len(o.Targets) / 4 },
	func(o metric.Masks, from, to int) metric.Masks {
		if len(o.Targets) > 0 {
			k := 4 * len(o.Scores) / len(o.Targets)
			o.Scores, o.Targets = o.Scores[k*from:k*to], o.Targets[4*from:4*to]
		}
		return o
	},
}

var pictures = kind[metric.Pictures]{pictureMetrics,
	func(r *rapid.T) metric.Pictures {
		const size = 11 * 12
		n := rapid.IntRange(0, 3).Draw(r, "items")
		o := metric.Pictures{Channels: 1, Height: 11, Width: 12, Range: 2}
		seed := rapid.IntRange(1, 1000).Draw(r, "seed")
		for i := range n * size {
			o.Targets = append(o.Targets, float32(i*seed%31)/31)
			o.Predicted = append(o.Predicted, float32(i*(seed+3)%37)/37)
		}
		return o
	},
	func(o metric.Pictures) int { return len(o.Targets) / (11 * 12) },
	func(o metric.Pictures, from, to int) metric.Pictures {
		const size = 11 * 12
		o.Predicted, o.Targets = o.Predicted[size*from:size*to], o.Targets[size*from:size*to]
		return o
	},
}

var detections = kind[metric.Boxes]{boxMetrics,
	func(r *rapid.T) metric.Boxes {
		one := rapid.Custom(func(r *rapid.T) metric.Box {
			left, top := float32(small.Draw(r, "left")), float32(small.Draw(r, "top"))
			return metric.Box{
				Left: left, Top: top, Right: left + 4, Bottom: top + 5, Class: rapid.Int64Range(0, 1).Draw(r, "class"),
				Score: scoreOf.Draw(r, "score"), Crowd: small.Draw(r, "crowd") == 3,
			}
		})
		n := rapid.IntRange(0, 5).Draw(r, "items")
		return metric.Boxes{
			Predicted: rapid.SliceOfN(rapid.SliceOfN(one, 0, 4), n, n).Draw(r, "predicted"),
			Targets:   rapid.SliceOfN(rapid.SliceOfN(one, 0, 3), n, n).Draw(r, "targets"),
		}
	},
	func(o metric.Boxes) int { return len(o.Targets) },
	func(o metric.Boxes, from, to int) metric.Boxes {
		o.Predicted, o.Targets = o.Predicted[from:to], o.Targets[from:to]
		return o
	},
}

// same reports whether two values are the same, up to how sums are rounded.
func same(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || a == b || math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b))
}

// TestLaws asserts of every metric: the value does not depend on the batches and on how parts of the
// data are merged; a saved state continues with the same value; no data give NaN.
func TestLaws(t *testing.T) {
	t.Run("classes", func(t *testing.T) { testLaws(t, classes) })
	t.Run("tokens", func(t *testing.T) { testLaws(t, tokens) })
	t.Run("labels", func(t *testing.T) { testLaws(t, labels) })
	t.Run("values", func(t *testing.T) { testLaws(t, values) })
	t.Run("texts", func(t *testing.T) { testLaws(t, texts) })
	t.Run("masks", func(t *testing.T) { testLaws(t, masks) })
	t.Run("pictures", func(t *testing.T) { testLaws(t, pictures) })
	t.Run("boxes", func(t *testing.T) { testLaws(t, detections) })
}

func testLaws[O any](t *testing.T, k kind[O]) {
	names := map[string]bool{}
	for _, m := range k.metrics {
		if names[m.Name] {
			t.Errorf("two metrics are called %s", m.Name)
		}
		names[m.Name] = true
		t.Run(m.Name, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				o := k.draw(r)
				n := k.items(o)
				whole := m.New()
				if !math.IsNaN(whole.Value()) {
					r.Errorf("a counter without data has the value %v", whole.Value())
				}
				whole.Add(o)
				want := whole.Value()

				batched := m.New()
				var parts []O
				for from := 0; from < n; {
					to := rapid.IntRange(from, n).Draw(r, "to")
					parts = append(parts, k.part(o, from, to))
					from = to
				}
				for _, p := range parts {
					batched.Add(p)
				}
				if got := batched.Value(); !same(got, want) {
					r.Errorf("in %d batches the value is %v, not %v", len(parts), got, want)
				}

				merged := m.New()
				merged.Value() // has no effect
				others := map[metric.Counter[O]]float64{}
				for _, i := range rapid.Permutation(indices(len(parts))).Draw(r, "order") {
					c := m.New()
					c.Add(parts[i])
					others[c] = c.Value()
					merged.(metric.Merger[O]).Merge(c)
				}
				if got := merged.Value(); !same(got, want) {
					r.Errorf("of %d merged counters the value is %v, not %v", len(parts), got, want)
				}
				merged.Add(o)
				for c, before := range others {
					if got := c.Value(); math.Float64bits(got) != math.Float64bits(before) {
						r.Errorf("a counter that was merged into another changed from %v to %v", before, got)
					}
				}

				cut := rapid.IntRange(0, len(parts)).Draw(r, "saved after")
				first, second := m.New(), m.New()
				second.Add(k.part(o, 0, n)) // which the saved state replaces
				for _, p := range parts[:cut] {
					first.Add(p)
				}
				w, err := rt.CollectState(map[string]rt.Stater{"metric": first})
				if err == nil {
					err = rt.RestoreState(w, map[string]rt.Stater{"metric": second})
				}
				if err != nil {
					r.Fatal(err)
				}
				for _, p := range parts[cut:] {
					second.Add(p)
				}
				if got, want := second.Value(), batched.Value(); math.Float64bits(got) != math.Float64bits(want) {
					r.Errorf("continued from a saved state the value is %v, not %v", got, want)
				}
				for _, c := range []metric.Counter[O]{whole, batched, merged, second} {
					if err := metric.Err(c); err != nil {
						r.Error(err)
					}
					if c.(metric.Texter).Text() == "" {
						r.Error("the text is empty")
					}
				}
			})
		})
	}
}

// example is an output whose value was computed by hand.
type example[O any] struct {
	metric metric.Metric[O]
	o      O
	want   float64
}

// check compares the values of examples.
func check[O any](t *testing.T, examples ...example[O]) {
	t.Helper()
	for _, e := range examples {
		if got := value(t, e.metric, e.o); !same(got, e.want) {
			t.Errorf("%s of %v: %v, want %v", e.metric.Name, e.o, got, e.want)
		}
	}
}

// value returns the value of one output.
func value[O any](t *testing.T, m metric.Metric[O], o O) float64 {
	t.Helper()
	c := m.New()
	c.Add(o)
	if err := metric.Err(c); err != nil {
		t.Fatal(err)
	}
	return c.Value()
}

func indices(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func TestStateFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.safetensors")
	c := metric.AUROC().New()
	c.Add(metric.Classes{Scores: []float32{1, -1, 0.5}, Targets: []int64{1, 0, 0}})
	if err := rt.SaveState(path, map[string]rt.Stater{"AUROC": c, "empty": metric.F1(metric.Macro).New()}); err != nil {
		t.Fatal(err)
	}
	d, f := metric.AUROC().New(), metric.F1(metric.Macro).New()
	if err := rt.LoadState(path, map[string]rt.Stater{"AUROC": d, "empty": f}); err != nil {
		t.Fatal(err)
	}
	if d.Value() != 1 || !math.IsNaN(f.Value()) {
		t.Errorf("values %v and %v, want 1 and NaN", d.Value(), f.Value())
	}
	other := metric.AUPRC().New()
	if err := rt.LoadState(path, map[string]rt.Stater{"AUROC": other}); err == nil {
		t.Error("a state of AUROC was loaded into AUPRC")
	}
}
