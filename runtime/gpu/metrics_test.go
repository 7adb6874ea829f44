package gpu

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/learn"
	"github.com/burngen/burngen/runtime/metric"
	"github.com/burngen/burngen/runtime/rt"
)

// still is a trainer that learns nothing.
type still struct{ params *rt.Params }

func (s still) Params() *rt.Params         { return s.params }
func (s still) State(state *rt.State)      { s.params.State(state) }
func (s still) SetContext(context.Context) {}

// TestMetricsDoNotWait trains and validates with a device. A batch waits for the device once, when its results are
// copied to the host, and metrics read them there. The calls of the device's queue are the same with any metrics.
func TestMetricsDoNotWait(t *testing.T) {
	const items, batch, epochs = 20, 4, 3
	type set = data.Set[[3]float32, int64]
	fitted := func(metrics ...metric.Metric[metric.Classes]) (counts string) {
		f, r := opened(t)
		arena, w := make([]byte, 256), &nothing{}
		doubled(t, r, arena, w, make([]float32, 3*batch)) // also waits until weights are on the device
		clear(f.counts)
		waits := 0
		scores := func(b *set) (metric.Classes, error) {
			if got := f.counts["wait"]; got != waits {
				t.Errorf("%d metrics: %d waits for %d batches", len(metrics), got, waits)
			}
			waits++
			y, _ := doubled(t, r, arena, w, rt.Flat[float32](b.X))
			return metric.Classes{Loss: 1, Scores: y, Targets: b.Y}, nil
		}
		params, err := rt.NewParams([]rt.Param{{Name: "w", Shape: []int{1}}})
		if err != nil {
			t.Fatal(err)
		}
		l, err := learn.New(still{params}, learn.Task[set, metric.Classes]{Step: scores, Eval: scores}, learn.Options{Epochs: epochs}, metrics...)
		if err != nil {
			t.Fatal(err)
		}
		numbers := make([]int, items)
		for i := range numbers {
			numbers[i] = i
		}
		put := data.Pairs(func(i int, x *[3]float32, y *int64, _ *rand.Rand) error {
			*x, *y = [3]float32{float32(i % 5), float32(i % 3), 1}, int64(i%3)
			return nil
		})
		loader := data.Load(data.Of(numbers), put, data.LoaderOptions{Batch: batch})
		if _, err := l.Fit(t.Context(), loader, loader); err != nil {
			t.Fatal(err)
		}
		if got := f.counts["wait"]; got != waits || waits != 2*epochs*items/batch {
			t.Errorf("%d metrics: %d waits for %d batches", len(metrics), got, waits)
		}
		r.free()
		r.program.forgetAll()
		return fmt.Sprint(f.counts)
	}
	none := fitted()
	many := fitted(metric.Accuracy(), metric.TopK(2), metric.F1(metric.Macro), metric.ConfusionMatrix(), metric.AUROC(), metric.LogLoss(), metric.Kappa())
	if none != many {
		t.Errorf("the queue of the device: %s with 7 metrics, %s without", many, none)
	}
}
