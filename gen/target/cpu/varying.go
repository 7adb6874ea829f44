package cpu

import (
	"slices"
	"strings"

	"github.com/burngen/burngen/ir/dim"
)

// forms maps types of shapes to a method that sets one extent. The extent is known only when a kernel is called. A
// key is the type of the shape and the fields that hold the extent.
var forms = map[string]string{
	"AttentionShape Batch": "For",
	"ConvShape N":          "For",
	"MatMulShape Batch":    "For",
	"MatMulShape K LDA":    "Depth",
	"MatMulShape M":        "Rows",
	"PoolShape N":          "For",
	"WinogradShape N":      "For",
}

// varying splits a struct into constant fields and one extent. All fields of the struct must be constants, except for
// fields that hold the same extent. fixed holds the constant fields. method is the method of [forms] that sets the
// extent. ok is false for other structs, and if forms has no such method.
func varying(s *Struct) (fixed *Struct, method string, extent dim.Dim, ok bool) {
	key := []string{s.Type}
	fixed = &Struct{Type: s.Type, Ctx: s.Ctx}
	for _, field := range s.Fields {
		d, isDim := field.Value.(dim.Dim)
		if !isDim || d.IsConst() {
			fixed.Fields = append(fixed.Fields, field)
			continue
		}
		if len(key) > 1 && !d.Equal(extent) {
			return nil, "", extent, false
		}
		key, extent = append(key, field.Name), d
	}
	slices.Sort(key[1:])
	method, ok = forms[strings.Join(key, " ")]
	return fixed, method, extent, ok && isStatic(fixed)
}
