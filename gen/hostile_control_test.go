package gen_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx/onnxtest"
)

func attr(name string, value any) onnxtest.Attr { return onnxtest.Attr{Name: name, Value: value} }

// body returns a graph without version.
func body() *onnxtest.Model { return onnxtest.New(0) }

// loopBody returns the start of a loop's body.
func loopBody() *onnxtest.Model { return body().Input("i", ir.I64).Input("going", ir.Bool) }

// counting returns a loop whose body adds 1 to the carried value v. Operand n is the number of
// iterations.
func counting(trips *ir.Tensor) *onnxtest.Model {
	inside := loopBody().Input("v", ir.F32, 4).Initializer("one", floats(1)).Node("add", "Add", list("v", "one"), list("w")).
		Node("go", "Identity", list("going"), list("on")).Output("on", ir.Bool).Output("w", ir.F32, 4)
	m := onnxtest.New(21).Input("x", ir.F32, 4).Output("y", ir.F32, 4)
	if trips != nil {
		return m.Initializer("n", trips).Node("loop", "Loop", list("n", "", "x"), list("y"), attr("body", inside))
	}
	return m.Input("n", ir.I64).Node("loop", "Loop", list("n", "", "x"), list("y"), attr("body", inside))
}

func testHostileControl(t *testing.T) {
	x := floats(1, 2, 3, 4)
	one := ir.IntTensor(ir.Bool, 1).Reshape()
	growing := func(node func(*onnxtest.Model) *onnxtest.Model, extent any) *onnxtest.Model {
		inside := node(loopBody().Input("v", ir.F32, extent)).Node("go", "Identity", list("going"), list("on")).Output("on", ir.Bool).Output("w", ir.F32, "B")
		return onnxtest.New(21).Input("x", ir.F32, 4).Input("n", ir.I64).Output("y", ir.F32, "Z").Node("loop", "Loop", list("n", "", "x"), list("y"), attr("body", inside))
	}
	scan := func(d ir.DType, dims ...any) *onnxtest.Model {
		inside := loopBody().Node("go", "Identity", list("going"), list("on")).Node("row", "Identity", list("x"), list("r")).Output("on", ir.Bool).Output("r", d, dims...)
		return onnxtest.New(21).Input("x", d, dims...).Input("n", ir.I64).Output("y", d, append([]any{"T"}, dims...)...).Node("loop", "Loop", list("n", ""), list("y"), attr("body", inside))
	}
	tests := map[string]hostile{
		"2^62 trips":                  {counting(number(1 << 62)), []*ir.Tensor{x}, "deadline"},
		"MinInt64 trips":              {counting(number(math.MinInt64)), []*ir.Tensor{x}, "f32[4]"},
		"MinInt64 trips when it runs": {counting(nil), []*ir.Tensor{x, number(math.MinInt64)}, "f32[4]"},
		"a carried value that doubles": {growing(func(b *onnxtest.Model) *onnxtest.Model {
			return b.Node("concat", "Concat", list("v", "v"), list("w"), attr("axis", 0))
		}, "A"), []*ir.Tensor{x, number(1 << 62)}, "limit"},
		"a carried value that is tiled": {growing(func(b *onnxtest.Model) *onnxtest.Model {
			return b.Initializer("k", int64s(1<<20)).Node("tile", "Tile", list("v", "k"), list("w"))
		}, "A"), []*ir.Tensor{x, number(1 << 62)}, "limit"},
		"scans of 2^62 trips": {scan(ir.F32, 1<<20), []*ir.Tensor{ir.NewTensor(ir.F32, 1<<20), number(1 << 62)}, "limit"},
		"a carried value of another dtype": {growing(func(b *onnxtest.Model) *onnxtest.Model {
			return b.Node("cast", "Cast", list("v"), list("w"), attr("to", 11))
		}, 4), []*ir.Tensor{x, number(2)}, "carried value 0"},
		"a carried value of another rank": {growing(func(b *onnxtest.Model) *onnxtest.Model {
			return b.Initializer("a", int64s(0)).Node("up", "Unsqueeze", list("v", "a"), list("w"))
		}, 4), []*ir.Tensor{x, number(2)}, "carried value 0"},
		"a body of few inputs":  {onnxtest.New(21).Input("x", ir.F32, 4).Output("y", ir.F32, 4).Node("loop", "Loop", list("", "", "x"), list("y"), attr("body", body().Output("x", ir.F32))), []*ir.Tensor{x}, "inputs"},
		"a body of few outputs": {onnxtest.New(21).Input("x", ir.F32, 4).Output("y", ir.F32, 4).Node("loop", "Loop", list("", "", "x"), list("y"), attr("body", loopBody().Input("v", ir.F32, 4).Output("going", ir.Bool))), []*ir.Tensor{x}, "outputs"},
		"no body":               {onnxtest.New(21).Input("x", ir.F32, 4).Output("y", ir.F32, 4).Node("loop", "Loop", list("", "", "x"), list("y")), []*ir.Tensor{x}, "body"},
		"branches of two types": {onnxtest.New(21).Input("c", ir.Bool).Input("x", ir.F32, 4).Output("y", ir.F32, 4).Node("if", "If", list("c"), list("y"),
			attr("then_branch", body().Node("r", "Relu", list("x"), list("a")).Output("a", ir.F32, 4)), attr("else_branch", body().Node("r", "Cast", list("x"), list("b"), attr("to", 7)).Output("b", ir.I64, 4))), []*ir.Tensor{one, x}, "result 0"},
		"branches of two numbers of results": {onnxtest.New(21).Input("c", ir.Bool).Input("x", ir.F32, 4).Output("y", ir.F32, 4).Node("if", "If", list("c"), list("y"),
			attr("then_branch", body().Node("r", "Relu", list("x"), list("a")).Output("a", ir.F32, 4)), attr("else_branch", body())), []*ir.Tensor{one, x}, "1 and 0 results"},
		"a branch that shadows": {onnxtest.New(21).Input("c", ir.Bool).Input("x", ir.F32, 4).Output("y", ir.F32, 4).Node("if", "If", list("c"), list("y"),
			attr("then_branch", body().Initializer("x", floats(7, 8)).Node("r", "Relu", list("x"), list("a")).Output("a", ir.F32, 2)), attr("else_branch", body().Node("r", "Relu", list("x"), list("b")).Output("b", ir.F32, 4))), []*ir.Tensor{one, x}, "f32[2]"},
		"a scan of 2^40 rows": {onnxtest.New(21).Input("n", ir.I64, 1).Output("y", ir.F32, "T").Node("rows", "ConstantOfShape", list("n"), list("s")).
			Node("scan", "Scan", list("s"), list("y"), attr("num_scan_inputs", 1), attr("body", body().Input("r", ir.F32).Node("r", "Relu", list("r"), list("a")).Output("a", ir.F32))), []*ir.Tensor{int64s(1 << 40)}, "limit"},
		"a scan without inputs": {onnxtest.New(21).Input("x", ir.F32, 4).Output("y", ir.F32, 4).Node("scan", "Scan", list("x"), list("y"), attr("num_scan_inputs", -1), attr("body", body())), []*ir.Tensor{x}, "num_scan_inputs"},
		"scan axes":             {onnxtest.New(21).Input("x", ir.F32, 4).Output("y", ir.F32, 4).Node("scan", "Scan", list("x"), list("y"), attr("num_scan_inputs", 1), attr("scan_input_axes", []int{math.MinInt64}), attr("body", body())), []*ir.Tensor{x}, "node"},
		"rows of many sizes": {onnxtest.New(21).Input("n", ir.I64).Output("y", ir.F32, "T", "R").Node("loop", "Loop", list("n", ""), list("y"), attr("body",
			loopBody().Initializer("a", int64s(0)).Node("up", "Unsqueeze", list("i", "a"), list("s")).Node("row", "ConstantOfShape", list("s"), list("r")).Node("go", "Identity", list("going"), list("on")).Output("on", ir.Bool).Output("r", ir.F32, "R"))), []*ir.Tensor{number(5)}, "trip"},
	}
	for _, depth := range []int{10, 60, 200} {
		branch := func(b *onnxtest.Model, from string) *onnxtest.Model {
			return b.Node("relu", "Relu", list(from), list("v0")).Output("v0", ir.F32, 4)
		}
		deep := branch(body(), "x")
		for i := range depth {
			v := fmt.Sprint("v", i+1)
			deep = body().Node("if", "If", list("c"), list(v), attr("then_branch", deep), attr("else_branch", branch(body(), "x"))).Output(v, ir.F32, 4)
		}
		want := map[bool]string{true: "deep", false: "f32[4]"}[depth > 100]
		tests[fmt.Sprintf("branches %d deep", depth)] = hostile{onnxtest.New(21).Input("c", ir.Bool).Input("x", ir.F32, 4).Output("y", ir.F32, 4).
			Node("if", "If", list("c"), list("y"), attr("then_branch", deep), attr("else_branch", branch(body(), "x"))), []*ir.Tensor{one, x}, want}
		loops := loopBody().Input("v", ir.F32, 4).Node("add", "Add", list("v", "x"), list("w")).Output("going", ir.Bool).Output("w", ir.F32, 4)
		widening := loopBody().Input("v", ir.F32, "A").Node("add", "Concat", list("v", "x"), list("w"), attr("axis", 0)).Output("going", ir.Bool).Output("w", ir.F32, "A")
		for i := range depth {
			w := fmt.Sprint("w", i)
			loops = loopBody().Input("v", ir.F32, 4).Node("loop", "Loop", list("", "going", "v"), list(w), attr("body", loops)).Output("going", ir.Bool).Output(w, ir.F32, 4)
			widening = loopBody().Input("v", ir.F32, "A").Node("loop", "Loop", list("n", "going", "v"), list(w), attr("body", widening)).Output("going", ir.Bool).Output(w, ir.F32, "A")
		}
		tests[fmt.Sprintf("loops %d deep", depth)] = hostile{onnxtest.New(21).Input("c", ir.Bool).Input("x", ir.F32, 4).Output("y", ir.F32, 4).
			Node("loop", "Loop", list("", "c", "x"), list("y"), attr("body", loops)), []*ir.Tensor{ir.IntTensor(ir.Bool, 0).Reshape(), x}, ""}
		tests[fmt.Sprintf("loops that grow, %d deep", depth)] = hostile{onnxtest.New(21).Input("c", ir.Bool).Input("x", ir.F32, 4).Input("n", ir.I64).Output("y", ir.F32, "A").
			Node("loop", "Loop", list("n", "c", "x"), list("y"), attr("body", widening)), []*ir.Tensor{ir.IntTensor(ir.Bool, 0).Reshape(), x, number(1)}, ""}
	}
	for _, n := range []int{10, 100, 400} {
		// Each carried value takes the extent of the one before: one more is found to
		// vary each time that the body is built.
		inside, outside := loopBody(), onnxtest.New(21).Input("x", ir.F32, 4).Input("n", ir.I64)
		carried, results, from := []string{"n", ""}, []string{}, "x"
		for i := range n {
			v, w := fmt.Sprint("v", i), fmt.Sprint("w", i)
			inside.Input(v, ir.F32, 4)
			if i == 0 {
				inside.Node("grow", "Concat", list(v, "x"), list(w), attr("axis", 0))
			} else {
				inside.Node("copy", "Relu", list(from), list(w))
			}
			from = v
			carried, results = append(carried, "x"), append(results, fmt.Sprint("y", i))
		}
		inside.Output("going", ir.Bool)
		for i := range n {
			inside.Output(fmt.Sprint("w", i), ir.F32, "B")
			outside.Output(fmt.Sprint("y", i), ir.F32, fmt.Sprint("Z", i))
		}
		tests[fmt.Sprintf("%d values that vary one after the other", n)] = hostile{outside.Node("loop", "Loop", carried, results, attr("body", inside)), []*ir.Tensor{x, number(3)}, ""}
	}
	testHostile(t, tests)
}

func testHostileContainers(t *testing.T) {
	x := floats(1, 2, 3, 4)
	// of is a model of a node on a sequence of x's parts of length n, and position i.
	of := func(op string, inputs []string, outputs *onnxtest.Model, attrs ...onnxtest.Attr) *onnxtest.Model {
		return outputs.Input("x", ir.F32, "N").Input("i", ir.I64).Input("n", ir.I64).
			Node("split", "SplitToSequence", list("x", "n"), list("s"), attr("axis", 0)).Node("node", op, inputs, list("y"), attrs...)
	}
	out := func(dims ...any) *onnxtest.Model { return onnxtest.New(21).Output("y", ir.F32, dims...) }
	args := func(i, n int64) []*ir.Tensor { return []*ir.Tensor{x, number(i), number(n)} }
	erase := func() *onnxtest.Model {
		return of("SequenceErase", list("s", "i"), onnxtest.New(21).Output("z", ir.I64)).Node("len", "SequenceLength", list("y"), list("z"))
	}
	tests := map[string]hostile{
		"at a place outside":          {of("SequenceAt", list("s", "i"), out("A")), args(4, 1), "index 4"},
		"at MinInt64":                 {of("SequenceAt", list("s", "i"), out("A")), args(math.MinInt64, 1), "index -9223372036854775808"},
		"erased outside":              {erase(), args(-5, 1), "index -5"},
		"erased at MaxInt64":          {erase(), args(math.MaxInt64, 1), "index 9223372036854775807"},
		"parts of length 0":           {of("SequenceAt", list("s", "i"), out("A")), args(0, 0), "length 0"},
		"parts of negative length":    {of("SequenceAt", list("s", "i"), out("A")), args(0, math.MinInt64), "length -9223372036854775808"},
		"parts of length MaxInt64":    {of("SequenceAt", list("s", "i"), out("A")), args(0, math.MaxInt64), "f32[4]"},
		"parts of different lengths":  {of("ConcatFromSequence", list("s"), out("A", "B"), attr("axis", 0), attr("new_axis", 1)), args(0, 3), "shape"},
		"concatenated along MinInt64": {of("ConcatFromSequence", list("s"), out("A"), attr("axis", math.MinInt64)), args(0, 3), "node"},
		"a million parts":             {of("ConcatFromSequence", list("s"), out("A"), attr("axis", 0)), []*ir.Tensor{ir.NewTensor(ir.F32, 1_000_000), number(0), number(1)}, "f32[1000000]"},
		"nothing concatenated":        {of("ConcatFromSequence", list("s"), out("A"), attr("axis", 0)), []*ir.Tensor{floats(), number(0), number(1)}, "no elements"},
		"elements of two types": {onnxtest.New(21).Input("x", ir.F32, 4).Input("z", ir.I64, 4).Output("y", ir.I64).Node("seq", "SequenceConstruct", list("x", "z"), list("s")).Node("len", "SequenceLength", list("s"), list("y")),
			[]*ir.Tensor{x, int64s(1, 2, 3, 4)}, "seq"},
		"a sequence where a tensor belongs": {onnxtest.New(21).Input("x", ir.F32, 4).Output("y", ir.F32, 4).Node("seq", "SequenceConstruct", list("x"), list("s")).Node("relu", "Relu", list("s"), list("y")), []*ir.Tensor{x}, "relu"},
		"a tensor where a sequence belongs": {onnxtest.New(21).Input("x", ir.F32, 4).Output("y", ir.I64).Node("len", "SequenceLength", list("x"), list("y")), []*ir.Tensor{x}, "len"},
		"an output of another kind":         {onnxtest.New(21).Input("x", ir.F32, 4).Output("s", ir.F32, 4).Node("seq", "SequenceConstruct", list("x", "x"), list("s")), []*ir.Tensor{x}, ""},
		"a sequence that grows for 2^62 trips": {onnxtest.New(21).Input("x", ir.F32, 1<<21).Input("n", ir.I64).Output("z", ir.I64).Node("seq", "SequenceConstruct", list("x"), list("s")).
			Node("loop", "Loop", list("n", "", "s"), list("y"), attr("body", loopBody().Input("v", ir.F32).Node("more", "SequenceInsert", list("v", "x"), list("w")).Output("going", ir.Bool).Output("w", ir.F32))).
			Node("len", "SequenceLength", list("y"), list("z")), []*ir.Tensor{ir.NewTensor(ir.F32, 1<<21), number(1 << 62)}, "limit"},
		"elements that grow": {onnxtest.New(21).Input("x", ir.F32, 4).Input("n", ir.I64).Output("z", ir.I64).Node("seq", "SequenceConstruct", list("x"), list("s")).
			Node("loop", "Loop", list("n", "", "s"), list("y"), attr("body", loopBody().Input("v", ir.F32).Initializer("zero", number(-1)).Node("last", "SequenceAt", list("v", "zero"), list("e")).
				Node("twice", "Concat", list("e", "e"), list("f"), attr("axis", 0)).Node("more", "SequenceInsert", list("v", "f"), list("w")).Output("going", ir.Bool).Output("w", ir.F32))).
			Node("len", "SequenceLength", list("y"), list("z")), []*ir.Tensor{x, number(1 << 62)}, "limit"},
		"mapped": {of("SequenceMap", list("s"), onnxtest.New(21).Output("z", ir.I64), attr("body", body().Input("e", ir.F32, "E").Initializer("k", int64s(1<<40)).Node("t", "Tile", list("e", "k"), list("f")).Output("f", ir.F32, "F"))).
			Node("len", "SequenceLength", list("y"), list("z")), args(0, 1), "limit"},
		"a map in itself": {of("SequenceMap", list("s"), onnxtest.New(21).Output("z", ir.I64), attr("body", body().Input("e", ir.F32, "E").Output("s", ir.F32))).
			Node("len", "SequenceLength", list("y"), list("z")), args(0, 1), "node"},
		"an element of none": {onnxtest.New(21).Input("c", ir.Bool).Input("x", ir.F32, 4).Output("z", ir.F32, 4).Node("if", "If", list("c"), list("y"),
			attr("then_branch", body().Node("o", "Optional", list("x"), list("a")).Output("a", ir.F32)), attr("else_branch", body().Node("o", "Optional", list("x"), list("b")).Output("b", ir.F32))).Node("get", "OptionalGetElement", list("y"), list("z")), []*ir.Tensor{ir.IntTensor(ir.Bool, 0).Reshape(), x}, ""},
	}
	testHostile(t, tests)
}

func testHostileTexts(t *testing.T) {
	strings1 := func(s ...string) *ir.Tensor {
		t := ir.NewTensor(ir.String, len(s))
		for i, v := range s {
			t.SetText(i, v)
		}
		return t
	}
	bad := "\xff\xfe\x00\xed\xa0\x80`\"\\\u2028\u202e"
	regex := func(pattern string) hostile {
		return hostile{onnxtest.New(21).Input("x", ir.String, 2).Output("y", ir.Bool, 2).Node("node", "RegexFullMatch", list("x"), list("y"), attr("pattern", pattern)), []*ir.Tensor{strings1(strings.Repeat("a", 30_000), bad)}, ""}
	}
	doubled := func(m *onnxtest.Model) *onnxtest.Model {
		for i := range 62 {
			m.Node(fmt.Sprint("concat", i), "StringConcat", list(fmt.Sprint("v", i), fmt.Sprint("v", i)), list(fmt.Sprint("v", i+1)))
		}
		return m.Output("v62", ir.String, 2)
	}
	tests := map[string]hostile{
		"bytes that are not text": {onnxtest.New(21).Input("x", ir.String, 1).Initializer("c", strings1(bad)).Output("y", ir.String, 1).Node("node", "StringConcat", list("x", "c"), list("y")), []*ir.Tensor{strings1(bad)}, "string[1]"},
		"a text of 4 MiB":         {onnxtest.New(21).Input("x", ir.String, 1).Initializer("c", strings1(strings.Repeat(bad, 1<<18))).Output("y", ir.String, 1).Node("node", "StringConcat", list("x", "c"), list("y")), []*ir.Tensor{strings1(bad)}, "string[1]"},
		"texts that double":       {doubled(onnxtest.New(21).Input("v0", ir.String, 2)), []*ir.Tensor{strings1("abc", "")}, "limit"},
		"constants that double":   {doubled(onnxtest.New(21).Initializer("v0", strings1("abc", ""))), nil, "limit"},
		"a pattern that is none":  regex("(((a"), "a pattern that repeats": regex("(a*)*b"), "a pattern of branches": regex("(a|aa)+$"),
		"a pattern of large repeats":  regex(strings.Repeat("a{1000}", 3000)),
		"a pattern of nested repeats": regex("((((a{10}){10}){10}){10})"),
		"a pattern of a megabyte":     regex(strings.Repeat("(a|b)", 200_000)),
		"a pattern of classes":        regex(strings.Repeat(`[\pL\pN]{1,30}`, 3000)),
		"a pattern that is deep":      regex(strings.Repeat("(", 5000) + strings.Repeat(")", 5000)),
		"a pattern that is not text":  regex(bad),
		"splits":                      {onnxtest.New(21).Input("x", ir.String, 1).Output("y", ir.String, 1, "P").Output("z", ir.I64, 1).Node("node", "StringSplit", list("x"), list("y", "z"), attr("delimiter", "a")), []*ir.Tensor{strings1(strings.Repeat("a", 1<<20))}, "string[1 1048577]"},
		"many splits": {onnxtest.New(21).Input("x", ir.String, "N").Output("y", ir.String, "N", "P").Output("z", ir.I64, "N").Node("node", "StringSplit", list("x"), list("y", "z"), attr("delimiter", "a")),
			[]*ir.Tensor{strings1(append([]string{strings.Repeat("a", 1<<20)}, make([]string, 1000)...)...)}, "limit"},
		"a split below 0":            {onnxtest.New(21).Input("x", ir.String, 1).Output("y", ir.String, 1, "P").Output("z", ir.I64, 1).Node("node", "StringSplit", list("x"), list("y", "z"), attr("maxsplit", math.MinInt64)), []*ir.Tensor{strings1("a b")}, ""},
		"normalised":                 {onnxtest.New(21).Input("x", ir.String, 1).Output("y", ir.String, "N").Node("node", "StringNormalizer", list("x"), list("y"), attr("case_change_action", "UPPER"), attr("stopwords", []string{bad, strings.Repeat("w", 1<<20)})), []*ir.Tensor{strings1(bad)}, "string[1]"},
		"texts that are not numbers": {onnxtest.New(21).Input("x", ir.String, 1).Output("y", ir.F32, 1).Node("node", "Cast", list("x"), list("y"), attr("to", 1)), []*ir.Tensor{strings1(bad)}, "node"},
		"numbers of many digits":     {onnxtest.New(21).Input("x", ir.String, 1).Output("y", ir.F32, 1).Node("node", "Cast", list("x"), list("y"), attr("to", 1)), []*ir.Tensor{strings1("1" + strings.Repeat("0", 1<<20) + "e-1048576")}, ""},
	}
	for name, attrs := range map[string][]onnxtest.Attr{
		"a pool without counts":  {attr("pool_int64s", []int{1, 2, 3}), attr("ngram_indexes", []int{0, 1, 2})},
		"counts that fall":       {attr("ngram_counts", []int{3, 0}), attr("pool_int64s", []int{1, 2, 3}), attr("ngram_indexes", []int{0, 1, 2})},
		"negative counts":        {attr("ngram_counts", []int{-1, -5}), attr("pool_int64s", []int{1, 2, 3}), attr("ngram_indexes", []int{0, 1, 2})},
		"counts beyond the pool": {attr("ngram_counts", []int{0, 1 << 40}), attr("pool_int64s", []int{1, 2, 3}), attr("ngram_indexes", []int{0, 1, 2})},
		"a column of 2^31":       {attr("ngram_counts", []int{0}), attr("pool_int64s", []int{1, 2, 3}), attr("ngram_indexes", []int{0, 1, 1<<31 - 2})},
		"a column below 0":       {attr("ngram_counts", []int{0}), attr("pool_int64s", []int{1, 2, 3}), attr("ngram_indexes", []int{0, 1, -1})},
		"skips of 2^62":          {attr("ngram_counts", []int{0, 1}), attr("pool_int64s", []int{1, 2, 3}), attr("ngram_indexes", []int{0, 1})},
	} {
		attrs = append(attrs, attr("mode", "TF"), attr("min_gram_length", 1), attr("max_gram_length", 2), attr("max_skip_count", 1<<62))
		tests["n-grams: "+name] = hostile{onnxtest.New(21).Input("x", ir.I64, 5).Output("y", ir.F32, "N").Node("node", "TfIdfVectorizer", list("x"), list("y"), attrs...), []*ir.Tensor{int64s(1, 2, 3, 1, math.MinInt64)}, ""}
	}
	testHostile(t, tests)
}
