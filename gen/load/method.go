package load

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/burngen/burngen/ir/nn"
)

type method struct {
	decl *ast.FuncDecl
	fn   *types.Func
	loss bool
	// at is the position of the directive.
	at  token.Position
	sig signature
	// params and results are the names of the arguments and results, in snake case.
	params, results []string
	// fields are the fields of the struct parameter, or nil.
	fields []string
	// strct is the name of the type of that struct.
	strct string
	// imports maps the package names in the signature's expressions to import paths.
	imports map[string]string
	// lines maps each Go expression in the signature to its position.
	lines map[*piece]token.Position
}

func (m *method) name() string { return m.fn.Name() }

// port is a name in the generated API with its type, and the position where it is declared.
type port struct {
	name string
	typ  declared
	pos  token.Pos
}

func (c *checked) findMethods() {
	seen := map[string]port{}
	for _, m := range c.marked {
		for i, d := range m.directives {
			if i > 0 {
				c.faultf(d.pos, "a second directive above %s", m.decl.Name.Name)
				continue
			}
			k, ports := c.method(m.decl, d)
			if k == nil {
				continue
			}
			c.methods = append(c.methods, k)
			for _, p := range ports {
				c.port(seen, p)
			}
		}
	}
}

// port compares p with the ports of earlier methods, which are in seen. It reports a mistake if a port of the same
// name has another type. If the name is new, port adds p to seen.
func (c *checked) port(seen map[string]port, p port) {
	first, ok := seen[p.name]
	if !ok {
		seen[p.name] = p
	} else if !first.typ.same(p.typ) {
		c.faultf(p.pos, "%s is %s here and %s at %s; give one of them another name", p.name, p.typ.text, first.typ.text, c.where(first.pos))
	}
}

func (c *checked) where(pos token.Pos) string {
	p := c.fset.Position(pos)
	p.Filename = c.relative(p.Filename)
	return p.String()
}

// method reads the marked function decl with the directive d. It returns the method and the ports for
// its arguments and results, or nil if there are mistakes.
func (c *checked) method(decl *ast.FuncDecl, d directive) (*method, []port) {
	fn, _ := c.pkg.TypesInfo.Defs[decl.Name].(*types.Func)
	if fn == nil {
		return nil, nil
	}
	recv := fn.Signature().Recv()
	if recv == nil || !fn.Exported() {
		c.faultf(d.pos, "//burngen:%s belongs above an exported method", d.word)
		return nil, nil
	}
	model := named(recv.Type())
	switch {
	case model == nil:
		return nil, nil // the compiler reports it
	case model.TypeParams() != nil:
		c.faultf(d.pos, "the model %s has type parameters", model.Obj().Name())
		return nil, nil
	case c.model == nil:
		c.model = model
	case c.model != model:
		c.faultf(d.pos, "methods of two models, %s and %s, in one package", c.model.Obj().Name(), model.Obj().Name())
		return nil, nil
	}
	m := &method{decl: decl, fn: fn, loss: d.word == "loss", at: c.fset.Position(d.pos), imports: map[string]string{}, lines: map[*piece]token.Position{}}
	m.at.Filename = c.relative(m.at.Filename)
	before := len(c.faults)
	c.methodName(m)
	var faults []fault
	m.sig, faults = parseSignature(d.text)
	for _, f := range faults {
		c.faultf(d.at+token.Pos(f.at), "%s", f.text)
	}
	if len(faults) > 0 {
		return nil, nil
	}
	at := func(t declared) token.Pos { return d.at + token.Pos(t.at) }
	places := make([]token.Pos, 0, len(m.sig.params))
	for _, t := range m.sig.params {
		places = append(places, at(t))
	}
	ports := c.params(m, d, &places)
	ports = append(ports, c.results(m, d)...)
	for i := range m.sig.params {
		c.expressions(m, &m.sig.params[i], places[i])
	}
	for i := range m.sig.results {
		c.expressions(m, &m.sig.results[i], at(m.sig.results[i]))
	}
	if len(c.faults) > before {
		return nil, nil
	}
	return m, ports
}

// params checks the parameters of a method, adds their names to m and returns their ports. places holds the positions
// of the types in the signature. If the types are in struct tags, params appends their positions to places.
func (c *checked) params(m *method, d directive, places *[]token.Pos) []port {
	params := m.fn.Signature().Params()
	if params.Len() == 1 && m.sig.params == nil {
		if st, ok := params.At(0).Type().Underlying().(*types.Struct); ok && !isValue(params.At(0).Type()) {
			m.strct = c.text(params.At(0).Type())
			if n := named(params.At(0).Type()); n == nil || n.Obj().Pkg() != c.pkg.Types {
				c.faultf(params.At(0).Pos(), "parameter %s is %s, want nn.Value, or a struct of these that this package declares", orBlank(params.At(0).Name()), m.strct)
				return nil
			}
			return c.fieldsOf(m, st, places)
		}
	}
	if m.fn.Signature().Variadic() {
		c.faultf(params.At(params.Len()-1).Pos(), "the number of inputs is fixed when a model is compiled; parameter %s is …", params.At(params.Len()-1).Name())
		return nil
	}
	if params.Len() != len(m.sig.params) {
		c.faultf(d.pos, "%s, %s has %s", count(len(m.sig.params), "parameter")+" declared", m.name(), count(params.Len(), "parameter"))
		return nil
	}
	var ports []port
	for i := range params.Len() {
		v := params.At(i)
		if !isValue(v.Type()) {
			c.faultf(v.Pos(), "parameter %s is %s, want nn.Value", orBlank(v.Name()), c.text(v.Type()))
			continue
		}
		name := v.Name()
		if name == "" || name == "_" {
			name = numbered("input", i, params.Len())
		}
		c.reserved(v.Pos(), "parameter", name)
		m.params = append(m.params, nn.Snake(name))
		ports = append(ports, port{name, m.sig.params[i], v.Pos()})
	}
	return ports
}

func (c *checked) fieldsOf(m *method, st *types.Struct, places *[]token.Pos) []port {
	var ports []port
	for i := range st.NumFields() {
		f := st.Field(i)
		text := tag(st, i)
		switch {
		case text == "-":
			continue
		case !f.Exported() || !isValue(f.Type()) || text == "":
			c.faultf(f.Pos(), "field %s needs a capital, type nn.Value and a tag such as `nn:\"i64[N,S]\"`", f.Name())
			continue
		}
		at := c.tagged(f.Pos(), text)
		t, faults := parseDeclared(text)
		for _, x := range faults {
			c.faultf(at+token.Pos(x.at), "%s", x.text)
		}
		c.reserved(f.Pos(), "field", f.Name())
		m.sig.params = append(m.sig.params, t)
		*places = append(*places, at)
		m.fields = append(m.fields, f.Name())
		m.params = append(m.params, nn.Snake(f.Name()))
		ports = append(ports, port{nn.Snake(f.Name()), t, f.Pos()})
	}
	return ports
}

// tagged returns the position of text, a type, in the tag of a struct field. field is the position of the field's name.
// If the tag is not found, the result is field.
func (c *checked) tagged(field token.Pos, text string) token.Pos {
	at := field
	for _, f := range c.files {
		if field < f.FileStart || field > f.FileEnd {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			x, ok := n.(*ast.Field)
			if ok && x.Tag != nil && slices.ContainsFunc(x.Names, func(id *ast.Ident) bool { return id.Pos() == field }) {
				at = x.Tag.Pos() + token.Pos(max(0, strings.Index(x.Tag.Value, text)))
			}
			return true
		})
	}
	return at
}

// results checks the results of a method and adds their names to m. It returns the ports of the results
// that have a name and a declared type.
func (c *checked) results(m *method, d directive) []port {
	results := m.fn.Signature().Results()
	if results.Len() == 0 {
		c.faultf(m.decl.Name.Pos(), "%s returns nothing, want nn.Value", m.name())
		return nil
	}
	if !m.sig.open && len(m.sig.results) != results.Len() {
		c.faultf(d.pos, "%s, %s has %s", count(len(m.sig.results), "result")+" declared", m.name(), count(results.Len(), "result"))
		return nil
	}
	var ports []port
	for i := range results.Len() {
		v := results.At(i)
		if !isValue(v.Type()) {
			c.faultf(v.Pos(), "result %s is %s, want nn.Value", orBlank(v.Name()), c.text(v.Type()))
			continue
		}
		name := v.Name()
		isNamed := name != "" && name != "_"
		if !isNamed {
			name = numbered("output", i, results.Len())
		}
		c.reserved(v.Pos(), "result", name)
		m.results = append(m.results, nn.Snake(name))
		if isNamed && !m.sig.open {
			ports = append(ports, port{name, m.sig.results[i], v.Pos()})
		}
	}
	if m.loss && !m.sig.open && len(m.sig.results) > 0 && len(m.sig.results[0].dims) > 0 {
		c.faultf(d.at+token.Pos(m.sig.results[0].at), "the first result of a loss is a scalar such as f32[], not %s", m.sig.results[0].text)
	}
	return ports
}

// expressions type-checks the Go expressions in the type t as if they stood in the method m. It adds to m the
// position of each expression, and each package that an expression names. start is the position of the type's text.
func (c *checked) expressions(m *method, t *declared, start token.Pos) {
	for i := range t.pieces {
		p := &t.pieces[i]
		if !p.expr {
			continue
		}
		pos := start + token.Pos(p.at-t.at)
		e, err := parser.ParseExprFrom(c.fset, "", p.text, 0)
		if err != nil {
			c.faultf(pos, "{%s}: not a Go expression", p.text)
			continue
		}
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
		if err := types.CheckExpr(c.fset, c.pkg.Types, m.decl.Body.Pos()+1, e, info); err != nil {
			if te, ok := err.(types.Error); ok {
				off := c.fset.Position(te.Pos).Offset
				c.faultf(pos+token.Pos(off), "%s", te.Msg)
			} else {
				c.faultf(pos, "%v", err)
			}
			continue
		}
		if b, ok := types.Default(info.TypeOf(e)).Underlying().(*types.Basic); !ok || b.Info()&types.IsInteger == 0 || b.Info()&types.IsUnsigned != 0 {
			c.faultf(pos, "extent %s is %s, want int", p.text, c.text(types.Default(info.TypeOf(e))))
		}
		for _, o := range info.Uses {
			if o, ok := o.(*types.PkgName); ok {
				m.imports[o.Name()] = o.Imported().Path()
			}
		}
		m.lines[p] = c.fset.Position(pos)
	}
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func orBlank(name string) string {
	if name == "" {
		return "_"
	}
	return name
}

// numbered returns a name for an unnamed parameter or result. i is its index among n parameters or n results. It
// returns `name` if n is 1, and otherwise `name` followed by i+1.
func numbered(name string, i, n int) string {
	if n == 1 {
		return name
	}
	return fmt.Sprintf("%s%d", name, i+1)
}
