package onnx

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/onnx/onnxtest"
)

// FuzzImport reads any bytes as a model: an error or a module that the verifier
// accepts, and that reads back as it is printed; no panic, and no more than 1 GiB.
func FuzzImport(f *testing.F) {
	mlp := onnxtest.MLP().Bytes()
	f.Add(mlp)
	for n := 1; n < 8; n++ {
		f.Add(mlp[:len(mlp)*n/8])
	}
	if digits, err := os.ReadFile("../examples/digits/digits.onnx"); err == nil {
		f.Add(digits[:1<<14])
	}
	for i, rule := range op.ONNX {
		m := onnxtest.New(int64(rule.Since[len(rule.Since)-1])).
			Input("x", ir.F32, "N", 3, 4, 4).
			Input("y", ir.F32, 3, 1, 1).
			Initializer("k", ir.IntTensor(ir.I64, int64(i%3), 1)).
			Output("z", ir.F32, "N", 3, 4, 4)
		if domain, _, ok := strings.Cut(rule.Name, ":"); ok {
			m.Import(domain, 1)
		}
		f.Add(m.Node("n", rule.Name, [][]string{{"x"}, {"x", "y"}, {"x", "k"}}[i%3], []string{"z"}).Bytes())
	}
	f.Add([]byte{})
	f.Add([]byte("not a model"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Read("fuzz.onnx", data, nil, Options{})
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		if memory.Sys > 1<<30 {
			t.Fatalf("%d bytes of memory for a model of %d", memory.Sys, len(data))
		}
		if err != nil {
			return
		}
		text := m.Module.String()
		if len(text) > 1<<20 {
			return
		}
		again, err := ir.Parse(text, op.Set)
		if err != nil {
			t.Fatalf("%v, in\n%s", err, text)
		}
		if again.String() != text {
			t.Fatalf("reads back as\n%s\nfrom\n%s", again, text)
		}
	})
}
