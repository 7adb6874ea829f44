package endtoend

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/burngen/burngen/golden/endtoend/module"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx/onnxtest"
)

// customModels have operators that testdata/custom/ops computes, with their declared
// types.
var customModels = []struct {
	name, operator, declared string
	model                    *onnxtest.Model
}{
	{"fused", "FusedMatMulAddReLU", "(f32[N,K], f32[K,M], f32[M]) -> f32[N,M]", onnxtest.New(17).Import("acme", 1).
		Input("x", ir.F32, "N", 2).Output("y", ir.F32, "N", 3).
		Initializer("w", ir.FloatTensor(ir.F32, 1, 2, 3, 4, 5, 6).Reshape(2, 3)).
		Initializer("b", ir.FloatTensor(ir.F32, 0, 1, -100)).
		Initializer("one", ir.FloatTensor(ir.F32, 1).Reshape()).
		Node("/node", "acme:FusedMatMulAddReLU", []string{"x", "w", "b"}, []string{"h"}, onnxtest.Attr{Name: "times", Value: 0.5}).
		Node("/more", "Add", []string{"h", "one"}, []string{"y"})},
	{"keep", "Keep", "(f32[N,C]) -> (i64[K], f32[K,C])", onnxtest.New(17).Import("acme", 1).
		Input("x", ir.F32, "N", 3).Output("at", ir.I64, "K").Output("rows", ir.F32, "K", 3).Output("sums", ir.F32, "K").
		Initializer("axes", ir.IntTensor(ir.I64, 1)).
		Node("/node", "acme:Keep", []string{"x"}, []string{"at", "rows"}).
		Node("/sum", "ReduceSum", []string{"rows", "axes"}, []string{"sums"}, onnxtest.Attr{Name: "keepdims", Value: 0})},
	{"blocks", "Double", "(f32[N,C]) -> f32[N,C]", manyLayers()},
	{"mistaken", "Mistaken", "(f32[N]) -> f32[N]", onnxtest.New(17).Import("acme", 1).
		Input("x", ir.F32, 4).Output("y", ir.F32, 4).
		Node("/node", "acme:Mistaken", []string{"x"}, []string{"y"})},
}

// manyLayers returns a model of 60 layers. A layer multiplies x by a matrix that halves it, doubles
// it with acme.Double, and adds -1, 0 or 1.
func manyLayers() *onnxtest.Model {
	m := onnxtest.New(17).Import("acme", 1).Input("x", ir.F32, "N", 4).Output("y", ir.F32, "N", 4)
	at := "x"
	for i := range 60 {
		half := ir.NewTensor(ir.F32, 4, 4)
		for k := range 4 {
			half.SetFloat(5*k, 0.5)
		}
		number := float64(i%3 - 1)
		name := func(what string) string { return fmt.Sprintf("%s%d", what, i) }
		next := name("y")
		if i == 59 {
			next = "y"
		}
		m.Initializer(name("half"), half).Initializer(name("number"), ir.FloatTensor(ir.F32, number, number, number, number)).
			Node(name("/half"), "MatMul", []string{at, name("half")}, []string{name("h")}).
			Node(name("/double"), "acme:Double", []string{name("h")}, []string{name("d")}).
			Node(name("/add"), "Add", []string{name("d"), name("number")}, []string{next})
		at = next
	}
	return m
}

// TestCustom generates models with custom operators and runs the tests in testdata/custom on them.
// It also runs the bundled tests. The bundled test of a model with a wrong function must fail.
func TestCustom(t *testing.T) {
	module.Long(t)
	t.Parallel()
	m := module.New(t)
	m.Copy(t, "ops", "custom/ops/ops.go")
	m.Copy(t, ".", "custom/custom_test.go")
	for _, c := range customModels {
		path := filepath.Join(t.TempDir(), c.name+".onnx")
		module.WriteFile(t, path, string(c.model.Bytes()))
		custom := []string{"-custom", "acme." + c.operator + "=program/ops." + c.operator + ": " + c.declared}
		m.Generate(t, c.name, path, custom...)
		if c.name == "fused" {
			m.Generate(t, "trained", path, append(custom, "-train", "-loss", "mse")...)
		}
	}
	if text := module.ReadFile(t, m.Path("blocks/model.go")); strings.Count(text, ".Run(ops.Double)") > 15 {
		t.Error("the layers do not become a function that is called")
	}
	t.Log(m.Run(t, nil, "vet", "./..."))
	t.Log(m.Run(t, nil, "test", ".", "./fused", "./keep", "./blocks"))
	if out, err := m.Command(nil, "test", "./mistaken").CombinedOutput(); err == nil || !strings.Contains(string(out), "operand 0 is f32, not f64") {
		t.Errorf("the bundled test of a mistaken function: %v\n%s", err, out)
	}
}

// TestDescribedCustom generates packages from a description with custom operators, and runs the tests in
// testdata/custom on one for the CPU. A function computes the gradients of one loss, and operators
// compute those of the other. Packages for GPUs call the functions on the host.
func TestDescribedCustom(t *testing.T) {
	module.Long(t)
	t.Parallel()
	m := module.New(t)
	m.RequireAll(t)
	m.Copy(t, "ops", "custom/ops/ops.go", "custom/ops/warp.go")
	m.Copy(t, "describe/net", "custom/net/net.go")
	m.Copy(t, ".", "custom/described_test.go")
	for _, target := range []string{"cpu", "vulkan", "cuda"} {
		name := "net"
		if target != "cpu" {
			name += target
		}
		m.Generate(t, name, m.Path("describe/net"), "-train", "-target", target)
		text := module.ReadFile(t, m.Path(name+"/backward.go"))
		for step, want := range map[string]int{"step": 1, "stepComposed": 0} {
			_, body, ok := strings.Cut(text, "\nfunc (t *Trainer) "+step+"(")
			body, _, _ = strings.Cut(body, "\n}\n")
			if n := strings.Count(body, ".Run(ops.WarpGrad)"); !ok || n != want || !strings.Contains(body, ".Run(ops.Warp)") {
				t.Errorf("%s: %s calls ops.WarpGrad at %d places, want %d\n%s", target, step, n, want, body)
			}
		}
	}
	t.Log(m.Run(t, nil, "vet", "./..."))
	t.Log(m.Run(t, nil, "test", "."))
	m.Write(t, "ops/warp.go", strings.Replace(module.ReadFile(t, m.Path("ops/warp.go")), "func WarpGrad(", "func Other(", 1))
	out, err := exec.Command(module.Burngen(t, ""), m.Path("describe/net"), "-train", "-o", m.Path("net")).CombinedOutput()
	if want := "custom operator program/ops.WarpGrad: package program/ops has no WarpGrad"; err == nil || !strings.Contains(string(out), want) {
		t.Errorf("without the function: %v, want %q\n%s", err, want, out)
	}
}
