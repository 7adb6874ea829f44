// Package module makes Go modules for tests. A test generates packages into a module as users do, with the
// command burngen, and runs the go command in it.
package module

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

	"github.com/burngen/burngen/gen/emit"
)

// ImportPath is the path of burngen's module.
const ImportPath = "github.com/burngen/burngen"

// sysPath is the path of the only module that generated packages depend on.
const sysPath = "golang.org/x/sys"

// Root is the repository's folder.
var Root = func() string {
	dir, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	panic("the tests of golden/endtoend run in folders of the repository")
}()

// Every is set if -every is given: tests for other processors and systems run, too.
var Every = flag.Bool("every", false, "runs the tests for other processors and systems, too")

// Elsewhere skips a test that builds for another processor or system, unless -every is given. Such
// a build compiles the standard library.
func Elsewhere(t *testing.T) {
	t.Helper()
	if !*Every {
		t.Skip("no -every: builds for another processor or system")
	}
}

// built is the folder of the programs that tests share.
var built string

// Main runs the tests of a package and returns the exit code. It removes the programs that the tests
// share.
func Main(m *testing.M) int {
	var err error
	if built, err = os.MkdirTemp("", "burngen-endtoend-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(built)
	return m.Run()
}

// Long skips a test that -short leaves out.
func Long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: takes several seconds")
	}
}

// commands builds burngen once for each platform.
var commands struct {
	sync.Mutex
	byArch map[string]func() (string, error)
}

// Burngen returns the path of burngen, built for an architecture of this system. An arch of ""
// stands for this machine.
func Burngen(t *testing.T, arch string) string {
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
			c.Dir = Root
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

// Generate runs burngen on a model and logs how Long it takes.
func Generate(t *testing.T, model, dir string, flags ...string) {
	t.Helper()
	burngen := Burngen(t, "")
	start := time.Now()
	Output(t, exec.Command(burngen, append([]string{model, "-o", dir}, flags...)...))
	t.Logf("generated in %.1f s", time.Since(start).Seconds())
}

// Output runs a program and returns its output. The test fails if the program does.
func Output(t *testing.T, c *exec.Cmd) string {
	t.Helper()
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", c, err, out)
	}
	return string(out)
}

// Module is a module of generated packages, in the folder Dir.
type Module struct{ Dir string }

// New makes a module that is called program and requires burngen's.
func New(t *testing.T) Module {
	t.Helper()
	m := Module{t.TempDir()}
	mod := ReadFile(t, filepath.Join(Root, "go.mod"))
	version := regexp.MustCompile(regexp.QuoteMeta(sysPath) + ` \S+`).FindString(mod)
	m.Write(t, "go.mod", fmt.Sprintf("module program\n\ngo 1.26\n\nrequire (\n\t%s v0.0.0\n\t%s\n)\n\nreplace %s => %s\n", ImportPath, version, ImportPath, Root))
	var sum strings.Builder
	for line := range strings.Lines(ReadFile(t, filepath.Join(Root, "go.sum"))) {
		if strings.HasPrefix(line, sysPath+" ") {
			sum.WriteString(line)
		}
	}
	m.Write(t, "go.sum", sum.String())
	return m
}

// RequireAll makes the module require the dependencies of burngen's module, so that descriptions in
// it can be run.
func (m Module) RequireAll(t *testing.T) {
	t.Helper()
	mod := ReadFile(t, filepath.Join(Root, "go.mod"))
	mod = strings.Replace(mod, "module "+ImportPath, "module program", 1)
	m.Write(t, "go.mod", fmt.Sprintf("%s\nrequire %s v0.0.0\n\nreplace %s => %s\n", mod, ImportPath, ImportPath, Root))
	m.Write(t, "go.sum", ReadFile(t, filepath.Join(Root, "go.sum")))
}

// ReadFile returns what is in a file.
func ReadFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// WriteFile writes a file, and the folders that contain it.
func WriteFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// Path returns the path of a file in the module.
func (m Module) Path(name string) string { return filepath.Join(m.Dir, filepath.FromSlash(name)) }

// Write writes a file.
func (m Module) Write(t *testing.T, name, text string) {
	t.Helper()
	WriteFile(t, m.Path(name), text)
}

// Copy copies a file of testdata into a folder.
func (m Module) Copy(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		m.Write(t, dir+"/"+filepath.Base(name), ReadFile(t, filepath.Join("testdata", filepath.FromSlash(name))))
	}
}

// Generate runs burngen on a model, for the package in a folder.
func (m Module) Generate(t *testing.T, name, model string, flags ...string) {
	t.Helper()
	Generate(t, model, m.Path(name), flags...)
}

// Command returns a command that runs the go command in the module. env is added to its environment. The paths of
// temporary folders are left out of packages, so that equal packages in several folders are compiled once. Tests
// are not vetted, and programs have no debugging information, which saves a third of the time for linking.
func (m Module) Command(env []string, args ...string) *exec.Cmd {
	c := exec.Command("go", args...)
	c.Dir = m.Dir
	c.Env = append(append(os.Environ(), "GOFLAGS=-mod=mod -trimpath -vet=off -ldflags=-w", "GOWORK=off", "CGO_ENABLED=0"), env...)
	return c
}

// Run runs the go command and returns its output. The test fails if the command does.
func (m Module) Run(t *testing.T, env []string, args ...string) string {
	t.Helper()
	return Output(t, m.Command(env, args...))
}

// Add writes files of a generated package into the folder dir of the module.
func (m Module) Add(t *testing.T, dir string, files []emit.File) {
	t.Helper()
	for _, f := range files {
		m.Write(t, dir+"/"+f.Name, string(f.Data))
	}
}
