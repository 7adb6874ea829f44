// Package load reads descriptions of models: Go packages with methods marked by directives. The first phase parses
// and type-checks the package and reports all static mistakes. The second phase runs the package. It builds a program
// in the user's own module, from a virtual file in the package and a virtual main package below it. The program
// records the model and writes it to a file. Reading leaves nothing behind.
//
// The package knows Go, directives and the recorder of package nn, but not the further compilation
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

// Options configure the reading of a description.
type Options struct {
	// Config is the user's input for the configuration of New.
	Config config.Given
	// Header is the text of the comment in the first line of the generated file of configurations.
	Header string
	// Limit is the time limit of the description. 0 means the default of [nn.Main].
	Limit time.Duration
	// Stdout and Stderr receive the output of the program that records the description. The program records it
	// several times; the output of only the first recording is passed on. Stderr also receives the messages of the go
	// command. It receives nothing if the program fails, because the error then holds the text. Either may be nil.
	Stdout, Stderr io.Writer
}

// Description is the result of reading a description.
type Description struct {
	// Dir is the folder. Package is the name of the package. File is the name of the file that
	// declares the model.
	Dir, Package, File string
	// Model is the recorded model, or nil for a folder that has only configurations. Sum is the
	// SHA-256 of the record, in hexadecimal.
	Model *record.Model
	Sum   string
	// Docs maps the names of the marked methods to their documentation.
	Docs map[string]string
	// Configs are the configurations of the package. Source is the contents of [config.File], or
	// nil. Built is the expression of the configuration that was passed to New, or "".
	Configs *config.Set
	Source  []byte
	Built   string
}

// IsFolder reports whether a command-line argument names a folder.
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Find returns the folder of a description. path is a folder or a package path. It returns an error
// if path is neither.
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

// Load reads the description in a folder. If the description has mistakes, the error has a line for each mistake. The
// line begins with the position file:line:column of the mistake, if it has a position.
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

// shownAs returns dir as it stands in messages. If dir is inside the working directory, the result is relative to the
// working directory.
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

// resolve returns the absolute path of dir. If dir without symbolic links is in a module, it returns the path without
// symbolic links. It returns an error if dir does not exist.
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

// lines is an error with one mistake on each line. Positions are relative to the description's folder,
// until [at] changes them.
type lines []string

func (l lines) Error() string { return strings.Join(l, "\n") }

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

// at rewrites the positions in err, whose paths are relative to the description's folder dir. The new paths are
// relative to the working directory. shown is the path of dir relative to the working directory. at returns err
// unchanged if it has no [lines].
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
