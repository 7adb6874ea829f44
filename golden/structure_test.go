package golden

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// modulePath is the repository's module.
const modulePath = "github.com/burngen/burngen"

// arrows lists what the packages of a folder may import outside of their tests. An entry also
// applies to subfolders without an entry of their own. "x/..." allows x and the packages below it.
var arrows = []arrow{
	{"runtime/rt/safetensors", "", ""},
	{"runtime/rt", "runtime/rt/safetensors", "golang.org/x/sys"},
	{"runtime/rt/keys", "runtime/rt", ""},
	{"runtime/rt/untyped", "runtime/rt", ""},
	{"runtime/cpu", "runtime/rt", "golang.org/x/sys"},
	{"runtime/cpu/simd128", "", "github.com/tetratelabs/wazero"},
	{"runtime/rt/image", "", "golang.org/x/image"},
	{"runtime/data", "runtime/rt", ""},
	{"runtime/data/images", "runtime/cpu runtime/data runtime/rt", "golang.org/x/image"},
	{"runtime/data/text", "runtime/rt", "github.com/dlclark/regexp2 golang.org/x/text"},
	{"runtime/metric", "runtime/rt", ""},
	{"runtime/metric/system", "runtime/learn runtime/metric/system/internal/nvml runtime/rt", "github.com/shirou/gopsutil/v4"},
	{"runtime/metric/system/internal/nvml", "", "github.com/ebitengine/purego golang.org/x/sys"},
	{"runtime/metric/system/internal/nvml/fake", "runtime/metric/system/internal/nvml", "github.com/ebitengine/purego"},
	{"runtime/data/datatest", "runtime/data", ""},
	{"runtime/data/audio", "runtime/cpu runtime/rt", ""},
	{"runtime/data/store/internal/field", "", ""},
	{"runtime/data/store/sqlite", "runtime/data runtime/data/store/internal/field runtime/rt", "modernc.org/sqlite"},
	{"runtime/data/store/parquet", "runtime/data runtime/data/store/internal/field runtime/rt", "github.com/parquet-go/parquet-go"},
	{"runtime/data/store/hf", "runtime/data runtime/data/store/parquet runtime/rt", "github.com/parquet-go/parquet-go go.yaml.in/yaml/v3"},
	{"runtime/web", "runtime/rt runtime/rt/untyped", ""},
	{"runtime/serve", "runtime/rt runtime/rt/untyped runtime/serve/internal/inference", "github.com/prometheus/client_golang go.opentelemetry.io/otel google.golang.org/grpc"},
	{"runtime/serve/internal/inference", "", "google.golang.org/grpc google.golang.org/protobuf"},
	{"runtime/serve/internal/testmodels", "runtime/rt runtime/serve", ""},
	{"runtime/beam/infer", "runtime/rt runtime/rt/untyped", "github.com/apache/beam/sdks/v2"},
	{"runtime/beam/batch", "internal/npy runtime/beam/infer runtime/rt runtime/rt/untyped", "github.com/apache/beam/sdks/v2"},
	{"runtime/beam/internal/testmodel", "examples/digits/model runtime/rt", ""},
	{"runtime/record", "runtime/rt runtime/rt/safetensors", ""},
	{"runtime/optim", "runtime/rt runtime/cpu", ""},
	{"runtime/learn", "runtime/data runtime/metric runtime/optim runtime/record runtime/rt", ""},
	{"runtime/lora", "runtime/rt", ""},
	{"runtime/learn/report", "runtime/learn", ""},
	{"runtime/dash", "runtime/dash/... runtime/learn", "charm.land/bubbletea/v2 charm.land/lipgloss/v2 golang.org/x/sys golang.org/x/term"},
	{"runtime/dash/follow", "runtime/learn", ""},
	{"runtime/dash/internal/progress", "runtime/learn", ""},
	{"runtime/dash/web", "runtime/dash/follow runtime/dash/internal/progress runtime/learn", ""},
	{"runtime/gpu", "runtime/gpu/update", ""},
	{"runtime/gpu/update", "", ""},
	{"runtime/cuda", "runtime/cuda/internal/libcuda runtime/gpu", ""},
	{"runtime/cuda/internal/libcuda", "", "github.com/ebitengine/purego golang.org/x/sys"},
	{"runtime/cuda/fake", "runtime/cuda runtime/cuda/internal/libcuda runtime/gpu", "github.com/ebitengine/purego"},
	{"runtime/kerneltest", "runtime/rt", ""},
	{"runtime/vulkan", "runtime/gpu", "github.com/ebitengine/purego golang.org/x/sys"},
	{"internal/file", "", ""},
	{"internal/browser", "", ""},
	{"internal/compiled", "", ""},
	{"internal/heap", "", ""},
	{"internal/ptx", "", ""},
	{"internal/itself", "", ""},
	{"internal/meant", "runtime/rt/keys", ""},
	{"internal/npy", "", ""},
	{"internal/seeded", "", "pgregory.net/rapid"},
	{"ir", "ir/dim runtime/rt", ""},
	{"ir/dim", "", ""},
	{"ir/op", "ir ir/dim ir/kernel ir/kernel/elementary ir/op/internal/... runtime/rt runtime/rt/image", ""},
	{"ir/op/internal", "", ""},
	{"ir/grad", "ir ir/dim ir/op", ""},
	{"ir/kernel/elementary", "ir ir/kernel", ""},
	{"ir/kernel/narrow", "ir ir/kernel", ""},
	{"ir/kernel", "ir runtime/rt", ""},
	{"ir/nn", "ir ir/dim ir/grad ir/nn/record ir/op runtime/rt", ""},
	{"ir/nn/record", "ir ir/dim ir/op runtime/rt", ""},
	{"ir/pass", "ir ir/dim ir/op ir/plan runtime/rt", ""},
	{"ir/plan", "ir ir/dim runtime/rt", ""},
	{"onnx", "internal/file internal/meant ir ir/dim ir/op onnx/internal/... runtime/rt", ""},
	{"onnx/internal/onnxpb", "", "google.golang.org/protobuf"},
	{"onnx/internal/wire", "internal/file", "google.golang.org/protobuf"},
	{"onnx/onnxtest", "ir ir/dim onnx/internal/onnxpb", "google.golang.org/protobuf"},
	{"pytorch", "pytorch/pickle runtime/rt runtime/rt/keys", ""},
	{"pytorch/pickle", "", ""},
	{"pytorch/pytorchtest", "", ""},
	{"gen", "gen/... internal/meant ir ir/dim ir/grad ir/nn/record ir/op ir/pass ir/plan onnx runtime/cpu/simd128 runtime/rt runtime/rt/keys runtime/web templates", "github.com/rogpeppe/go-internal"},
	{"gen/support/internal/assembly", "internal/compiled", ""},
	{"gen/config", "internal/file internal/meant", ""},
	{"gen/load", "gen/config gen/temporary ir ir/dim ir/nn ir/nn/record runtime/rt/keys", "golang.org/x/tools"},
	{"gen/arena", "gen/program ir ir/pass ir/plan runtime/rt", ""},
	{"gen/program", "ir ir/dim ir/op ir/plan", ""},
	{"gen/exec", "gen/program ir ir/dim ir/plan runtime/rt", ""},
	{"gen/gotype", "ir", ""},
	{"gen/emit", "gen/gotype gen/program ir ir/dim ir/plan runtime/rt runtime/rt/keys templates", "github.com/dave/jennifer"},
	{"gen/target", "gen/emit gen/exec gen/program gen/target/cpu gen/target/cuda gen/target/gpu gen/target/vulkan ir/pass", ""},
	{"gen/target/cpu", "gen/arena gen/emit gen/exec gen/gotype gen/program gen/target/cpu/... ir ir/dim ir/op ir/pass ir/plan runtime/cpu", "github.com/dave/jennifer"},
	{"gen/target/cpu/call", "gen/target/cpu/kernel gen/target/cpu/storage ir ir/dim ir/op", ""},
	{"gen/target/cpu/cost", "", ""},
	{"gen/target/cpu/instance", "runtime/cpu runtime/rt runtime/rt/image", ""},
	{"gen/target/cpu/kernel", "gen/gotype ir ir/dim runtime/rt", ""},
	{"gen/target/cpu/kernel/internal/generate", "internal/compiled", ""},
	{"gen/target/cpu/layout", "gen/target/cpu/cost gen/target/cpu/storage ir ir/dim ir/op ir/pass", ""},
	{"gen/target/cpu/storage", "gen/target/cpu/cost ir ir/dim ir/op", ""},
	{"gen/target/cuda", "gen/emit gen/target/gpu gen/target/gpu/ptx ir/kernel", ""},
	{"gen/target/cuda/cudatest", "internal/ptx runtime/cuda/fake runtime/gpu", ""},
	{"gen/target/cuda/cudatest/cuda", "gen/target/cuda/cudatest runtime/gpu", ""},
	{"gen/target/vulkan", "gen/target/gpu gen/target/gpu/spirv", ""},
	{"gen/target/gpu", "gen/arena gen/emit gen/exec gen/program gen/target/cpu gen/target/cpu/storage gen/target/gpu/last gen/target/gpu/launch ir ir/dim ir/kernel ir/op ir/pass ir/plan runtime/cpu runtime/gpu templates/kernels", "github.com/dave/jennifer"},
	{"gen/target/gpu/gputest", "gen/target/gpu ir/kernel runtime/gpu", ""},
	{"gen/target/gpu/internal/update", "gen/target/cuda gen/target/gpu gen/target/vulkan", ""},
	{"gen/target/gpu/last", "ir ir/dim ir/op", ""},
	{"gen/target/gpu/launch", "gen/target/gpu/last ir ir/dim ir/kernel ir/kernel/elementary ir/op templates/kernels", ""},
	{"gen/target/gpu/ptx", "ir ir/kernel", ""},
	{"gen/target/gpu/spirv", "ir ir/kernel ir/kernel/narrow", ""},
	{"gen/target/targettest", "gen/exec gen/value internal/seeded ir ir/dim ir/op ir/pass runtime/kerneltest runtime/rt", "pgregory.net/rapid"},
	{"gen/target/targettest/text", "gen/arena gen/emit gen/exec gen/program gen/value ir ir/pass ir/plan", "github.com/dave/jennifer"},
	{"gen/value", "gen/exec gen/temporary gen/verify/harness internal/file internal/npy ir ir/dim ir/plan onnx", ""},
	{"gen/calibrate", "gen/target/cpu/cost runtime/cpu", ""},
	{"gen/profile", "gen gen/... ir ir/dim ir/op ir/plan onnx runtime/gpu runtime/rt", ""},
	{"gen/profile/stopwatch", "gen/verify/harness runtime/rt runtime/cpu runtime/gpu", ""},
	{"gen/scratch", "gen/emit", ""},
	{"gen/verify", "gen gen/... internal/heap ir ir/dim ir/grad ir/op onnx runtime/rt", ""},
	{"gen/temporary", "", ""},
	{"gen/verify/harness", "runtime/rt", ""},
	{"cmd/burngen", "gen gen/... internal/... ir ir/dim onnx pytorch runtime/cuda runtime/dash runtime/dash/web runtime/gpu runtime/learn/report runtime/record runtime/rt runtime/rt/keys runtime/vulkan", "github.com/schollz/progressbar/v3"},
	{"templates", "", ""},
	{"templates/kernels", "ir ir/dim ir/kernel", ""},
	{"templates/skeleton", "runtime/rt runtime/rt/keys", ""},
	{"examples", "examples/... runtime/...", ""},
	{"examples/classify/model", "ir/nn", ""},
	{"examples/custom/internal", "ir ir/dim onnx/onnxtest", ""},
	{"examples/finetune/model", "ir/nn onnx", ""},
	{"examples/images/model", "ir/nn", ""},
	{"examples/mnist/model", "ir/nn", ""},
	{"examples/pytorch", "examples/... pytorch runtime/...", ""},
	{"examples/pytorch/internal", "ir onnx pytorch/pytorchtest", ""},
	{"examples/pytorch/model", "ir/nn", ""},
	{"examples/regression/model", "ir/nn", ""},
	{"examples/squeezenet/model", "ir/nn", ""},
	{"examples/text/model", "ir/nn", ""},
	{"examples/transfer/internal", "ir onnx/onnxtest runtime/rt", ""},
	{"examples/transfer/model", "ir/nn onnx", ""},
	{"examples/xor/model", "ir/nn", ""},
	{"golden", "", ""},
	{"golden/endtoend/fixture", "gen gen/target golden/corpus golden/endtoend/module ir ir/nn onnx/onnxtest", ""},
	{"golden/endtoend/module", "gen/emit", ""},
}

type arrow struct{ folder, own, modules string }

// arrowOf returns the entry for a folder: the entry of the innermost folder that contains it.
func arrowOf(folder string) (best arrow, ok bool) {
	for _, a := range arrows {
		if within(folder, a.folder) && len(a.folder) > len(best.folder) {
			best, ok = a, true
		}
	}
	return best, ok
}

// testModules are the modules that only tests may import.
const testModules = "github.com/charmbracelet/x/exp/teatest/v2 github.com/google/go-cmp github.com/rogpeppe/go-internal google.golang.org/protobuf pgregory.net/rapid"

// TestArrows asserts which packages import which, on every platform. For example, the runtime does
// not import the compiler, and generated code imports only the runtime.
func TestArrows(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range goFiles(t) {
		r, ok := arrowOf(f.folder)
		if !ok {
			t.Errorf("%s: the folder has no line in arrows", f.path)
			continue
		}
		seen[r.folder] = true
		for _, spec := range f.ast.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			if !r.allows(f, imported) {
				t.Errorf("%s imports %s", f.path, imported)
			}
		}
	}
	for _, r := range arrows {
		if !seen[r.folder] {
			t.Errorf("arrows: no Go file is in %s", r.folder)
		}
	}
}

// testPackages are packages of this module that every test may import.
const testPackages = "golden/corpus internal/browser internal/itself internal/seeded"

// customOperators are the packages of custom operators, which generated code calls.
const customOperators = "examples/custom/fused examples/custom/peaks"

// allows reports whether a file may import a package. Tests may import any package of the module,
// except tests of the runtime and of generated packages.
func (a arrow) allows(f goFile, pkg string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	own, isOwn := strings.CutPrefix(pkg, modulePath+"/")
	switch {
	case isOwn && f.isGenerated() && matches(own, customOperators), f.isTest && matches(own, testPackages):
		return true
	case isOwn && f.isGenerated() && path.Base(f.folder) == "auto" && within(own, path.Dir(f.folder)): // it chooses among them
		return true
	case isOwn && f.isGenerated() && strings.HasSuffix(own, "/internal/weightsfile") && within(f.folder, strings.TrimSuffix(own, "/internal/weightsfile")): // the weights of all targets
		return true
	case isOwn && (f.isGenerated() || f.isTest && within(f.folder, "runtime")):
		return within(own, "runtime")
	case isOwn:
		return f.isTest || matches(own, a.own)
	case strings.Contains(first, "."):
		return inModules(pkg, a.modules) || f.isTest && inModules(pkg, testModules)
	}
	return pkg != "C"
}

// within reports whether a folder is another one or below it.
func within(folder, root string) bool { return folder == root || strings.HasPrefix(folder, root+"/") }

// matches reports whether a package is in a list.
func matches(pkg, list string) bool {
	return slices.ContainsFunc(strings.Fields(list), func(item string) bool {
		root, below := strings.CutSuffix(item, "/...")
		return pkg == item || below && within(pkg, root)
	})
}

func inModules(pkg, modules string) bool {
	return slices.ContainsFunc(strings.Fields(modules), func(m string) bool { return within(pkg, m) })
}

// apart are the packages of the runtime that only programs import which want them, and their modules.
var apart = map[string]string{
	"runtime/data/text": "github.com/dlclark/regexp2 golang.org/x/text",
	"runtime/dash":      "charm.land/bubbletea/v2 charm.land/lipgloss/v2 golang.org/x/term",
}

// TestWhatStaysOut asserts that generated packages, and what they and the other packages of the runtime
// link, have nothing of the packages apart: neither these nor the modules that they need.
func TestWhatStaysOut(t *testing.T) {
	for folder, modules := range apart {
		for _, f := range goFiles(t) {
			if within(f.folder, folder) || !within(f.folder, "runtime") && !f.isGenerated() {
				continue
			}
			for _, spec := range f.ast.Imports {
				imported, _ := strconv.Unquote(spec.Path.Value)
				if within(imported, modulePath+"/"+folder) || inModules(imported, modules) {
					t.Errorf("%s imports %s", f.path, imported)
				}
			}
		}
	}
}

// TestRandomTestsAreSeeded asserts that packages with property tests draw the same numbers in each run.
func TestRandomTestsAreSeeded(t *testing.T) {
	random, seeded := map[string]string{}, map[string]bool{}
	for _, f := range goFiles(t) {
		for _, spec := range f.ast.Imports {
			switch imported, _ := strconv.Unquote(spec.Path.Value); imported {
			case "pgregory.net/rapid":
				random[f.folder] = f.path
			case modulePath + "/internal/seeded":
				seeded[f.folder] = true
			}
		}
	}
	delete(random, "internal/seeded")
	for folder, file := range random {
		if !seeded[folder] {
			t.Errorf("%s: no file of the folder imports internal/seeded", file)
		}
	}
}

// TestArchitecture asserts that ARCHITECTURE.md has a row for every folder with packages, and no
// other rows. All examples share one row, and so do the end-to-end tests.
func TestArchitecture(t *testing.T) {
	page, err := os.ReadFile("../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllSubmatch(page, -1) {
		rows[string(row[1])] = true
	}
	folders := map[string]bool{"bench": true, "docs": true, "templates/web": true} // without packages
	for _, f := range goFiles(t) {
		folder := f.folder
		for _, whole := range []string{"examples", "golden"} {
			if within(folder, whole) {
				folder = whole
			}
		}
		if folders[folder] = true; !rows[folder] {
			t.Errorf("%s: ARCHITECTURE.md has no row for %s", f.path, folder)
			rows[folder] = true
		}
	}
	for row := range rows {
		if !folders[row] {
			t.Errorf("ARCHITECTURE.md has a row for %s, where no Go file is", row)
		}
	}
}

// TestDocs asserts that every package and every exported name has a doc comment.
func TestDocs(t *testing.T) {
	packages := map[string]int{}
	for _, f := range goFiles(t) {
		if f.isTest {
			continue
		}
		if f.ast.Doc != nil {
			packages[f.folder]++
			text := f.ast.Doc.Text()
			if name := f.ast.Name.Name; name != "main" && !strings.HasPrefix(text, "Package "+name+" ") {
				t.Errorf("%s: the package's comment does not begin with %q", f.path, "Package "+name)
			}
		} else if _, ok := packages[f.folder]; !ok {
			packages[f.folder] = 0
		}
		if strings.Contains(f.folder, "internal/") {
			continue
		}
		for _, d := range f.ast.Decls {
			for _, name := range undocumented(d) {
				t.Errorf("%s: %s has no comment", f.path, name)
			}
		}
	}
	for folder, comments := range packages {
		if comments != 1 {
			t.Errorf("%s has %d package comments", folder, comments)
		}
	}
}

// undocumented returns the exported names of a declaration that have no doc comment. A comment on a
// group counts for all of its names.
func undocumented(d ast.Decl) []string {
	var names []string
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d))) && !isStandardMethod(d) {
			names = append(names, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && s.Doc == nil && d.Doc == nil {
					names = append(names, s.Name.Name)
				}
			case *ast.ValueSpec:
				for _, n := range s.Names {
					if n.IsExported() && s.Doc == nil && s.Comment == nil && d.Doc == nil {
						names = append(names, n.Name)
					}
				}
			}
		}
	}
	return names
}

// isStandardMethod reports whether a method implements an interface of the standard library that
// every Go programmer knows.
func isStandardMethod(d *ast.FuncDecl) bool {
	return d.Recv != nil && slices.Contains([]string{"Error", "Unwrap"}, d.Name.Name)
}

// receiver returns the name of a method's type.
func receiver(d *ast.FuncDecl) string {
	x := d.Recv.List[0].Type
	for {
		switch e := x.(type) {
		case *ast.StarExpr:
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		case *ast.IndexListExpr:
			x = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}

// TestText asserts that no file of the repository says that something is left to do, where a
// machine keeps its files, or names a host that is not public.
func TestText(t *testing.T) {
	unfinished := regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`)
	machine := regexp.MustCompile(`(^|[\s"'(=])/(ho` + `me|ro` + `ot|Us` + `ers|wo` + `rk)/`)
	host := regexp.MustCompile(`https?://([A-Za-z0-9-]+\.[A-Za-z0-9.-]+)`)
	public := strings.Fields("www.apache.org www.w3.org github.com git-lfs.github.com onnx.ai arxiv.org pkg.go.dev go.dev")
	for _, file := range textFiles(t) {
		for i, line := range strings.Split(string(file.data), "\n") {
			if word := unfinished.FindString(line); word != "" {
				t.Errorf("%s:%d: says %s", file.path, i+1, word)
			}
			if machine.MatchString(line) {
				t.Errorf("%s:%d: names a folder of a machine", file.path, i+1)
			}
			for _, m := range host.FindAllStringSubmatch(line, -1) {
				if !slices.Contains(public, m[1]) && !strings.HasSuffix(file.path, "_test.go") {
					t.Errorf("%s:%d: names the host %s", file.path, i+1, m[1])
				}
			}
		}
	}
}

// generatedLine is the line by which tools know generated files.
var generatedLine = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// TestGeneratedHeaders asserts that tools can recognise generated files: packages that burngen
// wrote, assembly except the few lines written by hand, and other files that say so. In runtime/cpu
// their names begin with z, and no other names do.
func TestGeneratedHeaders(t *testing.T) {
	byHand := []string{"runtime/rt/pause_amd64.s", "runtime/rt/pause_arm64.s", "bench/guard/valgrind_amd64.s"}
	own := map[string]bool{} // folders of generated packages
	for _, file := range textFiles(t) {
		if path.Base(file.path) == "model.go" && generatedLine.Match(file.data) {
			own[path.Dir(file.path)] = true
		}
	}
	if len(own) == 0 {
		t.Error("no example has a generated package")
	}
	for _, file := range textFiles(t) {
		ext := path.Ext(file.path)
		if ext != ".go" && ext != ".s" && ext != ".ir" {
			continue
		}
		head := file.data
		if at := bytes.Index(head, []byte("\npackage ")); at >= 0 {
			head = head[:at]
		}
		has := generatedLine.Match(head)
		z := path.Dir(file.path) == "runtime/cpu" && strings.HasPrefix(path.Base(file.path), "z")
		must := own[path.Dir(file.path)] || ext == ".s" || z || strings.HasSuffix(file.path, ".pb.go")
		if path.Dir(file.path) == "runtime/cpu" && has && !z {
			t.Errorf("%s is generated: its name has to begin with z", file.path)
		}
		if must && !has && !slices.Contains(byHand, file.path) {
			t.Errorf("%s has no line %q", file.path, "// Code generated by … DO NOT EDIT.")
		}
		if !has && regexp.MustCompile(`(?mi)^(//|/\*).*\b(code|file) (is |was )?generated by`).Match(head) {
			t.Errorf("%s says that it is generated in words that tools do not know", file.path)
		}
	}
}

// TestTopLevel asserts which folders there are.
func TestTopLevel(t *testing.T) {
	known := strings.Fields("bench cmd docs examples gen golden internal ir onnx pytorch runtime templates")
	entries, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !slices.Contains(known, e.Name()) {
			t.Errorf("folder %s has no place in the layout", e.Name())
		}
	}
}

// goFile is a Go file of the module.
type goFile struct {
	path, folder string // from the repository's root
	isTest       bool
	ast          *ast.File
	data         []byte
}

func (f goFile) isGenerated() bool {
	return bytes.HasPrefix(f.data, []byte("// Code generated by burngen; DO NOT EDIT.\n"))
}

// goFiles parses the Go files of the module, those for other platforms included.
func goFiles(t *testing.T) []goFile {
	t.Helper()
	var out []goFile
	for _, file := range textFiles(t) {
		outside := within(file.path, "bench") || strings.Contains("/"+file.path, "/_") || strings.Contains("/"+file.path, "/testdata/")
		if path.Ext(file.path) != ".go" || outside {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file.path, file.data, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, goFile{file.path, path.Dir(file.path), strings.HasSuffix(file.path, "_test.go"), parsed, file.data})
	}
	return out
}

type textFile struct {
	path string // from the repository's root
	data []byte
}

// textFiles reads the repository's files of text.
func textFiles(t *testing.T) []textFile {
	t.Helper()
	var out []textFile
	err := filepath.WalkDir("..", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := strings.TrimPrefix(filepath.ToSlash(name), "../")
		switch {
		case e.IsDir() && (e.Name() == ".git" || e.Name() == "node_modules" || rel == "bench/out"):
			return filepath.SkipDir
		case !e.Type().IsRegular() || rel == ".git": // a file in a worktree
			return nil
		}
		data, err := os.ReadFile(name)
		if err == nil && !bytes.Contains(data[:min(len(data), 8000)], []byte{0}) {
			out = append(out, textFile{rel, data})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestTargetsHaveNoNameAbove asserts that no file below ir and templates names a target, or imports
// more of the runtime than all generated code links. Code of one target is in a folder of that
// target. Tests may lower for a target.
func TestTargetsHaveNoNameAbove(t *testing.T) {
	name := regexp.MustCompile(`(?i)\b(cpus?|gpus?|cuda|vulkan|avx\w*|neon|sse\w*|simd|ptx|spir-?v)\b|(?-i)[a-z](CPU|Cpu|GPU|Gpu|CUDA|Cuda|Vulkan|AVX|SIMD|PTX)|\b(cpu|gpu|cuda|vulkan|avx|simd|ptx)[A-Z]`)
	above := func(file string) bool {
		return (within(file, "ir") || within(file, "templates")) && !strings.HasSuffix(file, "_test.go") && !strings.Contains(file, "/testdata/")
	}
	looked := map[string]int{}
	for _, f := range textFiles(t) {
		if !above(f.path) {
			continue
		}
		root, _, _ := strings.Cut(f.path, "/")
		looked[root]++
		for i, line := range strings.Split(string(f.data), "\n") {
			if found := name.FindString(line); found != "" {
				t.Errorf("%s:%d names %s", f.path, i+1, found)
			}
		}
	}
	if looked["ir"] == 0 || looked["templates"] == 0 {
		t.Errorf("files that were looked at: %v", looked)
	}
	for _, f := range goFiles(t) {
		if !above(f.path) {
			continue
		}
		for _, spec := range f.ast.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			if own, ok := strings.CutPrefix(imported, modulePath+"/runtime/"); ok && !within(own, "rt") {
				t.Errorf("%s imports runtime/%s", f.path, own)
			}
		}
	}
}
