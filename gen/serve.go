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
	call := fmt.Sprintf("serve.Package(%q, func() (*model.Model, error) { return %s })", name, load)
	if model != "" {
		call = fmt.Sprintf("serve.PackageFile(%q, %q, func(path string) (*model.Model, error) { return model.Load(path) })", name, model)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "// %s\n\n", emit.Header)
	fmt.Fprintf(&b, "// Command %s serves the model %s by the Open Inference Protocol. Its flag -help lists the\n// others.\n", ServerName, strconv.QuoteToASCII(m.Name))
	fmt.Fprintf(&b, "package main\n\nimport (\n%q\n\nmodel %q\n)\n\nfunc main() {\nserve.Main(%s)\n}\n", servePath, imported, call)
	return format.Source(b.Bytes())
}
