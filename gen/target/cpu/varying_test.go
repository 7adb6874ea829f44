package cpu

import (
	"testing"

	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir/dim"
)

func TestVarying(t *testing.T) {
	n := dim.Sym("N")
	field := func(name string, d dim.Dim) kernel.Field { return kernel.Field{Name: name, Value: d} }
	for _, c := range []struct {
		name, typ string
		fields    []kernel.Field
		how       string
	}{
		{"rows", "MatMulShape", []kernel.Field{field("M", n), field("K", dim.Const(3))}, "Rows"},
		{"depth", "MatMulShape", []kernel.Field{field("M", dim.Const(3)), field("K", n), field("LDA", n)}, "Depth"},
		{"a batch", "ConvShape", []kernel.Field{field("N", n), field("InC", dim.Const(3))}, "For"},
		{"two extents", "MatMulShape", []kernel.Field{field("K", n), field("LDA", n.Add(dim.Const(1)))}, ""},
		{"another field", "ConvShape", []kernel.Field{field("InW", n)}, ""},
		{"none", "ConvShape", []kernel.Field{field("N", dim.Const(1))}, ""},
		{"a list", "AttentionShape", []kernel.Field{field("Batch", n), {Name: "Q", Value: []dim.Dim{n}}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			fixed, how, extent, ok := varying(&Struct{Type: c.typ, Fields: c.fields})
			if ok != (c.how != "") || ok && how != c.how {
				t.Fatalf("got %q, %t", how, ok)
			}
			if ok && (!extent.Equal(n) || !isStatic(fixed)) {
				t.Errorf("extent %s, and %v", extent, fixed.Fields)
			}
		})
	}
}
