package gen_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/gen/target"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx"
	"github.com/burngen/burngen/onnx/onnxtest"
	"github.com/burngen/burngen/runtime/rt"
)

// packaged compiles a dense layer for every target, in folders of a new module.
func packaged(t *testing.T, o gen.Options) []gen.Packaged {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/nets\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "dense")
	data := onnxtest.New(17).Input("x", ir.F32, "N", 3).Output("y", ir.F32, "N", 2).
		Initializer("w", ir.NewTensor(ir.F32, 3, 2)).
		Node("/MatMul", "MatMul", []string{"x", "w"}, []string{"y"}).Bytes()
	var list []gen.Packaged
	for i, to := range target.All {
		src, err := onnx.Read("dense.onnx", data, nil, onnx.Options{})
		if err != nil {
			t.Fatal(err)
		}
		of := o
		if of.Target, of.Package = to, "dense"; i > 0 {
			of.Package = to.Name()
		}
		m, err := gen.Compile(src, of)
		if err != nil {
			t.Fatal(err)
		}
		p := gen.Packaged{Model: m, Dir: dir}
		if i > 0 {
			p.Dir = filepath.Join(dir, to.Name())
		}
		list = append(list, p)
	}
	return list
}

// TestPackagesShareWeights asserts that packages for several targets have one weights file, with the
// original weights.
func TestPackagesShareWeights(t *testing.T) {
	const embedded = "internal/weightsfile/dense.safetensors"
	for name, c := range map[string]struct {
		options gen.Options
		file    string
		names   string
	}{
		"raw":             {gen.Options{Keep: emit.KeepRaw}, embedded, "w"},
		"both":            {gen.Options{Keep: emit.KeepBoth}, embedded, "prepared/w w"},
		"not in programs": {gen.Options{Keep: emit.KeepRaw, WeightsOutside: true}, "dense.safetensors", "w"},
	} {
		t.Run(name, func(t *testing.T) {
			list := packaged(t, c.options)
			folders, err := gen.Packages(list, true)
			if err != nil {
				t.Fatal(err)
			}
			var found []string
			for _, f := range folders {
				below, err := filepath.Rel(list[0].Dir, f.Dir)
				if err != nil {
					t.Fatal(err)
				}
				for _, file := range f.Files {
					if strings.HasSuffix(file.Name, ".safetensors") {
						found = append(found, filepath.ToSlash(filepath.Join(below, file.Name)))
						if names := strings.Join(rt.OpenWeights(string(file.Data)).Names(), " "); names != c.names {
							t.Errorf("the file has %s, want %s", names, c.names)
						}
					}
				}
			}
			if len(found) != 1 || found[0] != c.file {
				t.Errorf("weights files %q, want %q alone", found, c.file)
			}
		})
	}
}

// TestPackagesNeedOriginalWeights refuses a package that would read other weights than the others.
func TestPackagesNeedOriginalWeights(t *testing.T) {
	_, err := gen.Packages(packaged(t, gen.Options{}), false)
	if err == nil || !strings.Contains(err.Error(), "the package for cpu does not read them") {
		t.Errorf("error %v", err)
	}
}

// TestPackagesAlone does not change a package of one target.
func TestPackagesAlone(t *testing.T) {
	list := packaged(t, gen.Options{})[:1]
	folders, err := gen.Packages(list, false)
	if err != nil || len(folders) != 1 || folders[0].Dir != list[0].Dir {
		t.Fatalf("%d folders, %v", len(folders), err)
	}
}
