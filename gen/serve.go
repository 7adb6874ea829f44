package gen

import (
	"bytes"
	"fmt"
	"go/format"
	"path"
	"path/filepath"
	"strconv"

	"github.com/burngen/burngen/gen/emit"
)

// ServerName is the folder of the program that serves a package, below the package's folder.
const ServerName = "server"

// servePath is the module of servers. Generated packages do not need it; the programs that serve them do.
const servePath = "github.com/burngen/burngen/runtime/serve"

// beamPath is the module of programs that compute the items of files.
const beamPath = "github.com/burngen/burngen/runtime/beam"

// Server returns the folder of a program that serves a package. It returns an error if the package is not
// in a module.
func Server(p Packaged) (Folder, error) {
	imported, err := ImportPath(p.Dir)
	if err != nil {
		return Folder{}, fmt.Errorf("-serve: %w", err)
	}
	text, err := p.ServerMain(imported)
	return Folder{filepath.Join(p.Dir, ServerName), []emit.File{{Name: "main.go", Data: text}}}, err
}

// loads returns the Go expression that loads a model whose weights are in the program. The model's package is called
// model.
func (m *Model) loads() string {
	if _, ok := m.store().(emit.Drawn); ok {
		return "model.New(0), nil"
	}
	return "model.Load()"
}

// ServerMain returns a main package that serves the package with this import path.
func (m *Model) ServerMain(imported string) ([]byte, error) {
	comment := fmt.Sprintf("// Command %s serves the model %s by the Open Inference Protocol. Its flag -help lists the\n// others.", ServerName, strconv.QuoteToASCII(m.Name))
	return m.mainOf(imported, comment, "serve.Main", "serve", servePath)
}

// BatchMain returns a main package that computes the items of files with the package that has this import path. The
// package must have been generated for servers, see [Options].
func (m *Model) BatchMain(imported string) ([]byte, error) {
	comment := fmt.Sprintf("// Command beam computes the items of files with the model %s. Its flag -help lists the\n// others.", strconv.QuoteToASCII(m.Name))
	return m.mainOf(imported, comment, "batch.Main", "infer", beamPath+"/batch", beamPath+"/infer")
}

// mainOf returns a main package. It calls the function `run` with the model, to which the functions Package and
// PackageFile of the package `of` convert the generated package. others are the import paths of `run` and `of`.
func (m *Model) mainOf(imported, comment, run, of string, others ...string) ([]byte, error) {
	name := FileName(m.Name, "model")
	load, model := m.loads(), ""
	switch s := m.store().(type) {
	case emit.Beside:
		model = path.Base(filepath.ToSlash(s.File))
	case emit.Existing:
		model = filepath.ToSlash(s.File)
	}
	if m.shared != nil {
		if _, ok := m.store().(emit.Beside); !ok {
			model = ""
		}
	}
	call := fmt.Sprintf("%s.Package(%q, func() (*model.Model, error) { return %s })", of, name, load)
	if model != "" {
		call = fmt.Sprintf("%s.PackageFile(%q, %q, func(path string) (*model.Model, error) { return model.Load(path) })", of, name, model)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "// %s\n\n%s\npackage main\n\nimport (\n", emit.Header, comment)
	for _, other := range others {
		fmt.Fprintf(&b, "%q\n", other)
	}
	fmt.Fprintf(&b, "\nmodel %q\n)\n\nfunc main() {\n%s(%s)\n}\n", imported, run, call)
	return format.Source(b.Bytes())
}
