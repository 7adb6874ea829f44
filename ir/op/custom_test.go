package op

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
)

// Attributes returns the node's attributes by name.
func (n *testNode) Attributes() []ir.Attribute {
	var out []ir.Attribute
	for _, name := range slices.Sorted(maps.Keys(n.attrs)) {
		n.asked[name] = true
		a := ir.Attribute{Name: name}
		switch v := n.attrs[name].(type) {
		case int:
			a.Value = ir.IntTensor(ir.I64, int64(v)).Reshape()
		case float64:
			a.Value = ir.FloatTensor(ir.F32, v).Reshape()
		case string:
			a.Value = ir.NewTensor(ir.String)
			a.Value.SetText(0, v)
		default:
			ir.Fail("attribute %s is a %T", name, v)
		}
		out = append(out, a)
	}
	return out
}

func TestParseCustom(t *testing.T) {
	for text, want := range map[string]string{
		"com.acme.Foo=example.com/ops.Foo: (f32[N]) -> f32[N]": "",
		"Foo=ops.Foo: (f32[N,C], f32[C,K]) -> f32[N,K]":        "",
		"a.B=gopkg.in/ops.v3.Foo: () -> (i64[P], f32[P,4])":    "",
		"a.B=example.com/~x/o_p-s.v2.F2: (i4[N,2*N]) -> i4[3]": "",
		" Foo = ops.Foo :(f32[ N ])->(f32[N])":                 "Foo=ops.Foo: (f32[N]) -> f32[N]",
		"ai.onnx.Foo=ops.Foo: (f32[]) -> f32[]":                "Foo=ops.Foo: (f32[]) -> f32[]",
	} {
		if want == "" {
			want = text
		}
		op, err := ParseCustom(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if op.String() != want {
			t.Errorf("%s is read as %s", text, op)
		}
	}
	for text, want := range map[string]string{
		"":                                             "OPERATOR=PACKAGE.FUNC: (TYPE, …) -> TYPE expected",
		"a.B=example.com/ops.Foo":                      "OPERATOR=PACKAGE.FUNC: (TYPE, …) -> TYPE expected",
		"=ops.Foo: () -> f32[]":                        `"" names no operator`,
		"a.=ops.Foo: () -> f32[]":                      `"a." names no operator`,
		".b=ops.Foo: () -> f32[]":                      `".b" names no operator`,
		"a b=ops.Foo: () -> f32[]":                     `"a b" names no operator`,
		"a.B=ops.foo: () -> f32[]":                     `"ops.foo" names no exported function of a package`,
		"a.B=ops: () -> f32[]":                         `"ops" names no exported function of a package`,
		"a.B=ops.: () -> f32[]":                        `"ops." names no exported function of a package`,
		"a.B=Foo: () -> f32[]":                         `"" is not an import path`,
		"a.B=../ops.Foo: () -> f32[]":                  `"../ops" is not an import path`,
		"a.B=/ops.Foo: () -> f32[]":                    `"/ops" is not an import path`,
		"a.B=o\"ps.Foo: () -> f32[]":                   `"o\"ps" is not an import path`,
		"a.B=C.Foo: () -> f32[]":                       `"C" is not an import path`,
		"a.B=unsafe.Foo: () -> f32[]":                  `"unsafe" is not an import path`,
		"a.B=ops.Foo: f32[N] -> f32[N]":                `type "f32[N] -> f32[N]": "(" expected`,
		"a.B=ops.Foo: (f33[N]) -> f32[N]":              `f33`,
		"a.B=ops.Foo: (f32[N]) -> ()":                  `type "(f32[N]) -> ()": a result is missing`,
		"a.B=ops.Foo: (f32[?]) -> f32[]":               `an extent has no name: ?`,
		"a.B=ops.Foo: (f32[N-1]) -> f32[N]":            `no extent of an operand is N itself`,
		"a.B=ops.Foo: (f32[N]) -> f32[N+P]":            `extent N+P: the function decides P, which has to stand alone`,
		"a.B=ops.Foo: (seq<f32[]>) -> f32[]":           `seq<f32[]> is not a tensor`,
		"a.B=ops.Foo: (f32[N]) -> opt<f32[]>":          `opt<f32[]> is not a tensor`,
		"a.B=ops.Foo: (none) -> f32[]":                 `none is not a tensor`,
		"a.B=ops.Foo: (f32[-3]) -> f32[]":              `dimension 0 is negative: -3`,
		"a.B=ops.Foo: (f32[4294967296,4294967296]) ->": `a word expected`,
	} {
		if _, err := ParseCustom(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, %s expected", text, err, want)
		}
	}
}

// customFunc returns the function of one custom node on parameters of these types.
func customFunc(t *testing.T, declared string, a attrs, types ...ir.Type) (*ir.Func, error) {
	t.Helper()
	op, err := ParseCustom("acme.Foo=example.com/ops.Foo: " + declared)
	if err != nil {
		t.Fatal(err)
	}
	f := &ir.Func{Name: "f"}
	b := ir.NewBuilder(f)
	failed := ir.Try(func() {
		var args []*ir.Value
		for _, typ := range types {
			args = append(args, b.Param(b.Name("x"), typ))
		}
		var out []*ir.Value
		if out, err = op.Import(&testNode{b, "Foo", 1, args, 1, a, map[string]bool{}}); err == nil {
			b.Return(out...)
		}
	})
	if failed != nil {
		err = failed
	}
	for _, r := range f.Results {
		f.ResultNames = append(f.ResultNames, r.Name)
	}
	return f, err
}

func TestCustomInfersItsDeclaredType(t *testing.T) {
	for name, test := range map[string]struct{ declared, operands, want string }{
		"constants":                          {"(f32[2,3]) -> i64[3]", "f32[2,3]", "i64[3]"},
		"symbols are the operands'":          {"(f32[N,C], f32[C,K]) -> f32[N,K]", "f32[S,4] f32[4,9]", "f32[S,9]"},
		"symbols of both names change sides": {"(f32[N,C]) -> f32[C,N]", "f32[C,N]", "f32[N,C]"},
		"expressions":                        {"(f32[N]) -> f32[2*N+1]", "f32[S+3]", "f32[2*S+7]"},
		"expressions of operands":            {"(f32[2*N], f32[N]) -> f32[N]", "f32[2*S] f32[S]", "f32[S]"},
		"no operands":                        {"() -> f32[4]", "", "f32[4]"},
		"several results":                    {"(f32[N]) -> (f32[N], bool[])", "f32[7]", "f32[7] bool[]"},
		"extents that the function decides":  {"(f32[N]) -> (i64[P], f32[P,Q,N])", "f32[7]", "i64[P] f32[P,Q,7]"},
		"whose symbols are taken":            {"(f32[N]) -> i64[P]", "f32[P]", "i64[P1]"},
		"extents become equal":               {"(f32[N], f32[N]) -> f32[N]", "f32[A] f32[B]", "f32[A]"},
		"an extent becomes a number":         {"(f32[N,4]) -> f32[N]", "f32[A,B]", "f32[A]"},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := customFunc(t, test.declared, attrs{"alpha": 0.5, "mode": "fa\nst"}, types(t, strings.Fields(test.operands)...)...)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range f.Results {
				got = append(got, r.Type.String())
			}
			if s := strings.Join(got, " "); s != test.want {
				t.Errorf("results %s, %s expected", s, test.want)
			}
			m := &ir.Module{Funcs: []*ir.Func{f}}
			again, err := ir.Parse(m.String(), Set)
			if err != nil {
				t.Fatalf("%v\n%s", err, m)
			}
			if again.String() != m.String() {
				t.Errorf("%s\nis read as\n%s", m, again)
			}
		})
	}
}

func TestCustomRefusesOtherOperands(t *testing.T) {
	for name, test := range map[string]struct{ declared, operands, want string }{
		"too few":                 {"(f32[N], f32[N]) -> f32[N]", "f32[N]", "custom: 1 operands, 2 expected"},
		"too many":                {"(f32[N]) -> f32[N]", "f32[N] f32[N]", "custom: 2 operands, 1 expected"},
		"another element type":    {"(f32[N]) -> f32[N]", "f64[N]", "custom: operand 0 is f64[N], declared as f32[N]"},
		"another rank":            {"(f32[N]) -> f32[N]", "f32[N,1]", "custom: operand 0 is f32[N,1], declared as f32[N]"},
		"another extent":          {"(f32[4]) -> f32[4]", "f32[5]", "custom: operand 0, axis 0, declared as 4: 5 is not 4"},
		"extents that differ":     {"(f32[N], f32[N]) -> f32[N]", "f32[4] f32[5]", "custom: operand 1, axis 0, declared as N: 5 is not 4"},
		"a container":             {"(f32[N]) -> f32[N]", "seq<f32[4]>", "custom: operand 0 is seq<f32[4]>, declared as f32[N]"},
		"expressions that differ": {"(f32[N], f32[2*N]) -> f32[N]", "f32[S] f32[2*S+1]", "custom: operand 1, axis 0, declared as 2*N: 2*S+1 is not 2*S"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := customFunc(t, test.declared, nil, types(t, strings.Fields(test.operands)...)...)
			if err == nil || err.Error() != test.want {
				t.Errorf("error %v, %s expected", err, test.want)
			}
		})
	}
	f, err := customFunc(t, "(f32[N]) -> f32[N]", nil, types(t, "f32[4]")...)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Nodes[0].Op.Eval([]*ir.Tensor{ir.NewTensor(ir.F32, 4)})
	if err == nil || err.Error() != "custom operator acme.Foo: only generated code calls example.com/ops.Foo" {
		t.Errorf("Eval: %v", err)
	}
}

// TestCustomInText checks that the text form rejects custom operators that generated code could not
// hold.
func TestCustomInText(t *testing.T) {
	for name, test := range map[string]struct{ attrs, want string }{
		"as declared":        {`name="a.B" func="ops.F" type="(f32[N]) -> i64[P]" extents=[{symbol="M"}]`, ""},
		"no function":        {`name="a.B" type="(f32[N]) -> i64[P]" extents=[{symbol="M"}]`, `names no exported function`},
		"an odd package":     {`name="a.B" func="a\"\nimport.F" type="(f32[N]) -> i64[P]" extents=[{symbol="M"}]`, `is not an import path`},
		"no type":            {`name="a.B" func="ops.F" extents=[{symbol="M"}]`, `type ""`},
		"no extents":         {`name="a.B" func="ops.F" type="(f32[N]) -> i64[P]"`, `0 extents, 1 expected`},
		"an extent too many": {`name="a.B" func="ops.F" type="(f32[N]) -> i64[P]" extents=[{symbol="M"},{symbol="L"}]`, `2 extents, 1 expected`},
		"another extent":     {`name="a.B" func="ops.F" type="(f32[N]) -> i64[P]" extents=[{symbol="M" axis=1}]`, `extent 0 does not belong to result 0, axis 0`},
		"a symbol again":     {`name="a.B" func="ops.F" type="(f32[N]) -> i64[P]" extents=[{symbol="S"}]`, `binds S again`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ir.Parse("func @f(%x: f32[S]) -> (y: i64[M]) {\n  %y = custom %x {"+test.attrs+"} : i64[M]\n  return %y\n}\n", Set)
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
			} else if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, %s expected", err, test.want)
			}
		})
	}
}

// FuzzParseCustom checks that what is read is printed and read again as the same.
func FuzzParseCustom(f *testing.F) {
	f.Add("com.acme.Foo=example.com/ops.Foo: (f32[N,C], f32[C,K]) -> f32[N,K]")
	f.Add("Foo=a.B: () -> (i64[P], f32[P,4], string[])")
	f.Add("=.: (f32[?]) -> seq<f32>")
	f.Fuzz(func(t *testing.T, text string) {
		op, err := ParseCustom(text)
		if err != nil {
			return
		}
		again, err := ParseCustom(op.String())
		if err != nil || !ir.Equal(again, op) {
			t.Errorf("%q is printed as %q and read as %q: %v", text, op, again, err)
		}
	})
}
