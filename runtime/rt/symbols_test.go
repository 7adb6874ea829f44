package rt

import (
	"fmt"
	"maps"
	"math"
	"testing"
)

func TestSymbols(t *testing.T) {
	const x, y = "bert: Forward: x", "bert: Forward: y"
	n, s := Sym(0), Sym(1)
	type step struct {
		where string
		shape []int
		want  []int
		err   string
	}
	for _, tt := range []struct {
		name  string
		steps []step
		n, s  int
	}{
		{"bind and agree", []step{
			{x, []int{2, 7, 3}, []int{n, s, 3}, ""},
			{y, []int{7, 2}, []int{s, n}, ""},
		}, 2, 7},
		{"a scalar", []step{{x, nil, nil, ""}}, -1, -1},
		{"extent 0", []step{{x, []int{0}, []int{n}, ""}, {y, []int{1}, []int{n}, y + ": shape [1]: [N] expected, and N is 0 elsewhere"}}, 0, -1},
		{"any extent", []step{{x, []int{5, 2}, []int{AnyDim, n}, ""}}, 2, -1},
		{"rank", []step{{x, []int{2}, []int{n, s, 3, AnyDim}, x + ": shape [2]: [N,S,3,?] expected"}}, -1, -1},
		{"extent", []step{{x, []int{2, 4}, []int{n, 3}, x + ": shape [2 4]: [N,3] expected"}}, 2, -1},
		{"negative", []step{{x, []int{-2}, []int{n}, x + ": shape [-2]: extent 0 is negative"}}, -1, -1},
		{"negative as a symbol's code", []step{{x, []int{-2}, []int{-2}, x + ": shape [-2]: extent 0 is negative"}}, -1, -1},
		{"negative for any", []step{{x, []int{-1}, []int{AnyDim}, x + ": shape [-1]: extent 0 is negative"}}, -1, -1},
		{"twice in one shape", []step{{x, []int{2, 3}, []int{n, n}, x + ": shape [2 3]: [N,N] expected, and N is 2 elsewhere"}}, 2, -1},
		{"between two", []step{
			{x, []int{2, 7}, []int{n, s}, ""},
			{y, []int{2, 8}, []int{n, s}, y + ": shape [2 8]: [N,S] expected, and S is 7 elsewhere"},
		}, 2, 7},
	} {
		t.Run(tt.name, func(t *testing.T) {
			symbols := NewSymbols("N", "S")
			for _, step := range tt.steps {
				wantError(t, symbols.CheckShape(step.where, step.shape, step.want...), step.err)
			}
			if symbols.Value(0) != tt.n || symbols.Value(1) != tt.s {
				t.Errorf("N = %d, S = %d", symbols.Value(0), symbols.Value(1))
			}
			symbols.Reset()
			if symbols.Value(0) != -1 || symbols.Value(1) != -1 {
				t.Error("bound after Reset")
			}
		})
	}
	t.Run("Bind", func(t *testing.T) {
		symbols := NewSymbols("N", "S")
		wantError(t, symbols.Bind(x, 1, 3), "")
		wantError(t, symbols.Bind(x, 1, 3), "")
		wantError(t, symbols.Bind(x, 1, 4), x+": S = 4: it is 3 elsewhere")
		wantError(t, symbols.Bind(x, 0, -1), x+": N = -1: extent is negative")
	})
	t.Run("no allocation", func(t *testing.T) {
		symbols := NewSymbols("N", "S")
		k := 2
		if n := testing.AllocsPerRun(100, func() {
			symbols.Reset()
			if symbols.CheckShape(x, []int{k, 3}, n, s) != nil {
				t.Error("error")
			}
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

func TestMax(t *testing.T) {
	const where = "bert: NewSession"
	for _, tt := range []struct {
		max  Max
		want string
	}{
		{Max{"N": 4, "S": 128}, ""},
		{Max{"N": 4}, ""},
		{nil, ""},
		{Max{"N": 4, "S": 0}, where + `: Max["S"] = 0: 1 or more expected`},
		{Max{"N": 4, "S": math.MinInt}, where + `: Max["S"] = ` + fmt.Sprint(math.MinInt) + `: 1 or more expected`},
		{Max{"N": 4, "S": 1, "T": 1}, where + `: Max["T"]: the model has no such symbol, only [N,S]`},
	} {
		wantError(t, tt.max.Check(where, "N", "S"), tt.want)
	}
	symbols := NewSymbols("N", "S")
	max := Max{"N": 4, "S": 128}
	wantError(t, symbols.CheckMax("bert: Forward", max), "")
	wantError(t, symbols.Bind("x", 0, 4), "")
	wantError(t, symbols.Bind("x", 1, 129), "")
	wantError(t, symbols.CheckMax("bert: Forward", max), "bert: Forward: S = 129: session holds 128 at most")
}

func TestMaxLimits(t *testing.T) {
	for _, tt := range []struct{ m, limits, want Max }{
		{Max{"N": 4, "S": 9}, Max{"N": 8}, Max{"N": 4, "S": 9}},
		{Max{"N": 8}, Max{"N": 4}, Max{"N": 4}},
		{nil, Max{"N": 4}, Max{"N": 4}},
		{Max{"N": 4}, nil, Max{"N": 4}},
	} {
		if got := tt.m.Within(tt.limits); !maps.Equal(got, tt.want) {
			t.Errorf("%v within %v is %v", tt.m, tt.limits, got)
		}
	}
	if got := (Max{"N": 4}).Limit("N"); got != 4 {
		t.Error(got)
	}
	if got := (Max)(nil).Limit("N"); got != math.MaxInt {
		t.Error(got)
	}
}
