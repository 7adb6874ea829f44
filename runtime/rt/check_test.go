package rt

import (
	"errors"
	"fmt"
	"math"
	"testing"
)

// wantError checks the text of an error, "" for none.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if got := fmt.Sprint(err); err == nil && want != "" || err != nil && got != want {
		t.Errorf("error %q, want %q", got, want)
	}
}

func TestChecks(t *testing.T) {
	const where = "digits: Forward"
	for _, tt := range []struct {
		err  error
		want string
	}{
		{CheckBatch(where, 0, 0, 8), ""},
		{CheckBatch(where, 8, 8, 8), ""},
		{CheckBatch(where, 9, 9, 8), "digits: Forward: batch of 9: session holds 8 at most"},
		{CheckBatch(where, 3, 2, 8), "digits: Forward: dst has room for 2: batch of 3"},
		{CheckNil(where, "x", new(int)), ""},
		{CheckNil(where, "x", (*[2]int)(nil)), "digits: Forward: x is nil"},
		{CheckTensor(where, "x", Tensor[int]{make([]int, 6), []int{2, 3}}), ""},
		{CheckTensor(where, "x", Tensor[int]{make([]int, 5), []int{2, 3}}), "digits: Forward: x: tensor: shape [2 3] has 6 elements: data has 5"},
		{CheckLen(where, "x", 784, 784), ""},
		{CheckLen(where, "x", 0, 784), "digits: Forward: x: 784 elements expected, got 0"},
		{CheckDim(where, "axis 1", 7, 7), ""},
		{CheckDim(where, "axis 1", 7, 8), "digits: Forward: axis 1: extent 8 expected, got 7"},
		{CheckBroadcast(where, "axis 1", 7, 8), "digits: Forward: axis 1: extent 1 or 8 expected, got 7"},
		{CheckBroadcast(where, "axis 1", 1, 8), ""},
		{CheckBroadcast(where, "axis 1", 8, 8), ""},
	} {
		wantError(t, tt.err, tt.want)
	}
}

func TestCheckOverlap(t *testing.T) {
	x := make([]int32, 16)
	arena, err := NewArena(64)
	if err != nil {
		t.Fatal(err)
	}
	// spans are the memory of x[i:j], for pairs of i and j.
	spans := func(at ...int) (out []Span) {
		for i := 0; i < len(at); i += 2 {
			out = append(out, SpanOf(x[at[i]:at[i+1]]))
		}
		return out
	}
	const common = "digits: Forward: dst overlaps an input"
	for name, tt := range map[string]struct {
		dst, args []Span
		want      string
	}{
		"itself":                   {spans(0, 16), spans(0, 16), common},
		"halves":                   {spans(0, 8), spans(8, 16), ""},
		"halves the other way":     {spans(8, 16), spans(0, 8), ""},
		"one element in common":    {spans(0, 9), spans(8, 16), common},
		"inside":                   {spans(0, 16), spans(4, 5), common},
		"around":                   {spans(4, 5), spans(0, 16), common},
		"an empty part of it":      {spans(0, 16), spans(4, 4), ""},
		"an empty part in it":      {spans(4, 4), spans(0, 16), ""},
		"nil":                      {spans(0, 16), []Span{SpanOf([]int32(nil))}, ""},
		"other memory":             {spans(0, 16), []Span{SpanOf(make([]int32, 16))}, ""},
		"other types":              {[]Span{SpanOf(View[float32](arena, 0, 4))}, []Span{SpanOf(View[uint8](arena, 15, 1))}, common},
		"other types apart":        {[]Span{SpanOf(View[float32](arena, 0, 4))}, []Span{SpanOf(View[uint8](arena, 16, 1))}, ""},
		"nothing":                  {nil, nil, ""},
		"results that overlap":     {spans(0, 8, 4, 8), spans(8, 16), ""},
		"the last of each":         {spans(0, 1, 4, 6), spans(1, 4, 6, 7, 5, 6), common},
		"between arguments":        {spans(4, 8), spans(8, 16, 0, 2, 2, 4), ""},
		"arguments in arguments":   {spans(6, 7), spans(8, 9, 1, 8, 2, 3), common},
		"after what is in another": {spans(10, 12), spans(2, 3, 1, 8), ""},
	} {
		t.Run(name, func(t *testing.T) {
			wantError(t, CheckOverlap("digits: Forward", "dst", tt.dst, tt.args), tt.want)
		})
	}
	if n := testing.AllocsPerRun(10, func() {
		err = CheckOverlap("digits: Forward", "dst", []Span{SpanOf(x[:4]), SpanOf(x[4:6])}, []Span{SpanOf(x[8:]), SpanOf(x[6:8])})
	}); n != 0 || err != nil {
		t.Errorf("%v allocations, error %v", n, err)
	}
}

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

func TestAt(t *testing.T) {
	cause := errors.New("gather: index 7 out of range [0,5)")
	err := At("/gather/Gather", cause)
	wantError(t, err, `node "/gather/Gather": gather: index 7 out of range [0,5)`)
	var node *NodeError
	if !errors.Is(err, cause) || !errors.As(err, &node) || node.Node != "/gather/Gather" {
		t.Error("not a NodeError of its cause")
	}
	if At("x", nil) != nil {
		t.Error("an error of no error")
	}
}

func TestRecover(t *testing.T) {
	forward := func(f func() error) (err error) {
		defer Recover("digits: Forward", &err)
		return f()
	}
	var none []int
	err := forward(func() error { return fmt.Errorf("%d", none[5]) })
	wantError(t, err, "digits: Forward: panic: runtime error: index out of range [5] with length 0")
	var p *PanicError
	if !errors.As(err, &p) || len(p.Stack) == 0 {
		t.Error("no PanicError with a stack")
	}
	cause := errors.New("cause")
	if err := forward(func() error { panic(cause) }); !errors.Is(err, cause) {
		t.Errorf("%v is not its cause", err)
	}
	wantError(t, forward(func() error { panic("text") }), "digits: Forward: panic: text")
	small := forward(func() error { View[float32](make([]byte, 64), 0, -3); return nil })
	wantError(t, small, "digits: Forward: the arguments are too small: a value on the way would have -3 elements")
	if err := forward(func() error { return cause }); err != cause {
		t.Errorf("an ordinary error became %v", err)
	}
	wantError(t, forward(func() error { return nil }), "")
}

// overlap reports whether a and b have a byte in common.
func overlap[A, B any](a []A, b []B) bool {
	return CheckOverlap("", "", []Span{SpanOf(a)}, []Span{SpanOf(b)}) != nil
}
