package op

import (
	"fmt"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
)

// held parses a tensor of the text form, or a container. A container is "seq<f32[?]>" or
// "opt<f32[?]>", followed by its elements, all separated by blanks.
func held(t *testing.T, text string) (*ir.Tensor, ir.Type) {
	t.Helper()
	words := strings.Fields(text)
	if !strings.HasPrefix(words[0], "seq<") && !strings.HasPrefix(words[0], "opt<") {
		x := parsed(t, text)
		return x, x.Type()
	}
	typ := typed(t, words[0])
	var items []*ir.Tensor
	if rest := strings.Join(words[1:], " "); strings.HasPrefix(rest, "seq<") {
		item, _ := held(t, rest)
		items = append(items, item)
	} else {
		for _, w := range words[1:] {
			items = append(items, parsed(t, w))
		}
	}
	return &ir.Tensor{Kind: typ.Kind, Elem: *typ.Elem, Items: items}, typ
}

// heldText is the text of a tensor, or of the elements of a container.
func heldText(x *ir.Tensor) string {
	if x.Kind == ir.TensorKind {
		return x.String()
	}
	items := make([]string, len(x.Items))
	for i, item := range x.Items {
		items[i] = heldText(item)
	}
	return "[" + strings.Join(items, " ") + "]"
}

func TestContainerValues(t *testing.T) {
	const abc = "seq<i64[?]> i64[1](1) i64[2](2,3) i64[0]()"
	for _, test := range []struct {
		name     string
		op       string
		attrs    attrs
		operands []string
		typ      string // of the result, or part of the error
		want     string
	}{
		{"joins types", "SequenceConstruct", nil, []string{"f32[1,2](1,2)", "f32[3,2](1,2,3,4,5,6)"}, "seq<f32[?,2]>", "[f32[1,2](1,2) f32[3,2](1,2,3,4,5,6)]"},
		{"of several ranks", "SequenceConstruct", nil, []string{"f32[1](1)", "f32[](1)"}, "seq<f32>", "[f32[1](1) f32[](1)]"},
		{"refuses other types", "SequenceConstruct", nil, []string{"f32[1](1)", "f64[1](1)"}, "differ", ""},
		{"refuses none", "SequenceConstruct", nil, nil, "no operands", ""},
		{"is empty", "SequenceEmpty", nil, nil, "seq<f32>", "[]"},
		{"is empty of strings", "SequenceEmpty", attrs{"dtype": ir.String}, nil, "seq<string>", "[]"},

		{"inserts at the end", "SequenceInsert", nil, []string{abc, "i64[1](9)"}, "seq<i64[?]>", "[i64[1](1) i64[2](2,3) i64[0]() i64[1](9)]"},
		{"inserts in front", "SequenceInsert", nil, []string{abc, "i64[1](9)", "i64[](0)"}, "seq<i64[?]>", "[i64[1](9) i64[1](1) i64[2](2,3) i64[0]()]"},
		{"inserts from the end", "SequenceInsert", nil, []string{abc, "i64[1](9)", "i32[](-1)"}, "seq<i64[?]>", "[i64[1](1) i64[2](2,3) i64[1](9) i64[0]()]"},
		{"inserts another extent", "SequenceInsert", nil, []string{"seq<i64[1]> i64[1](1)", "i64[2](8,9)"}, "seq<i64[?]>", "[i64[1](1) i64[2](8,9)]"},
		{"inserts into any rank", "SequenceInsert", nil, []string{"seq<i64>", "i64[1,1](8)"}, "seq<i64[1,1]>", "[i64[1,1](8)]"},
		{"refuses to insert beyond", "SequenceInsert", nil, []string{abc, "i64[1](9)", "i64[](4)"}, "index 4 out of range", ""},
		{"inserts another rank", "SequenceInsert", nil, []string{abc, "i64[](9)"}, "seq<i64>", "[i64[1](1) i64[2](2,3) i64[0]() i64[](9)]"},
		{"refuses to insert another type", "SequenceInsert", nil, []string{abc, "i32[1](9)"}, "differ", ""},
		{"refuses to insert at floats", "SequenceInsert", nil, []string{abc, "i64[1](9)", "f32[](0)"}, "i32 or i64 expected", ""},
		{"refuses to insert into a tensor", "SequenceInsert", nil, []string{"i64[1](9)", "i64[1](9)"}, "a sequence of tensors expected", ""},

		{"erases the last", "SequenceErase", nil, []string{abc}, "seq<i64[?]>", "[i64[1](1) i64[2](2,3)]"},
		{"erases", "SequenceErase", nil, []string{abc, "i64[](-3)"}, "seq<i64[?]>", "[i64[2](2,3) i64[0]()]"},
		{"refuses to erase of none", "SequenceErase", nil, []string{"seq<i64[?]>"}, "index -1 out of range", ""},

		{"picks", "SequenceAt", nil, []string{abc, "i64[](1)"}, "i64[extent]", "i64[2](2,3)"},
		{"picks the last", "SequenceAt", nil, []string{abc, "i32[1](-1)"}, "i64[extent]", "i64[0]()"},
		{"picks of one shape", "SequenceAt", nil, []string{"seq<f32[?,2]> f32[1,2](1,2)", "i64[](0)"}, "f32[extent,2]", "f32[1,2](1,2)"},
		{"refuses to pick beyond", "SequenceAt", nil, []string{abc, "i64[](3)"}, "index 3 out of range", ""},
		{"refuses to pick of any rank", "SequenceAt", nil, []string{"seq<i64> i64[1](1)", "i64[](0)"}, "rank of the elements", ""},
		{"counts", "SequenceLength", nil, []string{abc}, "i64[]", "i64[](3)"},

		{"joins elements", "ConcatFromSequence", attrs{"axis": -1}, []string{abc}, "i64[extent]", "i64[3](1,2,3)"},
		{"joins columns", "ConcatFromSequence", attrs{"axis": 1}, []string{"seq<i8[2,?]> i8[2,1](1,2) i8[2,2](3,4,5,6)"}, "i8[2,extent]", "i8[2,3](1,3,4,2,5,6)"},
		{"stacks", "ConcatFromSequence", attrs{"axis": -1, "new_axis": 1}, []string{"seq<i8[2]> i8[2](1,2) i8[2](3,4)"}, "i8[2,extent]", "i8[2,2](1,3,2,4)"},
		{"stacks scalars", "ConcatFromSequence", attrs{"axis": 0, "new_axis": 1}, []string{"seq<string[]> string[](\"a\")"}, "string[extent]", `string[1]("a")`},
		{"refuses to join scalars", "ConcatFromSequence", attrs{"axis": 0}, []string{"seq<i8[]> i8[](1)"}, "out of range for rank 0", ""},
		{"refuses to join none", "ConcatFromSequence", attrs{"axis": 0}, []string{"seq<i8[?]>"}, "no elements", ""},
		{"refuses to stack other shapes", "ConcatFromSequence", attrs{"axis": 0, "new_axis": 1}, []string{abc}, "is not", ""},
		{"refuses no axis", "ConcatFromSequence", nil, []string{abc}, "no axis", ""},

		{"splits to slices", "SplitToSequence", attrs{"axis": -1}, []string{"u8[2,2](1,2,3,4)"}, "seq<u8[2,1]>", "[u8[2,1](1,3) u8[2,1](2,4)]"},
		{"splits to rows", "SplitToSequence", attrs{"keepdims": 0}, []string{"u8[2,2](1,2,3,4)"}, "seq<u8[2]>", "[u8[2](1,2) u8[2](3,4)]"},
		{"splits none", "SplitToSequence", nil, []string{"u8[0,2]()"}, "seq<u8[1,2]>", "[]"},
		{"splits to parts", "SplitToSequence", attrs{"keepdims": 0}, []string{"u8[3](1,2,3)", "i64[](2)"}, "seq<u8[?]>", "[u8[2](1,2) u8[1](3)]"},
		{"splits by lengths", "SplitToSequence", nil, []string{"u8[3](1,2,3)", "i32[3](2,0,1)"}, "seq<u8[?]>", "[u8[2](1,2) u8[0]() u8[1](3)]"},
		{"refuses parts of nothing", "SplitToSequence", nil, []string{"u8[3](1,2,3)", "i64[](0)"}, "parts of length 0", ""},
		{"refuses other sums", "SplitToSequence", nil, []string{"u8[3](1,2,3)", "i64[2](1,1)"}, "parts [1 1]", ""},
		{"refuses negative lengths", "SplitToSequence", nil, []string{"u8[3](1,2,3)", "i64[2](4,-1)"}, "parts [4 -1]", ""},
		{"refuses an axis", "SplitToSequence", attrs{"axis": 1}, []string{"u8[3](1,2,3)"}, "axis 1 out of range", ""},
		{"refuses a matrix of lengths", "SplitToSequence", nil, []string{"u8[1](1)", "i64[1,1](1)"}, "a scalar or a list", ""},

		{"wraps", "Optional", nil, []string{"u8[1](1)"}, "opt<u8[1]>", "[u8[1](1)]"},
		{"wraps a sequence", "Optional", nil, []string{abc}, "opt<seq<i64[?]>>", "[[i64[1](1) i64[2](2,3) i64[0]()]]"},
		{"has", "OptionalHasElement", nil, []string{"opt<u8[?]> u8[1](1)"}, "bool[]", "bool[](1)"},
		{"has not", "OptionalHasElement", nil, []string{"opt<seq<u8[?]>>"}, "bool[]", "bool[](0)"},
		{"has what is not an optional", "OptionalHasElement", nil, []string{abc}, "bool[]", "bool[](1)"},
		{"has not what is absent", "OptionalHasElement", nil, nil, "bool[]", "bool[](0)"},
		{"gets", "OptionalGetElement", nil, []string{"opt<u8[?,2]> u8[1,2](1,2)"}, "u8[extent,2]", "u8[1,2](1,2)"},
		{"gets a sequence", "OptionalGetElement", nil, []string{"opt<seq<u8[?]>> seq<u8[?]> u8[1](1)"}, "seq<u8[?]>", "[u8[1](1)]"},
		{"gets what is not an optional", "OptionalGetElement", nil, []string{"u8[1](1)"}, "u8[1]", "u8[1](1)"},
		{"refuses to get nothing", "OptionalGetElement", nil, []string{"opt<u8[?]>"}, "no element", ""},
	} {
		t.Run(test.op+" "+test.name, func(t *testing.T) {
			var args []*ir.Tensor
			var params []ir.Type
			for _, text := range test.operands {
				x, typ := held(t, text)
				args, params = append(args, x), append(params, typ)
			}
			f, err := importFunc(test.op, 24, 1, test.attrs, params)
			var got []*ir.Tensor
			if err == nil {
				verifyFunc(t, f)
				lowered(t, f)
				got, err = tryRun(f, args...)
			}
			if err != nil {
				if test.want != "" || !strings.Contains(err.Error(), test.typ) {
					t.Fatalf("error %q, want %q", err, test.typ)
				}
				return
			}
			if typ := f.Results[0].Type.String(); typ != test.typ || heldText(got[0]) != test.want {
				t.Errorf("%s %s, want %s %s", typ, heldText(got[0]), test.typ, test.want)
			}
			if out := run(t, lowered(t, f), args...); heldText(out[0]) != test.want {
				t.Errorf("lowered: %s, want %s", heldText(out[0]), test.want)
			}
		})
	}
}

// What is done to sequences whose elements are known concerns no sequence.
func TestKnownSequencesVanish(t *testing.T) {
	index := func(c graph, i int64) *ir.Value { return c.int(i) }
	for _, test := range []struct {
		name     string
		operands []string
		build    func(c graph, p []*ir.Value) *ir.Value
		want     string
	}{
		{"picked from a split", []string{"f32[N,6]"}, func(c graph, p []*ir.Value) *ir.Value {
			return c.node("SequenceAt", nil, c.node("SplitToSequence", attrs{"axis": 1}, p[0], c.int(4)), index(c, -1))
		}, "f32[N,2]"},
		{"split by lengths and joined", []string{"f32[N,6]"}, func(c graph, p []*ir.Value) *ir.Value {
			return c.node("ConcatFromSequence", attrs{"axis": 0}, c.node("SplitToSequence", attrs{"axis": 1}, p[0], c.ints(3, 3)))
		}, "f32[2*N,3]"},
		{"rows stacked elsewhere", []string{"f32[2,N]"}, func(c graph, p []*ir.Value) *ir.Value {
			rows := c.node("SplitToSequence", attrs{"keepdims": 0}, p[0])
			return c.node("ConcatFromSequence", attrs{"axis": 1, "new_axis": 1}, rows)
		}, "f32[N,2]"},
		{"inserted and erased", []string{"f32[N]", "f32[M]"}, func(c graph, p []*ir.Value) *ir.Value {
			seq := c.node("SequenceInsert", nil, c.node("SequenceConstruct", nil, p[0]), p[1], index(c, 0))
			return c.node("SequenceAt", nil, c.node("SequenceErase", nil, seq, index(c, 1)), index(c, 0))
		}, "f32[M]"},
		{"begun empty", []string{"f32[N]"}, func(c graph, p []*ir.Value) *ir.Value {
			seq := c.node("SequenceInsert", nil, c.node("SequenceEmpty", nil), p[0])
			return c.node("ConcatFromSequence", attrs{"axis": 0}, c.node("SequenceInsert", nil, seq, p[0]))
		}, "f32[2*N]"},
		{"counted", []string{"f32[N]"}, func(c graph, p []*ir.Value) *ir.Value {
			return c.node("SequenceLength", nil, c.node("SequenceConstruct", nil, p[0], p[0]))
		}, "i64[]"},
		{"wrapped and unwrapped", []string{"f32[N]"}, func(c graph, p []*ir.Value) *ir.Value {
			return c.node("OptionalGetElement", nil, c.node("Optional", nil, p[0]))
		}, "f32[N]"},
		{"looked for", []string{"f32[N]"}, func(c graph, p []*ir.Value) *ir.Value {
			return c.node("OptionalHasElement", nil, c.node("Optional", nil, p[0]))
		}, "bool[]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := buildFunc(t, types(t, test.operands...), func(b *ir.Builder, p []*ir.Value) []*ir.Value {
				return []*ir.Value{test.build(graph{b, t}, p)}
			})
			f.Prune()
			verifyFunc(t, f)
			if got := f.Results[0].Type.String(); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
			for n := range f.All() {
				for _, v := range append(n.Args, n.Results...) {
					if v != nil && !v.Type.IsTensor() {
						t.Fatalf("a container is left:\n%s", f)
					}
				}
			}
		})
	}
}

// Nothing is known of a sequence at a place that only the run decides.
func TestPlacesKnownLate(t *testing.T) {
	f := buildFunc(t, types(t, "f32[2]", "f32[3]", "i64[]"), func(b *ir.Builder, p []*ir.Value) []*ir.Value {
		c := graph{b, t}
		return []*ir.Value{c.node("SequenceAt", nil, c.node("SequenceConstruct", nil, p[0], p[1]), p[2])}
	})
	args := []*ir.Tensor{parsed(t, "f32[2](1,2)"), parsed(t, "f32[3](3,4,5)"), nil}
	for i, want := range []string{"f32[2](1,2)", "f32[3](3,4,5)"} {
		args[2] = parsed(t, fmt.Sprintf("i64[](%d)", i))
		if out := checkLower(t, f, 0, args...); out[0].String() != want {
			t.Errorf("%s, want %s", out[0], want)
		}
	}
	args[2] = parsed(t, "i64[](2)")
	if _, err := tryRun(f, args...); err == nil {
		t.Error("index 2 of two elements is taken")
	}
}

func TestEmptyOptionalsNeedATypeThatIsDeclared(t *testing.T) {
	if _, err := importFunc("Optional", 15, 1, nil, nil); err == nil || !strings.Contains(err.Error(), "not declared") {
		t.Errorf("error %v", err)
	}
	f := nodeFunc(t, Optional{Type: typed(t, "opt<seq<f32[?]>>")})
	lowered(t, f)
	if out := run(t, f); len(out[0].Items) != 0 || f.Results[0].Type.String() != "opt<seq<f32[?]>>" {
		t.Errorf("%s %s", f.Results[0].Type, heldText(out[0]))
	}
}
