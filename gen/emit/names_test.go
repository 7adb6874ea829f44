package emit_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/internal/compiled"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx"
	"github.com/burngen/burngen/onnx/onnxtest"
)

// oddNames are texts that mean something to Go, or to a tool that reads it.
var oddNames = []string{
	"", "_", "x", "X", "1", "123", "len", "nil", "error", "init", "main", "func", "range", "iota", "s", "w", "m", "dst", "in", "err", "lo", "hi", "t", "got",
	"Model", "Load", "LoadFrom", "Session", "Forward", "forward", "New", "Inputs", "Outputs", "Meta", "weights", "arena", "rt", "cpu", "image", "context",
	"a.b", "a_b", "a/b", "n_2", "n2", "N", "n", "*/", "`", `"`, `\`, "\n", "\r", "\x00", "\u2028", "\u202e", "{{", "//go:embed x", "//go:linkname a b", "//line x:1",
	"//export f", "+build ignore", "\n//go:build ignore\n", "\"\nimport \"C\"\nfunc init() {}", "Code generated", "ünïcödé", "аbc", strings.Repeat("n", 10_000),
	strings.Repeat("Ab", 300), "TestSample", "Type", "string", "float32", "byte", "i_4", "Data", "Shape", "SetContext", "NewSession", "max", "copy", "real", "limits",
}

// FuzzNames generates a model of any names: the files are Go that compiles.
func FuzzNames(f *testing.F) {
	for i, s := range oddNames {
		next := func(k int) string { return oddNames[(i+k)%len(oddNames)] }
		f.Add(s, next(1), next(2), next(3), next(5), next(7), next(11))
		f.Add("x", "y", "h", "w", s, "n", "")
		f.Add(s, s+"2", s, s, s, s, s)
	}
	f.Fuzz(func(t *testing.T, in, out, node, weight, symbol, file, doc string) {
		for _, s := range []string{in, out, node, weight, symbol, file, doc} {
			if !utf8.ValidString(s) || len(s) > 1<<16 {
				return
			}
		}
		for _, batched := range []bool{false, true} {
			compiles(t, named(in, out, node, weight, symbol, doc, batched), file)
		}
	})
}

// named returns a model of two inputs and two outputs, with a weight and an extent. The arguments
// are their names.
func named(in, out, node, weight, symbol, doc string, batched bool) *onnxtest.Model {
	m := onnxtest.New(17).Doc(doc, node).Metadata(node, doc).Metadata(doc, in)
	w := ir.NewTensor(ir.F32, 4, 4)
	for i := range w.Len() {
		w.SetFloat(i, float64(i))
	}
	second := in + "'"
	dims, columns := []any{symbol, 4}, []any{symbol, 4}
	if !batched {
		dims, columns = []any{4, symbol, 4}, []any{4, symbol, 4}
	}
	return m.Input(in, ir.F32, dims...).Input(second, ir.F32, dims...).Initializer(weight, w).
		Node(node, "MatMul", []string{in, weight}, []string{node + "1"}).
		Node(node, "Softmax", []string{second}, []string{node + "2"}).
		Node(node, "Add", []string{node + "1", node + "2"}, []string{out}).
		Node(doc, "Softmax", []string{out}, []string{out + "'"}).
		Output(out, ir.F32, columns...).Output(out+"'", ir.F32, columns...)
}

// compiles generates a model, unless it cannot be imported, and checks the package.
func compiles(t *testing.T, m *onnxtest.Model, file string) {
	t.Helper()
	src, err := onnx.Read(file+".onnx", m.Bytes(), nil, onnx.Options{})
	if err != nil {
		if strings.Contains(err.Error(), "bug") {
			t.Error(err)
		}
		return
	}
	model, err := gen.Compile(src, gen.Options{Package: "model"})
	if err != nil {
		t.Fatal(err)
	}
	files, err := model.Files()
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var parsed []*ast.File
	for _, f := range files {
		if !strings.HasSuffix(f.Name, ".go") {
			continue
		}
		file, err := parser.ParseFile(fset, f.Name, f.Data, parser.SkipObjectResolution)
		if err != nil {
			t.Fatalf("%v\n%s", err, f.Data)
		}
		parsed = append(parsed, file)
	}
	importing.Lock()
	defer importing.Unlock()
	config := types.Config{Importer: packages}
	if _, err := config.Check("model", fset, parsed, nil); err != nil {
		t.Fatalf("%v\n%s", err, files[0].Data)
	}
}

// packages imports the packages that generated code uses. importing guards it.
var (
	importing sync.Mutex
	packages  = compiled.Importer(token.NewFileSet())
)
