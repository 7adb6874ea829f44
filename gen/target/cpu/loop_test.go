package cpu_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen/target/cpu/storage"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/gen/target/cpu"
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// steps compiles the only function of a module in the text form.
func steps(t *testing.T, text string) []program.Step {
	t.Helper()
	m, err := ir.Parse(strings.TrimLeft(text, "\n"), storage.Set)
	if err != nil {
		t.Fatal(err)
	}
	f, err := program.Compile(m, m.Funcs[0].Name, cpu.Target{})
	if err != nil {
		t.Fatal(err)
	}
	return f.Steps
}

// TestLoops checks the loops over the dimensions of operands: which dimensions are joined, and
// which operands are repeated.
func TestLoops(t *testing.T) {
	for name, c := range map[string]struct {
		operands, result string
		outer, inner     string
		// of each operand: strides of the outer dimensions, and after a slash the period
		walks string
		tile  int
	}{
		"one dimension is left of equal shapes": {"2,3,5; 2,3,5", "2,3,5", "", "30", "/0 /0", 1024},
		"also of symbols":                       {"N,3,M; N,3,M", "N,3,M", "", "3*M*N", "/0 /0", 1024},
		"extents of 1 do not count":             {"2,1,5; 2,1,5", "2,1,5", "", "10", "/0 /0", 1024},
		"a scalar is repeated":                  {"2,3,5; ", "2,3,5", "", "30", "/0 /1", 1024},
		"a row is repeated":                     {"N,4,5; 5", "N,4,5", "", "20*N", "/0 /5", 1020},
		"a row and a scalar are repeated":       {"N,4,5; 5; 1,1,1", "N,4,5", "", "20*N", "/0 /5 /1", 1020},
		"a matrix is repeated":                  {"N,4,5; 4,5", "N,4,5", "", "20*N", "/0 /20", 1020},
		"a long row is walked in an outer loop": {"N,300; 300", "N,300", "N", "300", "300/0 0/0", 1024},
		"a row of a symbol too":                 {"3,N; N", "3,N", "3", "N", "N/0 0/0", 1024},
		"one element for each row":              {"N,300; N,1", "N,300", "N", "300", "300/0 1/1", 1024},
		"one element for each short row":        {"N,5; N,1", "N,5", "N", "5", "5/0 1/1", 1024},
		"one element for each channel":          {"N,3,4,4; 3,1,1", "N,3,4,4", "N,3", "16", "48,16/0 0,1/1", 1024},
		"a column and a row":                    {"7,1; 1,5", "7,5", "7", "5", "1/1 0/0", 1024},
		"the first dimension is repeated":       {"N,6; 1,6; N,6", "N,6", "", "6*N", "/0 /6 /0", 1020},
		"the middle one is":                     {"2,3,300; 2,1,300", "2,3,300", "2,3", "300", "900,300/0 300,0/0", 1024},
		"a region of single elements":           {"; ", "", "", "1", "/0 /0", 1024},
		"no elements":                           {"3,0; 1,0", "3,0", "", "0", "/0 /0", 1024},
	} {
		t.Run(name, func(t *testing.T) {
			var params, names, inner, body []string
			at := "%p0"
			for i, shape := range strings.Split(c.operands, "; ") {
				params = append(params, fmt.Sprintf("%%x%d: f32[%s]", i, shape))
				names = append(names, fmt.Sprintf("%%x%d", i))
				inner = append(inner, fmt.Sprintf("%%p%d: f32[]", i))
				if i > 0 {
					body = append(body, fmt.Sprintf("      %%s%d = add %s, %%p%d : f32[]\n", i, at, i))
					at = fmt.Sprintf("%%s%d", i)
				}
			}
			list := steps(t, fmt.Sprintf("func @f(%s) -> (y: f32[%s]) {\n  %%y = pointwise %s : f32[%s]\n    region (%s) {\n%s      return %s\n    }\n  return %%y\n}\n",
				strings.Join(params, ", "), c.result, strings.Join(names, ", "), c.result, strings.Join(inner, ", "), strings.Join(body, ""), at))
			l, ok := list[0].(*cpu.Loop)
			if !ok || len(list) != 1 {
				t.Fatalf("steps %v", list)
			}
			var walks []string
			for _, o := range l.Operands {
				walks = append(walks, fmt.Sprintf("%s/%d", dims(o.Strides), o.Period))
				if (o.Tile != nil) != (o.Period > 0) {
					t.Errorf("an operand of period %d has the run %v", o.Period, o.Tile)
				}
			}
			if got := strings.Join(walks, " "); dims(l.Outer) != c.outer || l.Inner.String() != c.inner || got != c.walks || l.Tile != c.tile {
				t.Errorf("outer %q, inner %q, walks %q, runs of %d", dims(l.Outer), l.Inner, got, l.Tile)
			}
		})
	}
}

func dims(list []dim.Dim) string {
	var out []string
	for _, d := range list {
		out = append(out, d.String())
	}
	return strings.Join(out, ",")
}

// TestRegions checks which runs the nodes of a region read and write. o0, o1 and so on are
// operands, r0 is the result, and t0, t1 and so on are temporaries.
func TestRegions(t *testing.T) {
	for name, c := range map[string]struct {
		params, body, results string
		want                  string
	}{
		"one operator": {"%a: f32[], %b: f32[]", "%c = add %a, %b : f32[]", "%c", "Add r0 o0 o1"},
		"a chain works in one run": {"%a: f32[]", `%b = neg %a : f32[]
      %c = abs %b : f32[]
      %d = neg %c : f32[]`, "%d", "Neg t0 o0; Abs t0 t0; Neg r0 t0"},
		"runs are used again": {"%a: f32[]", `%b = neg %a : f32[]
      %c = abs %a : f32[]
      %d = add %b, %c : f32[]
      %e = neg %a : f32[]
      %f = sub %d, %e : f32[]`, "%f", "Neg t0 o0; Abs t1 o0; Add t0 t0 t1; Neg t1 o0; Sub r0 t0 t1"},
		"runs have one element type": {"%a: f32[]", `%b = neg %a : f32[]
      %c = cast %b {to=i32} : i32[]
      %d = cast %c {to=f32} : f32[]
      %e = neg %d : f32[]`, "%e", "Neg t0 o0; Cast t1 t0; Cast t0 t1; Neg r0 t0"},
		"constants are numbers": {"%a: f32[]", `%b = constant {value=f32[](2)} : f32[]
      %c = sub %b, %a : f32[]`, "%c", "ScalarSub r0 2 o0"},
		"the first result is written last": {"%a: f32[], %b: f32[]", `%c = neg %a : f32[]
      %d = neg %b : f32[]`, "%c, %d", "Neg t0 o0; Neg r1 o1; Copy r0 t0"},
		"other results are worked on": {"%a: f32[]", `%c = neg %a : f32[]
      %d = abs %c : f32[]`, "%d, %c", "Neg r1 o0; Abs r0 r1"},
		"operands are results":   {"%a: f32[], %b: f32[]", "%c = neg %a : f32[]", "%c, %a, %b", "Copy r2 o1; Copy r1 o0; Neg r0 o0"},
		"operands change places": {"%a: f32[], %b: f32[]", "", "%b, %a", "Copy r1 o0; Copy r0 o1"},
		"a result twice":         {"%a: f32[]", "%c = neg %a : f32[]", "%c, %c, %a", "Copy r2 o0; Neg r1 o0; Copy r0 r1"},
	} {
		t.Run(name, func(t *testing.T) {
			var operands, params, types, declared, returned []string
			for i := range strings.Split(c.params, ", ") {
				params = append(params, fmt.Sprintf("%%x%d: f32[9]", i))
				operands = append(operands, fmt.Sprintf("%%x%d", i))
			}
			for i := range strings.Split(c.results, ", ") {
				types = append(types, "f32[9]")
				declared = append(declared, fmt.Sprintf("y%d: f32[9]", i))
				returned = append(returned, fmt.Sprintf("%%y%d", i))
			}
			list := steps(t, fmt.Sprintf("func @f(%s) -> (%s) {\n  %s = pointwise %s : %s\n    region (%s) {\n      %s\n      return %s\n    }\n  return %s\n}\n",
				strings.Join(params, ", "), strings.Join(declared, ", "), strings.Join(returned, ", "), strings.Join(operands, ", "),
				strings.Join(types, ", "), c.params, c.body, c.results, strings.Join(returned, ", ")))
			if got := calls(list[0].(*cpu.Loop).Body); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// calls prints calls on runs.
func calls(body []cpu.TileCall) string {
	var list []string
	for _, c := range body {
		words := []string{c.Kernel.Name}
		for _, a := range c.Args {
			switch a := a.(type) {
			case cpu.Tile:
				words = append(words, fmt.Sprintf("%c%d", "ort"[a.Kind], a.Index))
			case kernel.Number:
				words = append(words, fmt.Sprint(a.Float))
			default:
				words = append(words, fmt.Sprint(a))
			}
		}
		list = append(list, strings.Join(words, " "))
	}
	return strings.Join(list, "; ")
}
