package load

import (
	"go/types"
	"reflect"
)

const nnPath = "github.com/burngen/burngen/ir/nn"

func isNN(t types.Type, name string) bool {
	if t == nil {
		return false
	}
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == nnPath && n.Obj().Name() == name
}

func isValue(t types.Type) bool { return isNN(t, "Value") }

func holdsValue(t types.Type) bool {
	if tuple, ok := t.(*types.Tuple); ok {
		for v := range tuple.Variables() {
			if isValue(v.Type()) {
				return true
			}
		}
	}
	return isValue(t)
}

func isOperand(t types.Type) bool {
	a, ok := t.(*types.Alias)
	return ok && a.Obj().Pkg() != nil && a.Obj().Pkg().Path() == nnPath && a.Obj().Name() == "Operand"
}

func canOperate(t types.Type) bool {
	if isValue(t) || isNN(t, "Dim") || types.IsInterface(t) {
		return true
	}
	b, ok := types.Default(t).Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsInteger|types.IsFloat|types.IsBoolean) != 0
}

func holdsParameters(t types.Type) bool { return holds(t, map[types.Type]bool{}) }

func holds(t types.Type, seen map[types.Type]bool) bool {
	t = types.Unalias(t)
	if seen[t] {
		return false
	}
	seen[t] = true
	for _, name := range []string{"Param", "Buffer", "State"} {
		if isNN(t, name) {
			return true
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return holds(u.Elem(), seen)
	case *types.Slice:
		return holds(u.Elem(), seen)
	case *types.Array:
		return holds(u.Elem(), seen)
	case *types.Map:
		return holds(u.Elem(), seen)
	case *types.Struct:
		if isValue(t) {
			return false
		}
		for i := range u.NumFields() {
			if f := u.Field(i); tag(u, i) != "-" && holds(f.Type(), seen) {
				return true
			}
		}
	}
	return false
}

func tag(s *types.Struct, i int) string { return reflect.StructTag(s.Tag(i)).Get("nn") }
