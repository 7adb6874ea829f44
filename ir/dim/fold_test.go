package dim

import (
	"fmt"
	"strings"
	"testing"
)

func TestFold(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"0", "0"},
		{"3-2*N*S", "3 2 N * S * -"},
		{"-N", "-1 N *"},
		{"max(N/2,S,1)", "S N 2 / 1 max"},
		{"min(S,N*N)+N", "N N N * S min +"},
	} {
		t.Run(c.in, func(t *testing.T) {
			if got, err := Fold(must(t, c.in), polish{}); got != c.want || err != nil {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
	if _, err := Fold(Sym(""), polish{}); err == nil {
		t.Error("poison folds without an error")
	}
}

// polish folds a Dim to reverse Polish notation.
type polish struct{}

func (polish) Const(n int64) string { return fmt.Sprint(n) }

func (polish) Sym(name string) string { return name }

func (polish) Add(a, b string) string { return a + " " + b + " +" }

func (polish) Sub(a, b string) string { return a + " " + b + " -" }

func (polish) Mul(a, b string) string { return a + " " + b + " *" }

func (polish) FloorDiv(a, b string) string { return a + " " + b + " /" }

func (polish) Min(args ...string) string { return strings.Join(args, " ") + " min" }

func (polish) Max(args ...string) string { return strings.Join(args, " ") + " max" }
