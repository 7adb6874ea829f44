package golden

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen/target/cpu/storage"
	"github.com/burngen/burngen/internal/compiled"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/emit"
	runtime "github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/gen/target/cpu"
	"github.com/burngen/burngen/gen/value"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/runtime/rt"
)

// A golden of the generator, gen/*.txtar, has a module in the section "in.ir" and flags in the
// section "flags". The other sections are the generated package: each text file, and the contents
// of the weights file. Few goldens show whole packages, see [wholeGoldens].

// TestGen compares generated packages with the goldens.
func TestGen(t *testing.T) {
	x := newExcerpter(t)
	for _, file := range genGoldens(t) {
		t.Run(goldenName(file), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			g := generateGolden(t, goldenName(file))
			got := &txtar.Archive{Comment: archive.Comment}
			for _, name := range []string{"flags", "in.ir"} {
				got.Files = append(got.Files, txtar.File{Name: name, Data: []byte(section(t, archive, name))})
			}
			for _, f := range g.files {
				text := textOf(g.model, f)
				if excerpted(f) && !slices.Contains(wholeGoldens, goldenName(file)) {
					text = x.excerpt(t, f)
				}
				got.Files = append(got.Files, txtar.File{Name: f.Name, Data: text})
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			compareArchives(t, got, archive)
		})
	}
}

// TestGenIsRepeatable generates every golden twice.
func TestGenIsRepeatable(t *testing.T) {
	for _, file := range genGoldens(t) {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		first, second := generate(t, archive, "model"), generate(t, archive, "model")
		for i, f := range first.files {
			if second.files[i].Name != f.Name || string(second.files[i].Data) != string(f.Data) {
				t.Errorf("%s: %s differs the second time", file, f.Name)
			}
		}
	}
}

// TestGenComputes compares the results of the lowered program of every golden with the evaluator's
// results on the module.
func TestGenComputes(t *testing.T) {
	for _, file := range genGoldens(t) {
		t.Run(goldenName(file), func(t *testing.T) {
			g := generateGolden(t, goldenName(file))
			source := g.model.Source.Module
			for _, lowered := range g.model.Functions {
				compareWithEvaluator(t, cpu.Target{}, source, source.Func(lowered.IR.Name), lowered, g.model.Weights)
			}
			if training := g.model.Training; training != nil {
				for _, f := range training.Functions() {
					compareWithEvaluator(t, cpu.Target{}, source, f.Source, f.Func, g.model.Raw)
				}
			}
		})
	}
}

// compareWithEvaluator compares the results of a lowered function with the evaluator's results on
// f, the function before lowering.
func compareWithEvaluator(t *testing.T, r runtime.Runner, m *ir.Module, f *ir.Func, lowered *program.Func, weights *rt.Weights) {
	t.Helper()
	args, shapes, err := gen.SampleInputs(lowered.IR)
	if err != nil {
		t.Fatal(err)
	}
	got, gotShapes, err := runtime.New(lowered, r, runtime.Weights(weights)).Run(t.Context(), args, shapes)
	if err != nil {
		t.Fatal(err)
	}
	tensors := make([]*ir.Tensor, len(args))
	for i, p := range f.Params {
		tensors[i] = tensorOf(t, p.Type, shapes[i], args[i])
	}
	want, err := (&ir.Evaluator{Module: m}).Run(f, tensors)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		r := tensorOf(t, f.Results[i].Type, gotShapes[i], got[i])
		if !equalTensors(r, w, true) {
			t.Errorf("@%s: result %q is %s, the evaluator says %s", f.Name, f.ResultNames[i], r, w)
		}
	}
}

// cutGoldens are the goldens that have, together, all kinds of steps.
var cutGoldens = []string{"containers", "control", "late", "nested", "train"}

// TestGenCuts generates packages with few steps per Go function, so that each step is once the last
// and once the first step of a function. The code must compile.
func TestGenCuts(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	packages := compiled.Importer(token.NewFileSet())
	for _, name := range cutGoldens {
		archive, err := txtar.ParseFile(filepath.Join("gen", name+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; n <= 3; n++ {
			if err := typeCheck(packages, generateWith(t, archive, name, gen.Options{MaxSteps: n}).files); err != nil {
				t.Errorf("%s: at most %d steps in a Go function: %v", name, n, err)
			}
		}
	}
}

// typeCheck reports why generated files do not compile.
func typeCheck(packages types.Importer, files []emit.File) error {
	fset := token.NewFileSet()
	var parsed []*ast.File
	for _, f := range files {
		if !strings.HasSuffix(f.Name, ".go") {
			continue
		}
		file, err := parser.ParseFile(fset, f.Name, f.Data, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		parsed = append(parsed, file)
	}
	config := types.Config{Importer: packages}
	_, err := config.Check("model", fset, parsed, nil)
	return err
}

// TestGenRuns vets the packages of all goldens and runs their own tests. It runs them once
// unchanged, and once with the weights that the generated prepare makes. It does the same for some
// packages with a Go function for each step.
func TestGenRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	dir := t.TempDir()
	writeModule(t, dir)
	for _, file := range genGoldens(t) {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := goldenName(file)
		writePackage(t, filepath.Join(dir, name), generateGolden(t, name))
		if slices.Contains(cutGoldens, name) {
			writePackage(t, filepath.Join(dir, "cut", name), generateWith(t, archive, name, gen.Options{MaxSteps: 1}))
		}
	}
	for _, args := range [][]string{{"vet", "./..."}, {"test", "-vet=off", "./..."}} {
		c := exec.Command("go", args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "GOFLAGS=-mod=mod -trimpath", "GOWORK=off")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// TestGenCommentsAreShort asserts that comments in generated functions have one line, and that it
// is not long.
func TestGenCommentsAreShort(t *testing.T) {
	for name, text := range generatedGo(t) {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			for _, c := range file.Comments {
				if fn.Pos() < c.Pos() && c.End() < fn.End() && (len(c.List) > 1 || len(c.List[0].Text) > 160) {
					t.Errorf("%s: %d lines: %s", fset.Position(c.Pos()), len(c.List), c.List[0].Text)
				}
			}
		}
	}
}

// TestGenShadowsNothing asserts that variables, parameters, functions and types of generated
// packages do not have the names of Go's predeclared identifiers.
func TestGenShadowsNothing(t *testing.T) {
	for name, text := range generatedGo(t) {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range declared(file) {
			if types.Universe.Lookup(id.Name) != nil {
				t.Errorf("%s: %s is predeclared", fset.Position(id.Pos()), id.Name)
			}
		}
	}
}

// declared returns the identifiers that a file declares. It leaves out fields and methods, which do
// not shadow other identifiers.
func declared(file *ast.File) []*ast.Ident {
	var out []*ast.Ident
	expressions := func(list ...ast.Expr) {
		for _, x := range list {
			if id, ok := x.(*ast.Ident); ok {
				out = append(out, id)
			}
		}
	}
	fields := func(list *ast.FieldList) {
		if list != nil {
			for _, f := range list.List {
				out = append(out, f.Names...)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv == nil {
				out = append(out, n.Name)
			}
			fields(n.Recv)
		case *ast.FuncType:
			fields(n.TypeParams)
			fields(n.Params)
			fields(n.Results)
		case *ast.ValueSpec:
			out = append(out, n.Names...)
		case *ast.TypeSpec:
			out = append(out, n.Name)
		case *ast.ImportSpec:
			if n.Name != nil {
				out = append(out, n.Name)
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				expressions(n.Lhs...)
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				expressions(n.Key, n.Value)
			}
		}
		return true
	})
	return out
}

// generatedGo returns the Go files of all goldens.
func generatedGo(t *testing.T) map[string][]byte {
	t.Helper()
	sources := map[string][]byte{}
	for _, file := range genGoldens(t) {
		for _, f := range generateGolden(t, goldenName(file)).files {
			if strings.HasSuffix(f.Name, ".go") {
				sources[file+"/"+f.Name] = f.Data
			}
		}
	}
	if len(sources) == 0 {
		t.Fatal("no generated files")
	}
	return sources
}

// writePackage writes a generated package, its own weights, and a test that loads them.
func writePackage(t *testing.T, dir string, g generated) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, f := range append(g.files, emit.File{Name: "raw_test.go", Data: rawTest(t, g.files)}) {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.Create(filepath.Join(dir, "raw.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.model.Raw.WriteTo(raw); err != nil {
		t.Fatal(err)
	}
	if err := raw.Close(); err != nil {
		t.Fatal(err)
	}
}

// rawTest returns the bundled test with the original weights. prepare must turn these into the
// weights of the weights file.
func rawTest(t *testing.T, files []emit.File) []byte {
	for _, f := range files {
		if f.Name != "model_test.go" {
			continue
		}
		text := strings.ReplaceAll(string(f.Data), "func TestSample", "func TestSampleOfRawWeights")
		if !loadCall.MatchString(text) {
			t.Fatal("model_test.go does not call Load")
		}
		return []byte(loadCall.ReplaceAllString(text, `LoadFrom(rt.OpenWeightsFile("raw.safetensors"))`))
	}
	t.Fatal("no model_test.go")
	return nil
}

var loadCall = regexp.MustCompile(`\bLoad\([^)]*\)`)

// writeModule makes dir a module in which generated packages can be built.
func writeModule(t *testing.T, dir string) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(mod), "module "+modulePath, "module golden", 1)
	text += fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %s => %s\n", modulePath, modulePath, root)
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"go.mod": []byte(text), "go.sum": sum} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// generated is the outcome of a golden.
type generated struct {
	module *ir.Module
	model  *gen.Model
	files  []emit.File
}

// generatedGoldens are the packages of goldens that tests have asked for.
var generatedGoldens = map[string]generated{}

// generateGolden returns the package of a golden, which tests share and must not change.
func generateGolden(t *testing.T, name string) generated {
	t.Helper()
	g, ok := generatedGoldens[name]
	if !ok {
		archive, err := txtar.ParseFile(filepath.Join("gen", name+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		g = generate(t, archive, name)
		generatedGoldens[name] = g
	}
	return g
}

// generate compiles the module of a golden.
func generate(t *testing.T, archive *txtar.Archive, name string) generated {
	t.Helper()
	return generateWith(t, archive, name, gen.Options{})
}

// generateWith compiles the module of a golden. o is added to the options of the golden.
func generateWith(t *testing.T, archive *txtar.Archive, name string, o gen.Options) generated {
	t.Helper()
	o.Flags = strings.TrimSpace(section(t, archive, "flags"))
	flags := flag.NewFlagSet("golden", flag.ContinueOnError)
	flags.StringVar(&o.Package, "pkg", name, "")
	flags.BoolVar(&o.Strict, "strict", false, "")
	flags.Func("weights-dtype", "", func(name string) (err error) {
		o.WeightsDType, err = ir.ParseDType(name)
		return err
	})
	flags.BoolVar(&o.Train, "train", false, "")
	flags.StringVar(&o.Loss, "loss", "", "")
	flags.BoolVar(&o.CheckNaN, "check-nan", false, "")
	weights := flags.String("weights", "embed", "")
	flags.Func("weights-keep", "", o.Keep.Set)
	if err := flags.Parse(strings.Fields(o.Flags)); err != nil {
		t.Fatal(err)
	}
	o.WeightsOutside = *weights == "file"
	module, err := ir.Parse(section(t, archive, "in.ir"), storage.Set)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range module.Weights {
		lo, hi := -0.5, 0.5
		if strings.HasSuffix(w.Name, "variance") {
			lo, hi = 0.25, 1.75
		}
		shape, _ := w.Type.Static()
		w.Data = draw(w.Type.DType, shape, seedOf(w.Name), lo, hi).Bytes()
	}
	model, err := gen.FromModule(name, module, o)
	if err != nil {
		t.Fatal(err)
	}
	files, err := model.Files()
	if err != nil {
		t.Fatal(err)
	}
	return generated{module, model, files}
}

// seedOf returns the seed of a weight's elements.
func seedOf(name string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(name))
	return h.Sum32()
}

// textOf returns a generated file as a golden holds it. For a weights file these are its tensors
// and its checksum, which is the same on every machine.
func textOf(m *gen.Model, f emit.File) []byte {
	if !strings.HasSuffix(f.Name, ".safetensors") {
		return f.Data
	}
	var out []byte
	for _, name := range m.Weights.Names() {
		info, _ := m.Weights.Info(name)
		out = fmt.Appendf(out, "%q %s\n", name, info)
	}
	return fmt.Appendf(out, "%d bytes, sha256 %x\n", len(f.Data), sha256.Sum256(f.Data))
}

func compareArchives(t *testing.T, got, want *txtar.Archive) {
	t.Helper()
	for i, f := range got.Files {
		if i >= len(want.Files) || want.Files[i].Name != f.Name {
			t.Errorf("section %d is %s: run go test ./golden -update and read what changed", i, f.Name)
			return
		}
		if w := want.Files[i].Data; string(f.Data) != string(w) {
			t.Errorf("%s", diff.Diff(f.Name, w, f.Name+" (generated)", f.Data))
		}
	}
	for _, f := range want.Files[len(got.Files):] {
		t.Errorf("%s is not generated", f.Name)
	}
}

func tensorOf(t *testing.T, typ ir.Type, shape []int, data any) *ir.Tensor {
	t.Helper()
	x, err := value.FromGo(typ, shape, data)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func genGoldens(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("gen/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no goldens: %v", err)
	}
	return files
}

func goldenName(file string) string { return strings.TrimSuffix(filepath.Base(file), ".txtar") }
