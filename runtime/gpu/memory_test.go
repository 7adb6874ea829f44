package gpu

import (
	"math"
	"testing"
)

// TestCounts asserts that kernels do not get numbers, or memory, that they would count wrongly.
func TestCounts(t *testing.T) {
	for _, c := range []struct {
		arg Arg
		ok  bool
	}{
		{Int(math.MaxInt32), true}, {Int(math.MinInt32), true},
		{Arg{number: 1 << 31}, false}, {Arg{number: 1 << 63}, false},
		{Arg{number: 1 << 31, kind: isWide}, true}, {Wide(-1), true},
		{In(make([]struct{}, maxElements)), true}, {In(make([]struct{}, maxElements+1)), false},
		{Arg{number: 1 << 40, kind: isWritten}, false},
	} {
		if err := c.arg.check(); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.arg, err)
		}
	}
}
