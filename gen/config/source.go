package config

import (
	"bytes"
	"fmt"
	"go/format"
	"go/token"
	"go/types"
	"strings"
	"unicode"
)

// Source returns a Go file with the functions of configurations. pkg is the name of its package, which also declares
// the configurations. header is the text of the comment in the first line.
func (s *Set) Source(header, pkg string) ([]byte, error) {
	p := &printer{}
	p.begin(header, pkg)
	for _, c := range s.Structs {
		p.functions(c)
	}
	return format.Source(p.b.Bytes())
}

// Declare returns a Go file of another package, pkg. It declares the configurations and their functions.
// It also declares the variable Built, whose value is the Go expression built. If built is "", there is
// no such variable. header is the text of the comment in the first line.
func (s *Set) Declare(header, pkg, built string) ([]byte, error) {
	p := &printer{}
	p.begin(header, pkg)
	for _, t := range s.Types {
		p.line("// %s is a type of fields of configurations.\ntype %[1]s %s\n", t.name, t.base)
	}
	if built != "" {
		p.line("// Built is the configuration that the package was generated for.\nvar Built = %s\n", built)
	}
	for _, c := range s.Structs {
		p.declaration(c)
		p.functions(c)
	}
	return format.Source(p.b.Bytes())
}

type printer struct{ b bytes.Buffer }

func (p *printer) line(format string, args ...any) { fmt.Fprintf(&p.b, format+"\n", args...) }

func (p *printer) begin(header, pkg string) {
	p.line("// %s\n\npackage %s\n", header, pkg)
	p.line("import (\n%q\n%q\n%q\n%q\n%q\n)\n", "bytes", "encoding/json", "fmt", "os", "strings")
}

func (p *printer) doc(text string) {
	for line := range strings.Lines(text) {
		p.line("// %s", strings.TrimRight(line, "\n"))
	}
}

func (p *printer) declaration(c *Struct) {
	p.doc(c.Doc)
	p.line("type %s struct {", c.Name)
	for _, f := range c.Fields {
		p.doc(f.Doc)
		p.line("%s %s %s", f.Name, f.Type, f.Tag)
	}
	p.line("}\n")
}

func (p *printer) functions(c *Struct) {
	var params, values, defaults []string
	names := map[string]bool{}
	for _, f := range c.Fields {
		switch {
		case f.Required():
			name := parameter(f.Name, names)
			params = append(params, name+" "+f.Type.String())
			values = append(values, f.Name+": "+name)
		case f.Default != "":
			values = append(values, f.Name+": "+f.Default)
			defaults = append(defaults, f.Name)
		}
	}
	what := ""
	if len(defaults) > 0 {
		what = ", with the defaults of " + strings.Join(defaults, ", ")
	}
	p.line("// New%s returns a %[1]s%s.", c.Name, what)
	p.line("func New%s(%s) %[1]s { return %[1]s{%[3]s} }\n", c.Name, strings.Join(params, ", "), strings.Join(values, ", "))
	for _, f := range c.Fields {
		name := parameter(f.Name, map[string]bool{"c": true})
		p.line("// With%s returns c with another %[1]s.", f.Name)
		p.line("func (c %s) With%s(%s %s) %[1]s { c.%[2]s = %[3]s; return c }\n", c.Name, f.Name, name, f.Type)
	}
	p.line("// Save writes c to a file, as JSON.")
	p.line("func (c %s) Save(path string) error {", c.Name)
	p.line("data, err := json.MarshalIndent(c, \"\", \"\\t\")\nif err != nil {\nreturn err\n}")
	p.line("return os.WriteFile(path, append(data, '\\n'), 0o666)\n}\n")
	p.line("// Load%s reads a file that Save wrote. A key that is unknown or missing is an error.", c.Name)
	p.line("func Load%s(path string) (%[1]s, error) {\nvar c %[1]s", c.Name)
	p.line("data, err := os.ReadFile(path)\nif err != nil {\nreturn c, err\n}")
	p.line("if err := json.Unmarshal(data, &c); err != nil {\nreturn c, fmt.Errorf(\"%%s: %%w\", path, err)\n}\nreturn c, nil\n}\n")
	p.unmarshal(c)
}

// unmarshal prints the JSON decoder, which decodes into pointers to detect missing fields.
func (p *printer) unmarshal(c *Struct) {
	p.line("// UnmarshalJSON reads c. A key that is unknown or missing is an error.")
	p.line("func (c *%s) UnmarshalJSON(data []byte) error {\nvar in struct {", c.Name)
	for _, f := range c.Fields {
		p.line("%s *%s %s", f.Name, f.pointed(), f.Tag)
	}
	p.line("}")
	p.line("d := json.NewDecoder(bytes.NewReader(data))\nd.DisallowUnknownFields()")
	p.line("if err := d.Decode(&in); err != nil {\nreturn fmt.Errorf(\"%s: %%w\", err)\n}", c.Name)
	p.line("var missing []string")
	for _, f := range c.Fields {
		if f.Type.kind != pointer {
			p.line("if in.%s == nil {\nmissing = append(missing, %q)\n}", f.Name, f.Key)
		}
	}
	p.line("if len(missing) > 0 {\nreturn fmt.Errorf(\"%s: missing %%s\", strings.Join(missing, \", \"))\n}", c.Name)
	var fields []string
	for _, f := range c.Fields {
		star := "*"
		if f.Type.kind == pointer {
			star = ""
		}
		fields = append(fields, f.Name+": "+star+"in."+f.Name)
	}
	p.line("*c = %s{%s}\nreturn nil\n}\n", c.Name, strings.Join(fields, ", "))
}

// pointed returns the type that the JSON of the field is decoded into. It is the element type if the field is a
// pointer, and otherwise the field's own type.
func (f *Field) pointed() *Type {
	if f.Type.kind == pointer {
		return f.Type.elem
	}
	return f.Type
}

func parameter(field string, taken map[string]bool) string {
	r := []rune(field)
	for i := range r {
		if i > 0 && i+1 < len(r) && unicode.IsUpper(r[i]) && unicode.IsLower(r[i+1]) {
			break
		}
		if !unicode.IsUpper(r[i]) {
			break
		}
		r[i] = unicode.ToLower(r[i])
	}
	name := string(r)
	for taken[name] || token.IsKeyword(name) || types.Universe.Lookup(name) != nil {
		name += "_"
	}
	taken[name] = true
	return name
}
