package golden

import (
	"go/token"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/target/targettest/text"
	"github.com/burngen/burngen/internal/compiled"
)

// TestAnotherTarget compiles goldens for another target than the default one. The steps give the
// results of the evaluator. The generated package compiles and uses nothing of the default target.
func TestAnotherTarget(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	packages := compiled.Importer(token.NewFileSet())
	for _, name := range []string{"attention", "cnn", "late", "long", "methods", "mlp", "nested", "train"} {
		t.Run(name, func(t *testing.T) {
			archive, err := txtar.ParseFile("gen/" + name + ".txtar")
			if err != nil {
				t.Fatal(err)
			}
			g := generateWith(t, archive, name, gen.Options{Target: text.Target{}})
			for _, lowered := range g.model.Functions {
				source := g.model.Source.Module
				compareWithEvaluator(t, text.Target{}, source, source.Func(lowered.IR.Name), lowered, g.model.Weights)
			}
			if err := typeCheck(packages, g.files); err != nil {
				t.Error(err)
			}
			launches := 0
			for _, f := range g.files {
				if strings.HasSuffix(f.Name, ".go") {
					launches += strings.Count(string(f.Data), "\tlaunch(")
					if strings.Contains(string(f.Data), "runtime/cpu") {
						t.Errorf("%s links the kernels of the default target", f.Name)
					}
				}
			}
			if launches == 0 {
				t.Error("nothing is launched")
			}
		})
	}
}
