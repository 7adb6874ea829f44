package emit

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/runtime/rt"
)

// Files prints the files of the package. It returns an error if the model cannot be printed. It also returns an error
// if the generated Go has an import or a directive that is not allowed.
func Files(m *Model) (files []File, err error) {
	err = ir.Try(func() {
		e := newEmitter(m)
		// The plan's file declares what the files printed before it use.
		for _, f := range []struct {
			name string
			file *jen.File
		}{
			{"model.go", e.modelFile()},
			{"weights.go", e.weightsFile()},
			{"backward.go", e.backwardFile()},
			{"train.go", e.trainFile()},
			{"plan.go", e.planFile()},
			{"device.go", e.deviceFile()},
			{"model_test.go", e.testFile()},
			{"lap.go", e.lapFile()},
			{"serve.go", e.serveFile()},
		} {
			if f.file == nil {
				continue
			}
			var b bytes.Buffer
			if err := f.file.Render(&b); err != nil {
				ir.Fail("burngen bug: %s: %w", f.name, err)
			}
			data, err := wrapped(grouped(b.Bytes(), standardImports))
			if err != nil {
				ir.Fail("burngen bug: %s: %w", f.name, err)
			}
			files = append(files, File{Name: f.name, Data: data})
		}
		files = append(files, e.device.files()...)
		if err := guard(files, e); err != nil {
			ir.Fail("burngen bug: %w", err)
		}
	})
	return files, err
}

// grouped inserts a blank line between the imports of the standard library and the others. Package
// jen prints them as one sorted list.
func grouped(file []byte, standard []string) []byte {
	before, rest, ok := bytes.Cut(file, []byte("import (\n"))
	list, after, closed := bytes.Cut(rest, []byte("\n)\n"))
	if !ok || !closed {
		return file
	}
	var std, own [][]byte
	for _, line := range bytes.Split(list, []byte("\n")) {
		_, path, _ := bytes.Cut(line, []byte(`"`))
		if slices.Contains(standard, strings.TrimSuffix(string(path), `"`)) {
			std = append(std, line)
		} else {
			own = append(own, line)
		}
	}
	if len(std) > 0 && len(own) > 0 {
		std = append(std, nil)
	}
	list = bytes.Join(append(std, own...), []byte("\n"))
	return slices.Concat(before, []byte("import (\n"), list, []byte("\n)\n"), after)
}

// loads returns the names of the weights that f loads, each once, in the order of their first loads.
func loads(f *ir.Func) []string {
	var out []string
	seen := map[string]bool{}
	for n := range f.All() {
		if l, ok := n.Op.(ir.Load); ok && !seen[l.Name] {
			seen[l.Name] = true
			out = append(out, l.Name)
		}
	}
	return out
}

func (e *emitter) newFile() *jen.File {
	f := jen.NewFile(e.Package)
	f.HeaderComment(Header)
	f.ImportName(rtPath, "rt")
	f.ImportName(gpuPath, "gpu")
	f.ImportName(keysPath, "keys")
	if e.Shared != nil {
		f.ImportName(e.Shared.Package, SharedPackage)
	}
	for path, alias := range e.aliases {
		f.ImportAlias(path, alias)
	}
	for pkg, name := range e.Printer.Imports() {
		if path.Base(pkg) == name {
			f.ImportName(pkg, name)
		} else {
			f.ImportAlias(pkg, name)
		}
	}
	return f
}

func (e *emitter) modelFile() *jen.File {
	f := e.newFile()
	f.HeaderComment("source: " + comment(e.Source))
	f.HeaderComment("flags:  " + comment(e.Flags))
	doc := "Package " + e.Package + " computes the model " + comment(fmt.Sprintf("%q", e.Title)) + "."
	if e.Doc != "" {
		doc += "\n\n" + comment(e.Doc)
	}
	doc += "\n\nLoad a [Model] once and share it between goroutines, or open a [Session] for each to\ncall it without allocating. The schedule in forward is the IR of the .ir file beside\nthis one, a call for each node."
	f.PackageComment(lines(doc))
	f.Add(from("version", fill{"version_": jen.Lit(rt.GenVersion)}))
	for _, m := range e.session.methods {
		add(f, m.typeDecls())
	}
	f.Add(from("Model", fill{"Device_": e.instanceParam()}))
	f.Add(from("newModel", fill{"Device_": e.instanceParam(), "fields_": e.keepInstance()}))
	for _, key := range []string{"Model.loaded", "Model.session", "Model.Meta"} {
		f.Add(from(key, nil))
	}
	for _, m := range e.session.methods {
		add(f, m.modelMethods())
	}
	e.sessionType(f)
	for _, m := range e.session.methods {
		f.Add(m.sessionMethod())
	}
	e.deviceMethods(f)
	for _, m := range e.session.methods {
		m.schedule(f)
	}
	add(f, e.Printer.Funcs())
	e.metaVar(f)
	return f
}

func add(f *jen.File, list []jen.Code) {
	for _, c := range list {
		f.Add(c)
	}
}
