package main

import (
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
)

// fields finds the offsets of the fields of structs of package cpu.
type fields struct {
	scope *types.Scope
	sizes types.Sizes
}

// readFields reads package cpu, in a folder, as it is for WebAssembly.
func readFields(dir string) (*fields, error) {
	c := build.Default
	c.GOARCH, c.GOOS = "wasm", "js"
	p, err := c.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(set, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	// Other packages are not found. The structs that kernels read have no fields of their types.
	config := types.Config{Importer: importer.Default(), Error: func(error) {}, IgnoreFuncBodies: true}
	checked, _ := config.Check("cpu", set, files, nil)
	return &fields{checked.Scope(), types.SizesFor("gc", "wasm")}, nil
}

// offset returns the offset of a field in bytes. The name is the type's and the field's, as in tile_rowA.
func (f *fields) offset(name string) int64 {
	of, field, _ := strings.Cut(name, "_")
	s, ok := f.scope.Lookup(of).Type().Underlying().(*types.Struct)
	if !ok {
		panic("no struct " + of)
	}
	var before []*types.Var
	for v := range s.Fields() {
		if before = append(before, v); v.Name() == field {
			offsets := f.sizes.Offsetsof(before)
			return offsets[len(offsets)-1]
		}
	}
	panic("no field " + name)
}
