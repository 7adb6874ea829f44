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

// arrows says what the packages of a folder, and of those below that have no line
// of their own, may import outside their tests: packages of this module, "x/..."
// with those below x, and modules of others.
var arrows = []arrow{
	{"runtime/rt/safetensors", "", ""},
	{"runtime/rt", "runtime/rt/safetensors", "golang.org/x/sys"},
	{"runtime/rt/keys", "runtime/rt", ""},
	{"runtime/cpu", "runtime/rt", "golang.org/x/sys"},
	{"runtime/cpu/image", "", "golang.org/x/image"},
	{"runtime/data", "runtime/rt", ""},
	{"runtime/record", "runtime/rt runtime/rt/safetensors", ""},
	{"runtime/optim", "runtime/rt runtime/cpu", ""},
	{"runtime/kerneltest", "runtime/rt runtime/cpu", ""},
	{"internal/file", "", ""},
	{"internal/meant", "runtime/rt/keys", ""},
	{"ir", "runtime/rt", ""},
	{"ir/cost", "", ""},
	{"ir/op", "ir ir/cost ir/op/internal/... runtime/rt runtime/cpu/image", ""},
	{"ir/op/internal", "", ""},
	{"ir/grad", "ir ir/op", ""},
	{"ir/nn", "ir ir/grad ir/nn/record ir/op runtime/rt", ""},
	{"ir/nn/record", "ir ir/op runtime/rt", ""},
	{"ir/pass", "ir ir/cost ir/op ir/plan runtime/rt", ""},
	{"ir/plan", "ir runtime/rt", ""},
	{"onnx", "internal/file internal/meant ir ir/op onnx/internal/... runtime/rt", ""},
	{"onnx/internal/onnxpb", "", "google.golang.org/protobuf"},
	{"onnx/internal/wire", "internal/file", "google.golang.org/protobuf"},
	{"onnx/onnxtest", "ir onnx/internal/onnxpb", "google.golang.org/protobuf"},
	{"pytorch", "pytorch/pickle runtime/rt runtime/rt/keys", ""},
	{"pytorch/pickle", "", ""},
	{"gen", "gen/... internal/meant ir ir/cost ir/grad ir/nn/record ir/op ir/pass ir/plan onnx runtime/rt runtime/rt/keys runtime/cpu", "github.com/rogpeppe/go-internal"},
	{"gen/config", "internal/file internal/meant", ""},
	{"gen/load", "gen/config gen/temporary ir ir/nn ir/nn/record runtime/rt/keys", "golang.org/x/tools"},
	{"gen/program", "ir ir/op ir/plan", ""},
	{"gen/exec", "gen/program ir ir/plan runtime/rt runtime/cpu runtime/cpu/image", ""},
	{"gen/exec/internal/kernels", "", ""},
	{"gen/emit", "gen/exec gen/program ir ir/plan runtime/rt runtime/rt/keys", "github.com/dave/jennifer"},
	{"gen/value", "gen/exec gen/temporary gen/verify/harness internal/file ir onnx", ""},
	{"gen/calibrate", "ir/cost runtime/cpu", ""},
	{"gen/profile", "gen gen/... ir ir/op onnx", ""},
	{"gen/profile/stopwatch", "gen/verify/harness runtime/rt runtime/cpu", ""},
	{"gen/scratch", "gen/emit", ""},
	{"gen/verify", "gen gen/... ir ir/grad ir/op onnx runtime/rt", ""},
	{"gen/temporary", "", ""},
	{"gen/verify/harness", "runtime/rt", ""},
	{"cmd/burngen", "gen gen/... internal/... ir ir/cost onnx pytorch runtime/record runtime/rt runtime/rt/keys", "github.com/schollz/progressbar/v3"},
	{"examples", "examples/... runtime/...", ""},
	{"examples/custom/internal", "ir onnx/onnxtest", ""},
	{"examples/finetune/model", "ir/nn onnx", ""},
	{"examples/mnist/model", "ir/nn", ""},
	{"examples/regression/model", "ir/nn", ""},
	{"examples/text/model", "ir/nn", ""},
	{"examples/xor/model", "ir/nn", ""},
	{"golden", "", ""},
}

type arrow struct{ folder, own, modules string }

// arrowOf returns the line for a folder: that of the longest folder it is in.
func arrowOf(folder string) (best arrow, ok bool) {
	for _, a := range arrows {
		if within(folder, a.folder) && len(a.folder) > len(best.folder) {
			best, ok = a, true
		}
	}
	return best, ok
}

// testModules are the modules that only tests may import.
const testModules = "github.com/google/go-cmp github.com/rogpeppe/go-internal google.golang.org/protobuf pgregory.net/rapid"

// TestArrows asserts which packages import which, on every platform: the runtime
// knows nothing of the compiler, the IR nothing of files and targets, generated
// code nothing but the runtime.
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

// customOperators are the packages of custom operators, which generated code calls.
const customOperators = "examples/custom/fused examples/custom/peaks"

// allows reports whether a file may import a package. Tests may import any of the
// module's, but those of the runtime and of generated packages.
func (a arrow) allows(f goFile, pkg string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	own, isOwn := strings.CutPrefix(pkg, modulePath+"/")
	switch {
	case isOwn && f.isGenerated() && matches(own, customOperators), f.isTest && own == "golden/corpus":
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

// TestArchitecture asserts that the page has a row for every folder of packages, and none
// for others. Examples have one together, and so have the tests of the whole.
func TestArchitecture(t *testing.T) {
	page, err := os.ReadFile("../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllSubmatch(page, -1) {
		rows[string(row[1])] = true
	}
	folders := map[string]bool{"bench": true, "docs": true} // without packages
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

// TestDocs asserts that everything exported is documented, and every package.
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

// undocumented returns the exported names that a declaration says nothing about.
// A comment on a group holds for all of it.
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

// isStandardMethod reports whether a method's meaning is that of an interface
// which every Go programmer knows.
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

// TestText asserts what no file of the repository says: that something is left to
// do, where a machine keeps its files, and hosts that are not public.
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

// TestGeneratedHeaders asserts that tools can tell which files are generated: all
// of a package of burngen's, assembly but the few lines written by hand, and
// whatever else says so. In runtime/cpu their names begin with z, and no others do.
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
