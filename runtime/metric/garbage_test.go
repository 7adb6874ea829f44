package metric_test

import (
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/metric"
	"pgregory.net/rapid"
)

// Numbers and lists of any length, most of which do not fit together.
var (
	anyFloat   = rapid.OneOf(rapid.SampledFrom([]float32{0, 1, nan, inf, -inf, math.MaxFloat32}), rapid.Float32())
	anyFloats  = rapid.SliceOfN(anyFloat, 0, 9)
	anyInteger = rapid.OneOf(rapid.Int64Range(-2, 3), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64}))
	anyTargets = rapid.SliceOfN(anyInteger, 0, 9)
	anyExtent  = rapid.Map(anyInteger, func(n int64) int { return int(n) })
	anyKind    = rapid.Map(rapid.IntRange(-1, 2), func(n int) metric.ScoreKind { return metric.ScoreKind(n) })
	anyText    = rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", " ", "\xff", "a\x00b"}))
	anyBox     = rapid.Custom(func(r *rapid.T) metric.Box {
		f := func(name string) float32 { return anyFloat.Draw(r, name) }
		return metric.Box{
			Left: f("left"), Top: f("top"), Right: f("right"), Bottom: f("bottom"), Score: f("score"),
			Class: anyInteger.Draw(r, "class"), Crowd: rapid.Bool().Draw(r, "crowd"),
		}
	})
	anyBoxes = rapid.SliceOfN(rapid.SliceOfN(anyBox, 0, 2), 0, 2)
)

func anyClasses(r *rapid.T) metric.Classes {
	return metric.Classes{
		Scores: anyFloats.Draw(r, "scores"), Targets: anyTargets.Draw(r, "targets"),
		Ignore: anyTargets.Draw(r, "ignore"), Kind: anyKind.Draw(r, "kind"),
	}
}

// TestGarbage asserts that no output makes a counter panic. After an error the value is NaN.
func TestGarbage(t *testing.T) {
	testGarbage(t, classMetrics, anyClasses)
	testGarbage(t, tokenMetrics, func(r *rapid.T) metric.Tokens { return metric.Tokens(anyClasses(r)) })
	testGarbage(t, labelMetrics, func(r *rapid.T) metric.Labels {
		return metric.Labels{
			Scores: anyFloats.Draw(r, "scores"), Targets: anyFloats.Draw(r, "targets"), Labels: anyExtent.Draw(r, "labels"),
			Threshold: anyFloat.Draw(r, "threshold"), Kind: anyKind.Draw(r, "kind"),
		}
	})
	testGarbage(t, valueMetrics, func(r *rapid.T) metric.Values {
		return metric.Values{Predicted: anyFloats.Draw(r, "predicted"), Targets: anyFloats.Draw(r, "targets"), Width: anyExtent.Draw(r, "width")}
	})
	testGarbage(t, textMetrics, func(r *rapid.T) metric.Texts {
		return metric.Texts{
			Predicted:  rapid.SliceOfN(anyText, 0, 3).Draw(r, "predicted"),
			References: rapid.SliceOfN(rapid.SliceOfN(anyText, 0, 2), 0, 3).Draw(r, "references"),
		}
	})
	testGarbage(t, maskMetrics, func(r *rapid.T) metric.Masks {
		c := anyClasses(r)
		return metric.Masks{Scores: c.Scores, Targets: c.Targets, Ignore: c.Ignore, Kind: c.Kind, Pixels: anyExtent.Draw(r, "pixels")}
	})
	testGarbage(t, pictureMetrics, func(r *rapid.T) metric.Pictures {
		return metric.Pictures{
			Predicted: anyFloats.Draw(r, "predicted"), Targets: anyFloats.Draw(r, "targets"), Range: float64(anyFloat.Draw(r, "range")),
			Channels: anyExtent.Draw(r, "channels"), Height: anyExtent.Draw(r, "height"), Width: anyExtent.Draw(r, "width"),
		}
	})
	testGarbage(t, boxMetrics, func(r *rapid.T) metric.Boxes {
		return metric.Boxes{Predicted: anyBoxes.Draw(r, "predicted"), Targets: anyBoxes.Draw(r, "targets")}
	})
}

func testGarbage[O metric.Output](t *testing.T, list []metric.Metric[O], draw func(*rapid.T) O) {
	rapid.Check(t, func(r *rapid.T) {
		outputs := []O{draw(r), draw(r)}
		for _, m := range list {
			c := m.New()
			for _, o := range outputs {
				if _, items := o.Lost(); items < 0 {
					r.Errorf("%d items", items)
				}
				c.Add(o)
			}
			if v := c.Value(); metric.Err(c) != nil && !math.IsNaN(v) {
				r.Errorf("%s: value %v after the error %v", m.Name, v, metric.Err(c))
			}
			_ = c.(metric.Texter).Text()
		}
	})
}
