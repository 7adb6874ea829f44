package onnx

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/burngen/burngen/ir"
	pb "github.com/burngen/burngen/onnx/internal/onnxpb"
)

// control returns a model of inputs x f32[N,2], n i64[] and flag bool[], and with
// constants one i64[] = 1, pair i64[1] = [1], first i64[1] = [0] and yes bool[] = true.
func control(outputs []*pb.ValueInfoProto, nodes ...*pb.NodeProto) *pb.ModelProto {
	one := ints("one", 1)
	one.Dims = nil
	return model(&pb.GraphProto{
		Input:       values(value("x", f32("N", 2)), value("n", tensorOfType(pb.TensorProto_INT64)), value("flag", tensorOfType(pb.TensorProto_BOOL))),
		Output:      outputs,
		Node:        nodes,
		Initializer: []*pb.TensorProto{one, ints("pair", 1), ints("first", 0), initializer("yes", pb.TensorProto_BOOL, []byte{1})},
	})
}

// graph returns a graph of untyped inputs and outputs, given as words.
func graph(inputs, outputs string, nodes ...*pb.NodeProto) *pb.GraphProto {
	g := &pb.GraphProto{Node: nodes}
	for _, name := range strings.Fields(inputs) {
		g.Input = append(g.Input, value(name, nil))
	}
	for _, name := range strings.Fields(outputs) {
		g.Output = append(g.Output, value(name, nil))
	}
	return g
}

// of returns a node of operands and results that are given as words, "_" for an
// absent one.
func of(op, inputs, outputs string, attrs ...*pb.AttributeProto) *pb.NodeProto {
	list := func(words string) []string {
		out := strings.Fields(words)
		for i, w := range out {
			out[i] = strings.TrimPrefix(w, "_")
		}
		return out
	}
	return node(op, list(inputs), list(outputs), attrs...)
}

func ifElse(condition, outputs string, then, otherwise *pb.GraphProto) *pb.NodeProto {
	return of("If", condition, outputs, attrGraph("then_branch", then), attrGraph("else_branch", otherwise))
}

func loopOf(inputs, outputs string, body *pb.GraphProto) *pb.NodeProto {
	return of("Loop", inputs, outputs, attrGraph("body", body))
}

func scanOf(inputs, outputs string, body *pb.GraphProto, attrs ...*pb.AttributeProto) *pb.NodeProto {
	return of("Scan", inputs, outputs, append(attrs, attrGraph("body", body))...)
}

// outputs declares outputs of any type.
func outputs(names string) []*pb.ValueInfoProto { return graph("", names).Output }

// controlled are models with what they become, and what they compute of x =
// [[1,-2],[3,-4]], n = 3 and flag = true.
var controlled = []struct {
	name  string
	model *pb.ModelProto
	text  string
	want  []string
}{
	{"a known condition is inlined",
		control(outputs("y"), ifElse("yes", "y", graph("", "a", of("Neg", "x", "a")), graph("", "b", of("Abs", "x", "b")))),
		`
`, nil},
	{"a condition on the rank is known",
		control(outputs("y"),
			of("Shape", "x", "shape"), of("Size", "shape", "rank"), of("Equal", "rank one", "row"),
			ifElse("row", "y", graph("", "a", of("Neg", "x", "a")), graph("", "b", of("Abs", "x", "b")))),
		`
`, nil},
	{"branches see the values around them and return them",
		control(outputs("y z"),
			of("Neg", "x", "minus"),
			ifElse("flag", "y z", graph("", "a x", of("Add", "x minus", "a")), graph("", "minus minus"))),
		`
`, nil},
	{"branches of different extents",
		control(outputs("y"), ifElse("flag", "y", graph("", "a", of("Concat", "x x", "a", attrInt("axis", 0))), graph("", "b", of("Abs", "x", "b")))),
		`
`, nil},
	{"ranks that differ take the declared branch",
		control(values(value("y", f32("K"))),
			of("Not", "flag", "not"),
			&pb.NodeProto{OpType: proto.String("If"), Input: names("not"), Output: names("y"), Attribute: []*pb.AttributeProto{
				attrGraph("then_branch", graph("", "a", of("Neg", "x", "a"))),
				attrGraph("else_branch", graph("", "b", of("ReduceSum", "x pair", "b", attrInt("keepdims", 0)))),
			}}),
		`
`, nil},
	{"a loop whose condition stays true is counted",
		control(outputs("y s"), loopOf("n _ x", "y s", graph("i go v", "go w v", of("Add", "v x", "w")))),
		`
`, nil},
	{"a loop that may end early",
		control(outputs("y s"), loopOf("n flag one", "y s", graph("i go k", "more k2 k", of("Add", "k k", "k2"), of("Less", "k2 n", "more")))),
		`
`, nil},
	{"carried values that are swapped",
		control(outputs("y z"),
			of("Neg", "x", "minus"),
			loopOf("n _ x minus", "y z", graph("i go a b", "go b a"))),
		`
`, nil},
	{"extents of carried values that vary",
		control(outputs("y"), loopOf("n _ x", "y", graph("i go v", "go w", of("Concat", "v x", "w", attrInt("axis", 0))))),
		`
`, nil},
	{"rows of an extent that is found inside",
		control(outputs("s"), loopOf("n flag", "s", graph("i go", "go z", of("NonZero", "x", "z")))),
		`
`, nil},
	{"an initializer of a body",
		control(outputs("y"), loopOf("n _ x", "y", func() *pb.GraphProto {
			g := graph("i go v", "go w", of("Concat", "v x", "u", attrInt("axis", 0)), of("Gather", "u pick", "w", attrInt("axis", 0)))
			g.Initializer = []*pb.TensorProto{ints("pick", 1, 0)}
			return g
		}())),
		`
`, nil},
	{"a scan from the end",
		control(outputs("y z"), of("ReduceSum", "x first", "zero", attrInt("keepdims", 0)),
			scanOf("zero x", "y z", graph("s r", "t t", of("Add", "s r", "t")), attrInt("num_scan_inputs", 1),
				attrInts("scan_input_directions", 1), attrInts("scan_output_directions", 1), attrInts("scan_output_axes", -1))),
		`
`, nil},
	{"a map over a sequence",
		control(outputs("y"), of("SequenceConstruct", "x x", "q"),
			of("SequenceMap", "q x", "r", attrGraph("body", graph("e o", "m", of("Add", "e o", "m")))),
			of("ConcatFromSequence", "r", "y", attrInt("axis", 0))),
		`
`, nil},
}

// Control flow becomes nodes with regions, or none.
func TestControlFlow(t *testing.T) {
	for _, c := range controlled {
		t.Run(c.name, func(t *testing.T) {
			m, lines := imports(t, c.model, Options{})
			if lines != nil {
				t.Fatal(lines)
			}
			roundTrip(t, m.Module)
			f := m.Module.Func("forward")
			_, body, _ := strings.Cut(f.String(), "\n")
			if got := strings.TrimSuffix(strings.TrimSpace(body), "\n}"); got != strings.TrimSpace(c.text) {
				t.Errorf("got\n%s\nwant\n%s", got, strings.TrimSpace(c.text))
			}
			x, n, flag := ir.NewTensor(ir.F32, 2, 2), ir.Scalar(ir.I64, 3), ir.NewTensor(ir.Bool)
			for i, v := range []float64{1, -2, 3, -4} {
				x.SetFloat(i, v)
			}
			flag.SetBool(0, true)
			results, err := (&ir.Evaluator{Module: m.Module}).Run(f, []*ir.Tensor{x, n, flag})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range results {
				got = append(got, r.String())
			}
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("computes\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// The branch that cannot be had is an error when it is taken.
func TestBranchOfAnotherRank(t *testing.T) {
	for _, c := range controlled {
		if !strings.HasPrefix(c.name, "ranks") {
			continue
		}
		m, lines := imports(t, c.model, Options{})
		if lines != nil {
			t.Fatal(lines)
		}
		args := []*ir.Tensor{ir.NewTensor(ir.F32, 2, 2), ir.Scalar(ir.I64, 3), ir.NewTensor(ir.Bool)}
		_, err := (&ir.Evaluator{Module: m.Module}).Run(m.Module.Func("forward"), args)
		if err == nil || !strings.Contains(err.Error(), "the other branch gives a result of another rank") {
			t.Error(err)
		}
	}
}

// What is wrong with control flow is said with the node's name.
func TestControlFlowProblems(t *testing.T) {
	neg, body := graph("", "a", of("Neg", "x", "a")), graph("i go v", "go w", of("Neg", "v", "w"))
	for name, test := range map[string]struct {
		node *pb.NodeProto
		want string
	}{
		"no else_branch":           {of("If", "flag", "y", attrGraph("then_branch", neg)), ""},
		"condition is no bool":     {ifElse("n", "y", neg, neg), ""},
		"condition of rows":        {ifElse("flags", "y", neg, neg), ""},
		"branches of other counts": {ifElse("flag", "y", neg, graph("", "a a", of("Neg", "x", "a"))), ""},
		"branches of other dtypes": {ifElse("flag", "y", neg, graph("", "n")), ""},
		"a branch with inputs":     {ifElse("flag", "y", neg, graph("i", "a", of("Neg", "x", "a"))), ""},
		"a problem in a branch":    {ifElse("flag", "y", neg, graph("", "a", of("Neg", "nowhere", "a"))), ""},
		"no body":                  {of("Loop", "n _ x", "y"), ""},
		"too few inputs of a body": {loopOf("n _ x x", "y z", body), ""},
		"too few outputs":          {loopOf("n _ x x", "y z", graph("i go v u", "go v")), ""},
		"one operand":              {loopOf("n", "y", graph("i go", "go i")), ""},
		"no carried value":         {loopOf("n _ _ x", "y", graph("i go v w", "go v w")), ""},
		"more results":             {loopOf("n _ x", "y z", body), ""},
		"the dtype changes":        {loopOf("n _ x", "y", graph("i go v", "go i")), ""},
		"the rank changes":         {loopOf("n _ x", "y", graph("i go v", "go w", of("Unsqueeze", "v first", "w"))), ""},
		"trips are no integer":     {loopOf("x _ x", "y", body), ""},
		"condition of the body":    {loopOf("n _ x", "y", graph("i go v", "i v")), ""},
		"the first condition":      {loopOf("n n x", "y", body), ""},
		"a scan of a sequence":     {loopOf("n _", "y", graph("i go", "go q", of("SequenceConstruct", "x", "q"))), ""},
		"no scanned operand":       {scanOf("x", "y", graph("r", "r"), attrInt("num_scan_inputs", 0)), ""},
		"a scanned scalar":         {scanOf("n", "y", graph("r", "r"), attrInt("num_scan_inputs", 1)), ""},
		"an axis out of range":     {scanOf("x", "y", graph("r", "r"), attrInt("num_scan_inputs", 1), attrInts("scan_output_axes", 2)), ""},
		"too few directions":       {scanOf("x x", "y", graph("r q", "r"), attrInt("num_scan_inputs", 2), attrInts("scan_input_directions", 1)), ""},
		"a map of a tensor":        {of("SequenceMap", "x", "y", attrGraph("body", graph("e", "e"))), ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := control(outputs("y"), in("", "step", test.node))
			m.Graph.Input = append(m.Graph.Input, value("flags", tensorOfType(pb.TensorProto_BOOL, 2)))
			_, lines := imports(t, m, Options{})
			if want := "model.onnx: node 0 \"step\" " + test.want; len(lines) != 1 || lines[0] != want {
				t.Errorf("%q", lines)
				t.Errorf("want %q", want)
			}
		})
	}
}
