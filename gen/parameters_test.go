package gen_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

func TestParameters(t *testing.T) {
	for _, c := range []struct {
		name, weights, nodes, want string
	}{
		{"a product's weights and bias", "w:f32[4,4] b:f32[4]", `%y = mat_mul %x, %w : f32[2,4]
			%z = add %y, %b : f32[2,4]`, "w b"},
		{"moved weights", "w:f32[16]", `%v = reshape %w {shape=[4,4]} : f32[4,4]
			%u = transpose %v {perm=[1,0]} : f32[4,4]
			%z = mat_mul %x, %u : f32[2,4]`, "w"},
		{"a scale of one element", "w:f32[4,4] s:f32[1]", `%y = mat_mul %x, %w : f32[2,4]
			%z = mul %y, %s : f32[2,4]`, "w"},
		{"a bias of one element", "w:f32[4,1] b:f32[1]", `%y = mat_mul %x, %w : f32[2,1]
			%z = add %b, %y : f32[2,1]`, "w b"},
		{"joined weights", "u:f32[4,1] v:f32[4,3] b:f32[1] c:f32[3]", `%w = concat %u, %v {axis=1} : f32[4,4]
			%bc = concat %b, %c : f32[4]
			%y = mat_mul %x, %w : f32[2,4]
			%z = add %y, %bc : f32[2,4]`, "u v b c"},
		{"a weight joined to what is computed", "w:f32[2,4]", `%y = concat %x, %w : f32[4,4]
			%z = mat_mul %y, %y : f32[4,4]`, ""},
		{"what the input is normalised with", "mean:f32[4] w:f32[4,4]", `%y = sub %x, %mean : f32[2,4]
			%z = mat_mul %y, %w : f32[2,4]`, "w"},
		{"a mask", "w:f32[4,4] mask:f32[2,4]", `%y = mat_mul %x, %w : f32[2,4]
			%z = add %y, %mask : f32[2,4]`, "w"},
		{"a table", "w:f32[9,4]", `%i = cast %x {to=i64} : i64[2,4]
			%z = gather %w, %i : f32[2,4,4]`, "w"},
		{"integers", "w:i64[4]", `%i = cast %x {to=i64} : i64[2,4]
			%z = add %i, %w : i64[2,4]`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var text, loads strings.Builder
			for _, w := range strings.Fields(c.weights) {
				name, typ, _ := strings.Cut(w, ":")
				text.WriteString("weight " + name + " : " + typ + "\n")
				loads.WriteString("%" + name + " = load {name=\"" + name + "\"} : " + typ + "\n")
			}
			last := c.nodes[strings.LastIndex(c.nodes, ": ")+2:]
			text.WriteString("func @forward(%x: f32[2,4]) -> (z: " + last + ") {\n" + loads.String() + c.nodes + "\nreturn %z\n}\n")
			m, err := ir.Parse(text.String(), op.Set)
			if err != nil {
				t.Fatal(err)
			}
			if got := gen.Parameters(m.Func("forward")); !slices.Equal(got, strings.Fields(c.want)) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
