package load

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/burngen/burngen/gen/config"
)

// checked is a package pkg that has been type-checked, with its marked methods.
type checked struct {
	*sources
	pkg     *packages.Package
	methods []*method
	// model is the receiver type of the marked methods, and ctor the function New.
	model *types.Named
	ctor  *types.Func
	// byValue is set if New returns the model itself instead of a pointer.
	byValue bool
	// config is the type of New's configuration parameter, or "".
	config string
}

// check type-checks a package together with configSource, the text of the generated file of
// configurations. If configSource is nil, such a file in the folder is ignored. It returns an error
// with all static mistakes. env is the environment of the go command.
func check(ctx context.Context, s *sources, env []string, configSource []byte) (*checked, error) {
	overlay := map[string][]byte{}
	if configSource != nil {
		overlay[filepath.Join(s.dir, config.File)] = configSource
	} else if path := filepath.Join(s.dir, config.File); exists(path) {
		overlay[path] = []byte("package " + s.name + "\n")
	}
	pkgs, err := packages.Load(&packages.Config{
		Context: ctx, Dir: s.dir, Env: env, Overlay: overlay, Fset: token.NewFileSet(),
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports,
	}, ".")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", shownAs(s.dir), err)
	}
	if len(pkgs) == 0 || len(pkgs[0].Syntax) == 0 {
		return nil, goList(ctx, s.dir, env, pkgs)
	}
	c := &checked{sources: s, pkg: pkgs[0]}
	c.adopt()
	c.compileErrors()
	c.findMethods()
	c.findNew()
	c.inspect()
	if len(c.faults) == 0 && c.model == nil {
		return nil, fmt.Errorf("%s: no method carries //burngen:func", shownAs(s.dir))
	}
	if err := fromList(c.faults); err != nil {
		return nil, err
	}
	return c, nil
}

// goList returns why a package did not load: the output of go list, or else the first error of
// pkgs. It is never nil.
func goList(ctx context.Context, dir string, env []string, pkgs []*packages.Package) error {
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", ".")
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	text := strings.TrimSpace(string(out))
	if err == nil || text == "" {
		text = "the go command finds no package"
		if len(pkgs) > 0 && len(pkgs[0].Errors) > 0 {
			text = pkgs[0].Errors[0].Msg
		}
	}
	return lines(strings.Split(text, "\n"))
}

// adopt replaces the declarations of the first parse by the declarations that the type checker has
// read, so that positions and types agree.
func (c *checked) adopt() {
	marked := c.marked
	old := c.fset
	c.fset, c.files, c.marked = c.pkg.Fset, nil, nil
	for _, f := range c.pkg.Syntax {
		if filepath.Base(c.fset.Position(f.Package).Filename) != config.File {
			c.files = append(c.files, f)
		}
	}
	decls := map[string]*ast.FuncDecl{}
	bases := map[string]token.Pos{}
	for _, f := range c.files {
		bases[c.fset.Position(f.FileStart).Filename] = f.FileStart
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok {
				decls[c.fset.Position(d.Pos()).String()] = d
			}
		}
	}
	for _, m := range marked {
		p := old.Position(m.decl.Pos())
		d := decls[p.String()]
		if d == nil {
			continue
		}
		move := bases[p.Filename] - token.Pos(old.File(m.decl.Pos()).Base())
		for i := range m.directives {
			m.directives[i].pos += move
			m.directives[i].at += move
		}
		m.decl = d
		c.marked = append(c.marked, m)
	}
}

// compileErrors adds the errors of the compiler. It omits errors without a position if another
// error has one.
func (c *checked) compileErrors() {
	placed := slices.ContainsFunc(c.pkg.Errors, func(e packages.Error) bool { return !isUnplaced(e) })
	for _, e := range c.pkg.Errors {
		if isUnplaced(e) && placed {
			continue
		}
		c.faults.Add(c.position(e.Pos), strings.ReplaceAll(e.Msg, "\n\t", " "))
	}
}

func isUnplaced(e packages.Error) bool { return e.Pos == "" || strings.HasPrefix(e.Pos, "-") }

// position parses file:line:column. A missing column or line is 0.
func (c *checked) position(text string) (p token.Position) {
	number := func() int {
		i := strings.LastIndexByte(text, ':')
		if i < 0 {
			return 0
		}
		n, err := strconv.Atoi(text[i+1:])
		if err != nil {
			return 0
		}
		text = text[:i]
		return n
	}
	p.Column = number()
	p.Line = number()
	if p.Line == 0 {
		p.Line, p.Column = p.Column, 0
	}
	p.Filename = c.relative(text)
	return p
}

func (c *checked) findNew() {
	if c.model == nil {
		return
	}
	name := c.model.Obj().Name()
	fn, _ := c.pkg.Types.Scope().Lookup("New").(*types.Func)
	if fn == nil {
		c.faultf(c.model.Obj().Pos(), "no function New returns *%s", name)
		return
	}
	c.ctor = fn
	sig := fn.Signature()
	result := sig.Results()
	if result.Len() != 1 || named(result.At(0).Type()) != c.model {
		c.faultf(fn.Pos(), "New returns %s, want *%s", c.text(result), name)
		return
	}
	_, isPointer := types.Unalias(result.At(0).Type()).(*types.Pointer)
	c.byValue = !isPointer
	params := sig.Params()
	if params.Len() == 0 {
		return
	}
	if n, ok := types.Unalias(params.At(0).Type()).(*types.Named); ok && params.Len() == 1 && n.Obj().Pkg() == c.pkg.Types && c.configs.Struct(n.Obj().Name()) != nil {
		c.config = n.Obj().Name()
		return
	}
	c.faultf(params.At(0).Pos(), "New takes %s; it may take nothing, or a struct under //burngen:config", c.text(params))
}

// text returns a type as Go writes it. Types of the package itself have no qualifier.
func (c *checked) text(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p == c.pkg.Types {
			return ""
		}
		return p.Name()
	})
}

// named returns t as a named type. If t is a pointer, it returns the type that t points to. It returns nil if this
// type has no name.
func named(t types.Type) *types.Named {
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	n, _ := t.(*types.Named)
	return n
}

// construct returns the Go expression of New's configuration, or "" if New does not take a
// configuration. It returns an error if `given` does not fit the configuration.
func (c *checked) construct(given config.Given) (string, error) {
	if c.config == "" {
		if given.File != "" || len(given.Set) > 0 {
			return "", fmt.Errorf("-config and -set: New takes no configuration")
		}
		return "", nil
	}
	expr, err := c.configs.Value(c.config, given)
	if missing, ok := err.(*config.Missing); ok {
		var paths, flags []string
		for _, f := range missing.Fields {
			paths, flags = append(paths, c.config+"."+f), append(flags, "-set "+f+"=…")
		}
		c.faultf(c.ctor.Pos(), "New needs %s; give it with %s", strings.Join(paths, ", "), strings.Join(flags, " "))
		return "", fromList(c.faults)
	}
	return expr, err
}
