package gen

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// TestCheckPorts asserts that inputs and outputs of a static size have a limit, in bytes of their own
// type.
func TestCheckPorts(t *testing.T) {
	for _, c := range []struct{ x, y, want string }{
		{"f32[17179869184]", "f32[17179869184]", ""}, // 64 GiB
		{"f32[17179869185]", "f32[17179869185]", `input "x" is f32[17179869185]`},
		{"bool[68719476736]", "bool[68719476736]", ""},
		{"f64[8589934593]", "f64[8589934593]", `input "x" is f64[8589934593]`},
		{"f32[N,17179869185]", "f32[N,17179869185]", ""}, // no array in Go
	} {
		m, err := ir.Parse("func @forward(%x: "+c.x+") -> (y: "+c.y+") {\n  return %x\n}\n", op.Set)
		if err != nil {
			t.Fatal(err)
		}
		err = checkPorts(m.Funcs[0])
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.x, err, c.want)
		}
	}
}
