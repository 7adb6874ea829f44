package emit

import (
	"strings"
	"testing"
)

// onlyCPU is a printer that imports one package.
type onlyCPU struct{ Printer }

func (onlyCPU) Imports() map[string]string {
	return map[string]string{"example.com/kernels": "kernels"}
}

func TestGuard(t *testing.T) {
	e := &emitter{Model: &Model{Package: "model", Printer: onlyCPU{}, Store: Embedded{File: "model.safetensors"}}}
	const head = "// " + Header + "\n\npackage model\n"
	for _, c := range []struct{ name, file, text, want string }{
		{"a plain file", "model.go", head + "\nimport \"" + rtPath + "\"\n\n// A is a.\ntype A = rt.Max\n", ""},
		{"the target's package", "model.go", head + "\nimport _ \"example.com/kernels\"\n", ""},
		{"the weights", "weights.go", head + "\n//go:embed model.safetensors\nvar w string\n", ""},
		{"a method called init", "model.go", head + "\ntype A int\n\nfunc (A) init() {}\n", ""},
		{"a package below an allowed one", "model.go", head + "\nimport _ \"example.com/kernels/more\"\n", `model.go: imports "example.com/kernels/more"`},
		{"the network", "model.go", head + "\nimport \"net/http\"\n", `model.go: imports "net/http"`},
		{"unsafe", "model.go", head + "\nimport _ \"unsafe\"\n", `model.go: imports "unsafe"`},
		{"cgo", "model.go", head + "\nimport \"C\"\n", `model.go: imports "C"`},
		{"init", "model.go", head + "\nfunc init() {}\n", "model.go: declares init"},
		{"main", "model.go", head + "\nfunc main() {}\n", "model.go: declares main"},
		{"another package", "model.go", strings.ReplaceAll(head, "package model", "package main"), "model.go: package main"},
		{"no header", "model.go", "package model\n\n// A is a.\ntype A int\n", "model.go: does not begin with the header"},
		{"no comment", "model.go", "package model\n", "model.go: does not begin with the header"},
		{"the weights in another file", "model.go", head + "\n//go:embed model.safetensors\nvar w string\n", `model.go: comment "//go:embed model.safetensors" is a directive`},
		{"another file embedded", "weights.go", head + "\n//go:embed /etc/passwd\nvar w string\n", `weights.go: comment "//go:embed /etc/passwd" is a directive`},
		{"a link to another function", "model.go", head + "\n//go:linkname a runtime.a\nfunc a()\n", `model.go: comment "//go:linkname a runtime.a" is a directive`},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := guard([]File{{Name: c.file, Data: []byte(c.text)}}, e)
			if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
	if err := guard([]File{{Name: "model.go", Data: []byte(head + "\nfunc {")}}, e); err == nil {
		t.Error("a file that is not Go is allowed")
	}
}

func TestPlainComment(t *testing.T) {
	for _, text := range []string{"//", "// a", "//\ta", "// go:embed a", "// a +build b", "// ~"} {
		if err := plainComment(text); err != nil {
			t.Error(err)
		}
	}
	for _, text := range []string{"//a", "//go:noescape", "//line a.go:1", "//export a", "/* a */", "// +build a", "//  +build a", "// ä", "// a\x00", "// \u202ea", "// a\rb", "// \x7f"} {
		if plainComment(text) == nil {
			t.Errorf("%q is plain", text)
		}
	}
}
