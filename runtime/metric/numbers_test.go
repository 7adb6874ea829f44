package metric_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/metric"
	"github.com/burngen/burngen/runtime/rt"
	"pgregory.net/rapid"
)

// TestHostileStates restores states with changed numbers. Each must be refused or give a counter that
// works.
func TestHostileStates(t *testing.T) {
	t.Run("classes", func(t *testing.T) { testHostileStates(t, classes) })
	t.Run("labels", func(t *testing.T) { testHostileStates(t, labels) })
	t.Run("values", func(t *testing.T) { testHostileStates(t, values) })
	t.Run("texts", func(t *testing.T) { testHostileStates(t, texts) })
	t.Run("boxes", func(t *testing.T) { testHostileStates(t, detections) })
}

func testHostileStates[O any](t *testing.T, k kind[O]) {
	for _, m := range k.metrics {
		t.Run(m.Name, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				o := k.draw(r)
				c := m.New()
				c.Add(o)
				saved, err := rt.CollectState(map[string]rt.Stater{"metric": c})
				if err != nil {
					r.Fatal(err)
				}
				data := slices.Clone(saved.Raw("metric/counts"))
				for range rapid.IntRange(1, 3).Draw(r, "changes") {
					at := 8 * rapid.IntRange(0, len(data)/8-1).Draw(r, "at")
					v := rapid.OneOf(rapid.SampledFrom([]uint64{0, 1, 2, 3, 1 << 62, 1 << 63, 0x7ff8 << 48}), rapid.Uint64()).Draw(r, "number")
					binary.LittleEndian.PutUint64(data[at:], v)
				}
				data = data[:rapid.IntRange(0, len(data)).Draw(r, "length")]
				w := rt.NewWeights()
				rt.Add(w, "metric/kind", []byte(m.Name), len(m.Name))
				rt.Add(w, "metric/counts", data, len(data))
				d := m.New()
				before := d.Value()
				if err := rt.RestoreState(w, map[string]rt.Stater{"metric": d}); err != nil {
					if got := d.Value(); !same(got, before) {
						r.Errorf("a refused state changed the value to %v", got)
					}
					return
				}
				d.Value()
				d.Add(o)
				d.(metric.Merger[O]).Merge(c)
				d.Value()
				_ = d.(metric.Texter).Text()
			})
		})
	}
}
