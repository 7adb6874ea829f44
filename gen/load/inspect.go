package load

import (
	"go/ast"
	"go/token"
	"go/types"
)

// inspect reports mistakes in bodies and types that the compiler does not detect.
func (c *checked) inspect() {
	rules := []func(n ast.Node){c.discarded, c.ranges, c.operands, c.unexported}
	for _, f := range c.files {
		ast.Inspect(f, func(n ast.Node) bool {
			for _, rule := range rules {
				rule(n)
			}
			return true
		})
	}
}

// discarded reports a statement that is only an expression with a result of type nn.Value. The result of
// [nn.Value.Is] may be unused, because Is is an assertion.
func (c *checked) discarded(n ast.Node) {
	st, ok := n.(*ast.ExprStmt)
	if !ok || !holdsValue(c.pkg.TypesInfo.TypeOf(st.X)) {
		return
	}
	if call, ok := st.X.(*ast.CallExpr); ok {
		if s, ok := call.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Is" && isValue(c.pkg.TypesInfo.TypeOf(s.X)) {
			return
		}
	}
	c.faultf(st.Pos(), "the result is not used: operations return new values and never change their operands")
}

// ranges reports loops over maps if the body of the loop has an expression of type nn.Value, because the order of the
// iterations is random.
func (c *checked) ranges(n ast.Node) {
	loop, ok := n.(*ast.RangeStmt)
	if !ok {
		return
	}
	t := c.pkg.TypesInfo.TypeOf(loop.X)
	if t == nil {
		return
	}
	if _, ok := t.Underlying().(*types.Map); !ok {
		return
	}
	found := false
	ast.Inspect(loop.Body, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok && !found {
			found = holdsValue(c.pkg.TypesInfo.TypeOf(e))
		}
		return !found
	})
	if found {
		c.faultf(loop.Pos(), "a map has no fixed order; range over slices.Sorted(maps.Keys(…))")
	}
}

// operands reports arguments that are passed as nn.Operand but cannot be operands.
func (c *checked) operands(n ast.Node) {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return
	}
	sig, ok := c.pkg.TypesInfo.TypeOf(call.Fun).(*types.Signature)
	if !ok {
		return
	}
	params := sig.Params()
	for i, arg := range call.Args {
		if params.Len() == 0 {
			return
		}
		t := params.At(min(i, params.Len()-1)).Type()
		if sig.Variadic() && i >= params.Len()-1 {
			if call.Ellipsis != token.NoPos {
				continue
			}
			t = t.(*types.Slice).Elem()
		}
		given := c.pkg.TypesInfo.TypeOf(arg)
		if isOperand(t) && given != nil && given != types.Typ[types.Invalid] && !canOperate(given) {
			c.faultf(arg.Pos(), "operand is %s, want nn.Value, nn.Dim or a number", c.text(types.Default(given)))
		}
	}
}

// unexported reports unexported fields that contain parameters, unless they have the tag "-". Such parameters would
// have no name.
func (c *checked) unexported(n ast.Node) {
	spec, ok := n.(*ast.TypeSpec)
	if !ok || c.pkg.TypesInfo.Defs[spec.Name] == nil {
		return
	}
	st, ok := c.pkg.TypesInfo.Defs[spec.Name].Type().Underlying().(*types.Struct)
	if _, own := spec.Type.(*ast.StructType); !ok || !own {
		return
	}
	for i := range st.NumFields() {
		if f := st.Field(i); !f.Exported() && tag(st, i) != "-" && holdsParameters(f.Type()) {
			c.faultf(f.Pos(), "field %s.%s is unexported, so its parameters have no name; export it", spec.Name.Name, f.Name())
		}
	}
}
