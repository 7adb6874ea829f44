package dim

import (
	"strings"
	"testing"
)

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", "dim: offset 0: want an integer or a symbol, not end"},
		{"N+", "dim: offset 2: want an integer or a symbol, not end"},
		{"N S", "dim: offset 2: unexpected 'S'"},
		{"(N", "dim: offset 2: want ')', not end"},
		{"N)", "dim: offset 1: unexpected ')'"},
		{"2N", "dim: offset 0: \"2N\" is not a 64-bit integer"},
		{"9223372036854775808", "dim: offset 0: \"9223372036854775808\" is not a 64-bit integer"},
		{"floor(N)", "dim: offset 7: want '/', not ')'"},
		{"ceil(N/2*3)", "dim: offset 8: want ')', not '*'"},
		{"floor(N/2+1)", "dim: offset 9: want ')', not '+'"},
		{"min()", "dim: offset 4: want an integer or a symbol, not ')'"},
		{"sqrt(N)", "dim: offset 4: no function \"sqrt\""},
		{"N·2", "dim: offset 1: unexpected '·'"},
		{strings.Repeat("(", 1000), "dim: offset 128: nested more than 128 deep"},
	} {
		t.Run(c.in, func(t *testing.T) {
			if _, err := Parse(c.in); err == nil || err.Error() != c.want {
				t.Errorf("got %v", err)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"N", "2*S+1", "floor((H+1)/2)", "ceil(N/S)", "min(N,max(S,3),K)%7", "-9223372036854775808", "N/0", "overflow", "N+-9223372036854775808*S",
		"(N+S)*(N-S)/(N*S)", "((((N%2)%3)%5)%7)", "max(N%S,S%N)/(N-S)", "x.y_1/-3", "(a+b+c+d)*(a+b+c+d)*(a+b+c+d)*(a+b+c+d)",
		"(N/S+K)/S/(K*K)", "1/(N-N)", "min(9223372036854775807,N)+9223372036854775807",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := Parse(s)
		if err != nil {
			return
		}
		back, err := Parse(d.String())
		if err != nil || !back.Equal(d) {
			t.Fatalf("%s: read back as %s, %v", d, back, err)
		}
		env := func(string) (int64, bool) { return 3, true }
		lo, hi := d.Bounds()
		if n, err := d.Eval(env); err == nil && (n < lo || n > hi) {
			t.Fatalf("%s is %d, bounds %d, %d", d, n, lo, hi)
		}
	})
}
