package main

import (
	"fmt"
	"strings"
)

// dispatch describes a Go function that calls the variant of a kernel for the current level.
type dispatch struct {
	doc      string
	function string // name and parameters
	before   string // Go statements ahead of the choice
	// variants are the versions of each kernel, the best one first. If it is nil, there is a
	// version for each instruction set of the file.
	variants []variant
	// kernels are the assembly functions to choose from. One without a condition is the last.
	kernels []kernel
	by      string // value that the kernels' conditions are compared with; empty if they are of type bool
	args    string // of the assembly
	// otherwise is the Go statement for levels without assembly. It is empty if the function
	// is never called at such a level.
	otherwise string
	// result is the type of the assembly's result, which the function returns. It is "done" if the
	// function returns whether there is assembly.
	result string
}

// done is a [dispatch.result]: the Go function returns whether the current level has assembly.
const done = "done"

type variant struct {
	when   string // Go condition under which it is used
	suffix string // end of the function's name
}

// kernel is an assembly function with its variants.
type kernel struct {
	when  string // Go condition under which it is called
	name  string // the function's name without a variant's suffix
	lacks string // suffix of a variant that does not exist
}

// eachSet returns a variant for each of the file's instruction sets, the best first.
func (f *file) eachSet() (variants []variant) {
	for _, s := range f.sets() {
		variants = append([]variant{{"level == " + s.name, s.name}}, variants...)
	}
	return variants
}

// dispatch writes the Go function that d describes, and its twin for machines without assembly.
func (f *file) dispatch(d dispatch) {
	variants := d.variants
	if variants == nil {
		variants = f.eachSet()
	}
	function, otherwise, end := d.function, d.otherwise, ""
	switch d.result {
	case "":
	case done:
		function, otherwise, end = function+" bool", "return false", "return true\n"
	default:
		function += " " + d.result
	}
	if otherwise == "" && len(variants) < 2 {
		body := "panic(noAssembly)"
		if len(variants) > 0 {
			body = d.before + "\n" + d.call(variants[0])
		}
		f.function(d.doc, function, body, "")
		return
	}
	var cases strings.Builder
	for i, v := range variants {
		when := "case " + v.when
		if otherwise == "" && i == len(variants)-1 {
			when = "default"
		}
		fmt.Fprintf(&cases, "%s:\n%s\n", when, d.call(v))
	}
	body := fmt.Sprintf("%s\nswitch {\n%s", d.before, cases.String())
	if otherwise != "" {
		body += "default:\n" + otherwise + "\n"
	}
	f.function(d.doc, function, body+"}\n"+end, otherwise)
}

func (d *dispatch) call(v variant) string {
	give := ""
	if d.result != "" && d.result != done {
		give = "return "
	}
	if len(d.kernels) == 1 {
		return fmt.Sprintf("%s%s%s(%s)", give, d.kernels[0].name, v.suffix, d.args)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "switch %s {\n", d.by)
	for _, k := range d.kernels {
		if k.lacks != "" && k.lacks == v.suffix {
			continue
		}
		when := "case " + k.when
		if k.when == "" {
			when = "default"
		}
		fmt.Fprintf(&b, "%s:\n%s%s%s(%s)\n", when, give, k.name, v.suffix, d.args)
	}
	b.WriteString("}")
	return b.String()
}

func only(name string) []kernel { return []kernel{{name: name}} }

// function writes a Go function and its twin, which is compiled for machines without assembly.
// `portable` is the body of the twin. If portable is empty, nothing calls the twin, and its body is
// a panic.
func (f *file) function(doc, signature, body, portable string) {
	fmt.Fprintf(&f.decls, "\n%s\nfunc %s {\n%s\n}\n", comment(doc), signature, strings.TrimSpace(body))
	if portable == "" {
		portable = "panic(noAssembly)"
	}
	fmt.Fprintf(&f.portable, "\n%s\nfunc %s {\n%s\n}\n", comment(doc), signature, portable)
}

// has writes the function has<Name>, which reports whether the current level has the kernels of
// the family.
func (f *file) has(name string) {
	f.function("has"+name+" reports whether there is assembly.", "has"+name+"() bool", "return level != Generic", "return false")
}
