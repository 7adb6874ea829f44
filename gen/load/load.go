// Package load reads descriptions of models: packages of Go that mark methods with
// directives. It reads them in two phases. The first parses and type-checks the package
// and finds all that can be wrong with it before it runs. The second runs it: a program
// made of a virtual file in the package and a virtual main below it, built in the
// user's own module, records the model and leaves it in a file. Nothing stays behind.
//
// It knows Go, directives and the recorder of package nn; it does not know what becomes
// of a model.
package load

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"go/scanner"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/burngen/burngen/gen/config"
	"github.com/burngen/burngen/ir/nn/record"
)

// Options say how a description is read.
type Options struct {
	// Config is what is given for the configuration that New takes.
	Config config.Given
	// Header begins the generated file of configurations.
	Header string
	// Limit is how long the description may run, 0 for [nn.Main]'s own.
	Limit time.Duration
	// Stdout gets what the description prints, once, and Stderr the rest; nil for
	// nothing.
	Stdout, Stderr io.Writer
}

// Description is a description that was read.
type Description struct {
	// Dir is its folder, Package its package's name, and File the name of the file that
	// declares the model.
	Dir, Package, File string
	// Model is what was recorded, nil for a folder with configurations only, and Sum its
	// SHA-256, in hexadecimal.
	Model *record.Model
	Sum   string
	// Docs is the documentation of the marked methods, by their names.
	Docs map[string]string
	// Configs are the package's configurations. Source is the file [config.File] that
	// belongs beside them, nil for none, and Built the expression of the one that New was
	// given, "" for none.
	Configs *config.Set
	Source  []byte
	Built   string
}

// IsFolder reports whether a command line's argument is a folder.
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Find returns the folder of a description, which a folder or the path of a package
// names. Error: there is neither.
func Find(path string) (dir string, err error) {
	if IsFolder(path) {
		return path, nil
	}
	c := exec.Command("go", "list", "-find", "-f", "{{.Dir}}", "--", path)
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s: no such file or folder, and no package: %s", path, lastLine(stderr.String(), err))
	}
	return strings.TrimSpace(string(out)), nil
}

func lastLine(text string, err error) string {
	if text = strings.TrimSpace(text); text == "" {
		return err.Error()
	}
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// Load reads the description in a folder. Its error has a line for each mistake, with
// its position: file:line:column.
func Load(ctx context.Context, dir string, o Options) (*Description, error) {
	shown := shownAs(dir)
	real, err := resolve(dir)
	if err != nil {
		return nil, err
	}
	d, err := load(ctx, real, o)
	if err != nil {
		return nil, at(shown, real, err)
	}
	return d, nil
}

func load(ctx context.Context, dir string, o Options) (*Description, error) {
	s, err := parse(dir)
	if err != nil {
		return nil, err
	}
	d := &Description{Dir: dir, Package: s.name, Configs: s.configs, Docs: map[string]string{}}
	if len(s.configs.Structs) > 0 {
		if d.Source, err = s.configs.Source(o.Header, s.name); err != nil {
			return nil, fmt.Errorf("burngen bug: %s: %w", config.File, err)
		}
	}
	if len(s.faults) == 0 && !s.marks() && d.Source != nil {
		return d, nil
	}
	env, err := hostEnv(dir)
	if err != nil {
		return nil, err
	}
	c, err := check(ctx, s, env, d.Source)
	if err != nil {
		return nil, err
	}
	if d.Built, err = c.construct(o.Config); err != nil {
		return nil, err
	}
	for _, m := range c.methods {
		d.Docs[m.name()] = strings.TrimSpace(m.decl.Doc.Text())
	}
	d.File = filepath.Base(s.fset.Position(c.model.Obj().Pos()).Filename)
	file, err := run(ctx, &recording{
		dir: dir, env: env, glue: c.glue(d.Built), main: mainSource(c.pkg.PkgPath), config: d.Source, options: o,
	})
	if err != nil {
		return nil, err
	}
	if d.Model, err = record.Read(strings.NewReader(string(file))); err != nil {
		return nil, fmt.Errorf("%s: %w", c.pkg.PkgPath, err)
	}
	sum := sha256.Sum256(file)
	d.Sum = hex.EncodeToString(sum[:])
	return d, nil
}

// shownAs returns how messages name a folder: as it is seen from the working one.
func shownAs(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return dir
	}
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, abs); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return filepath.Clean(dir)
}

// resolve returns the path of a folder without symbolic links, if a module holds it
// there, too.
func resolve(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", err
	}
	for above := real; ; above = filepath.Dir(above) {
		if _, err := os.Stat(filepath.Join(above, "go.mod")); err == nil {
			return real, nil
		}
		if above == filepath.Dir(above) {
			return abs, nil
		}
	}
}

// lines is an error with a line for each of several mistakes. A position in it is as it
// is seen from the description's folder.
type lines []string

func (l lines) Error() string { return strings.Join(l, "\n") }

// fromList returns the error of a list, nil for an empty one. What is said twice of one
// place is said once.
func fromList(list scanner.ErrorList) error {
	if len(list) == 0 {
		return nil
	}
	list.Sort()
	var l lines
	for _, e := range list {
		text := e.Msg
		if e.Pos.IsValid() {
			text = e.Pos.String() + ": " + e.Msg
		}
		if len(l) == 0 || l[len(l)-1] != text {
			l = append(l, text)
		}
	}
	return l
}

// at returns an error whose positions are as they are seen from the working folder.
func at(shown, dir string, err error) error {
	var l lines
	if !errors.As(err, &l) {
		return err
	}
	prefix := ""
	if shown != "." {
		prefix = shown + string(filepath.Separator)
	}
	out := make(lines, len(l))
	for i, line := range l {
		line = strings.ReplaceAll(line, dir+string(filepath.Separator), "")
		if file, _, ok := strings.Cut(line, ".go:"); ok && !strings.ContainsAny(file, " :") && !filepath.IsAbs(file) {
			line = prefix + line
		}
		out[i] = line
	}
	return out
}
