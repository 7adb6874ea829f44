package emit

import (
	"fmt"
	"testing"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/ir/dim"
)

// TestDims prints extents in both ways: as ints, and with checks for overflow.
func TestDims(t *testing.T) {
	for _, c := range []struct{ dim, plain, checked string }{
		{"7", "7", "7"},
		{"-1", "-1", "-1"},
		{"N", "n", "int64(n)"},
		{"4*N+1", "4*n + 1", "z.Add(z.Mul(4, int64(n)), 1)"},
		{"4*(N-1)", "4*n - 4", "z.Sub(z.Mul(4, int64(n)), 4)"},
		{"N*M", "m * n", "z.Mul(int64(m), int64(n))"},
		{"(N+M)/2", "rt.FloorDiv(m+n, 2)", "z.FloorDiv(z.Add(int64(m), int64(n)), 2)"},
		{"3*min(N,M+1)", "3 * min(m+1, n)", "z.Mul(3, z.Min(z.Add(int64(m), 1), int64(n)))"},
		{"max(1,N,M)", "max(m, n, 1)", "z.Max(z.Max(int64(m), int64(n)), 1)"},
	} {
		d, err := dim.Parse(c.dim)
		if err != nil {
			t.Fatal(err)
		}
		f := &function{symbols: map[string]string{"N": "n", "M": "m"}, used: map[string]bool{}, read: map[string]bool{}}
		plain := code(foldDim(d, dim.Algebra[expr](goInt{f})).Statement)
		checked := code(foldDim(d, dim.Algebra[*jen.Statement](sized{f: f, z: "z"})))
		if plain != c.plain {
			t.Errorf("%s: %s, want %s", c.dim, plain, c.plain)
		}
		if checked != c.checked {
			t.Errorf("%s: %s, want %s", c.dim, checked, c.checked)
		}
		for _, s := range d.Symbols() {
			if !f.used[s] {
				t.Errorf("%s: symbol %s is used and not noted", c.dim, s)
			}
		}
	}
}

// code prints an expression.
func code(x *jen.Statement) string { return fmt.Sprintf("%#v", x) }
