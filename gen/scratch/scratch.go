// Package scratch builds programs from generated packages in a temporary Go module. The module links the
// runtime that the current module uses, or else the runtime of the running burngen. The package does not
// know what the programs do.
package scratch

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/burngen/burngen/gen/emit"
)

// ModulePath is the module with the runtime of generated code.
const ModulePath = "github.com/burngen/burngen"

const sysPath = "golang.org/x/sys"

// goVersion is the language version of generated code.
const goVersion = "1.26"

// Module is a Go module in a folder.
type Module struct {
	// Dir is the folder, and Name the module path.
	Dir, Name string
	// folder of burngen's module
	own string
}

// New creates a module called name in an empty folder. It returns an error if the source of burngen
// is not found or the files cannot be written.
func New(dir, name string) (*Module, error) {
	own, err := locate(name)
	if err != nil {
		return nil, err
	}
	mod, sum, err := requirements(name, own)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), mod, 0o666); err != nil {
		return nil, err
	}
	return &Module{dir, name, own}, os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o666)
}

// requirements returns the go.mod and go.sum of a module called `name`. The module links the runtime of burngen's
// module, which is in the folder `own`.
func requirements(name, own string) (mod, sum []byte, err error) {
	mod = fmt.Appendf(nil, "module %s\n\ngo %s\n\nrequire %s v0.0.0\n\nreplace %s => %s\n", name, goVersion, ModulePath, ModulePath, own)
	ownMod, err := os.ReadFile(filepath.Join(own, "go.mod"))
	if err != nil {
		return nil, nil, err
	}
	version := regexp.MustCompile(`(?m)^\s*(?:require\s+)?` + regexp.QuoteMeta(sysPath) + `\s+(\S+)`).FindSubmatch(ownMod)
	if version != nil {
		mod = fmt.Appendf(mod, "\nrequire %s %s\n", sysPath, version[1])
	}
	ownSum, err := os.ReadFile(filepath.Join(own, "go.sum"))
	if err != nil {
		return nil, nil, err
	}
	for line := range bytes.Lines(ownSum) {
		if bytes.HasPrefix(line, []byte(sysPath+" ")) {
			sum = append(sum, line...)
		}
	}
	return mod, sum, nil
}

// Nested makes the module require a nested module of burngen. `folder` is the path of the nested module in burngen's
// module. If the current folder's module uses a version of the nested module, Nested takes this version, and
// otherwise the folder in burngen's source. It returns an error if neither is found.
func (m *Module) Nested(folder string) error {
	name := ModulePath + "/" + folder
	dir := ""
	if out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", name).Output(); err == nil {
		dir = strings.TrimSpace(string(out))
	}
	if dir == "" {
		own, err := locate(m.Name)
		if err != nil {
			return err
		}
		if dir = filepath.Join(own, filepath.FromSlash(folder)); !isFile(filepath.Join(dir, "go.mod")) {
			return fmt.Errorf("%s: the module %s is not found; run go get %s in a module that requires burngen", m.Name, name, name)
		}
	}
	sum, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	if err != nil {
		return err
	}
	if err := extend(filepath.Join(m.Dir, "go.sum"), sum); err != nil {
		return err
	}
	return extend(filepath.Join(m.Dir, "go.mod"), fmt.Appendf(nil, "\nrequire %s v0.0.0\n\nreplace %s => %s\n", name, name, dir))
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func extend(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// locate returns the folder of burngen's module. It takes the first of three that it finds: the module that the
// current folder's module uses, the version from which this program was built, and the checkout in which this program
// was built. caller is the beginning of its errors.
func locate(caller string) (string, error) {
	modules := []string{ModulePath}
	info, ok := debug.ReadBuildInfo()
	if ok && info.Main.Path == ModulePath && info.Main.Version != "" && info.Main.Version != "(devel)" {
		modules = append(modules, ModulePath+"@"+info.Main.Version)
	}
	for _, m := range modules {
		out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", m).Output()
		if dir := strings.TrimSpace(string(out)); err == nil && dir != "" {
			return dir, nil
		}
	}
	if dir, ok := checkout(); ok {
		return dir, nil
	}
	return "", fmt.Errorf("%s: the source of %s is not found: run it in a module that requires it", caller, ModulePath)
}

// checkout returns the folder of burngen's module on the machine that built this program. ok is false if the program
// does not record the folder, as after go build -trimpath, or if the folder does not exist.
func checkout() (dir string, ok bool) {
	_, file, _, ok := runtime.Caller(0)
	dir = filepath.Join(filepath.Dir(file), "..", "..")
	if !ok || !filepath.IsAbs(dir) {
		return "", false
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return dir, err == nil && bytes.HasPrefix(mod, []byte("module "+ModulePath+"\n"))
}

// Write writes the files of a generated package into a new folder of the module. It leaves out tests.
func (m *Module) Write(folder string, files []emit.File) error {
	dir := filepath.Join(m.Dir, folder)
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	for _, f := range files {
		if strings.HasSuffix(f.Name, "_test.go") {
			continue
		}
		if err := write(filepath.Join(dir, f.Name), f); err != nil {
			return err
		}
	}
	return nil
}

func write(path string, file emit.File) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = file.WriteFile(f)
	return errors.Join(err, f.Close())
}

// Build builds the main package in the module's folder into [Module.Binary]. It returns the output of
// the go command. The error is an [os/exec.ExitError] if the go command fails, as for code that does not
// compile.
func (m *Module) Build() (output []byte, err error) {
	return m.build(nil)
}

// build is [Module.Build] with more flags and with additions to the environment.
func (m *Module) build(flags []string, env ...string) (output []byte, err error) {
	c := m.command(slices.Concat([]string{"build", "-trimpath", "-ldflags=-s -w", "-o", m.Binary()}, flags, []string{"."})...)
	c.Env = append(c.Env, env...)
	return c.CombinedOutput()
}

// command returns a command of the go tool in the module.
func (m *Module) command(args ...string) *exec.Cmd {
	c := exec.Command("go", args...)
	c.Dir = m.Dir
	c.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "CGO_ENABLED=0")
	return c
}

// BuildWeb builds the main package in the module's folder for browsers. It returns the program, and the script that
// the toolchain has for such programs, wasm_exec.js. The bytes of the program depend on the toolchain and on what is
// built, but not on folders.
func (m *Module) BuildWeb() (program, support []byte, err error) {
	if err := m.link(); err != nil {
		return nil, nil, err
	}
	if out, err := m.build([]string{"-tags=simd128"}, "GOOS=js", "GOARCH=wasm"); err != nil {
		return nil, nil, fmt.Errorf("building for the browser: %w\n%s", err, out)
	}
	root, err := m.command("env", "GOROOT").Output()
	if err != nil {
		return nil, nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	if program, err = os.ReadFile(m.Binary()); err != nil {
		return nil, nil, err
	}
	support, err = os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	return program, support, err
}

// link makes a symbolic link to burngen's folder in the module's folder. go.mod then has the path of the link,
// because a program records the path that go.mod has. Where links are not allowed, go.mod keeps the path of the
// folder.
func (m *Module) link() error {
	const name = "burngen"
	if os.Symlink(m.own, filepath.Join(m.Dir, name)) != nil {
		return nil
	}
	path := filepath.Join(m.Dir, "go.mod")
	mod, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	mod = bytes.Replace(mod, []byte(ModulePath+" => "+m.own+"\n"), []byte(ModulePath+" => ./"+name+"\n"), 1)
	return os.WriteFile(path, mod, 0o666)
}

// Binary returns the path of the built program.
func (m *Module) Binary() string {
	name := "program"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(m.Dir, name)
}
