package verify

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

// The modules that generated code links.
const (
	modulePath = "github.com/burngen/burngen"
	sysPath    = "golang.org/x/sys"
)

// program is a module of generated packages and a main package that calls them.
type program struct {
	dir      string
	packages []pkg
}

// pkg is a generated package.
type pkg struct {
	name string // of the package, and of its folder
	// weights is the weights file that Load takes, "" when it is embedded.
	weights string
	// index is the case's.
	index int
}

// newProgram writes the module's go.mod and go.sum.
func newProgram(dir string) (*program, error) {
	mod, sum, err := requirements()
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), mod, 0o666); err != nil {
		return nil, err
	}
	return &program{dir: dir}, os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o666)
}

// requirements returns the go.mod and go.sum of a module that links the runtime
// of the current module's burngen, or of the burngen that is running.
func requirements() (mod, sum []byte, err error) {
	own, err := locate(modulePath)
	if err != nil {
		return nil, nil, err
	}
	mod = fmt.Appendf(nil, "module verify\n\ngo %s\n\nrequire %s v0.0.0\n\nreplace %s => %s\n", goVersion, modulePath, modulePath, own)
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

// goVersion is the language version of generated code.
const goVersion = "1.26"

// locate returns the folder of a module: the one that the current folder's
// module uses, else that of the version which this program was built from.
func locate(path string) (string, error) {
	modules := []string{path}
	info, ok := debug.ReadBuildInfo()
	if ok && info.Main.Path == path && info.Main.Version != "" && info.Main.Version != "(devel)" {
		modules = append(modules, path+"@"+info.Main.Version)
	}
	for _, m := range modules {
		out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", m).Output()
		if dir := strings.TrimSpace(string(out)); err == nil && dir != "" {
			return dir, nil
		}
	}
	return "", fmt.Errorf("verify: the source of %s is not found: run it in a module that requires it", path)
}

// goCommand returns a run of the go command in a module of its own.
func goCommand(dir string, args ...string) *exec.Cmd {
	c := exec.Command("go", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "CGO_ENABLED=0")
	return c
}

// add writes a generated package.
func (p *program) add(name string, index int, files []emit.File, embedded bool) error {
	dir := filepath.Join(p.dir, name)
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	weights := ""
	for _, f := range files {
		if strings.HasSuffix(f.Name, "_test.go") {
			continue
		}
		path := filepath.Join(dir, f.Name)
		if err := os.WriteFile(path, f.Data, 0o666); err != nil {
			return err
		}
		if strings.HasSuffix(f.Name, ".safetensors") && !embedded {
			weights = path
		}
	}
	p.packages = append(p.packages, pkg{name, weights, index})
	return nil
}

// build builds the program. It returns the errors of packages that do not
// compile, by case; the program is built without those.
func (p *program) build() (broken map[int]string, err error) {
	broken = map[int]string{}
	for {
		if err := p.writeMain(); err != nil {
			return nil, err
		}
		c := goCommand(p.dir, "build", "-trimpath", "-ldflags=-s -w", "-o", p.binary(), ".")
		out, err := c.CombinedOutput()
		if err == nil {
			return broken, nil
		}
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			return nil, fmt.Errorf("verify: go build: %w", err)
		}
		blamed := blame(string(out), p.packages)
		if len(blamed) == 0 {
			return nil, fmt.Errorf("verify: go build: %s", firstLine(string(out)))
		}
		p.packages = slices.DeleteFunc(p.packages, func(k pkg) bool {
			why, bad := blamed[k.name]
			if bad {
				broken[k.index] = "go build: " + why
			}
			return bad
		})
	}
}

func (p *program) binary() string {
	name := "program"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(p.dir, name)
}

// blame finds the packages that the output of go build complains about, with
// the first complaint.
func blame(output string, packages []pkg) map[string]string {
	known := map[string]bool{}
	for _, k := range packages {
		known[k.name] = true
	}
	blamed := map[string]string{}
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "# ") {
			continue
		}
		name, rest, ok := strings.Cut(strings.TrimPrefix(line, "./"), "/")
		if ok && known[name] && blamed[name] == "" {
			blamed[name] = rest
		}
	}
	return blamed
}

// writeMain writes the package that calls the generated ones.
func (p *program) writeMain() error {
	var b bytes.Buffer
	b.WriteString("// Command program calls generated packages.\npackage main\n\nimport (\n")
	fmt.Fprintf(&b, "\t%q\n", modulePath+"/gen/verify/harness")
	for _, k := range p.packages {
		fmt.Fprintf(&b, "\t%q\n", "verify/"+k.name)
	}
	b.WriteString(")\n\nfunc main() {\n\tharness.Main([]harness.Case{\n")
	for _, k := range p.packages {
		arg := ""
		if k.weights != "" {
			arg = fmt.Sprintf("%q", k.weights)
		}
		fmt.Fprintf(&b, "\t\t{%q, func() (any, error) {\n\t\t\tm, err := %s.Load(%s)\n\t\t\tif err != nil {\n\t\t\t\treturn nil, err\n\t\t\t}\n\t\t\treturn m.Forward, nil\n\t\t}},\n", k.name, k.name, arg)
	}
	b.WriteString("\t})\n}\n")
	return os.WriteFile(filepath.Join(p.dir, "main.go"), b.Bytes(), 0o666)
}

// packageName returns a package's name for a case, unlike those in taken.
func packageName(name string, taken map[string]bool) string {
	base := "case_" + strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
			return r
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '_'
	}, filepath.Base(name))
	base = strings.TrimSuffix(base, "_test")
	out := base
	for i := 2; taken[out]; i++ {
		out = fmt.Sprintf("%s_%d", base, i)
	}
	taken[out] = true
	return out
}

func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return line
		}
	}
	return "no message"
}
