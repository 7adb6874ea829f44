// Package compiled imports packages for go/types from the export data that the go command writes.
package compiled

import (
	"bytes"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
)

// Importer returns an importer of the packages that the module of the current folder can import. It asks
// the go command for them when they are first imported, and keeps them. It is not safe for concurrent
// use.
//
// It works in programs built with -trimpath. Such programs do not know where the source of the standard library is,
// so that the importer of go/importer that reads source does not work in them.
func Importer(fset *token.FileSet) types.Importer {
	files := map[string]string{} // the export data of packages, by import path
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if files[path] == "" {
			if err := list(path, files); err != nil {
				return nil, err
			}
		}
		return os.Open(files[path])
	})
}

// list compiles a package and its dependencies. For each package it sets files[p] to the path of the export data. The
// key p is the import path of the package.
func list(path string, files map[string]string) error {
	var stderr bytes.Buffer
	c := exec.Command("go", "list", "-export", "-deps", "-f", "{{if .Export}}{{.ImportPath}} {{.Export}}{{end}}", "--", path)
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return fmt.Errorf("go list %s: %w\n%s", path, err, &stderr)
	}
	for line := range strings.Lines(string(out)) {
		if path, file, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			files[path] = file
		}
	}
	if files[path] == "" {
		return fmt.Errorf("go list %s: no export data", path)
	}
	return nil
}
