package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"

	"github.com/burngen/burngen/internal/compiled"
)

const runtimePath = "github.com/burngen/burngen/runtime/"

type element struct {
	name string
	typ  types.Type
}

var elementNames = []string{
	"bool", "float32", "float64", "int16", "int32", "int64", "int8",
	"rt.BFloat16", "rt.Float16", "rt.Float4E2M1",
	"rt.Float8E4M3FN", "rt.Float8E4M3FNUZ", "rt.Float8E5M2", "rt.Float8E5M2FNUZ", "rt.Float8E8M0",
	"string", "uint16", "uint32", "uint64", "uint8",
}

type source struct {
	pkg   *types.Package
	info  *types.Info
	funcs map[string]*ast.FuncDecl // functions, and methods behind the name of their receiver's type
}

// load type-checks the package in the folder dir, whose import path is `path`. It leaves out assembly, so that the
// output is the same on every machine.
func load(dir, path string) (*source, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	plain := build.Default
	plain.GOOS, plain.GOARCH = "js", "wasm" // which has no assembly
	fset := token.NewFileSet()
	var files []*ast.File
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		match, err := plain.MatchFile(dir, name)
		if err != nil {
			return nil, err
		}
		if !match {
			continue
		}
		f, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	s := &source{info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}, funcs: map[string]*ast.FuncDecl{}}
	for _, f := range files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				s.funcs[receiver(fn)+fn.Name.Name] = fn
			}
		}
	}
	conf := types.Config{Importer: compiled.Importer(fset), FakeImportC: true}
	s.pkg, err = conf.Check(runtimePath+path, fset, files, s.info)
	return s, err
}

func receiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return ""
	}
	return types.ExprString(fn.Recv.List[0].Type) + "."
}

// elementTypes returns the element types of tensors. Some of them are types of packages that pkg
// imports.
func elementTypes(pkg *types.Package) ([]element, error) {
	scopes := map[string]*types.Scope{"": types.Universe}
	for _, p := range pkg.Imports() {
		if p.Path() == runtimePath+"rt" {
			scopes["rt"] = p.Scope()
		}
	}
	list := make([]element, len(elementNames))
	for i, e := range elementNames {
		pkgName, name, qualified := strings.Cut(e, ".")
		if !qualified {
			pkgName, name = "", e
		}
		var object types.Object
		if s := scopes[pkgName]; s != nil {
			object = s.Lookup(name)
		}
		if object == nil {
			return nil, fmt.Errorf("no type %s", e)
		}
		list[i] = element{e, object.Type()}
	}
	return list, nil
}
