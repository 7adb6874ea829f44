package emit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/runtime/rt"
)

// Files prints the package. It fails when the printed Go is not what a
// generator may write: see guard.
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
			{"model_test.go", e.testFile()},
			{"lap.go", e.lapFile()},
		} {
			if f.file == nil {
				continue
			}
			var b bytes.Buffer
			if err := f.file.Render(&b); err != nil {
				ir.Fail("burngen bug: %s: %w", f.name, err)
			}
			files = append(files, File{Name: f.name, Data: grouped(b.Bytes(), standardImports)})
		}
		if err := guard(files, m); err != nil {
			ir.Fail("burngen bug: %w", err)
		}
	})
	return files, err
}

// grouped puts a blank line between the imports of the standard library and
// others, which the printer sorts into one list.
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

// loads returns the names of the weights a function reads, in order.
func loads(f *ir.Func) []string {
	var out []string
	for n := range f.All() {
		if l, ok := n.Op.(ir.Load); ok && !slices.Contains(out, l.Name) {
			out = append(out, l.Name)
		}
	}
	return out
}

func (e *emitter) newFile() *jen.File {
	f := jen.NewFile(e.Package)
	f.HeaderComment(Header)
	f.ImportName(rtPath, "rt")
	f.ImportName(keysPath, "keys")
	f.ImportName(cpuPath, "cpu")
	for path, alias := range e.aliases {
		f.ImportAlias(path, alias)
	}
	f.ImportAlias(imagePath, "cpuimage")
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
	f.Const().Defs(
		jen.Comment("This code and the runtime it links are of one version."),
		jen.Id("_").Op("=").Qual(rtPath, "EnforceVersion").Call(jen.Lit(rt.GenVersion).Op("-").Qual(rtPath, "MinVersion")),
		jen.Id("_").Op("=").Qual(rtPath, "EnforceVersion").Call(jen.Qual(rtPath, "MaxVersion").Op("-").Lit(rt.GenVersion)),
	)
	for _, m := range e.session.methods {
		add(f, m.typeDecls())
	}
	e.modelType(f)
	for _, m := range e.session.methods {
		add(f, m.modelMethods())
	}
	e.sessionType(f)
	for _, m := range e.session.methods {
		add(f, m.sessionMethod(e.takeWeights()))
	}
	for _, m := range e.session.methods {
		m.schedule(f)
	}
	add(f, e.chains.take())
	e.metaVar(f)
	return f
}

func add(f *jen.File, list []jen.Code) {
	for _, c := range list {
		f.Add(c)
	}
}

// loaded prints the check of a method of Model that the model has weights; results are what
// it returns before the error.
func loaded(results ...jen.Code) jen.Code {
	return jen.If(jen.Err().Op(":=").Id("m").Dot("loaded").Call(), jen.Err().Op("!=").Nil()).Block(jen.Return(append(results, jen.Err())...))
}

func (e *emitter) modelType(f *jen.File) {
	note(f, "Model is the model with its weights. It is safe for concurrent use.")
	f.Type().Id("Model").Struct(
		jen.Id("weights").Qual("sync/atomic", "Pointer").Index(e.held()),
		jen.Id("sessions").Op("*").Qual(rtPath, "Pool").Index(jen.Op("*").Id("Session")),
	)
	f.Func().Id("newModel").Params(jen.Id("w").Op("*").Add(e.held())).Op("*").Id("Model").Block(
		jen.Id("m").Op(":=").Op("&").Id("Model").Values(),
		jen.Id("m").Dot("weights").Dot("Store").Call(jen.Id("w")),
		jen.Id("m").Dot("sessions").Op("=").Qual(rtPath, "NewPool").Call(jen.Lit(0), jen.Func().Params().Params(jen.Op("*").Id("Session"), jen.Error()).Block(
			jen.Return(jen.Id("m").Dot("NewSession").Call(jen.Nil())))),
		jen.Return(jen.Id("m")),
	)
	model := func() *jen.Statement { return jen.Id("m").Op("*").Id("Model") }
	note(f, "loaded returns an error if the model has no weights.")
	f.Func().Params(model()).Id("loaded").Params().Error().Block(
		jen.If(jen.Id("m").Op("==").Nil().Op("||").Id("m").Dot("sessions").Op("==").Nil()).Block(jen.Return(jen.Qual(rtPath, "ErrNoModel"))),
		jen.Return(jen.Nil()))
	note(f, "session returns a session for one call, which ends early when ctx is done.")
	f.Func().Params(model()).Id("session").Params(jen.Id("ctx").Qual("context", "Context")).Params(jen.Op("*").Id("Session"), jen.Error()).Block(
		loaded(jen.Nil()),
		jen.List(jen.Id("s"), jen.Err()).Op(":=").Id("m").Dot("sessions").Dot("Get").Call(jen.Id("ctx")),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
		jen.Id("s").Dot("ctx").Op("=").Id("ctx"),
		jen.Return(jen.Id("s"), jen.Nil()))
	note(f, "putBack takes back a session of a call that has ended, without the call's context.")
	f.Func().Params(model()).Id("putBack").Params(jen.Id("s").Op("*").Id("Session")).Block(
		jen.Id("s").Dot("ctx").Op("=").Nil(),
		jen.Id("m").Dot("sessions").Dot("Put").Call(jen.Id("s")))
	note(f, "Meta returns the names, element types and shapes of the model's inputs and outputs.")
	f.Func().Params(jen.Id("m").Op("*").Id("Model")).Id("Meta").Params().Qual(rtPath, "Meta").Block(jen.Return(jen.Id("meta")))
}
