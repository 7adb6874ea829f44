package dim

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/burngen/burngen/internal/seeded"
)

func must(t interface{ Fatal(...any) }, s string) Dim {
	d, err := Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestCanonicalForm(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"0", "0"},
		{" 2 * 3 - 7 ", "-1"},
		{"S*2+1", "2*S+1"},
		{"1-N", "1-N"},
		{"-N-1", "-N-1"},
		{"-N*2", "-2*N"},
		{"N-N", "0"},
		{"S*N+N*S", "2*N*S"},
		{"(N+1)*(N-1)", "N*N-1"},
		{"(N+S)*(N-S)+S*S", "N*N"},
		{"enc.len_0*2", "2*enc.len_0"},

		{"(H+1)/2", "floor((H+1)/2)"},
		{"(H+2*1-3)/2+1", "floor((H+1)/2)"},
		{"ceil(H/2)", "floor((H+1)/2)"},
		{"-(-H/2)", "floor((H+1)/2)"},
		{"-floor(-H/32)", "floor((H+31)/32)"},
		{"ceil(-H/2)", "-floor(H/2)"},
		{"ceil(N/S)", "floor((N-1)/S)+1"},
		{"ceil(2*N/(2*S))", "floor((N-1)/S)+1"},
		{"(2*K-1)/(3*K*S)", "0"},
		{"(3*K-1)/(2*K)", "1"},
		{"(K*min(-N,-S)-1)/(min(-N,-S)*min(-N,-K))", "floor((K*min(-N,-S)-1)/(min(-K,-N)*min(-N,-S)))"},
		{"(4*N+3)/(2*S)", "floor((2*N+1)/S)"},
		{"H/-2", "-floor((H+1)/2)"},
		{"(6*H+9)/3", "2*H+3"},
		{"(6*H+2*K+1)/4", "H+floor((H+K)/2)"},
		{"(2*H+1)/4", "floor(H/2)"},
		{"H/2/3/5", "floor(H/30)"},
		{"((H+1)/2+1)/2", "floor((H+3)/4)"},
		{"(H/2+K)/2", "floor((H+2*K)/4)"},
		{"H/S/T", "floor(H/(S*T))"},
		{"N*C/C", "N"},
		{"(N*C+C)/C", "N+1"},
		{"(N*C+1)/C", "N+floor(1/C)"},
		{"N*H*6/(H*4)", "N+floor(N/2)"},
		{"(N*S+N+S+1)/(S+1)", "N+1"},
		{"S*N/(S*S+S)", "floor(N/(S+1))"},
		{"min(N,3)/4", "0"},
		{"0/N", "0"},
		{"N/N", "1"},

		{"N%7", "N-7*floor(N/7)"},
		{"N%7%7", "N-7*floor(N/7)"},
		{"N%14%7", "N-7*floor(N/7)"},
		{"N%7/7", "0"},
		{"(7*N+9)%7", "2"},
		{"-9%7", "5"},
		{"9%-7", "-5"},
		{"W+(7-W%7)%7", "7*floor((W+6)/7)"},
		{"(W+(7-W%7)%7)/7", "floor((W+6)/7)"},

		{"max(N,0)", "N"},
		{"min(N,0)", "0"},
		{"min(N,N+1)", "N"},
		{"max(N,S,N)", "max(N,S)"},
		{"max(3,S,7,N,S)", "max(N,S,7)"},
		{"max(max(N,2),max(S,4))", "max(N,S,4)"},
		{"min(max(N-1,0),N)", "max(N-1,0)"},
		{"min(max(N,3),2)", "2"},
		{"max(N*2,N)", "2*N"},
		{"max(H/2,H)", "H"},
		{"max(N,S,max(N,S)+1)", "max(N,S)+1"},
		{"max(N,N/S,max(N,N/S)+1)", "max(N,floor(N/S))+1"},
		{"max(N%7,7)", "7"},
		{"min(N,max(S,N+1))", "N"},
		{"max(H%S,0)", "H-S*floor(H/S)"},
		{"max(min(N+1,8)-N,0)", "max(min(8-N,1),0)"},
		{"min(max(min(1,8-N),0),8-N)", "min(8-N,max(min(8-N,1),0))"},
		{"max(min(N+max(min(1,8-N),0),8)-N,0)", "max(min(8-N,1),0)"},
	} {
		t.Run(c.in, func(t *testing.T) {
			if got := must(t, c.in).String(); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestPoison(t *testing.T) {
	big := Const64(math.MaxInt64)
	n := Sym("N")
	deep := n
	for range maxDepth {
		deep = deep.Min(Sym("M")).Mul(n).Add(Const(-1))
	}
	long := n
	for i := range maxSize {
		long = long.Add(Sym(fmt.Sprint("s", i)))
	}
	wide := n
	for i := range maxArgs {
		wide = wide.Max(Sym(fmt.Sprint("s", i)))
	}
	power := n
	for range 10 {
		power = power.Mul(power)
	}
	for _, c := range []struct {
		name string
		d    Dim
		want string
	}{
		{"constant sum", big.Add(Const(1)), "overflow"},
		{"constant difference", Const64(math.MinInt64).Sub(Const(1)), "overflow"},
		{"constant product", big.Mul(big), "overflow"},
		{"constant quotient", Const64(math.MinInt64).FloorDiv(Const(-1)), "overflow"},
		{"negated minimum", Const64(math.MinInt64).Neg(), "overflow"},
		{"coefficient sum", n.Mul(big).Add(n), "overflow"},
		{"coefficient product", n.Mul(big).Mul(Const(2)), "overflow"},
		{"floor by zero", n.FloorDiv(Const(0)), "zero_divisor"},
		{"ceil by zero", n.CeilDiv(n.Sub(n)), "zero_divisor"},
		{"mod by zero", Const(1).Mod(Const(0)), "zero_divisor"},
		{"no name", Sym(""), "bad_symbol"},
		{"no identifier", Sym("batch size"), "bad_symbol"},
		{"leading digit", Sym("2N"), "bad_symbol"},
		{"reserved name", Sym("overflow"), "bad_symbol"},
		{"depth", deep, "too_complex"},
		{"size", long, "too_complex"},
		{"arguments", wide, "too_complex"},
		{"degree", power, "too_complex"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.d.String() != c.want || !c.d.Overflow() || c.d.Err() == nil {
				t.Fatalf("got %s, %v", c.d, c.d.Err())
			}
			for _, e := range []Dim{
				c.d.Add(n), n.Add(c.d), c.d.Sub(c.d), c.d.Mul(Const(0)), Const(0).Mul(c.d), c.d.Neg(), c.d.FloorDiv(n),
				n.FloorDiv(c.d), c.d.CeilDiv(n), n.CeilDiv(c.d), c.d.Mod(n), n.Mod(c.d), c.d.Min(n), n.Max(c.d),
				n.Subst(func(string) (Dim, bool) { return c.d, true }), c.d.Subst(func(string) (Dim, bool) { return n, true }),
			} {
				if !e.Equal(c.d) {
					t.Errorf("not absorbed: %s", e)
				}
			}
			if _, err := c.d.Eval(func(string) (int64, bool) { return 1, true }); err == nil {
				t.Error("Eval: no error")
			}
			if lo, hi := c.d.Bounds(); lo != math.MinInt64 || hi != math.MaxInt64 || c.d.NonNegative() {
				t.Errorf("bounds %d, %d", lo, hi)
			}
			if _, _, ok := c.d.Linear("N"); ok {
				t.Error("linear")
			}
			if _, ok := c.d.DivExact(n); ok {
				t.Error("exact quotient")
			}
			if back := must(t, c.d.String()); !back.Equal(c.d) {
				t.Errorf("read back as %s", back)
			}
		})
	}
}

func TestSame(t *testing.T) {
	a, b := must(t, "N-N/2"), must(t, "(N+1)/2")
	if a.Equal(b) || !a.Same(b) || !b.Same(a) {
		t.Errorf("%s and %s", a, b)
	}
	if c := b.Add(Const(1)); a.Same(c) {
		t.Errorf("%s and %s", a, c)
	}
}

func TestConst(t *testing.T) {
	var zero Dim
	if n, ok := zero.Int(); n != 0 || !ok || !zero.IsConst() || !zero.Equal(Const(0)) {
		t.Error("the zero Dim is not 0")
	}
	if n, ok := Const64(math.MinInt64).Int64(); n != math.MinInt64 || !ok {
		t.Errorf("got %d, %v", n, ok)
	}
	if _, ok := Sym("N").Int(); ok {
		t.Error("a symbol is a constant")
	}
	if _, ok := Const64(math.MaxInt64).Int(); ok != (math.MaxInt == math.MaxInt64) {
		t.Errorf("got %v", ok)
	}
	if n := testing.AllocsPerRun(10, func() { Const(3).Mul(Const(4)).Add(Const(5)).FloorDiv(Const(2)).Max(Const(1)) }); n > 3 {
		t.Errorf("constants allocate %v times", n)
	}
	if n := testing.AllocsPerRun(10, func() { Sym("N").Add(Const(0)).Mul(Const(1)).FloorDiv(Const(1)) }); n > 3 {
		t.Errorf("a symbol allocates %v times", n)
	}
}

func TestLinear(t *testing.T) {
	for _, c := range []struct {
		in, coef, rest string
		ok             bool
	}{
		{"3*N+S", "3", "S", true},
		{"N*S*2+N-4", "2*S+1", "-4", true},
		{"S/2", "0", "floor(S/2)", true},
		{"N*(S/2)", "floor(S/2)", "0", true},
		{"N*N", "", "", false},
		{"N+N/2", "", "", false},
		{"max(S,N)", "", "", false},
	} {
		t.Run(c.in, func(t *testing.T) {
			coef, rest, ok := must(t, c.in).Linear("N")
			if ok != c.ok || ok && (coef.String() != c.coef || rest.String() != c.rest) {
				t.Errorf("got %s, %s, %v", coef, rest, ok)
			}
		})
	}
}

func TestDivExact(t *testing.T) {
	for _, c := range []struct {
		in, by, want string
		ok           bool
	}{
		{"N*C", "C", "N", true},
		{"6*N*C+4*C", "2*C", "3*N+2", true},
		{"N*N-1", "N+1", "N-1", true},
		{"12", "-4", "-3", true},
		{"0", "N", "0", true},
		{"7*floor(W/7)", "7", "floor(W/7)", true},
		{"N*C+1", "C", "", false},
		{"3*N", "2", "", false},
		{"N", "0", "", false},
		{"N*N+1", "N+1", "", false},
	} {
		t.Run(c.in+" by "+c.by, func(t *testing.T) {
			q, ok := must(t, c.in).DivExact(must(t, c.by))
			if ok != c.ok || ok && q.String() != c.want {
				t.Errorf("got %s, %v", q, ok)
			}
		})
	}
}

// tree is an expression as written, the reference for canonical forms.
type tree struct {
	op   string // a symbol, or one of the keys of treeOps
	n    int64  // of a constant, which has no op
	l, r *tree
}

var treeOps = map[string]struct {
	build func(a, b Dim) Dim
	value func(a, b *big.Int) *big.Int
}{
	"+":    {Dim.Add, func(a, b *big.Int) *big.Int { return new(big.Int).Add(a, b) }},
	"-":    {Dim.Sub, func(a, b *big.Int) *big.Int { return new(big.Int).Sub(a, b) }},
	"*":    {Dim.Mul, func(a, b *big.Int) *big.Int { return new(big.Int).Mul(a, b) }},
	"/":    {Dim.FloorDiv, bigFloor},
	"ceil": {Dim.CeilDiv, func(a, b *big.Int) *big.Int { f := bigFloor(new(big.Int).Neg(a), b); return f.Neg(f) }},
	"%":    {Dim.Mod, func(a, b *big.Int) *big.Int { f := bigFloor(a, b); return f.Sub(a, f.Mul(f, b)) }},
	"min":  {Dim.Min, func(a, b *big.Int) *big.Int { return bigPick(a, b, a.Cmp(b) < 0) }},
	"max":  {Dim.Max, func(a, b *big.Int) *big.Int { return bigPick(a, b, a.Cmp(b) > 0) }},
}

func bigFloor(a, b *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(a, b, new(big.Int))
	if r.Sign() != 0 && r.Sign() != b.Sign() {
		q.Sub(q, big.NewInt(1))
	}
	return q
}

func bigPick(a, b *big.Int, first bool) *big.Int {
	if first {
		return new(big.Int).Set(a)
	}
	return new(big.Int).Set(b)
}

func (t *tree) dim() Dim {
	switch {
	case t.op == "":
		return Const64(t.n)
	case t.l == nil:
		return Sym(t.op)
	}
	return treeOps[t.op].build(t.l.dim(), t.r.dim())
}

// value reports false where the tree divides by zero.
func (t *tree) value(env map[string]int64) (*big.Int, bool) {
	switch {
	case t.op == "":
		return big.NewInt(t.n), true
	case t.l == nil:
		return big.NewInt(env[t.op]), true
	}
	a, aok := t.l.value(env)
	b, bok := t.r.value(env)
	if !aok || !bok || b.Sign() == 0 && strings.Contains("/ceil%", t.op) {
		return nil, false
	}
	return treeOps[t.op].value(a, b), true
}

var trees = func() *rapid.Generator[*tree] {
	leaf := rapid.OneOf(
		rapid.Map(rapid.SampledFrom([]string{"N", "S", "K"}), func(s string) *tree { return &tree{op: s} }),
		rapid.Map(rapid.Int64Range(-4, 12), func(n int64) *tree { return &tree{n: n} }),
	)
	ops := []string{"+", "-", "*", "/", "ceil", "%", "min", "max"}
	trees := leaf
	for range 4 {
		inner := trees
		trees = rapid.OneOf(leaf, rapid.Custom(func(t *rapid.T) *tree {
			return &tree{op: rapid.SampledFrom(ops).Draw(t, "op"), l: inner.Draw(t, "left"), r: inner.Draw(t, "right")}
		}))
	}
	return trees
}()

var treeValues = rapid.Custom(func(t *rapid.T) map[string]int64 {
	env := map[string]int64{}
	for _, s := range []string{"N", "S", "K"} {
		env[s] = rapid.Int64Range(0, 20).Draw(t, s)
	}
	return env
})

func TestAgreesWithTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree, env := trees.Draw(t, "tree"), treeValues.Draw(t, "env")
		want, ok := tree.value(env)
		d := tree.dim()
		if !ok || d.fault() == tooComplex {
			return
		}
		lookup := func(s string) (int64, bool) { n, ok := env[s]; return n, ok }
		got, err := d.Eval(lookup)
		if err != nil || got != want.Int64() {
			t.Fatalf("%s: got %d, %v, want %d", d, got, err, want)
		}
		if lo, hi := d.Bounds(); lo > got || got > hi {
			t.Fatalf("%s is %d, bounds %d, %d", d, got, lo, hi)
		}
		if d.NonNegative() && got < 0 {
			t.Fatalf("%s is %d", d, got)
		}
		closed := d.Subst(func(s string) (Dim, bool) { return Const64(env[s]), true })
		if n, ok := closed.Int64(); !ok || n != got {
			t.Fatalf("%s: substituted %s, want %d", d, closed, got)
		}
	})
}

func TestTextReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := trees.Draw(t, "tree").dim()
		back, err := Parse(d.String())
		if err != nil || !back.Equal(d) || back.String() != d.String() {
			t.Fatalf("%s: read back as %s, %v", d, back, err)
		}
	})
}

func TestLaws(t *testing.T) {
	n0, n1 := Const(0), Const(1)
	laws := []struct {
		name string
		law  func(a, b, c, k Dim) (Dim, Dim)
	}{
		{"sums commute", func(a, b, _, _ Dim) (Dim, Dim) { return a.Add(b), b.Add(a) }},
		{"products commute", func(a, b, _, _ Dim) (Dim, Dim) { return a.Mul(b), b.Mul(a) }},
		{"minima commute", func(a, b, _, _ Dim) (Dim, Dim) { return a.Min(b), b.Min(a) }},
		{"maxima commute", func(a, b, _, _ Dim) (Dim, Dim) { return a.Max(b), b.Max(a) }},
		{"sums associate", func(a, b, c, _ Dim) (Dim, Dim) { return a.Add(b).Add(c), a.Add(b.Add(c)) }},
		{"products associate", func(a, b, c, _ Dim) (Dim, Dim) { return a.Mul(b).Mul(c), a.Mul(b.Mul(c)) }},
		{"products distribute", func(a, b, c, _ Dim) (Dim, Dim) { return a.Mul(b.Add(c)), a.Mul(b).Add(a.Mul(c)) }},
		{"differences cancel", func(a, b, _, _ Dim) (Dim, Dim) { return a.Sub(b).Add(b), a }},
		{"zero adds nothing", func(a, _, _, _ Dim) (Dim, Dim) { return a.Add(n0), a }},
		{"one multiplies nothing", func(a, _, _, _ Dim) (Dim, Dim) { return n1.Mul(a), a }},
		{"zero annihilates", func(a, _, _, _ Dim) (Dim, Dim) { return a.Mul(n0), n0 }},
		{"negation undoes itself", func(a, _, _, _ Dim) (Dim, Dim) { return a.Neg().Neg(), a }},
		{"minimum is idempotent", func(a, _, _, _ Dim) (Dim, Dim) { return a.Min(a), a }},
		{"maximum is idempotent", func(a, _, _, _ Dim) (Dim, Dim) { return a.Max(a), a }},
		{"ceiling is negated floor", func(a, _, _, k Dim) (Dim, Dim) { return a.CeilDiv(k), a.Neg().FloorDiv(k).Neg() }},
		{"ceiling adds divisor less one", func(a, _, _, k Dim) (Dim, Dim) { return a.CeilDiv(k), a.Add(k).Sub(n1).FloorDiv(k) }},
		{"integers leave floors", func(a, _, _, k Dim) (Dim, Dim) { return a.Add(k).FloorDiv(k), a.FloorDiv(k).Add(n1) }},
		{"multiples divide", func(a, _, _, k Dim) (Dim, Dim) { return a.Mul(k).FloorDiv(k), a }},
		{"common factors cancel", func(a, _, _, k Dim) (Dim, Dim) { return a.Mul(k).FloorDiv(k.Mul(k)), a.FloorDiv(k) }},
		{"remainders have no remainder", func(a, _, _, k Dim) (Dim, Dim) { return a.Mod(k).Mod(k), a.Mod(k) }},
	}
	for _, l := range laws {
		t.Run(l.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				a, b, c := trees.Draw(t, "a").dim(), trees.Draw(t, "b").dim(), trees.Draw(t, "c").dim()
				k := rapid.SampledFrom([]Dim{Const(1), Const(2), Const(3), Const(12), Sym("K")}).Draw(t, "k")
				x, y := l.law(a, b, c, k)
				if !x.Equal(y) && !x.Overflow() && !y.Overflow() && !a.Overflow() {
					t.Fatalf("a %s, b %s, c %s, k %s: %s and %s", a, b, c, k, x, y)
				}
			})
		})
	}
}

func TestStructure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, e := trees.Draw(t, "d").dim(), trees.Draw(t, "e").dim()
		if c := d.Compare(e); c != -e.Compare(d) || (c == 0) != (d.String() == e.String()) {
			t.Fatalf("%s and %s compare %d, %d", d, e, c, e.Compare(d))
		}
		if names := d.Symbols(); !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
			t.Fatalf("%s: symbols %v", d, names)
		}
		if coef, rest, ok := d.Linear("N"); ok {
			if back := coef.Mul(Sym("N")).Add(rest); !back.Equal(d) || slices.Contains(append(coef.Symbols(), rest.Symbols()...), "N") {
				t.Fatalf("%s is not (%s)*N + %s", d, coef, rest)
			}
		}
		if p := d.Mul(e); !p.Overflow() && !e.Equal(Const(0)) {
			if q, ok := p.DivExact(e); !ok || !q.Equal(d) {
				t.Fatalf("(%s) / (%s) is %s, %v, want %s", p, e, q, ok, d)
			}
		}
		if same := d.Subst(func(string) (Dim, bool) { return Dim{}, false }); !same.Equal(d) {
			t.Fatalf("%s substituted to %s", d, same)
		}
	})
}
