package cpu_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen/target/cpu/storage"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/gen/target/cpu"
	"github.com/burngen/burngen/ir"
)

// TestChains checks which regions a kernel can apply to runs of its result. o0 stands for the run.
func TestChains(t *testing.T) {
	for name, c := range map[string]struct{ body, result, want string }{
		"nothing":           {"", "%a", ""},
		"one operator":      {"%d = neg %a : f32[]", "%d", "Neg o0 o0"},
		"further operands":  {"%d = add %c, %a : f32[]\n%e = sub %d, %b : f32[]", "%e", "Add o0 o2 o0; Sub o0 o0 o1"},
		"the element twice": {"%d = mul %a, %a : f32[]", "%d", "Mul o0 o0 o0"},
		"constants":         {"%k = constant {value=f32[](3)} : f32[]\n%d = max %a, %k : f32[]", "%d", "MaxScalar o0 o0 3"},
		"another beginning": {"%d = neg %b : f32[]", "%d", "Neg o0 o1"},
		"an element passed": {"%d = neg %a : f32[]\n%e = add %d, %a : f32[]", "%e", "error: %e = add %d, %a : f32[]: %a is not at hand"},
		"a result before":   {"%d = neg %a : f32[]\n%e = neg %d : f32[]", "%d", "error: the region is not a chain"},
		"a further operand": {"", "%b", "error: the region is not a chain"},
	} {
		t.Run(name, func(t *testing.T) {
			text := fmt.Sprintf(`func @f(%%x: f32[9,16], %%w: f32[1,16,16]) -> (y: f32[9,16]) {
  %%y = mat_mul_panels %%x, %%w, _, _, %%x, %%x {n=16} : f32[9,16]
    region (%%a: f32[], %%b: f32[], %%c: f32[]) {
      %s
      return %s
    }
  return %%y
}`, c.body, c.result)
			m, err := ir.Parse(text, storage.Set)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if f, err := program.Compile(m, "f", cpu.Target{}); err != nil {
				_, why, _ := strings.Cut(err.Error(), "Then: ")
				got = "error: " + why
			} else {
				args := f.Steps[0].(*cpu.Call).Args
				for _, field := range args[len(args)-1].(*cpu.Struct).Fields {
					if field.Name == "Then" {
						got = calls(field.Value.(*cpu.Chain).Body)
					}
				}
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
