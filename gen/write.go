package gen

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/gen/temporary"
	"github.com/burngen/burngen/runtime/rt"
)

const headerLine = "// " + emit.Header

// headerHTML is the first line of generated pages.
const headerHTML = "<!-- " + emit.Header + " -->"

// modelFile is the file that marks a folder as a generated package.
const modelFile = "model.go"

const (
	weightsFile = "weights.go"
	irExt       = ".ir"
)

// Output is a set of files to write to a folder.
type Output struct {
	Dir   string
	Files []emit.File
	// Other is the source, such as "mlp.onnx", of the package in the folder if it was generated
	// from another model. Otherwise it is "".
	Other string
	stale []string
}

// NewOutput checks that files may be written to dir. dir may be missing. It returns an error if
// writing would overwrite a file that burngen has not generated. It does not change anything.
func NewOutput(dir string, files []emit.File) (*Output, error) {
	o := &Output{Dir: dir, Files: files}
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return o, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", dir, cause(err))
	case !info.IsDir():
		return nil, fmt.Errorf("%s: is a file, a folder expected", dir)
	}
	own := isPackage(dir)
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, fmt.Errorf("%s: %w", path, cause(err))
		case !info.Mode().IsRegular():
			return nil, fmt.Errorf("%s: is not a regular file", path)
		}
		marked := isGenerated(path)
		switch filepath.Ext(f.Name) {
		case wasmExt:
			marked = isGenerated(filepath.Join(dir, webModule))
		case weightsExt, kernelsExt:
			marked = own
		}
		if !marked {
			return nil, fmt.Errorf("%s: was not written by burngen; move it or choose another folder with -o", path)
		}
	}
	if err := o.findStale(); err != nil {
		return nil, err
	}
	if own {
		o.findOther()
	}
	return o, nil
}

// isPackage reports whether a folder holds a generated Go package.
func isPackage(dir string) bool {
	return isGenerated(filepath.Join(dir, modelFile)) || isGenerated(filepath.Join(dir, weightsFile))
}

func isText(name string) bool {
	switch filepath.Ext(name) {
	case weightsExt, kernelsExt, wasmExt:
		return false
	}
	return true
}

// weightsExt and wasmExt are the extensions of weights files and of programs for browsers.
const weightsExt, wasmExt = ".safetensors", ".wasm"

// kernelsExt is the extension of files with kernels in binary form. kernelsTextExt is the extension of
// files with kernels as text.
const kernelsExt, kernelsTextExt = ".spv", ".ptx"

func isGenerated(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	line := make([]byte, len(headerHTML)+1)
	n, _ := io.ReadFull(f, line)
	first, _, _ := bytes.Cut(line[:n], []byte("\n"))
	first = bytes.TrimRight(first, "\r")
	return string(first) == headerLine || string(first) == headerHTML
}

// findOther sets Other if the folder has the package of another model. It compares the names of the source and of
// the IR file.
func (o *Output) findOther() {
	i := slices.IndexFunc(o.Files, func(f emit.File) bool { return f.Name == modelFile })
	have, err := os.ReadFile(filepath.Join(o.Dir, modelFile))
	if i < 0 || err != nil {
		return
	}
	was := headerSource(have)
	isIR := func(name string) bool { return filepath.Ext(name) == irExt }
	if was != headerSource(o.Files[i].Data) || slices.ContainsFunc(o.stale, isIR) {
		o.Other = was
	}
}

func headerSource(model []byte) string {
	_, rest, _ := bytes.Cut(model, []byte("\n// source: "))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	if i := bytes.LastIndex(line, []byte(" (")); i >= 0 {
		line = line[:i]
	}
	return string(line)
}

// findStale lists the generated files in the folder that would not be written again. This includes the program that
// serves the package, if the new package does not have it.
func (o *Output) findStale() error {
	entries, err := os.ReadDir(o.Dir)
	if err != nil {
		return fmt.Errorf("%s: %w", o.Dir, cause(err))
	}
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		if !e.Type().IsRegular() || ext != ".go" && ext != irExt && ext != kernelsTextExt || o.writes(e.Name()) {
			continue
		}
		if isGenerated(filepath.Join(o.Dir, e.Name())) {
			o.stale = append(o.stale, e.Name())
		}
	}
	for _, e := range entries {
		if e.Type().IsRegular() && !o.writes(e.Name()) && (o.wroteWeights(e.Name()) || o.wroteKernels(e.Name())) {
			o.stale = append(o.stale, e.Name())
		}
	}
	program := filepath.Join(ServerName, "main.go")
	if slices.Contains(o.stale, "serve.go") && isGenerated(filepath.Join(o.Dir, program)) {
		o.stale = append(o.stale, program)
	}
	return nil
}

func (o *Output) wroteKernels(name string) bool {
	text, err := os.ReadFile(filepath.Join(o.Dir, "device.go"))
	return err == nil && filepath.Ext(name) == kernelsExt && isGenerated(filepath.Join(o.Dir, "device.go")) && bytes.Contains(text, []byte("\n//go:embed "+name+"\n"))
}

// wroteWeights reports whether name is an obsolete weights file that burngen generated. A file that
// the package only reads does not count.
func (o *Output) wroteWeights(name string) bool {
	model, ok := strings.CutSuffix(name, weightsExt)
	model, constants := strings.CutSuffix(model, ".const")
	gone := slices.Contains(o.stale, model+irExt)
	switch {
	case !ok:
		return false
	case constants:
		return gone || isGenerated(filepath.Join(o.Dir, model+irExt))
	case gone:
		return o.embeds(name) || o.hasSources(name)
	}
	return o.shares() && o.embeds(name)
}

func (o *Output) embeds(name string) bool {
	text, err := os.ReadFile(filepath.Join(o.Dir, weightsFile))
	return err == nil && bytes.Contains(text, []byte("\n//go:embed "+name+"\n"))
}

// hasSources reports whether a weights file has digests for its prepared weights: digests of the weights that they
// were prepared from.
func (o *Output) hasSources(name string) bool {
	w := rt.OpenWeightsFile(filepath.Join(o.Dir, name))
	defer w.Close()
	for key := range w.Metadata() {
		if strings.HasPrefix(key, rt.SourcesPrefix) {
			return true
		}
	}
	return false
}

// shares reports whether the new package imports the package that embeds the weights for several
// targets.
func (o *Output) shares() bool {
	i := slices.IndexFunc(o.Files, func(f emit.File) bool { return f.Name == weightsFile })
	return i >= 0 && bytes.Contains(o.Files[i].Data, []byte("/"+sharedFolder+"\"\n"))
}

func (o *Output) writes(name string) bool {
	return slices.ContainsFunc(o.Files, func(f emit.File) bool { return f.Name == name })
}

// Write writes the files under temporary names, renames all of them, and removes generated files that are obsolete.
// The folder does not change if writing fails.
func (o *Output) Write() (err error) {
	made, err := makeDir(o.Dir)
	if err != nil {
		return err
	}
	temporary.Sweep(o.Dir)
	var renamings []temporary.Renaming
	defer func() {
		for _, r := range renamings {
			temporary.Remove(r.From)
		}
		if err != nil && made != "" {
			os.Remove(made)
		}
	}()
	for _, f := range o.Files {
		to := filepath.Join(o.Dir, f.Name)
		if same(to, f) {
			continue
		}
		t, err := writeTemporary(o.Dir, f)
		if t != "" {
			renamings = append(renamings, temporary.Renaming{From: t, To: to})
		}
		if err != nil {
			return fmt.Errorf("%s: %w", o.Dir, cause(err))
		}
	}
	if err := temporary.Rename(renamings); err != nil {
		to := o.Dir
		if l, ok := errors.AsType[*os.LinkError](err); ok {
			to = l.New
		}
		return fmt.Errorf("%s: %w", to, cause(err))
	}
	for _, name := range o.stale {
		if err := os.Remove(filepath.Join(o.Dir, name)); err != nil {
			return fmt.Errorf("%s: %w", name, cause(err))
		}
		if folder := filepath.Dir(name); folder != "." {
			os.Remove(filepath.Join(o.Dir, folder)) // unless the user has other files there
		}
	}
	return nil
}

// makeDir creates a folder and its parents. made is the folder, or "" if it existed before.
func makeDir(dir string) (made string, err error) {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		made = dir
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", fmt.Errorf("%s: %w", dir, cause(err))
	}
	return made, nil
}

func same(path string, f emit.File) bool {
	have, err := os.Open(path)
	if err != nil {
		return false
	}
	defer have.Close()
	n, err := f.WriteFile(comparison{have})
	if err != nil {
		return false
	}
	info, err := have.Stat()
	return err == nil && info.Size() == n
}

// comparison is a writer that does not write. It compares with the contents of a file, and fails at a difference.
type comparison struct{ have io.ReaderAt }

var errDiffers = errors.New("the file differs")

const compared = 256 << 10

func (c comparison) WriteAt(want []byte, at int64) (int, error) {
	room := make([]byte, min(len(want), compared))
	done := 0
	for part := range slices.Chunk(want, compared) {
		have := room[:len(part)]
		if n, _ := c.have.ReadAt(have, at+int64(done)); n < len(have) || !bytes.Equal(have, part) {
			return done, errDiffers
		}
		done += len(part)
	}
	return done, nil
}

func writeTemporary(dir string, file emit.File) (path string, err error) {
	f, err := temporary.File(dir)
	if err != nil {
		return "", err
	}
	_, err = file.WriteFile(f)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return f.Name(), err
}

// Diff returns the changes that Write would make: a unified diff of text files and a line for each
// other file. It is empty if there are no changes.
func (o *Output) Diff() ([]byte, error) {
	var out []byte
	for _, f := range o.Files {
		path := filepath.Join(o.Dir, f.Name)
		switch _, err := os.Stat(path); {
		case errors.Is(err, fs.ErrNotExist):
			out = fmt.Appendf(out, "%s is missing\n", path)
			continue
		case err != nil:
			return nil, fmt.Errorf("%s: %w", path, cause(err))
		case same(path, f):
			continue
		case !isText(f.Name):
			out = fmt.Appendf(out, "%s differs\n", path)
			continue
		}
		have, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, cause(err))
		}
		out = append(out, diff.Diff(path, have, path+" (generated)", f.Data)...)
	}
	for _, name := range o.stale {
		out = fmt.Appendf(out, "%s is no longer generated\n", filepath.Join(o.Dir, name))
	}
	return out, nil
}

// cause returns the cause of an error of package os, without the path.
func cause(err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &l):
		return l.Err
	}
	return err
}
