package dim

import (
	"testing"
)

func TestEvalErrors(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"N+M", "dim: symbol M: no value"},
		{"3/(N-4)", "dim: division by zero"},
		{"N*N*N*N*N*9223372036854775807", "dim: integer overflow"},
	} {
		t.Run(c.in, func(t *testing.T) {
			n, err := must(t, c.in).Eval(func(s string) (int64, bool) { return 4, s == "N" })
			if err == nil || err.Error() != c.want || n != 0 {
				t.Errorf("got %d, %v", n, err)
			}
		})
	}
}
