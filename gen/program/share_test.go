package program

import (
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// TestMayShare asserts that small static models and the launches of a device do not use the worker
// pool, and that other models do.
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
			f, away := &Func{IR: m.Funcs[0]}, &Func{IR: m.Funcs[0]}
			for _, n := range f.IR.Nodes {
				f.Steps = append(f.Steps, &Copy{Node: n})
				away.Steps = append(away.Steps, launch{&Copy{Node: n}})
			}
			if got := MayShare(f); got != c.want {
				t.Errorf("MayShare is %v", got)
			}
			if MayShare(away) {
				t.Error("MayShare is true for launches")
			}
		})
	}
}

// launch is a copy that another device carries out.
type launch struct{ *Copy }

func (launch) OnDevice() {}
