package arena_test

import (
	"fmt"
	"testing"

	"github.com/burngen/burngen/gen/arena"
	"github.com/burngen/burngen/gen/target/targettest/text"
	"github.com/burngen/burngen/ir/pass"
)

// twice returns a module whose result y reads a value early and late, and between them a matrix that
// is count times as large.
func twice(value string, count int) string {
	return fmt.Sprintf(`func @step(%%x: f32[N,64,64]) -> (y: f32[N,64,64], z: f32[N,64]) {
  %%v = %s : f32[N,64,64]
  %%z = reduce %%v {kind="sum" axes=[2]} : f32[N,64]
  %%large = strided_copy %%x {shape=[N,%[2]d,64,64] strides=[4096,0,64,1]} : f32[N,%[2]d,64,64]
  %%sum = reduce %%large {kind="sum" axes=[1]} : f32[N,64,64]
  %%y = add %%sum, %%v : f32[N,64,64]
  return %%y, %%z
}
`, value, count)
}

func TestRecomputeValues(t *testing.T) {
	trained := []string{"step"}
	for _, c := range []struct {
		name   string
		text   string
		ctx    pass.Context
		values int
	}{
		{"a cheap value", twice("exp %x", 8), pass.Context{Trained: trained}, 1},
		{"a function that does not train", twice("exp %x", 8), pass.Context{}, 0},
		{"nothing is recomputed", twice("exp %x", 8), pass.Context{Trained: trained, Remat: pass.RematNone}, 0},
		{"a product is kept", twice("mat_mul %x, %x", 8), pass.Context{Trained: trained}, 0},
		{"a product is computed twice", twice("mat_mul %x, %x", 8), pass.Context{Trained: trained, Remat: pass.RematAll}, 1},
		{"there is room", twice("exp %x", 8), pass.Context{Trained: trained, Room: 1 << 30}, 0},
		{"a cheap value, without room", twice("exp %x", 8), pass.Context{Trained: trained, Room: 1}, 1},
		{"a product, without room", twice("mat_mul %x, %x", 8), pass.Context{Trained: trained, Room: 1}, 1},
		{"nothing, without room", twice("exp %x", 8), pass.Context{Trained: trained, Room: 1, Remat: pass.RematNone}, 0},
		{"the value is small", twice("exp %x", 1000), pass.Context{Trained: trained}, 0},
		{"there is no such function", twice("exp %x", 8), pass.Context{Trained: []string{"step2"}}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := parse(t, c.text)
			before := m.String()
			c.ctx.Target = text.Target{}
			changed, err := arena.RecomputeValues(text.Target{}).Run(&c.ctx, m)
			if err != nil {
				t.Fatal(err)
			}
			if changed != (c.values > 0) || (m.String() != before) != changed {
				t.Errorf("changed: %t, want %d values\n%s", changed, c.values, m)
			}
			for _, r := range c.ctx.Recomputed {
				if r.Func != "step" || r.Values != c.values || (r.After < r.Before) != changed || !r.IsScaled {
					t.Errorf("report %+v, want %d values", r, c.values)
				}
			}
			if changed && len(c.ctx.Recomputed) != 1 {
				t.Errorf("%d reports", len(c.ctx.Recomputed))
			}
		})
	}
}
