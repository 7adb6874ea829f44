package exec_test

import (
	"context"
	"strings"
	"testing"
)

// TestRefuses asserts that a function with calls of the user's functions is refused before it runs.
func TestRefuses(t *testing.T) {
	m := machine(t, `
func @f(%x: f32[2]) -> (y: f32[2]) {
  %a = invoke %x {func="g"} : f32[2]
  %y = exp %a : f32[2]
  return %y
}

func @g(%x: f32[2]) -> (y: f32[2]) {
  %y = custom %x {name="Double" func="ops.Double" type="(f32[N]) -> f32[N]"} : f32[2]
  return %y
}`)
	if _, _, err := m.Run(context.Background(), []any{make([]float32, 2)}, [][]int{{2}}); err == nil || !strings.Contains(err.Error(), "Double") {
		t.Errorf("error %v", err)
	}
}
