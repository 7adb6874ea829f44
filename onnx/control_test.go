package onnx

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/burngen/burngen/ir"
	pb "github.com/burngen/burngen/onnx/internal/onnxpb"
)

// control returns a model with inputs x f32[N,2], n i64[] and flag bool[], and with constants one
// i64[] = 1, pair i64[1] = [1], first i64[1] = [0] and yes bool[] = true.
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

// of returns a node. inputs and outputs are names separated by spaces, with "_" for an absent one.
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

// otherRank has branches of ranks 2 and 1, and declares rank 1.
var otherRank = control(values(value("y", f32("K"))),
	of("Not", "flag", "not"),
	ifElse("not", "y",
		graph("", "a", of("Neg", "x", "a")),
		graph("", "b", of("ReduceSum", "x pair", "b", attrInt("keepdims", 0)))))

// controlled are models with their IR and with their results for x = [[1,-2],[3,-4]], n = 3 and
// flag = true.
var controlled = []struct {
	name  string
	model *pb.ModelProto
	text  string
	want  []string
}{
	{"a known condition is inlined",
		control(outputs("y"), ifElse("yes", "y", graph("", "a", of("Neg", "x", "a")), graph("", "b", of("Abs", "x", "b")))),
		`
  %a1 = neg %x : f32[N,2]  // a
  return %a1
`, []string{"f32[2,2](-1,2,-3,4)"}},
	{"a condition on the rank is known",
		control(outputs("y"),
			of("Shape", "x", "shape"), of("Size", "shape", "rank"), of("Equal", "rank one", "row"),
			ifElse("row", "y", graph("", "a", of("Neg", "x", "a")), graph("", "b", of("Abs", "x", "b")))),
		`
  %b1 = abs %x : f32[N,2]  // b
  return %b1
`, []string{"f32[2,2](1,2,3,4)"}},
	{"branches see the values around them and return them",
		control(outputs("y z"),
			of("Neg", "x", "minus"),
			ifElse("flag", "y z", graph("", "a x", of("Add", "x minus", "a")), graph("", "minus minus"))),
		`
  %minus = neg %x : f32[N,2]  // minus
  %y, %z = if %flag : f32[N,2], f32[N,2]  // y
    region () {
      %a = add %x, %minus : f32[N,2]  // a
      return %a, %x
    }
    region () {
      return %minus, %minus
    }
  return %y, %z
`, []string{"f32[2,2](0,0,0,0)", "f32[2,2](1,-2,3,-4)"}},
	{"branches of different extents",
		control(outputs("y"), ifElse("flag", "y", graph("", "a", of("Concat", "x x", "a", attrInt("axis", 0))), graph("", "b", of("Abs", "x", "b")))),
		`
  %y = if %flag {extents=[{symbol="if0_0"}]} : f32[if0_0,2]  // y
    region () {
      %a = concat %x, %x : f32[2*N,2]  // a
      return %a
    }
    region () {
      %b = abs %x : f32[N,2]  // b
      return %b
    }
  return %y
`, []string{"f32[4,2](1,-2,3,-4,1,-2,3,-4)"}},
	{"ranks that differ take the declared branch",
		otherRank,
		`
  %not = not %flag : bool[]  // not
  require %not {what="the other branch gives a result of another rank"}  // y
  %b1 = reduce %x {kind="sum" axes=[1]} : f32[N]  // b
  return %b1
`, []string{"f32[2](-1,-1)"}},
	{"a loop whose condition stays true",
		control(outputs("y s"), loopOf("n _ x", "y s", graph("i go v", "go w v", of("Add", "v x", "w")))),
		`
  %y, %s = loop %n, _, %x {scans=[f32[N,2]] extents=[{symbol="trips0" result=1}]} : f32[N,2], f32[trips0,N,2]  // y
    region (%i: i64[], %go: bool[], %v: f32[N,2]) {
      %w = add %v, %x : f32[N,2]  // w
      return %go, %w, %v
    }
  return %y, %s
`, []string{"f32[2,2](4,-8,12,-16)", "f32[3,2,2](1,-2,3,-4,2,-4,6,-8,3,-6,9,-12)"}},
	{"a loop whose trips are an extent is counted",
		control(outputs("y s"), of("Shape", "x", "rows", attrInt("end", 1)), loopOf("rows yes x", "y s", graph("i go v", "yes w r", of("Add", "v v", "w"), of("Gather", "x i", "r")))),
		`
  %yes = constant {value=bool[](1)} : bool[]
  %y, %s = loop %x {counted=true trips=N scans=[f32[2]]} : f32[N,2], f32[N,2]  // y
    region (%i: i64[], %go: bool[], %v: f32[N,2]) {
      %w = add %v, %v : f32[N,2]  // w
      %r = gather %x, %i : f32[2]  // r
      return %yes, %w, %r
    }
  return %y, %s
`, []string{"f32[2,2](4,-8,12,-16)", "f32[2,2](1,-2,3,-4)"}},
	{"a loop that may end early",
		control(outputs("y s"), loopOf("n flag one", "y s", graph("i go k", "more k2 k", of("Add", "k k", "k2"), of("Less", "k2 n", "more")))),
		`
  %one = constant {value=i64[](1)} : i64[]
  %y, %s = loop %n, %flag, %one {scans=[i64[]] extents=[{symbol="trips0" result=1}]} : i64[], i64[trips0]  // y
    region (%i: i64[], %go: bool[], %k: i64[]) {
      %k2 = add %k, %k : i64[]  // k2
      %more = less %k2, %n : bool[]  // more
      return %more, %k2, %k
    }
  return %y, %s
`, []string{"i64[](4)", "i64[2](1,2)"}},
	{"carried values that are swapped",
		control(outputs("y z"),
			of("Neg", "x", "minus"),
			loopOf("n _ x minus", "y z", graph("i go a b", "go b a"))),
		`
  %minus = neg %x : f32[N,2]  // minus
  %y, %z = loop %n, _, %x, %minus : f32[N,2], f32[N,2]  // y
    region (%i: i64[], %go: bool[], %a: f32[N,2], %b: f32[N,2]) {
      return %go, %b, %a
    }
  return %y, %z
`, []string{"f32[2,2](-1,2,-3,4)", "f32[2,2](1,-2,3,-4)"}},
	{"extents of carried values that vary",
		control(outputs("y"), loopOf("n _ x", "y", graph("i go v", "go w", of("Concat", "v x", "w", attrInt("axis", 0))))),
		`
  %y = loop %n, _, %x {varying=["carried"] extents=[{symbol="loop0_0"}]} : f32[loop0_0,2]  // y
    region (%i1: i64[], %go1: bool[], %v1: f32[carried,2]) {
      %w1 = concat %v1, %x : f32[N+carried,2]  // w
      return %go1, %w1
    }
  return %y
`, []string{"f32[8,2](1,-2,3,-4,1,-2,3,-4,1,-2,3,-4,1,-2,3,-4)"}},
	{"rows of an extent that is found inside",
		control(outputs("s"), loopOf("n flag", "s", graph("i go", "go z", of("NonZero", "x", "z")))),
		`
  %s = loop %n, %flag {scans=[i64[2,scan0_1]] extents=[{symbol="trips0"},{symbol="scan0_1" axis=2}]} : i64[trips0,2,scan0_1]  // s
    region (%i: i64[], %go: bool[]) {
      %z = non_zero %x {count="nonzero"} : i64[2,nonzero]  // z
      return %go, %z
    }
  return %s
`, []string{"i64[3,2,4](0,0,1,1,0,1,0,1,0,0,1,1,0,1,0,1,0,0,1,1,0,1,0,1)"}},
	{"an initializer of a body",
		control(outputs("y"), loopOf("n _ x", "y", func() *pb.GraphProto {
			g := graph("i go v", "go w", of("Concat", "v x", "u", attrInt("axis", 0)), of("Gather", "u pick", "w", attrInt("axis", 0)))
			g.Initializer = []*pb.TensorProto{ints("pick", 1, 0)}
			return g
		}())),
		`
  %y = loop %n, _, %x {varying=["carried"] extents=[{symbol="loop0_0"}]} : f32[loop0_0,2]  // y
    region (%i1: i64[], %go1: bool[], %v1: f32[carried,2]) {
      %u1 = concat %v1, %x : f32[N+carried,2]  // u
      %pick1 = constant {value=i64[2](1,0)} : i64[2]
      %w1 = gather %u1, %pick1 : f32[2,2]  // w
      return %go1, %w1
    }
  return %y
`, []string{"f32[2,2](3,-4,1,-2)"}},
	{"a scan from the end",
		control(outputs("y z"), of("ReduceSum", "x first", "zero", attrInt("keepdims", 0)),
			scanOf("zero x", "y z", graph("s r", "t t", of("Add", "s r", "t")), attrInt("num_scan_inputs", 1),
				attrInts("scan_input_directions", 1), attrInts("scan_output_directions", 1), attrInts("scan_output_axes", -1))),
		`
  %zero = reduce %x {kind="sum" axes=[0]} : f32[2]  // zero
  %y, %h8 = loop %zero {counted=true trips=N scans=[f32[2]]} : f32[2], f32[N,2]  // y
    region (%trip: i64[], %condition: bool[], %carried: f32[2]) {
      %h3 = extents {elems=[N-1]} : i64[]  // y
      %h4 = sub %h3, %trip : i64[]  // y
      %h5 = gather %x, %h4 : f32[2]  // y
      %t1 = add %carried, %h5 : f32[2]  // t
      return %condition, %t1, %t1
    }
  %h9 = slice %h8 {starts=[N-1,0] shape=[N,2] steps=[-1,1]} : f32[N,2]  // y
  %z = transpose %h9 {perm=[1,0]} : f32[2,N]  // y
  return %y, %z
`, []string{"f32[2](8,-12)", "f32[2,2](8,7,-12,-10)"}},
	{"an optional that only one branch has",
		control(outputs("some y"),
			ifElse("flag", "o",
				graph("", "a", of("Optional", "x", "a")),
				graph("", "b", of("Optional", "", "b", &pb.AttributeProto{Name: proto.String("type"), Type: pb.AttributeProto_TYPE_PROTO.Enum(), Tp: f32("K", 2)}))),
			of("OptionalHasElement", "o", "some"),
			of("OptionalGetElement", "o", "y")),
		`
  %o = if %flag : opt<f32[?,2]>  // o
    region () {
      %a = optional %x : opt<f32[?,2]>  // a
      return %a
    }
    region () {
      %b = optional {type=opt<f32[?,2]>} : opt<f32[?,2]>  // b
      return %b
    }
  %some = optional_has_element %o : bool[]  // some
  %y = optional_get_element %o {extents=["extent",""]} : f32[extent,2]  // y
  return %some, %y
`, []string{"bool[](1)", "f32[2,2](1,-2,3,-4)"}},
	{"a map over a sequence",
		control(outputs("y"), of("SequenceConstruct", "x x", "q"),
			of("SequenceMap", "q x", "r", attrGraph("body", graph("e o", "m", of("Add", "e o", "m")))),
			of("ConcatFromSequence", "r", "y", attrInt("axis", 0))),
		`
  %q = sequence_construct %x, %x : seq<f32[?,2]>  // q
  %h4 = sequence_construct {d_type=f32} : seq<f32>  // r
  %h5 = sequence_length %q : i64[]  // r
  %r = loop %h5, _, %h4 : seq<f32[?,2]>  // r
    region (%trip1: i64[], %condition1: bool[], %carried1: seq<f32[?,2]>) {
      %h9 = sequence_at %q, %trip1 {extents=["extent2",""]} : f32[extent2,2]  // r
      %m31 = add %h9, %x : f32[max(N,extent2),2]  // m
      %h11 = sequence_insert %carried1, %m31 : seq<f32[?,2]>  // r
      return %condition1, %h11
    }
  %y = concat_from_sequence %r {extents=["extent3",""]} : f32[extent3,2]  // y
  return %y
`, []string{"f32[4,2](2,-4,6,-8,2,-4,6,-8)"}},
}

// Control flow becomes nodes with regions, or none.
func TestControlFlow(t *testing.T) {
	for _, c := range controlled {
		t.Run(c.name, func(t *testing.T) {
			m, lines := imports(t, c.model, Options{})
			if lines != nil {
				t.Fatal(lines)
			}
			if err := ir.Verify(m.Module); err != nil {
				t.Fatal(err)
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
	m, lines := imports(t, otherRank, Options{})
	if lines != nil {
		t.Fatal(lines)
	}
	args := []*ir.Tensor{ir.NewTensor(ir.F32, 2, 2), ir.Scalar(ir.I64, 3), ir.NewTensor(ir.Bool)}
	_, err := (&ir.Evaluator{Module: m.Module}).Run(m.Module.Func("forward"), args)
	if err == nil || !strings.Contains(err.Error(), "the other branch gives a result of another rank") {
		t.Error(err)
	}
}

// What is wrong with control flow is said with the node's name.
func TestControlFlowProblems(t *testing.T) {
	neg, body := graph("", "a", of("Neg", "x", "a")), graph("i go v", "go w", of("Neg", "v", "w"))
	for name, test := range map[string]struct {
		node *pb.NodeProto
		want string
	}{
		"no else_branch":           {of("If", "flag", "y", attrGraph("then_branch", neg)), `(If-21): else_branch is missing`},
		"condition is not a bool":  {ifElse("n", "y", neg, neg), `(If-21): if: condition: one bool expected, not i64[]`},
		"condition of rows":        {ifElse("flags", "y", neg, neg), `(If-21): if: condition: one bool expected, not bool[2]`},
		"branches of other counts": {ifElse("flag", "y", neg, graph("", "a a", of("Neg", "x", "a"))), `(If-21): if: the branches give 1 and 2 results`},
		"branches of other dtypes": {ifElse("flag", "y", neg, graph("", "a", of("Cast", "x", "a", attrInt("to", 7)))), `(If-21): if: result 0: the branches give f32[N,2] and i64[N,2]`},
		"a branch with inputs":     {ifElse("flag", "y", neg, graph("i", "a", of("Neg", "x", "a"))), `(If-21): graph "else_branch" has 1 inputs, 0 expected`},
		"a problem in a branch":    {ifElse("flag", "y", neg, graph("", "a", of("Neg", "nowhere", "a"))), `(If-21): else_branch: node 0 "a" (Neg-13): input "nowhere" is not defined`},
		"dtypes before ranks":      {ifElse("flag", "y", neg, graph("", "b", of("Not", "flag", "b"))), `(If-21): if: result 0: the branches give f32[N,2] and bool[]`},
		"no body":                  {of("Loop", "n _ x", "y"), `(Loop-21): attribute "body" is missing`},
		"too few inputs of a body": {loopOf("n _ x x", "y z", body), `(Loop-21): graph "body" has 3 inputs, 4 expected`},
		"too few outputs":          {loopOf("n _ x x", "y z", graph("i go v u", "go v")), `(Loop-21): the body has 4 inputs and 2 outputs for 2 carried values`},
		"one operand":              {loopOf("n", "y", graph("i go", "go i")), `(Loop-21): 1 operands, 2 or more expected`},
		"no carried value":         {loopOf("n _ _ x", "y", graph("i go v w", "go v w")), `(Loop-21): carried value 0 is absent`},
		"more results":             {loopOf("n _ x", "y z", body), `(Loop-21): output 1: the operator has 1`},
		"the dtype changes":        {loopOf("n _ x", "y", graph("i go v", "go i")), `(Loop-21): carried value 0: it is f32[N,2], and after a trip i64[]`},
		"the rank changes":         {loopOf("n _ x", "y", graph("i go v", "go w", of("Unsqueeze", "v first", "w"))), `(Loop-21): carried value 0: it is f32[N,2], and after a trip f32[1,N,2]`},
		"trips are not an integer": {loopOf("x _ x", "y", body), `(Loop-21): loop: the number of trips: one integer expected, not f32[N,2]`},
		"condition of the body":    {loopOf("n _ x", "y", graph("i go v", "i v")), `(Loop-21): loop: the condition of the body: one bool expected, not i64[]`},
		"the first condition":      {loopOf("n n x", "y", body), `(Loop-21): loop: the condition: one bool expected, not i64[]`},
		"a scan of a sequence":     {loopOf("n _", "y", graph("i go", "go q", of("SequenceConstruct", "x", "q"))), `(Loop-21): scan 0 is seq<f32[?,2]>: only tensors are stacked`},
		"no scanned operand":       {scanOf("x", "y", graph("r", "r"), attrInt("num_scan_inputs", 0)), `(Scan-21): num_scan_inputs is 0 for 1 operands`},
		"a scanned scalar":         {scanOf("n", "y", graph("r", "r"), attrInt("num_scan_inputs", 1)), `(Scan-21): axis 0 out of range for rank 0`},
		"an axis out of range":     {scanOf("x", "y", graph("r", "r"), attrInt("num_scan_inputs", 1), attrInts("scan_output_axes", 2)), `(Scan-21): axis 2 out of range for rank 2`},
		"too few directions":       {scanOf("x x", "y", graph("r q", "r"), attrInt("num_scan_inputs", 2), attrInts("scan_input_directions", 1)), `(Scan-21): 1 axes or directions for 2 scanned operands`},
		"a map of a tensor":        {of("SequenceMap", "x", "y", attrGraph("body", graph("e", "e"))), `(SequenceMap-17): the first operand is not a sequence`},
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
