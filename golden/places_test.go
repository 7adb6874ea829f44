package golden

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// places lists changes of CONTRIBUTING.md, each with an operator and the files that mention it.
var places = []struct {
	name, pattern string
	files         []string
}{
	{"an elementwise operator with assembly", `\bSinh\b|\bsinhFast\b|"sinh"`, []string{
		"ir/kernel/elementary/hyperbolic.go",
		"ir/op/table.go",
		"ir/op/trigonometry.go",
		"runtime/cpu/_asm/elementary.go",
		"runtime/cpu/unary.go",
	}},
	{"a form of convolution", `(?i)\bdepthwisePlanar|depthwise_planar`, []string{
		"gen/target/cpu/call/conv.go",
		"gen/target/cpu/layout/unblock.go",
		"gen/target/cpu/storage/depthwise_planar.go",
		"gen/target/cpu/storage/table.go",
		"runtime/cpu/depthwise_planar.go",
	}},
}

// TestPlaces asserts that the code of an operator is in few hand-written files. It does not count
// tests, functions for descriptions of models, and functions that have the same bits on every
// machine.
func TestPlaces(t *testing.T) {
	for _, p := range places {
		mentioned := regexp.MustCompile(p.pattern)
		var files []string
		for _, f := range textFiles(t) {
			folder := path.Dir(f.path)
			counted := slices.ContainsFunc([]string{"gen", "ir", "onnx", "runtime", "templates"}, func(root string) bool { return within(folder, root) }) &&
				!slices.ContainsFunc([]string{"gen/target/targettest", "ir/nn", "ir/op/internal", "runtime/kerneltest"}, func(root string) bool { return within(folder, root) })
			if counted && path.Ext(f.path) == ".go" && !strings.HasSuffix(f.path, "_test.go") &&
				!bytes.Contains(f.data, []byte("DO NOT EDIT.\n")) && mentioned.Match(f.data) {
				files = append(files, f.path)
			}
		}
		slices.Sort(files)
		if !slices.Equal(files, p.files) {
			t.Errorf("%s is in\n\t%s\nwant\n\t%s", p.name, strings.Join(files, "\n\t"), strings.Join(p.files, "\n\t"))
		}
	}
}
