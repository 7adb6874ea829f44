// Package endtoend tests burngen as a whole. Each test runs the command as users do, in a module of
// its own, then builds and runs the generated code and checks the results.
//
// Tests on models of the corpus are skipped if the corpus is missing.
package endtoend

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/burngen/burngen/golden/corpus"
)

const (
	modulePath = "github.com/burngen/burngen"
	sysPath    = "golang.org/x/sys"
)

// root is the repository's folder.
var root = func() string {
	dir, err := filepath.Abs("../..")
	if err != nil {
		panic(err)
	}
	return dir
}()

var (
	every = flag.Bool("every", false, "runs the tests for other processors and systems, too")
	races = flag.Bool("races", false, "runs tests of generated packages with the race detector, which needs cgo")
)

// elsewhere skips a test that builds for another processor or system, unless -every is given. Such
// a build compiles the standard library.
func elsewhere(t *testing.T) {
	t.Helper()
	if !*every {
		t.Skip("no -every: builds for another processor or system")
	}
}

// built is the folder of the programs that tests share.
var built string

func TestMain(m *testing.M) {
	var err error
	if built, err = os.MkdirTemp("", "burngen-endtoend-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(built)
	os.Exit(code)
}

// long skips a test that -short leaves out.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: takes several seconds")
	}
}

// corpusModel is the folder of a model in the corpus.
type corpusModel string

// name returns the model's name.
func (m corpusModel) name() string { return filepath.Base(string(m)) }

// there reports whether the corpus has the model.
func (m corpusModel) there() bool {
	_, ok := corpus.Find(string(m))
	return ok
}

// dir returns the model's folder. It skips the test if the folder is missing.
func (m corpusModel) dir(t *testing.T) string {
	t.Helper()
	return corpus.Path(t, string(m))
}

// path returns the model's file. It skips the test if the file is missing.
func (m corpusModel) path(t *testing.T) string {
	t.Helper()
	return filepath.Join(m.dir(t), "model.onnx")
}

// commands builds burngen once for each platform.
var commands struct {
	sync.Mutex
	byArch map[string]func() (string, error)
}

// command returns the path of burngen, built for an architecture of this system. An arch of ""
// stands for this machine.
func command(t *testing.T, arch string) string {
	t.Helper()
	commands.Lock()
	if commands.byArch == nil {
		commands.byArch = map[string]func() (string, error){}
	}
	build := commands.byArch[arch]
	if build == nil {
		build = sync.OnceValues(func() (string, error) {
			path := filepath.Join(built, "burngen"+arch+".exe")
			c := exec.Command("go", "build", "-ldflags=-w", "-o", path, "./cmd/burngen")
			c.Dir = root
			c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
			if arch != "" {
				c.Env = append(c.Env, "GOARCH="+arch)
			}
			out, err := c.CombinedOutput()
			if err != nil {
				err = fmt.Errorf("burngen for %q: %w\n%s", arch, err, out)
			}
			return path, err
		})
		commands.byArch[arch] = build
	}
	commands.Unlock()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// generate runs burngen on a model and logs how long it takes.
func generate(t *testing.T, model, dir string, flags ...string) {
	t.Helper()
	burngen := command(t, "")
	start := time.Now()
	run(t, exec.Command(burngen, append([]string{model, "-o", dir}, flags...)...))
	t.Logf("generated in %.1f s", time.Since(start).Seconds())
}

// run runs a program and returns its output. The test fails if the program does.
func run(t *testing.T, c *exec.Cmd) string {
	t.Helper()
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", c, err, out)
	}
	return string(out)
}

// module is a module of generated packages.
type module struct{ dir string }

// newModule makes a module, "program", that requires burngen's.
func newModule(t *testing.T) module {
	t.Helper()
	m := module{t.TempDir()}
	mod := readFile(t, filepath.Join(root, "go.mod"))
	version := regexp.MustCompile(regexp.QuoteMeta(sysPath) + ` \S+`).FindString(mod)
	m.write(t, "go.mod", fmt.Sprintf("module program\n\ngo 1.26\n\nrequire (\n\t%s v0.0.0\n\t%s\n)\n\nreplace %s => %s\n", modulePath, version, modulePath, root))
	var sum strings.Builder
	for line := range strings.Lines(readFile(t, filepath.Join(root, "go.sum"))) {
		if strings.HasPrefix(line, sysPath+" ") {
			sum.WriteString(line)
		}
	}
	m.write(t, "go.sum", sum.String())
	return m
}

// requireAll makes the module require the dependencies of burngen's module, so that descriptions in
// it can be run.
func (m module) requireAll(t *testing.T) {
	t.Helper()
	mod := readFile(t, filepath.Join(root, "go.mod"))
	mod = strings.Replace(mod, "module "+modulePath, "module program", 1)
	m.write(t, "go.mod", fmt.Sprintf("%s\nrequire %s v0.0.0\n\nreplace %s => %s\n", mod, modulePath, modulePath, root))
	m.write(t, "go.sum", readFile(t, filepath.Join(root, "go.sum")))
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// path returns the path of a file in the module.
func (m module) path(name string) string { return filepath.Join(m.dir, filepath.FromSlash(name)) }

// write writes a file.
func (m module) write(t *testing.T, name, text string) {
	t.Helper()
	writeFile(t, m.path(name), text)
}

// copy copies a file of testdata into a folder.
func (m module) copy(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		m.write(t, dir+"/"+filepath.Base(name), readFile(t, filepath.Join("testdata", filepath.FromSlash(name))))
	}
}

// generate runs burngen on a model, for the package in a folder.
func (m module) generate(t *testing.T, name, model string, flags ...string) {
	t.Helper()
	generate(t, model, m.path(name), flags...)
}

// command returns a command that runs the go command in the module. env is added to its
// environment. Packages have no path of a temporary folder, so that they are compiled once. Tests
// are not vetted, and programs have no debugging information, which saves a third of the time for linking.
func (m module) command(env []string, args ...string) *exec.Cmd {
	c := exec.Command("go", args...)
	c.Dir = m.dir
	c.Env = append(append(os.Environ(), "GOFLAGS=-mod=mod -trimpath -vet=off -ldflags=-w", "GOWORK=off", "CGO_ENABLED=0"), env...)
	return c
}

// run runs the go command and returns its output. The test fails if the command does.
func (m module) run(t *testing.T, env []string, args ...string) string {
	t.Helper()
	return run(t, m.command(env, args...))
}
