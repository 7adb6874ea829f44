package onnx

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/burngen/burngen/ir"
	pb "github.com/burngen/burngen/onnx/internal/onnxpb"
)

// forked returns a graph of two inputs. Each input feeds an output, and both feed a third output.
func forked() *pb.ModelProto {
	g := &pb.GraphProto{
		Input:  values(value("a", f32("N", 3)), value("b", f32("N", 3)), value("odd", tensorOfType(pb.TensorProto_COMPLEX64, 2))),
		Output: values(value("both", nil)),
		Node: []*pb.NodeProto{
			relu("a", "left"),
			node("MatMul", names("b", "w"), names("right")),
			node("Foo", names("left"), names("unknown")),
			node("Add", names("left", "right"), names("both")),
			node("Abs", names("odd"), names("odder")),
		},
		Initializer: []*pb.TensorProto{
			initializer("w", pb.TensorProto_FLOAT, make([]byte, 36), 3, 3), initializer("broken", pb.TensorProto_FLOAT, nil, 3, 3),
			initializer("unused", pb.TensorProto_INT64, make([]byte, 8)),
		},
	}
	return model(g)
}

// nodeNamed has a node with a name.
func nodeNamed() *pb.ModelProto {
	relu := relu("x", "y")
	relu.Name = proto.String("/Relu")
	return model(&pb.GraphProto{Input: values(value("x", f32(3))), Output: values(value("y", nil)), Node: []*pb.NodeProto{relu}})
}

// TestQuotedOutput pastes the name of a value as messages show it.
func TestQuotedOutput(t *testing.T) {
	for _, text := range []string{"`y`", `"y"`, "'y'"} {
		m, lines := imports(t, nodeNamed(), Options{Outputs: []string{text}})
		if lines != nil {
			t.Fatal(lines)
		}
		if got := m.Module.Func("forward").ResultNames; !slices.Equal(got, []string{"y"}) {
			t.Error(text, got)
		}
	}
}

func TestOutputs(t *testing.T) {
	for name, test := range map[string]struct {
		outputs []string
		params  string
		weights int
		nodes   []string // operators
	}{
		"a value within":          {[]string{"left"}, "a", 0, []string{"relu"}},
		"another value within":    {[]string{"right"}, "b", 1, []string{"load", "mat_mul"}},
		"an output and a value":   {[]string{"both", "left"}, "a b", 1, []string{"relu", "load", "mat_mul", "add"}},
		"an input":                {[]string{"b"}, "b", 0, nil},
		"an initializer":          {[]string{"unused"}, "", 0, []string{"constant"}},
		"a weight":                {[]string{"w"}, "", 1, []string{"load"}},
		"values in another order": {[]string{"right", "left"}, "a b", 1, []string{"relu", "load", "mat_mul"}},
	} {
		t.Run(name, func(t *testing.T) {
			m, lines := imports(t, forked(), Options{Outputs: test.outputs})
			if lines != nil {
				t.Fatal(lines)
			}
			f := m.Module.Func("forward")
			var params, nodes []string
			for _, p := range f.Params {
				params = append(params, p.Name)
			}
			for _, n := range f.Nodes {
				nodes = append(nodes, ir.OpName(n.Op))
			}
			if strings.Join(params, " ") != test.params || !slices.Equal(nodes, test.nodes) || len(m.Module.Weights) != test.weights || !slices.Equal(f.ResultNames, test.outputs) {
				t.Errorf("%d weights\n%s", len(m.Module.Weights), m.Module)
			}
			if len(m.Meta.Inputs) != len(params) || len(m.Meta.Outputs) != len(test.outputs) {
				t.Errorf("%+v", m.Meta)
			}
			roundTrip(t, m.Module)
		})
	}
	testRefused(t, map[string]refused{
		"all outputs need all inputs declared":                     {model: forked(), want: []string{`input "odd": element type COMPLEX64 is not supported`}},
		"a value of an unknown operator":                           {model: forked(), options: Options{Outputs: []string{"unknown"}}, want: []string{`node 2 "unknown" (Foo-21): unknown operator`}},
		"a value that follows from an input that is not supported": {model: forked(), options: Options{Outputs: []string{"odder"}}, want: []string{`input "odd": element type COMPLEX64 is not supported`}},
		"no such value":        {model: forked(), options: Options{Outputs: []string{"left", "nothing"}}, want: []string{`-output nothing: the model has no such value`}},
		"a value almost right": {model: forked(), options: Options{Outputs: []string{"`rihgt`"}}, want: []string{"-output \"`rihgt`\": the model has no such value; did you mean \"right\"?"}},
		"a node":               {model: nodeNamed(), options: Options{Outputs: []string{`"/Relu"`}}, want: []string{`-output "\"/Relu\"": this is a node; the values that it gives are "y"`}},
		"a value twice":        {model: forked(), options: Options{Outputs: []string{"left", "left"}}, want: []string{`output "left" is named twice`}},
		"a broken initializer": {model: forked(), options: Options{Outputs: []string{"broken"}}, want: []string{`output "broken": initializer "broken": 0 bytes of raw_data for the 36 bytes of FLOAT[3 3]`}},
		"several things that are wrong": {model: forked(), options: Options{Outputs: []string{"odder", "unknown", "nothing"}},
			want: []string{`-output nothing: the model has no such value`, `input "odd": element type COMPLEX64 is not supported`, `node 2 "unknown" (Foo-21): unknown operator`}},
	})
}

func TestShapeOptions(t *testing.T) {
	two := func() *pb.ModelProto {
		return model(&pb.GraphProto{
			Input: values(value("a", f32("batch size", 3)), value("b", f32("batch size", "S"))), Output: values(value("y", nil)),
			Node: []*pb.NodeProto{node("Add", names("a", "b"), names("y"))},
		})
	}
	for name, test := range map[string]struct {
		options Options
		want    string // the types of the parameters
		limits  map[string]int
	}{
		"nothing":                {Options{}, "f32[batch_size,3] f32[batch_size,S]", nil},
		"a dimension":            {Options{Dims: map[string]string{"S": "1"}}, "f32[batch_size,3] f32[batch_size,1]", nil},
		"a dimension's own name": {Options{Dims: map[string]string{"batch size": "7"}}, "f32[7,3] f32[7,S]", nil},
		"its name in types":      {Options{Dims: map[string]string{"batch_size": "7"}}, "f32[7,3] f32[7,S]", nil},
		"a range of it":          {Options{Dims: map[string]string{"batch size": "1..64"}}, "f32[batch_size,3] f32[batch_size,S]", map[string]int{"batch_size": 64}},
		"names in quotes":        {Options{Dims: map[string]string{"`S`": "1"}, Inputs: map[string]string{`"a"`: "5x3"}}, "f32[5,3] f32[batch_size,1]", nil},
		"a range":                {Options{Dims: map[string]string{"S": "1..64"}}, "f32[batch_size,3] f32[batch_size,S]", map[string]int{"S": 64}},
		"an input":               {Options{Inputs: map[string]string{"a": "5x3"}}, "f32[5,3] f32[batch_size,S]", nil},
		"an input of symbols":    {Options{Inputs: map[string]string{"a": "KxS"}}, "f32[K,S] f32[batch_size,S]", nil},
	} {
		t.Run(name, func(t *testing.T) {
			m, lines := imports(t, two(), test.options)
			if lines != nil {
				t.Fatal(lines)
			}
			p := m.Module.Func("forward").Params
			if got := p[0].Type.String() + " " + p[1].Type.String(); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
			for s, n := range test.limits {
				if m.Limits[s] != n {
					t.Errorf("limits %v, want %v", m.Limits, test.limits)
				}
			}
		})
	}
	dims := func(name, text string) Options { return Options{Dims: map[string]string{name: text}} }
	inputs := func(name, text string) Options { return Options{Inputs: map[string]string{name: text}} }
	expected := ": an extent, as in 4, or a range of extents, as in 1..64, expected"
	testRefused(t, map[string]refused{
		"a dimension of 0":       {model: two(), options: dims("S", "0"), want: []string{"-dim S=0: an extent of at least 1 expected: tensors without elements leave nothing to compute"}},
		"a name almost right":    {model: two(), options: dims("batchsize", "2"), want: []string{`-dim batchsize: the model has no such dimension; did you mean "batch_size"?`}},
		"no such dimension":      {model: two(), options: dims("T", "1"), want: []string{`-dim T: the model has no such dimension; it has "S", "batch_size"`}},
		"no such dimensions":     {model: two(), options: Options{Dims: map[string]string{"T": "1", "B": "1..2", "Z": "3"}}, want: []string{`-dim B: the model has no such dimension; it has "S", "batch_size"`, `-dim T: the model has no such dimension; it has "S", "batch_size"`, `-dim Z: the model has no such dimension; it has "S", "batch_size"`}},
		"a negative extent":      {model: two(), options: dims("S", "-1"), want: []string{"-dim S=-1" + expected}},
		"an empty extent":        {model: two(), options: dims("S", ""), want: []string{`-dim S=""` + expected}},
		"an extent in words":     {model: two(), options: dims("S", "many\n"), want: []string{`-dim S="many\n"` + expected}},
		"a huge extent":          {model: two(), options: dims("S", "99999999999999999999"), want: []string{"-dim S=99999999999999999999" + expected}},
		"an empty range":         {model: two(), options: dims("S", "9..1"), want: []string{"-dim S=9..1" + expected}},
		"half a range":           {model: two(), options: dims("S", "1.."), want: []string{"-dim S=1.." + expected}},
		"an extent too large":    {model: two(), options: dims("batch size", "4611686018427387904"), want: []string{`input "a": more elements than fit a 64-bit size`, `input "b": more elements than fit a 64-bit size`}},
		"no such input":          {model: two(), options: inputs("c", "1"), want: []string{`-input c: the model has no such input; it has "a", "b"`}},
		"another rank":           {model: two(), options: inputs("a", "1"), want: []string{`input "a": -input a=1: the model's input has rank 2`}},
		"no extents":             {model: two(), options: inputs("a", ""), want: []string{`input "a": -input a="": the model's input has rank 2`}},
		"half a shape":           {model: two(), options: inputs("a", "1x"), want: []string{`input "a": -input a=1x: "" is neither a number nor a symbol`}},
		"a bad symbol":           {model: two(), options: inputs("a", "1x*"), want: []string{`input "a": -input a="1x*": "*" is neither a number nor a symbol`}},
		"a negative shape":       {model: two(), options: inputs("a", "1x-1"), want: []string{`input "a": dimension 1 is negative: -1`}},
		"shapes that do not fit": {model: two(), options: Options{Inputs: map[string]string{"a": "1x3", "b": "1x4"}}, want: []string{`node 0 "y" (Add-14): add: dimension 1: 3 and 4 do not broadcast`}},
	})
}
