package emit

import (
	"bytes"
	"fmt"
	"go/format"
	"path"

	"github.com/dave/jennifer/jen"
)

// SharedPackage is the name of a package that embeds a weights file for the packages of several
// targets.
const SharedPackage = "weightsfile"

// sharedVar is the variable of package [SharedPackage] that holds the embedded weights file.
const sharedVar = "Data"

// Shared says where the weights file of packages for several targets is.
type Shared struct {
	// Package is the import path of the package that embeds the file. It is "" if the file is not
	// embedded.
	Package string
	// Folder is the path from the package's folder to the folder with the file, with slashes.
	Folder string
	// Keep is the form of the weights in the file: KeepRaw or KeepBoth.
	Keep Keep
}

// SharedFile prints the Go file of the package that embeds a weights file. title is the name of the
// model, and file the name of the weights file.
func SharedFile(title, file string) (File, error) {
	f := jen.NewFile(SharedPackage)
	f.HeaderComment(Header)
	f.PackageComment(lines("Package " + SharedPackage + " holds the weights of the model " + comment(fmt.Sprintf("%q", title)) + " for the packages of all targets."))
	f.Anon("embed")
	note(f, sharedVar+" is the weights file, in the format safetensors.\n")
	f.Comment("//go:embed " + file)
	f.Var().Id(sharedVar).String()
	var b bytes.Buffer
	if err := f.Render(&b); err != nil {
		return File{}, err
	}
	text, err := format.Source(b.Bytes())
	return File{Name: "weights.go", Data: text}, err
}

func (m *Model) besideFile(s Beside) string {
	if m.Shared != nil {
		return path.Join(m.Shared.Folder, s.File)
	}
	return s.File
}

func (e *emitter) embeddedData() *jen.Statement {
	if e.Shared != nil {
		return jen.Qual(e.Shared.Package, sharedVar)
	}
	return jen.Id("embedded")
}
