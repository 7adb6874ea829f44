package onnx

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"google.golang.org/protobuf/proto"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	pb "github.com/burngen/burngen/onnx/internal/onnxpb"
)

// imports reads a model and checks that the result is a module that prints and parses, or an error
// of short printable lines.
func imports(t *testing.T, m *pb.ModelProto, o Options) (read *Model, lines []string) {
	t.Helper()
	data := encode(t, m)
	o.Custom = custom
	bounded(t, func() {
		var err error
		read, err = Read("model.onnx", data, nil, o)
		if err != nil {
			lines = strings.Split(err.Error(), "\n")
		}
	})
	for _, l := range lines {
		if len(l) > 6*maxLine || strings.ContainsFunc(l, func(c rune) bool { return c != ' ' && !unicode.IsPrint(c) }) {
			t.Errorf("%d bytes or not printable: %.300q", len(l), l)
		}
		if !strings.HasPrefix(l, "model.onnx: ") || strings.Contains(l, "runtime error") || strings.Contains(l, "bug") {
			t.Errorf("a bad line: %s", l)
		}
	}
	if len(lines) > maxProblems+1 {
		t.Errorf("%d lines", len(lines))
	}
	return read, lines
}

// roundTrip checks that a module prints to what parses to it.
func roundTrip(t *testing.T, m *ir.Module) {
	t.Helper()
	text := m.String()
	again, err := ir.Parse(text, op.Set)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if again.String() != text {
		t.Errorf("parsed and printed, it differs:\n%s\n%s", text, again)
	}
}

// refused is a test of a model that cannot be imported.
type refused struct {
	model   *pb.ModelProto
	options Options
	want    []string // the lines of the error, without the file's name
}

func testRefused(t *testing.T, tests map[string]refused) {
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, lines := imports(t, test.model, test.options)
			for i, l := range lines {
				lines[i] = strings.TrimPrefix(l, "model.onnx: ")
			}
			if got, want := strings.Join(lines, "\n"), strings.Join(test.want, "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// accepted checks that models can be imported, and how many nodes they become.
func testAccepted(t *testing.T, tests map[string]struct {
	model *pb.ModelProto
	nodes int
}) {
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m, lines := imports(t, test.model, Options{})
			if lines != nil {
				t.Fatal(lines)
			}
			if got := len(m.Module.Func("forward").Nodes); got != test.nodes {
				t.Errorf("%d nodes, want %d:\n%s", got, test.nodes, m.Module)
			}
			roundTrip(t, m.Module)
		})
	}
}

func relu(from, to string) *pb.NodeProto { return node("Relu", names(from), names(to)) }

func hostileGraphs(t *testing.T) {
	undefined := chainOf(relu("nowhere", "a"), relu("a", "y"))
	twice := chainOf(relu("x", "a"), relu("x", "a"), relu("a", "y"))
	inputTwice := chainOf(relu("x", "y"))
	inputTwice.Input = append(inputTwice.Input, inputTwice.Input[0])
	noOutputs := chainOf(relu("x", "y"))
	noOutputs.Output = nil
	outputTwice := chainOf(relu("x", "y"))
	outputTwice.Output = append(outputTwice.Output, outputTwice.Output[0])
	initializers := chainOf(node("Add", names("x", "w"), names("y")))
	initializers.Initializer = []*pb.TensorProto{ints("w", 1), ints("w", 2)}
	redefined := chainOf(relu("x", "x"), relu("x", "y"))
	sparse := chainOf(node("Add", names("x", "w"), names("y")))
	sparse.SparseInitializer = []*pb.SparseTensorProto{{Values: initializer("w", pb.TensorProto_FLOAT, make([]byte, 4), 1)}}
	testRefused(t, map[string]refused{
		"a cycle": {model: model(chainOf(node("Add", names("x", "b"), names("a")), relu("a", "b"), relu("b", "y"))),
			want: []string{`node 0 "a" (Add-14): it is part of a cycle through "a"`}},
		"a node that reads itself": {model: model(chainOf(node("Add", names("x", "y"), names("y")))),
			want: []string{`node 0 "y" (Add-14): it is part of a cycle through "y"`}},
		"two cycles": {model: model(chainOf(node("Add", names("x", "a"), names("a")), node("Add", names("a", "b"), names("b")), node("Add", names("a", "b"), names("y")))),
			want: []string{`node 0 "a" (Add-14): it is part of a cycle through "a"`, `node 1 "b" (Add-14): it is part of a cycle through "b"`}},
		"an undefined input": {model: model(undefined),
			want: []string{`node 0 "a" (Relu-14): input "nowhere" is not defined`}},
		"two nodes define a name": {model: model(twice),
			want: []string{`node 1 "a" (Relu-14): it defines "a", as node 0 "a" does`}},
		"a node defines an input": {model: model(redefined),
			want: []string{`node 0 "x" (Relu-14): it defines "x", which is an input or initializer`}},
		"an input is declared twice": {model: model(inputTwice), want: []string{`input "x" is declared twice`}},
		"an output that nothing gives": {model: model(chainOf(relu("x", "z"))),
			want: []string{`output "y": no node, input or initializer gives it`}},
		"an output that is named twice": {model: model(outputTwice), want: []string{`output "y" is named twice`}},
		"no outputs":                    {model: model(noOutputs), want: []string{`the graph has no outputs`}},
		"no nodes":                      {model: model(chainOf()), want: []string{`output "y": no node, input or initializer gives it`}},
		"an initializer is defined twice": {model: model(initializers),
			want: []string{`initializer "w" is defined twice`, `node 0 "y" (Add-14): add: operand 1 is i64, operand 0 is f32`}},
		"a sparse initializer": {model: model(sparse),
			want: []string{`node 0 "y" (Add-14): initializer "w": sparse tensors are not supported`}},
		"an unknown operator and what follows from it": {model: model(chainOf(relu("q", "z"), node("Foo", names("x"), names("a")), relu("a", "b"), node("Bar", names("b", "z"), names("c")), in("acme", "/c", node("Baz", names("x"), names("d"))), node("Sum", names("a", "c", "d"), names("y")))),
			want: []string{`node 0 "z" (Relu-14): input "q" is not defined`, `node 1 "a" (Foo-21): unknown operator`,
				`node 4 "/c" (acme.Baz): unknown operator; name a Go function with -custom 'acme.Baz=…'`}},
		"problems in another order than the nodes": {model: model(chainOf(node("Add", names("b", "a"), names("y")), node("Foo", names("x"), names("a")), node("Bar", names("x"), names("b")))),
			want: []string{`node 1 "a" (Foo-21): unknown operator`, `node 2 "b" (Bar-21): unknown operator`}},
	})
	loop := chainOf(relu("b", "y"), relu("a", "b"), relu("x", "a"))
	constants := chainOf(node("Constant", nil, names("c"), attrFloat("value_float", 1)), node("Constant", nil, names("c"), attrFloat("value_float", 2)), node("Add", names("x", "c"), names("y")))
	testAccepted(t, map[string]struct {
		model *pb.ModelProto
		nodes int
	}{
		"nodes before what they follow from":        {model(loop), 3},
		"nodes that the outputs do not need":        {model(chainOf(relu("x", "y"), node("Foo", names("nowhere"), names("z")), node("Add", names("z", "v"), names("v")))), 1},
		"constants that are defined a second time":  {model(constants), 2},
		"an output that is an input":                {model(&pb.GraphProto{Input: values(value("x", f32(2))), Output: values(value("x", f32(2)))}), 0},
		"an initializer that is an input":           {model(&pb.GraphProto{Input: values(value("w", f32())), Output: values(value("w", f32())), Initializer: []*pb.TensorProto{initializer("w", pb.TensorProto_FLOAT, make([]byte, 4))}}), 1},
		"a name that is an operator of the builder": {model(chainOf(relu("x", "h1"), relu("h1", "h"), relu("h", "h2"), relu("h2", "y"))), 4},
	})
}

// manyOf returns n copies of what make returns.
func manyOf[T any](n int, make func(i int) T) []T {
	list := []T{}
	for i := range n {
		list = append(list, make(i))
	}
	return list
}

func hostileSizes(t *testing.T) {
	t.Run("a million nodes in a row", func(t *testing.T) {
		nodes := manyOf(1_000_000, func(i int) *pb.NodeProto {
			return node("Identity", names(fmt.Sprint("v", i)), names(fmt.Sprint("v", i+1)))
		})
		nodes[0].Input[0], nodes[len(nodes)-1].Output[0] = "x", "y"
		m := model(chainOf(nodes...))
		nodes = nil
		if _, lines := imports(t, m, Options{}); lines != nil {
			t.Error(lines)
		}
	})
	t.Run("nodes in reverse order", func(t *testing.T) {
		n := 100_000
		nodes := manyOf(n, func(i int) *pb.NodeProto {
			return node("Relu", names(fmt.Sprint("v", n-i-1)), names(fmt.Sprint("v", n-i)))
		})
		nodes[n-1].Input[0], nodes[0].Output[0] = "x", "y"
		m, lines := imports(t, model(chainOf(nodes...)), Options{})
		if lines != nil || len(m.Module.Func("forward").Nodes) != n {
			t.Error(lines)
		}
	})
	t.Run("many outputs", func(t *testing.T) {
		g := chainOf(node("Split", names("x"), manyOf(100_000, func(i int) string { return fmt.Sprint("o", i) }), attrInt("num_outputs", 100_000)))
		g.Input = values(value("x", f32(100_000, 1)))
		g.Output = manyOf(100_000, func(i int) *pb.ValueInfoProto { return value(fmt.Sprint("o", i), f32(1, 1)) })
		m, lines := imports(t, model(g), Options{})
		if lines != nil || len(m.Module.Func("forward").Results) != 100_000 {
			t.Error(lines)
		}
	})
	t.Run("many initializers", func(t *testing.T) {
		g := chainOf(node("Sum", append(manyOf(50_000, func(i int) string { return fmt.Sprint("w", i) }), "x"), names("y")))
		g.Initializer = manyOf(50_000, func(i int) *pb.TensorProto {
			return initializer(fmt.Sprint("w", i), pb.TensorProto_FLOAT, make([]byte, 12), 3)
		})
		m, lines := imports(t, model(g), Options{})
		if lines != nil || len(m.Module.Weights) != 50_000 {
			t.Error(lines)
		}
	})
	t.Run("many problems", func(t *testing.T) {
		g := chainOf(append(manyOf(20_000, func(i int) *pb.NodeProto { return node("Foo", names("x"), names(fmt.Sprint("f", i))) }),
			node("Sum", manyOf(20_000, func(i int) string { return fmt.Sprint("f", 19_999-i) }), names("y")))...)
		_, lines := imports(t, model(g), Options{})
		if len(lines) != maxProblems+1 || lines[maxProblems] != "model.onnx: 19900 more problems" || lines[99] != `model.onnx: node 99 "f99" (Foo-21): unknown operator` {
			t.Error(lines[max(0, len(lines)-2):])
		}
	})
	t.Run("many unequal symbols", func(t *testing.T) {
		g := &pb.GraphProto{Output: values(value("y", f32("N")))}
		for i := range 3000 {
			g.Input = append(g.Input, value(fmt.Sprint("x", i), f32(fmt.Sprint("n", i), 4)))
			if i > 0 {
				left := fmt.Sprint("a", i-1)
				if i == 1 {
					left = "x0"
				}
				g.Node = append(g.Node, node("Concat", names(left, fmt.Sprint("x", i)), names(fmt.Sprint("a", i)), attrInt("axis", 1)))
			}
		}
		g.Node = append(g.Node, relu("a2999", "y"))
		m, lines := imports(t, model(g), Options{})
		if lines != nil || m.Module.Func("forward").Params[2999].Type.String() != "f32[n0,4]" {
			t.Error(lines)
		}
	})
	t.Run("many dimensions of one beginning", func(t *testing.T) {
		g := chainOf(relu("x", "y"))
		for i := range 100_000 {
			g.Input = append(g.Input, value(fmt.Sprint("in", i), f32(strings.Repeat("s", 50)+fmt.Sprint(i))))
		}
		m, lines := imports(t, model(g), Options{})
		if lines != nil {
			t.Fatal(lines)
		}
		if got := m.Module.Func("forward").Params[100_000].Type.String(); got != "f32["+strings.Repeat("s", 40)+"_100000]" {
			t.Error(got)
		}
	})
	t.Run("values of one name each", func(t *testing.T) {
		long := strings.Repeat("n", 5000)
		nodes := manyOf(20_000, func(i int) *pb.NodeProto { return relu(fmt.Sprint(long, i), fmt.Sprint(long, i+1)) })
		nodes[0].Input[0], nodes[len(nodes)-1].Output[0] = "x", "y"
		m, lines := imports(t, model(chainOf(nodes...)), Options{})
		if lines != nil {
			t.Fatal(lines)
		}
		if n := len(m.Module.String()); n > 30<<20 {
			t.Errorf("%d bytes of text", n)
		}
	})
}

func hostileOpsets(t *testing.T) {
	with := func(version int64, imports ...*pb.OperatorSetIdProto) *pb.ModelProto {
		return model(chainOf(relu("x", "y")), func(m *pb.ModelProto) {
			m.IrVersion, m.OpsetImport = &version, imports
		})
	}
	unknown := "opset 99 is newer than 28, the newest that is known"
	testRefused(t, map[string]refused{
		"no opset":       {model: with(8), want: []string{`node 0 "y" (Relu): the model imports no version of ONNX's operators`}},
		"opset 0":        {model: with(8, opset("", 0)), want: []string{`opset 0 of domain "" does not exist`, `node 0 "y" (Relu-0): not in opset 0: it came with 1`}},
		"opset -1":       {model: with(8, opset("", -1)), want: []string{`opset -1 of domain "" does not exist`, `node 0 "y" (Relu--1): not in opset -1: it came with 1`}},
		"opset 99":       {model: with(8, opset("", 99)), want: []string{unknown}},
		"opset 2^63-1":   {model: with(8, opset("", math.MaxInt64)), want: []string{"opset 9223372036854775807 is newer than 28, the newest that is known"}},
		"two opsets":     {model: with(8, opset("", 13), opset("ai.onnx", 14)), want: []string{`opset of domain "ai.onnx" is imported twice: 13 and 14`}},
		"another domain": {model: with(8, opset("ai.onnx.ml", 3)), want: []string{`node 0 "y" (Relu): the model imports no version of ONNX's operators`}},
		"an older opset": {model: model(chainOf(node("Gelu", names("x"), names("y"))), func(m *pb.ModelProto) { m.OpsetImport = []*pb.OperatorSetIdProto{opset("", 19)} }), want: []string{`node 0 "y" (Gelu-19): not in opset 19: it came with 20`}},
	})
	testAccepted(t, map[string]struct {
		model *pb.ModelProto
		nodes int
	}{
		"one opset twice":               {with(8, opset("", 13), opset("ai.onnx", 13)), 1},
		"no opset in the first version": {with(1), 1},
		"a missing domain":              {model(chainOf(in("com.microsoft", "gelu", node("Gelu", names("x"), names("y"))))), 1},
		"unused domains of any version": {with(8, opset("", 13), opset("com.acme", 1000)), 1},
	})
}

func hostileNames(t *testing.T) {
	odd := "a\nb\x00c\u2028\u202e*/`\"\\//go:embed x {{\U0001F600" // an odd name
	for name, text := range map[string]string{
		"odd":            odd,
		"of a megabyte":  strings.Repeat("n", 1<<20),
		"odd and long":   strings.Repeat(odd, 1000),
		"a single quote": `"`,
		"one character":  "_",
	} {
		t.Run(name, func(t *testing.T) {
			ok := chainOf(in("", text, relu("x", text)), relu(text, "y"))
			m, lines := imports(t, model(ok), Options{})
			if lines != nil {
				t.Fatal(lines)
			}
			roundTrip(t, m.Module)
			for _, bad := range []*pb.NodeProto{
				in("", text, node("Relu", names(text+"?"), names("y"))),
				in(text, text, node(text, names("x"), names("y"))),
				in("", "softmax", node("Softmax", names("x"), names("y"), attrInt(text, 1), attrInt(text, 1))),
				in("", "cast", node("Cast", names("x"), names("y"), attrText("to", text))),
				in("", "gelu", node("Gelu", names("x"), names("y"), attrText("approximate", text))),
				in("", text, node("Concat", names("x"), names("y"), attrInt("axis", 9))),
				in("", "abs", node("Abs", names("x"), names("y", text))),
				in("", "einsum", node("Einsum", names("x"), names("y"), attrText("equation", text))),
			} {
				if _, lines := imports(t, model(chainOf(bad)), Options{}); len(lines) != 1 {
					t.Errorf("%d lines: %q", len(lines), lines)
				}
			}
			m, _ = imports(t, model(chainOf(in("", text, node("Softmax", names("x"), names("y"), attrInt(text, 1))))), Options{})
			if m == nil || len(m.Warnings) != 1 || len(m.Warnings[0]) > maxLine || strings.Contains(m.Warnings[0], "\n") {
				t.Error("not one warning")
			}
			input := chainOf(relu(text, "y"))
			input.Input[0].Name = &text
			if m, _ := imports(t, model(input), Options{}); m != nil {
				roundTrip(t, m.Module)
			} else if len(text) <= maxName {
				t.Error("no input of this name")
			}
			imports(t, model(chainOf(relu("x", "y")), func(m *pb.ModelProto) { m.OpsetImport = append(m.OpsetImport, opset(text, -1)) }), Options{})
			imports(t, model(chainOf(relu("x", "y"))), Options{Outputs: []string{text + "!"}, Inputs: map[string]string{text: text}, Dims: map[string]string{text: text}})
		})
	}
}

func hostileShapes(t *testing.T) {
	of := func(types ...*pb.TypeProto) *pb.ModelProto {
		g := &pb.GraphProto{Output: values(value("y", nil))}
		all := []string{}
		for i, typ := range types {
			g.Input = append(g.Input, value(fmt.Sprint("x", i), typ))
			all = append(all, fmt.Sprint("x", i))
		}
		g.Node = append(g.Node, node("Sum", all, names("y")))
		return model(g)
	}
	unranked := f32()
	unranked.GetTensorType().Shape = nil
	many := make([]any, 10_000)
	for i := range many {
		many[i] = 1
	}
	testRefused(t, map[string]refused{
		"a negative extent":        {model: of(f32(2, -2)), want: []string{`input "x0": dimension 1 is negative: -2`}},
		"the least extent":         {model: of(f32(int64(math.MinInt64))), want: []string{`input "x0": dimension 0 is negative: -9223372036854775808`}},
		"a size that overflows":    {model: of(f32(int64(math.MaxInt64))), want: []string{`input "x0": more elements than fit a 64-bit size`}},
		"a product that overflows": {model: of(f32(int64(1<<32), int64(1<<32))), want: []string{`input "x0": more elements than fit a 64-bit size`}},
		"a product that is zero":   {model: of(f32(int64(1<<62), 0, int64(1<<62))), want: []string{`input "x0": more elements than fit a 64-bit size`}},
		"rank 10,000":              {model: of(f32(many...)), want: []string{`input "x0": rank 10000 is above 64`}},
		"no shape":                 {model: of(unranked), want: []string{`input "x0": no shape: give one with -input x0=…`}},
		"no type":                  {model: of(nil), want: []string{`input "x0": no type`}},
		"an empty type":            {model: of(&pb.TypeProto{}), want: []string{`input "x0": a type that is not a tensor, sequence, optional or map`}},
		"an unknown element type":  {model: of(tensorOfType(999, 1)), want: []string{`input "x0": unknown element type 999`}},
		"no element type":          {model: of(tensorOfType(0, 1)), want: []string{`input "x0": unknown element type 0`}},
		"a complex type":           {model: of(tensorOfType(pb.TensorProto_COMPLEX64, 1)), want: []string{`input "x0": element type COMPLEX64 is not supported`}},
		"a sequence of nothing":    {model: of(&pb.TypeProto{Value: &pb.TypeProto_SequenceType{SequenceType: &pb.TypeProto_Sequence{}}}), want: []string{`input "x0": no type`}},
		"a map from floats": {model: of(&pb.TypeProto{Value: &pb.TypeProto_MapType{MapType: &pb.TypeProto_Map{KeyType: proto.Int32(1), ValueType: f32()}}}),
			want: []string{`input "x0": a map from f32`}},
		"two inputs": {model: of(f32(-5), f32(1, -6)), want: []string{`input "x0": dimension 0 is negative: -5`, `input "x1": dimension 1 is negative: -6`}},
	})
	for name, test := range map[string]struct {
		model *pb.ModelProto
		want  string
	}{
		"an open extent":            {of(f32("N", nil)), "f32[N,x0_1]"},
		"an extent of -1":           {of(f32("N", -1)), "f32[N,x0_1]"},
		"an extent of zero":         {of(f32(0, "N")), "f32[0,N]"},
		"one symbol twice":          {of(f32("N", "N"), f32("N", "N")), "f32[N,N]"},
		"a symbol without a name":   {of(f32("")), "f32[x0_0]"},
		"a symbol like a number":    {of(f32("12")), "f32[x0_0]"},
		"a symbol like an error":    {of(f32("overflow", "too_complex")), "f32[overflow_,too_complex_]"},
		"symbols like functions":    {of(f32("min", "max", "floor", "ceil")), "f32[min,max,floor,ceil]"},
		"a symbol that is a sum":    {of(f32("batch*2+1", "batch 2 1", "(")), "f32[batch_2_1,batch_2_1_2,x0_2]"},
		"a symbol of a megabyte":    {of(f32(strings.Repeat("€", 1<<18))), "f32[x0_0]"},
		"symbols of a megabyte":     {of(f32(strings.Repeat("ab", 1<<18), strings.Repeat("ab", 1<<18)+"c")), "f32[" + strings.Repeat("ab", 20) + "," + strings.Repeat("ab", 20) + "_2]"},
		"a symbol and its stand-in": {of(f32("a b", "a_b", "a.b")), "f32[a_b,a_b_2,a_b_3]"},
	} {
		t.Run(name, func(t *testing.T) {
			m, lines := imports(t, test.model, Options{})
			if lines != nil {
				t.Fatal(lines)
			}
			if got := m.Module.Func("forward").Params[0].Type.String(); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
			roundTrip(t, m.Module)
		})
	}
}

func hostileTensors(t *testing.T) {
	of := func(tensor *pb.TensorProto) *pb.ModelProto {
		tensor.Name = proto.String("w")
		g := chainOf(node("Add", names("x", "w"), names("y")))
		g.Initializer = []*pb.TensorProto{tensor}
		return model(g)
	}
	float := pb.TensorProto_FLOAT
	both := initializer("", float, make([]byte, 4), 1)
	both.FloatData = []float32{1}
	foreign := &pb.TensorProto{DataType: proto.Int32(1), Dims: []int64{1}, Int64Data: []int64{1}}
	segment := initializer("", float, make([]byte, 4), 1)
	segment.Segment = &pb.TensorProto_Segment{}
	text := initializer("", pb.TensorProto_STRING, []byte("x"), 1)
	place := `node 0 "y" (Add-14): initializer "w": `
	testRefused(t, map[string]refused{
		"too little data":          {model: of(initializer("", float, make([]byte, 3), 1)), want: []string{place + "3 bytes of raw_data for the 4 bytes of FLOAT[1]"}},
		"too much data":            {model: of(initializer("", float, make([]byte, 8), 1)), want: []string{place + "8 bytes of raw_data for the 4 bytes of FLOAT[1]"}},
		"no data":                  {model: of(initializer("", float, nil, 2)), want: []string{place + "0 bytes of raw_data for the 8 bytes of FLOAT[2]"}},
		"data of two kinds":        {model: of(both), want: []string{place + "both raw_data and float_data"}},
		"data of another kind":     {model: of(foreign), want: []string{place + "int64_data for FLOAT"}},
		"a segment":                {model: of(segment), want: []string{place + "one segment of a split tensor"}},
		"raw strings":              {model: of(text), want: []string{place + "raw_data for STRING"}},
		"a negative extent":        {model: of(initializer("", float, nil, -1)), want: []string{place + "dimension 0 is negative: -1"}},
		"the greatest extent":      {model: of(initializer("", float, nil, math.MaxInt64)), want: []string{place + "more elements than fit a 64-bit size"}},
		"a product that overflows": {model: of(initializer("", float, nil, 1<<32, 1<<32)), want: []string{place + "more elements than fit a 64-bit size"}},
		"rank 10,000":              {model: of(initializer("", float, nil, make([]int64, 10_000)...)), want: []string{place + "rank 10000 is above 64"}},
		"an unknown element type":  {model: of(initializer("", 999, nil, 1)), want: []string{place + "unknown element type 999"}},
		"a complex type":           {model: of(initializer("", pb.TensorProto_COMPLEX128, make([]byte, 16), 1)), want: []string{place + "element type COMPLEX128 is not supported"}},
	})
	if strconv.IntSize == 64 {
		testRefused(t, map[string]refused{
			"no data for a huge shape":  {model: of(initializer("", float, nil, 1<<30, 1<<30)), want: []string{place + "1152921504606846976 elements of FLOAT are too many"}},
			"no data for a large shape": {model: of(initializer("", float, nil, 1<<30, 1<<20)), want: []string{place + "0 bytes of raw_data for the 4503599627370496 bytes of FLOAT[1073741824 1048576]"}},
		})
	} else {
		testRefused(t, map[string]refused{
			"no data for a large shape": {model: of(initializer("", float, nil, 1<<30, 1<<20)), want: []string{place + "f32[1073741824,1048576] is too large for this machine"}},
		})
	}
	t.Run("four-bit elements of an odd number", func(t *testing.T) {
		g := &pb.GraphProto{Output: values(value("w", nil)), Initializer: []*pb.TensorProto{initializer("w", pb.TensorProto_INT4, []byte{0x8f, 0x07}, 3)}}
		m, lines := imports(t, model(g), Options{})
		if lines != nil {
			t.Fatal(lines)
		}
		if got := m.Module.String(); !strings.Contains(got, "i4[3](-1,-8,7)") {
			t.Error(got)
		}
	})
	t.Run("large constants are weights", func(t *testing.T) {
		big := initializer("", float, make([]byte, 4000), 1000)
		g := &pb.GraphProto{
			Output: values(value("a", nil), value("b", nil)),
			Node: []*pb.NodeProto{
				node("Constant", nil, names("a"), attrTensor("value", big)),
				in("", "c", node("Constant", nil, names("c"), attrTensor("value", big))),
				node("Neg", names("c"), names("b")),
			},
		}
		m, lines := imports(t, model(g), Options{})
		if lines != nil || len(m.Module.Weights) != 2 {
			t.Fatal(lines, m)
		}
		roundTrip(t, m.Module)
	})
	t.Run("weights that are not used are not kept", func(t *testing.T) {
		g := chainOf(relu("x", "y"), node("Neg", names("w"), names("z")))
		g.Initializer = []*pb.TensorProto{initializer("w", float, nil, 1<<28)}
		m, lines := imports(t, model(g), Options{})
		if lines != nil || len(m.Module.Weights) != 0 {
			t.Error(lines)
		}
	})
	t.Run("weights of one name in different graphs", func(t *testing.T) {
		body := &pb.GraphProto{
			Node: []*pb.NodeProto{node("Add", names("x", "w"), names("z"))}, Output: values(value("z", nil)),
			Initializer: []*pb.TensorProto{initializer("w", float, bytes.Repeat([]byte{0, 0, 0, 64}, 3), 3)},
		}
		g := chainOf(in("test", "b", node("Block", nil, names("a"), attrGraph("body", body))), node("Add", names("a", "w"), names("y")))
		g.Initializer = []*pb.TensorProto{initializer("w", float, make([]byte, 12), 3)}
		m, lines := imports(t, model(g), Options{})
		if lines != nil {
			t.Fatal(lines)
		}
		x := ir.NewTensor(ir.F32, 2, 3)
		y, err := (&ir.Evaluator{Module: m.Module}).Run(m.Module.Func("forward"), []*ir.Tensor{x})
		if err != nil || y[0].Float(0) != 2 {
			t.Errorf("%v, %v", y, err)
		}
	})
}

func hostileFunctions(t *testing.T) {
	call := func(f, from, to string) *pb.NodeProto { return in("local", "", node(f, names(from), names(to))) }
	block := func(n *pb.NodeProto, to string) *pb.NodeProto {
		return in("test", "", node("Block", nil, names(to), attrGraph("body", &pb.GraphProto{Node: []*pb.NodeProto{n}, Output: values(value(n.Output[0], nil))})))
	}
	exponential := manyOf(40, func(i int) *pb.FunctionProto {
		f, g := fmt.Sprint("f", i), fmt.Sprint("f", i+1)
		if i == 39 {
			return localFunction(f, names("a"), names("b"), relu("a", "b"))
		}
		return localFunction(f, names("a"), names("b"), call(g, "a", "m"), call(g, "m", "b"))
	})
	deep := manyOf(100, func(i int) *pb.FunctionProto {
		return localFunction(fmt.Sprint("f", i), names("a"), names("b"), call(fmt.Sprint("f", i+1), "a", "b"))
	})
	required := localFunction("f", names("a"), names("b"), relu("a", "b"))
	required.Attribute = []string{"alpha"}
	identity := localFunction("f", names("a"), names("b"), relu("a", "b"))
	bad := localFunction("f", names("a"), names("b"), node("Foo", names("a"), names("b")))
	first := chainOf(call("f", "x", "y"))
	testRefused(t, map[string]refused{
		"a function that calls itself": {model: model(first, withFunctions(localFunction("f", names("a"), names("b"), call("f", "a", "b")))),
			want: []string{`node 0 "y" (local.f-1): node 0 "b" (local.f-1): the function calls itself`}},
		"functions that call each other": {model: model(first, withFunctions(localFunction("f", names("a"), names("b"), call("g", "a", "b")), localFunction("g", names("a"), names("b"), call("f", "a", "b")))),
			want: []string{`node 0 "y" (local.f-1): node 0 "b" (local.g-1): node 0 "b" (local.f-1): the function calls itself`}},
		"a function that calls itself in a graph": {model: model(first, withFunctions(localFunction("f", names("a"), names("b"), block(call("f", "a", "c"), "b")))),
			want: []string{`node 0 "y" (local.f-1): node 0 "b" (test.Block): body: node 0 "c" (local.f-1): the function calls itself`}},
		"a function that is defined twice": {model: model(first, withFunctions(identity, identity)),
			want: []string{`function "f" of domain "local" is defined twice`}},
		"a function without an attribute": {model: model(first, withFunctions(required)),
			want: []string{`node 0 "y" (local.f-1): attribute "alpha" of the function is missing`}},
		"too many inputs": {model: model(chainOf(in("local", "", node("f", names("x", "x"), names("y")))), withFunctions(identity)),
			want: []string{`node 0 "y" (local.f-1): 2 inputs, the function has 1`}},
		"too many outputs": {model: model(chainOf(in("local", "", node("f", names("x"), names("y", "z")))), withFunctions(identity)),
			want: []string{`node 0 "y" (local.f-1): 2 outputs, the function has 1`}},
		"an output that is not defined": {model: model(first, withFunctions(localFunction("f", names("a"), names("b")))),
			want: []string{`node 0 "y" (local.f-1): output "b" of the function is not defined`}},
		"an input that is left out": {model: model(chainOf(in("local", "", node("f", nil, names("y")))), withFunctions(identity)),
			want: []string{`node 0 "y" (local.f-1): node 0 "b" (Relu-14): relu: 0 operands, 1 expected`}},
		"a caller's names are not seen": {model: model(chainOf(relu("x", "secret"), call("f", "secret", "y")), withFunctions(localFunction("f", names("a"), names("b"), relu("secret", "b")))),
			want: []string{`node 1 "y" (local.f-1): node 0 "b" (Relu-14): input "secret" is not defined`}},
		"one problem of a function that is called often": {model: model(chainOf(call("f", "x", "a"), call("f", "a", "b"), call("f", "x", "c"), node("Add", names("b", "c"), names("y"))), withFunctions(bad)),
			want: []string{`node 0 "a" (local.f-1): node 0 "b" (Foo-21): unknown operator`}},
		"a reference outside functions": {model: model(chainOf(node("Softmax", names("x"), names("y"), attrRef("axis", "a", pb.AttributeProto_INT)))),
			want: []string{`node 0 "y" (Softmax-13): attribute "axis" refers to "a" of a function, outside one`}},
		"a cycle": {model: model(first, withFunctions(localFunction("f", names("a"), names("b"), node("Add", names("a", "b"), names("b"))))),
			want: []string{`node 0 "y" (local.f-1): node 0 "b" (Add-14): it is part of a cycle through "b"`}},
	})
	for name, functions := range map[string][]*pb.FunctionProto{"exponential": exponential, "deep": deep} {
		t.Run(name, func(t *testing.T) {
			_, lines := imports(t, model(chainOf(call("f0", "x", "y")), withFunctions(functions...)), Options{})
			want := map[string]string{"exponential": "expand to more than 262144 nodes", "deep": "deeper than 64"}[name]
			if len(lines) == 0 || !strings.HasSuffix(lines[0], want) && !strings.Contains(lines[0], want) {
				t.Errorf("%d lines: %.2000s", len(lines), lines)
			}
		})
	}
	scaled := localFunction("f", names("a", "k"), names("b", "unused"), node("LeakyRelu", names("a"), names("m"), attrRef("alpha", "alpha", pb.AttributeProto_FLOAT)),
		node("Clip", names("m", "k"), names("b")), node("Foo", names("a"), names("unused")))
	scaled.AttributeProto = []*pb.AttributeProto{attrFloat("alpha", 0.25)}
	graph := localFunction("f", names("a"), names("b"), in("test", "", node("Block", nil, names("b"), attrRef("body", "g", pb.AttributeProto_GRAPH))))
	outer := &pb.GraphProto{Node: []*pb.NodeProto{node("Neg", names("x"), names("z"))}, Output: values(value("z", nil))}
	testAccepted(t, map[string]struct {
		model *pb.ModelProto
		nodes int
	}{
		"absent inputs, outputs and attributes": {model(chainOf(in("local", "", node("f", names("x"), names("y")))), withFunctions(scaled)), 2},
		"the name of an operator": {model(chainOf(relu("x", "y")), func(m *pb.ModelProto) {
			f := localFunction("Relu", names("a"), names("b"), node("Neg", names("a"), names("m")), node("Abs", names("m"), names("b")))
			f.Domain = nil
			m.Functions = []*pb.FunctionProto{f}
		}), 2},
		"many functions": {model(chainOf(call("f7", "x", "y")), withFunctions(manyOf(60_000, func(i int) *pb.FunctionProto {
			return localFunction(fmt.Sprint("f", i), names("a"), names("b"), relu("a", "b"))
		})...)), 1},
		"many calls": {model(chainOf(append(manyOf(10_000, func(i int) *pb.NodeProto { return call("f", "x", fmt.Sprint("v", i)) }), relu("v5", "y"))...), withFunctions(identity)), 2},
		"a graph that is an attribute sees its own names": {model(chainOf(in("local", "", node("f", names("x"), names("y"), attrGraph("g", outer)))), withFunctions(graph)), 1},
	})
}

func hostileNesting(t *testing.T) {
	nest := func(op string, depth int) *pb.NodeProto {
		n := relu("x", "v0")
		for i := range depth {
			n = in("test", "", node(op, nil, names(fmt.Sprint("v", i+1)), attrGraph("body", &pb.GraphProto{Node: []*pb.NodeProto{n}, Output: values(value(n.Output[0], nil))})))
		}
		return n
	}
	block := func(body *pb.GraphProto) *pb.ModelProto {
		return model(chainOf(in("test", "b", node("Block", nil, names("y"), attrGraph("body", body)))))
	}
	of := func(outputs []string, nodes ...*pb.NodeProto) *pb.GraphProto {
		g := &pb.GraphProto{Node: nodes}
		for _, o := range outputs {
			g.Output = append(g.Output, value(o, nil))
		}
		return g
	}
	inputs := of(names("z"), relu("i", "z"))
	inputs.Input = values(value("i", f32(1)))
	testRefused(t, map[string]refused{
		"a problem in a graph": {model: block(of(names("z"), relu("x", "v"), in("", "/f", node("Foo", names("v"), names("z"))))),
			want: []string{`node 0 "b" (test.Block): body: node 1 "/f" (Foo-21): unknown operator`}},
		"an undefined output": {model: block(of(names("z"))), want: []string{`node 0 "b" (test.Block): input "z" is not defined`}},
		"an input too many":   {model: block(inputs), want: []string{`node 0 "b" (test.Block): graph "body" has 1 inputs, 0 expected`}},
		"no graph":            {model: model(chainOf(in("test", "b", node("Block", nil, names("y"))))), want: []string{`node 0 "b" (test.Block): attribute "body" is missing`}},
		"no results":          {model: block(of(nil, relu("x", "z"))), want: []string{`node 0 "b" (test.Block): output 0: the operator has 0`}},
		"a cycle through a graph": {model: model(chainOf(in("test", "b", node("Block", nil, names("a"), attrGraph("body", of(names("z"), relu("y", "z"))))), relu("a", "y"))),
			want: []string{`node 0 "b" (test.Block): it is part of a cycle through "a"`}},
		"a cycle in a graph": {model: block(of(names("z"), node("Add", names("z", "x"), names("z")))),
			want: []string{`node 0 "b" (test.Block): body: node 0 "z" (Add-14): it is part of a cycle through "z"`}},
	})
	t.Run("each graph is imported twice", func(t *testing.T) {
		n := nest("Twice", 40)
		_, lines := imports(t, model(chainOf(n, relu(n.Output[0], "y"))), Options{})
		if len(lines) == 0 || !strings.Contains(lines[0], "expand to more than 262144 nodes") {
			t.Errorf("%d lines: %.2000s", len(lines), lines)
		}
	})
	deep := nest("Block", 60)
	shadow := of(names("a"), relu("a", "z"), relu("z", "y"))
	shadow.Initializer = []*pb.TensorProto{initializer("a", pb.TensorProto_FLOAT, make([]byte, 24), 2, 3)}
	shadow.Output = values(value("y", nil))
	testAccepted(t, map[string]struct {
		model *pb.ModelProto
		nodes int
	}{
		"graphs in graphs": {model(chainOf(deep, relu(deep.Output[0], "y"))), 2},
		"a name of a later node is defined anew in a graph": {model(chainOf(
			in("test", "b", node("Block", nil, names("q"), attrGraph("body", shadow))), node("Add", names("q", "x"), names("a")), relu("a", "y"))), 5},
		"a graph reads a later node": {model(chainOf(in("test", "b", node("Block", nil, names("y"), attrGraph("body", of(names("z"), relu("later", "z"))))), relu("x", "later"))), 2},
	})
}

func TestProblemsAreLines(t *testing.T) {
	var p problems
	p.file = "m\n.onnx"
	p.at = 7
	p.add("%v", errors.Join(errors.New("one"), errors.New("two")))
	p.at = beforeNodes
	p.add("%s", strings.Repeat("long ", 1000))
	lines := strings.Split(p.err().Error(), "\n")
	if len(lines) != 2 || lines[1] != "m; .onnx: one; two" || len(lines[0]) > maxLine+3 {
		t.Errorf("%q", lines)
	}
}

// TestHostile runs the imports of hostile files, a group for each kind.
func TestHostile(t *testing.T) {
	for _, group := range []struct {
		name string
		test func(*testing.T)
	}{
		{"05 files that are none", hostileModelFiles},
		{"06 graphs that are none", hostileGraphs},
		{"07 functions", hostileFunctions},
		{"08 graphs in graphs", hostileNesting},
		{"09 many of everything", hostileSizes},
		{"09 versions of operators", hostileOpsets},
		{"10 shapes", hostileShapes},
		{"10 expressions of extents", hostileExtents},
		{"11 tensors", hostileTensors},
		{"13 small files of large values", hostileGrowth},
		{"14 external data", hostileExternalData},
		{"18 texts of a model", hostileNames},
	} {
		t.Run(group.name, group.test)
	}
}
