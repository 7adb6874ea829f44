package emit

import (
	"fmt"
	"testing"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// patient is a printer whose steps look at the context by themselves, if they say so.
type patient struct {
	Printer
	ends bool
}

func (p patient) Ends(program.Step) bool { return p.ends }

// TestUntil asserts before which steps a check of the context is printed: before a step that begins
// a millisecond or more after the last check.
func TestUntil(t *testing.T) {
	half := fmt.Sprintf("f32[%d]", long/4*program.SharedElems) // half of long, for the operand and the result
	for _, c := range []struct {
		name, shape string
		ends        bool
		steps       int
		want        string
	}{
		{"short steps", "f32[8]", false, 9, "........."},
		{"steps of half a millisecond", half, false, 7, "..!.!.!"},
		{"long steps", "f32[16777216]", false, 4, ".!!!"},
		{"long steps that look themselves", "f32[16777216]", true, 4, "...."},
		{"open extents", "f32[N]", false, 9, "....!...!"},
		{"open extents of steps that look themselves", "f32[N]", true, 9, "........."},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := ir.Parse("func @f(%x: "+c.shape+") -> (y: "+c.shape+") {\n  %y = neg %x : "+c.shape+"\n  return %y\n}\n", op.Set)
			if err != nil {
				t.Fatal(err)
			}
			f := &function{Func: &program.Func{IR: m.Funcs[0]}, host: &host{}, printer: patient{ends: c.ends}}
			f.steps, f.shares = map[*ir.Node]int{}, map[*ir.Node]float64{}
			got := ""
			for range c.steps {
				if f.until(&program.Copy{Node: m.Funcs[0].Nodes[0]}) != nil {
					got += "!"
				} else {
					got += "."
				}
			}
			if got != c.want {
				t.Errorf("checks before the steps %s, want %s", got, c.want)
			}
		})
	}
}
