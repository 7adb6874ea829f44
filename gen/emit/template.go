package emit

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/templates"
)

// fill maps the placeholders of a declaration to their replacements: a [name], the [prose] of a
// comment, a jen.Code, or a []jen.Code for a list of parameters, arguments, elements, fields or
// statements. Replacements are not parsed again, so that no text of a model can become code.
type fill map[string]any

// name is an identifier that replaces a placeholder, in code and in comments.
type name string

// prose is text for a comment. [comment] or the generator has made it safe: it does not end the
// comment, and is not a directive.
type prose string

// declaration is a declaration of the skeleton: its source text and its syntax tree.
type declaration struct {
	text string
	pos  token.Pos // of the text's first byte
	node ast.Decl
	// doc lists the comments above and inside the declaration.
	doc     []*ast.Comment
	imports map[string]string // the name of a package in the file → its path
}

// skeleton maps names to the declarations of the skeleton: "Model" is a type, "Model.Swap" a method,
// and "version" the constants of version.go.
var skeleton = sync.OnceValue(func() map[string]*declaration {
	out := map[string]*declaration{}
	files, err := fs.Glob(templates.Skeleton, "skeleton/*.go")
	if err != nil {
		ir.Fail("burngen bug: templates: %w", err)
	}
	for _, file := range files {
		if path.Base(file) == "placeholders.go" {
			continue
		}
		if err := declarations(out, file); err != nil {
			ir.Fail("burngen bug: templates: %w", err)
		}
	}
	return out
})

func declarations(out map[string]*declaration, file string) error {
	data, err := fs.ReadFile(templates.Skeleton, file)
	if err != nil {
		return err
	}
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, data, parser.ParseComments)
	if err != nil {
		return err
	}
	imports := map[string]string{}
	for _, spec := range parsed.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		imports[path.Base(p)] = p
	}
	base := files.File(parsed.Pos())
	for _, d := range parsed.Decls {
		from, doc := d.Pos(), docOf(d)
		if doc != nil {
			from = doc.Pos()
		}
		one := &declaration{text: string(data[base.Offset(from):base.Offset(d.End())]), pos: from, node: d, imports: imports}
		for _, group := range parsed.Comments {
			if from <= group.Pos() && group.End() <= d.End() {
				one.doc = append(one.doc, group.List...)
			}
		}
		if group, ok := d.(*ast.GenDecl); ok && group.Tok == token.CONST { // known by its file
			out[strings.TrimSuffix(path.Base(file), ".go")] = one
			continue
		}
		if key := keyOf(d); key != "" {
			out[key] = one
		}
	}
	return nil
}

func docOf(d ast.Decl) *ast.CommentGroup {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.Doc
	case *ast.GenDecl:
		return d.Doc
	}
	return nil
}

// keyOf returns the name of a declaration in the skeleton. It is "" for declarations that [from]
// cannot print: imports, and methods whose receiver is not a pointer.
func keyOf(d ast.Decl) string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return d.Name.Name
		}
		if star, ok := d.Recv.List[0].Type.(*ast.StarExpr); ok {
			return star.X.(*ast.Ident).Name + "." + d.Name.Name
		}
	case *ast.GenDecl:
		switch s := d.Specs[0].(type) {
		case *ast.TypeSpec:
			return s.Name.Name
		case *ast.ValueSpec:
			return s.Names[0].Name
		}
	}
	return ""
}

// from prints the declaration of the skeleton called key, with its placeholders replaced by values.
// It fails if there is no such declaration, if a placeholder has no value, or if a value has no
// placeholder.
func from(key string, values fill) jen.Code {
	d := skeleton()[key]
	if d == nil {
		ir.Fail("burngen bug: the skeleton does not declare %s", key)
	}
	p := &filling{declaration: d, values: values, used: map[string]bool{}}
	ast.Inspect(d.node, p.visit)
	for _, c := range d.doc {
		p.comment(c)
	}
	for key := range values {
		if !p.used[key] {
			ir.Fail("burngen bug: %s has no placeholder %s", keyOf(d.node), key)
		}
	}
	return p.print()
}

type filling struct {
	*declaration
	values fill
	used   map[string]bool
	edits  []edit
}

type edit struct {
	from, to token.Pos
	code     jen.Code
}

func isPlaceholder(id string) bool { return len(id) > 1 && strings.HasSuffix(id, "_") }

func (p *filling) value(id string) any {
	v, ok := p.values[id]
	if !ok {
		ir.Fail("burngen bug: %s: nothing stands for %s", keyOf(p.node), id)
	}
	p.used[id] = true
	return v
}

func (p *filling) replace(n ast.Node, code jen.Code) {
	p.edits = append(p.edits, edit{n.Pos(), n.End(), code})
}

// list replaces a node by the elements of a list. sep is "\n" for elements on lines of their own, or
// ", ". An empty list leaves no empty line.
func (p *filling) list(n ast.Node, list []jen.Code, sep string) {
	if sep != "\n" {
		p.replace(n, jen.List(list...))
		return
	}
	lines := &jen.Statement{}
	for i, c := range list {
		if i > 0 {
			lines.Line()
		}
		lines.Add(c)
	}
	from := n.Pos()
	if len(list) == 0 {
		from = p.pos + token.Pos(strings.LastIndexByte(p.text[:n.Pos()-p.pos], '\n'))
	}
	p.edits = append(p.edits, edit{from, n.End(), lines})
}

// visit replaces n if it is a placeholder, the name of a variant (see [filling.ident]), or a name of an imported
// package. It reports whether the children of n must be visited.
func (p *filling) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.Field:
		if t, ok := n.Type.(*ast.Ident); ok && isPlaceholder(t.Name) {
			if list, ok := p.value(t.Name).([]jen.Code); ok {
				p.list(n, list, p.separator(n))
				return false
			}
		}
	case *ast.ExprStmt:
		call, ok := n.X.(*ast.CallExpr)
		if !ok {
			return true
		}
		if f, ok := call.Fun.(*ast.Ident); ok && isPlaceholder(f.Name) {
			list, _ := p.value(f.Name).([]jen.Code)
			p.list(n, list, "\n")
			return false
		}
	case *ast.SelectorExpr:
		if x, ok := n.X.(*ast.Ident); ok && p.imports[x.Name] != "" {
			p.replace(n, jen.Qual(p.imports[x.Name], n.Sel.Name))
			return false
		}
	case *ast.Ident:
		p.ident(n)
	}
	return true
}

// separator returns the separator of the list that a field is in: "\n" in a struct, and ", " among
// parameters or results.
func (p *filling) separator(field *ast.Field) string {
	sep := ", "
	ast.Inspect(p.node, func(n ast.Node) bool {
		if s, ok := n.(*ast.StructType); ok && slices.Contains(s.Fields.List, field) {
			sep = "\n"
		}
		return true
	})
	return sep
}

// ident replaces an identifier that is a placeholder. The skeleton may have several variants of a declaration, such
// as Load_file. ident replaces the name of a variant by the name that the declaration has in the package, Load.
func (p *filling) ident(n *ast.Ident) {
	switch {
	case isPlaceholder(n.Name):
		switch v := p.value(n.Name).(type) {
		case name:
			if !token.IsIdentifier(string(v)) {
				ir.Fail("burngen bug: %q is not an identifier", v)
			}
			p.replace(n, jen.Id(string(v)))
		case []jen.Code:
			p.list(n, v, ", ")
		case jen.Code:
			p.replace(n, v)
		default:
			ir.Fail("burngen bug: %s: a %T stands for %s", keyOf(p.node), v, n.Name)
		}
	case n.Name != "_" && strings.Contains(n.Name, "_"):
		p.replace(n, jen.Id(variant(n.Name)))
	}
}

func variant(id string) string {
	name, _, _ := strings.Cut(id, "_")
	return name
}

// marked finds the words of a comment that are identifiers with an underscore.
var marked = regexp.MustCompile(`\b[A-Za-z]+_[A-Za-z]*`)

func (p *filling) comment(c *ast.Comment) {
	text := marked.ReplaceAllStringFunc(c.Text, func(word string) string {
		if !isPlaceholder(word) {
			return variant(word)
		}
		switch v := p.value(word).(type) {
		case name:
			return string(v)
		case prose:
			return strings.ReplaceAll(string(v), "\n", "\n// ")
		}
		ir.Fail("burngen bug: %s: %s stands in a comment", keyOf(p.node), word)
		return ""
	})
	if text == c.Text {
		return
	}
	if strings.Contains(text, "\n") {
		text = strings.ReplaceAll(text+"\n", "// \n", "//\n")
		text = text[:len(text)-1]
	}
	p.edits = append(p.edits, edit{c.Pos(), c.End(), jen.Id(text)})
}

func (p *filling) print() jen.Code {
	slices.SortFunc(p.edits, func(a, b edit) int { return int(a.from) - int(b.from) })
	s, at := &jen.Statement{}, p.pos
	for _, e := range p.edits {
		s.Id(p.text[at-p.pos : e.from-p.pos]).Add(e.code)
		at = e.to
	}
	return s.Id(p.text[at-p.pos:]).Line()
}

func fieldsOf(list []jen.Code) []jen.Code {
	if len(list) == 0 {
		return nil
	}
	out := make([]jen.Code, 0, len(list)+1)
	for _, c := range list {
		out = append(out, jen.Line().Add(c))
	}
	return append(out, jen.Line())
}
