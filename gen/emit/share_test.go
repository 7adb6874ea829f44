package emit

import (
	"testing"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// TestMayShare asserts that small static models do not use the worker pool, and that other models
// do.
func TestMayShare(t *testing.T) {
	for _, c := range []struct {
		name, shape string
		want        bool
	}{
		{"a few elements", "f32[16,16]", false},
		{"many elements", "f32[128,128]", true},
		{"open extents", "f32[N,4]", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := ir.Parse("func @forward(%x: "+c.shape+") -> (y: "+c.shape+") {\n  %y = softmax %x {axis=1} : "+c.shape+"\n  return %y\n}\n", op.Set)
			if err != nil {
				t.Fatal(err)
			}
			f := &program.Func{IR: m.Funcs[0]}
			for _, n := range f.IR.Nodes {
				f.Steps = append(f.Steps, &program.Copy{Node: n})
			}
			if got := mayShare(f); got != c.want {
				t.Errorf("mayShare is %v", got)
			}
		})
	}
}
