package exec_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/gen/target/targettest/text"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// machine returns a machine for the function @f of a module without weights.
func machine(t *testing.T, module string) *exec.Machine {
	t.Helper()
	m, err := ir.Parse(strings.TrimSpace(module)+"\n", op.Set)
	if err != nil {
		t.Fatal(err)
	}
	f, err := program.Compile(m, "f", text.Target{})
	if err != nil {
		t.Fatal(err)
	}
	return exec.New(f, text.Target{}, func(name string) (any, error) { return nil, errors.New("no weights") })
}

const sum = `
func @f(%x: f32[N,2], %z: f32[N,2]) -> (y: f32[N,2]) {
  %a = add %x, %z : f32[N,2]
  %y = mul %a, %x : f32[N,2]
  return %y
}`

func TestRunInto(t *testing.T) {
	m := machine(t, sum)
	x, z, shape := []float32{1, 2, 3, 4}, []float32{5, 6, 7, 8}, []int{2, 2}
	into := make([]float32, 4)
	out, shapes, err := m.RunInto(context.Background(), []any{x, z}, [][]int{shape, shape}, []any{into})
	if err != nil || !slices.Equal(into, []float32{6, 16, 30, 48}) || !slices.Equal(shapes[0], shape) {
		t.Fatalf("%v of shape %v, error %v", into, shapes, err)
	}
	if got := out[0].([]float32); &got[0] != &into[0] {
		t.Error("the result is not in the caller's memory")
	}
	out, _, err = m.Run(context.Background(), []any{x, z}, [][]int{shape, shape})
	if err != nil || !slices.Equal(out[0].([]float32), into) {
		t.Errorf("without memory for the result: %v, error %v", out, err)
	}
}

func TestRunChecksArguments(t *testing.T) {
	m := machine(t, sum)
	x := make([]float32, 4)
	for _, c := range []struct {
		name   string
		second any
		shape  []int
		want   string
	}{
		{"another element type", make([]float64, 4), []int{2, 2}, "%z: 4 elements of f32 expected, got []float64"},
		{"too few elements", make([]float32, 3), []int{2, 2}, "%z: 4 elements of f32 expected"},
		{"too many elements", make([]float32, 5), []int{2, 2}, "%z: 4 elements of f32 expected"},
		{"nothing", nil, []int{2, 2}, "%z: 4 elements of f32 expected, got <nil>"},
		{"another rank", x, []int{4}, "%z"},
		{"another extent", x, []int{1, 4}, "%z"},
		{"a symbol with two values", make([]float32, 6), []int{3, 2}, "N"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := m.Run(context.Background(), []any{x, c.second}, [][]int{{2, 2}, c.shape})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestRunEndsWithTheContext(t *testing.T) {
	m := machine(t, sum)
	cause := errors.New("cause")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	x := make([]float32, 4)
	if _, _, err := m.Run(ctx, []any{x, x}, [][]int{{2, 2}, {2, 2}}); err != cause {
		t.Errorf("error %v", err)
	}
}

// TestRunOfCalls runs a function twice in the memory of its caller, and a result of a shape that is
// known only while it runs.
func TestRunOfCalls(t *testing.T) {
	m := machine(t, `
func @f(%x: f32[N]) -> (y: f32[N], i: i64[1,K]) {
  %a = invoke %x {func="g" scope=[N]} : f32[N]
  %y = invoke %a {func="g" scope=[N]} : f32[N]
  %i = non_zero %y {count="K"} : i64[1,K]
  return %y, %i
}

func @g[N](%x: f32[N]) -> (y: f32[N]) {
  %e = abs %x : f32[N]
  %s = reduce %e {kind="sum" axes=[0]} : f32[]
  %y = mul %x, %s : f32[N]
  return %y
}`)
	out, shapes, err := m.Run(context.Background(), []any{[]float32{1, 0, -2}}, [][]int{{3}})
	if err != nil {
		t.Fatal(err)
	}
	if got := out[0].([]float32); !slices.Equal(got, []float32{27, 0, -54}) {
		t.Errorf("y = %v", got)
	}
	if got := out[1].([]int64); !slices.Equal(got, []int64{0, 2}) || !slices.Equal(shapes[1], []int{1, 2}) {
		t.Errorf("i = %v of shape %v", got, shapes[1])
	}
}
