package config_test

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/burngen/burngen/gen/config"
)

const structs = `package p

type Kind string

// Config has fields of all kinds.
type Config struct {
	Classes, Hidden int
	Rate    float64  ` + "`default:\"1e-3\"`" + `
	Small   float32  ` + "`default:\"0.1\"`" + `
	Deep    bool     ` + "`default:\"true\"`" + `
	Name    string   ` + "`default:\"a \\\"b\\\"\" json:\"name,omitempty\"`" + `
	Kind    Kind     ` + "`default:\"wide\"`" + `
	Widths  []int    ` + "`default:\"1, 0x10\"`" + `
	Pair    [2]uint8 ` + "`default:\"[1,2]\"`" + `
	Limit   *int
	Clip    *float64 ` + "`default:\"1\"`" + `
	Type    map[string][]bool
	Head    Head
	Heads   []Head
	Extra   *Head
}

type Head struct {
	Width int
	Scale float32 ` + "`default:\"2\"`" + `
}
`

// read reads configurations, all structs of the text.
func read(t *testing.T, text string) (*config.Set, scanner.ErrorList) {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "p.go", text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var marked []config.Marked
	for _, d := range f.Decls {
		g := d.(*ast.GenDecl)
		if s := g.Specs[0].(*ast.TypeSpec); s.Name.Name != "Kind" {
			marked = append(marked, config.Marked{Spec: s, Doc: g.Doc.Text(), Pos: g.Pos()})
		}
	}
	return config.Read(fset, []*ast.File{f}, marked)
}

// all gives every field that has no default.
var all = strings.Fields(`Classes=10 Hidden=0x20 Head.Width=4`)

func TestValue(t *testing.T) {
	set, faults := read(t, structs)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "c.json")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const rest = `"Classes": 1, "Hidden": 2, "Rate": 1e3, "Small": 1, "Deep": false, "name": "\u00e9", "Kind": "k", "Widths": [], "Pair": [3, 4], "Type": {"b": [true], "a": null}`
	for _, c := range []struct {
		name  string
		given config.Given
		want  string // the expression, or the error behind "error: "
	}{
		{"a map has no text", config.Given{Set: append([]string{"Type=x"}, all...)},
			`error: -set Type=x: map[string][]bool has no value that is written as text; give a file with -config`},
		{"what lacks is listed", config.Given{}, "error: Classes, Hidden, Type, Head.Width, Heads missing"},
		{"a file has all keys", config.Given{File: file(`{"Classes": 1}`)},
			`error: Config.Hidden: key "Hidden" is missing` + "\n" + `Config.Rate: key "Rate" is missing`},
		{"a file has no others", config.Given{File: file(`{"Depth": 1, ` + rest + `, "Head": {"Width": 1, "Scale": 2}, "Heads": []}`)},
			`error: Config: unknown key "Depth"`},
		{"kinds are kept apart", config.Given{File: file(`{` + strings.Replace(rest, `"Classes": 1`, `"Classes": "1"`, 1) + `, "Head": {"Width": 1.5, "Scale": 2}, "Heads": []}`)},
			`error: Config.Classes: "1" is not of type int` + "\n" + `Config.Head.Width: "1.5" is not of type int`},
		{"a file is an object", config.Given{File: file(`[1]`)}, `error: Config: [1] is not a configuration`},
		{"a file is JSON", config.Given{File: file(`{`)}, `is not JSON`},
		{"values come after a file", config.Given{File: file(`{` + rest + `, "Head": {"Width": 1, "Scale": 2}, "Heads": [{"Width": 3, "Scale": 1}], "Extra": {"Width": 5, "Scale": 5}}`), Set: []string{"Head.Width=7", "Widths=4,5", "Limit=6", "Extra.Width=8"}},
			`Config{Classes: 1, Hidden: 2, Rate: 1000, Small: 1, Deep: false, Name: "é", Kind: "k", Widths: []int{4, 5}, Pair: [2]uint8{3, 4}, Limit: func() *int { var x int = 6; return &x }(), Clip: func() *float64 { var x float64 = 1; return &x }(), Type: map[string][]bool{"a": nil, "b": []bool{true}}, Head: Head{Width: 7, Scale: 2}, Heads: []Head{Head{Width: 3, Scale: 1}}, Extra: &Head{Width: 8, Scale: 5}}`},
		{"another program's keys", config.Given{File: "x", Foreign: func() ([]byte, error) {
			return []byte(`{"model": "m", "CLASSES": 1, "hid_den": 2, "hidden": null, "rate": 2, "Name": "n", "type": {"a": [true]}, "head": {"width": 1, "more": 0}, "heads": [{"WIDTH": 3}], "limit": null}`), nil
		}}, `Config{Classes: 1, Hidden: 2, Rate: 2, Small: 0.1, Deep: true, Name: "n", Kind: "wide", Widths: []int{1, 16}, Pair: [2]uint8{1, 2}, Clip: func() *float64 { var x float64 = 1; return &x }(), Type: map[string][]bool{"a": []bool{true}}, Head: Head{Width: 1, Scale: 2}, Heads: []Head{Head{Width: 3, Scale: 2}}}`},
		{"another program's do not fit", config.Given{File: "x", Foreign: func() ([]byte, error) { return []byte(`{"classes": 1.5, "deep": 2}`), nil }}, `error: Config.Classes: "1.5" is not of type int` + "\n" + `Config.Deep: "2" is not of type bool`},
		{"an unknown field", config.Given{Set: []string{"Head.Depth=1"}}, "error: -set Head.Depth=1: Config has no field Head.Depth"},
		{"twice", config.Given{Set: []string{"Hidden=1", "Hidden=2"}}, "error: -set Hidden=2: Hidden is given twice"},
		{"without a value", config.Given{Set: []string{"Hidden"}}, "error: -set Hidden: Field=value expected"},
		{"too large", config.Given{Set: []string{"Pair=1,256"}}, `-set Pair=1,256: "256" is not of type uint8`},
		{"too many", config.Given{Set: []string{"Pair=1,2,3"}}, `-set Pair=1,2,3: 3 elements, [2]uint8 expected`},
		{"infinite", config.Given{Set: []string{"Rate=inf"}}, `-set Rate=inf: "inf" is not of type float64`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := set.Value("Config", c.given)
			if err != nil {
				got = "error: " + err.Error()
			}
			if exact := strings.HasPrefix(c.want, "Config{"); exact && got != c.want || !strings.Contains(got, c.want) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if err == nil {
				if _, err := parser.ParseExpr(got); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestRead(t *testing.T) {
	set, faults := read(t, structs)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	got := map[string]string{}
	for _, f := range set.Struct("Config").Fields {
		got[f.Name] = f.Type.String() + " " + f.Key + " " + f.Default
	}
	want := map[string]string{
		"Classes": "int Classes ", "Hidden": "int Hidden ", "Rate": "float64 Rate 0.001", "Small": "float32 Small 0.1", "Deep": "bool Deep true",
		"Name": `string name "a \"b\""`, "Kind": `Kind Kind "wide"`, "Widths": "[]int Widths []int{1, 16}", "Pair": "[2]uint8 Pair [2]uint8{1, 2}",
		"Limit": "*int Limit ", "Clip": "*float64 Clip func() *float64 { var x float64 = 1; return &x }()", "Type": "map[string][]bool Type ",
		"Head": "Head Head ", "Heads": "[]Head Heads ", "Extra": "*Head Extra ",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if d := cmp.Diff([]string{"Config", "NewConfig", "LoadConfig", "Head", "NewHead", "LoadHead", "Kind"}, set.Names()); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestSource(t *testing.T) {
	set, _ := read(t, structs)
	source, err := set.Source("Header.", "p")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"// Header.\n\npackage p\n",
		"func NewConfig(classes int, hidden int, type_ map[string][]bool, head Head, heads []Head) Config {",
		"func (c Config) WithType(type_ map[string][]bool) Config {",
		"func LoadHead(path string) (Head, error) {",
	} {
		if !strings.Contains(string(source), want) {
			t.Errorf("no %q in\n%s", want, source)
		}
	}
	if strings.Contains(string(source), "type Config") {
		t.Error("the configurations' own package declares them")
	}
	other, err := set.Declare("Header.", "q", "Config{Classes: 1}")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"type Kind string", "// Config has fields of all kinds.\ntype Config struct {", "var Built = Config{Classes: 1}"} {
		if !strings.Contains(string(other), want) {
			t.Errorf("no %q in\n%s", want, other)
		}
	}
}
