package verify

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/gen/scratch"
)

// program is a module with generated packages and a main package that calls them.
type program struct {
	*scratch.Module
	packages []pkg
}

type pkg struct {
	name string // of the package, and of its folder
	// weights is the weights file for Load, or "" if it is embedded.
	weights string
	// index is the index of the case.
	index int
}

func newProgram(dir string) (*program, error) {
	m, err := scratch.New(dir, "verify")
	return &program{Module: m}, err
}

// add writes a generated package into the module. index is the index of its case. embedded says that
// the package embeds its weights file.
func (p *program) add(name string, index int, files []emit.File, embedded bool) error {
	if err := p.Write(name, files); err != nil {
		return err
	}
	weights := ""
	for _, f := range files {
		if strings.HasSuffix(f.Name, ".safetensors") && !embedded {
			weights = filepath.Join(p.Dir, name, f.Name)
		}
	}
	p.packages = append(p.packages, pkg{name, weights, index})
	return nil
}

// build builds the program. It returns the errors of packages that do not compile, keyed by case,
// and builds the program without these packages.
func (p *program) build() (broken map[int]string, err error) {
	broken = map[int]string{}
	for {
		if err := p.writeMain(); err != nil {
			return nil, err
		}
		out, err := p.Build()
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

// blame returns the packages for which go build reports errors. The value of a package is its first error.
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

func (p *program) writeMain() error {
	var b bytes.Buffer
	b.WriteString("// Command program calls generated packages.\npackage main\n\nimport (\n")
	fmt.Fprintf(&b, "\t%q\n", scratch.ModulePath+"/gen/verify/harness")
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
	return os.WriteFile(filepath.Join(p.Dir, "main.go"), b.Bytes(), 0o666)
}

// packageName returns a package name for the case called `name`. The package name is not in `taken`; packageName
// adds it.
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
