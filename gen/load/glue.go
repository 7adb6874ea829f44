package load

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// These are the names of virtual files and of what they declare. The glue file is compiled into the
// description's package. The main package records the description. The main package is in a folder
// below the description's, so that it may import internal packages.
const (
	glueFile = "zz_burngen.go"
	mainDir  = "zz_burngen"
	glueFunc = "BurngenRecord"
	nnInGlue = "burngen_nn"
)

func mainSource(pkg string) []byte {
	return fmt.Appendf(nil, "package main\n\nimport (\n\t\"%s\"\n\tdescription %q\n)\n\nfunc main() { nn.Main(description.%s) }\n", nnPath, pkg, glueFunc)
}

// glue returns a file that is compiled into the description's package. It declares a function that calls New with the
// Go expression `built` as the configuration, and then records the marked methods. It also declares a method for the
// signature of each marked method, see signatureFunc.
func (c *checked) glue(built string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "package %s\n\nimport %s %q\n", c.name, nnInGlue, nnPath)
	imports := map[string]string{}
	for _, m := range c.methods {
		maps.Copy(imports, m.imports)
	}
	for _, name := range slices.Sorted(maps.Keys(imports)) {
		fmt.Fprintf(&b, "import %s %q\n", name, imports[name])
	}
	fmt.Fprintf(&b, "\nfunc %s(r *%s.Recorder) {\n\tm := New(%s)\n", glueFunc, nnInGlue, built)
	if c.byValue {
		b.WriteString("\tr.Model(&m)\n")
	} else {
		b.WriteString("\tr.Model(m)\n")
	}
	for _, m := range c.methods {
		m.call(&b)
	}
	b.WriteString("}\n")
	for _, m := range c.methods {
		c.signatureFunc(&b, m)
	}
	return b.Bytes()
}

func (m *method) call(b *bytes.Buffer) {
	fmt.Fprintf(b, "\tr.Method(%s.Method{Name: %q, Loss: %t, Pos: %q, Params: %#v, Results: %#v,\n\t\tSignature: func() string { return m.burngenSignature%s() }},\n",
		nnInGlue, m.name(), m.loss, m.at.String(), m.params, m.results, m.name())
	var args, results []string
	for i := range m.params {
		arg := fmt.Sprintf("in[%d]", i)
		if m.fields != nil {
			arg = m.fields[i] + ": " + arg
		}
		args = append(args, arg)
	}
	for i := range m.results {
		results = append(results, fmt.Sprintf("out%d", i))
	}
	in, out := strings.Join(args, ", "), strings.Join(results, ", ")
	if m.fields != nil {
		in = m.strct + "{" + in + "}"
	}
	fmt.Fprintf(b, "\t\tfunc(in []%s.Value) []%[1]s.Value {\n", nnInGlue)
	fmt.Fprintf(b, "\t\t\t%s := m.%s(%s)\n\t\t\treturn []%s.Value{%[1]s}\n\t\t})\n", out, m.name(), in, nnInGlue)
}

// signatureFunc prints a method that returns the signature of m with its Go expressions evaluated. The
// receiver has the same name as in m, because the expressions may use it. Comments of the
// form //line make compile errors and panics point to the burngen directive of the method.
func (c *checked) signatureFunc(b *bytes.Buffer, m *method) {
	recv := ""
	if names := m.decl.Recv.List[0].Names; len(names) == 1 {
		recv = names[0].Name
	}
	fmt.Fprintf(b, "\nfunc (%s *%s) burngenSignature%s() string {\n\treturn ", recv, c.model.Obj().Name(), m.name())
	text := ""
	flush := func() {
		if text != "" {
			b.WriteString(strconv.Quote(text))
			text = ""
		}
	}
	list := func(types []declared) {
		text += "("
		for i := range types {
			if i > 0 {
				text += ", "
			}
			for k := range types[i].pieces {
				p := &types[i].pieces[k]
				if !p.expr {
					text += p.text
					continue
				}
				flush()
				at := m.lines[p]
				fmt.Fprintf(b, " + %s.ExtentText(\n/*line %s:%d:%d*/%s) + ", nnInGlue, at.Filename, at.Line, at.Column, p.text)
			}
		}
		text += ")"
	}
	list(m.sig.params)
	if !m.sig.open {
		text += " -> "
		list(m.sig.results)
	}
	flush()
	b.WriteString("\n}\n")
}
