package gen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/format"
	"slices"
	"strconv"
	"strings"

	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/runtime/cpu/simd128"
	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/web"
	"github.com/burngen/burngen/templates"
)

const (
	webPath = "github.com/burngen/burngen/runtime/web"
	// webModule is the file that marks a folder as one that was generated for browsers.
	webModule = "burngen.js"
)

// NewWebOutput is [NewOutput] for the files of a folder for browsers. It also returns an error if the folder holds a
// generated Go package.
func NewWebOutput(dir string, files []emit.File) (*Output, error) {
	if isPackage(dir) {
		return nil, fmt.Errorf("%s: holds a Go package; choose another folder with -o", dir)
	}
	return NewOutput(dir, files)
}

// WebMain returns a main package for js/wasm that lets scripts call the package with this import path. It returns an
// error if the package needs a file of weights.
func (m *Model) WebMain(imported string) ([]byte, error) {
	switch m.store().(type) {
	case emit.Beside, emit.Existing:
		return nil, fmt.Errorf("-web: the weights are in a file of their own, and a page has no files")
	}
	methods, err := m.served()
	if err != nil {
		return nil, err
	}
	var list []string
	for _, s := range methods {
		list = append(list, "s."+s.Name)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "// %s\n\n", emit.Header)
	fmt.Fprintf(&b, "package main\n\nimport (\n%q\n\nmodel %q\n)\n\n", webPath, imported)
	fmt.Fprintf(&b, "func main() {\nweb.Main(func() (*model.Model, error) { return %s }, func(s *model.Session) []any { return []any{%s} })\n}\n", m.loads(), strings.Join(list, ", "))
	return format.Source(b.Bytes())
}

// WebFiles returns the files of a folder that any server of static files serves. program is the main package of
// [Model.WebMain], built for js/wasm. support is the script that the toolchain has for such programs, wasm_exec.js.
func (m *Model) WebFiles(program, support []byte) ([]emit.File, error) {
	methods, err := m.served()
	if err != nil {
		return nil, err
	}
	text := func(name string) []byte {
		data, err := templates.Web.ReadFile("web/" + name)
		if err != nil {
			panic(err) // the file is embedded
		}
		return data
	}
	return []emit.File{
		{Name: "index.html", Data: text("index.html")},
		{Name: webModule, Data: text("burngen.js")},
		{Name: "burngen.d.ts", Data: webTypes(m.Name, methods)},
		{Name: "worker.js", Data: slices.Concat([]byte(headerLine+"\n\n"), support, text("worker.js"))},
		{Name: "main.wasm", Data: program},
		{Name: "kernels.wasm", Data: simd128.Module},
	}, nil
}

// served returns the model's methods. It returns an error if scripts cannot call one by its name.
func (m *Model) served() ([]rt.ServedMethod, error) {
	e, _, err := m.emission()
	if err != nil {
		return nil, err
	}
	list, err := emit.Served(e)
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		// A promise of an object with a function then never gives this object.
		if name := web.MethodName(s.Name); slices.Contains([]string{"name", "methods", "reset", "close", "then"}, name) {
			return nil, fmt.Errorf("-web: the model has a method %s, and scripts use the name %s for something else", s.Name, name)
		}
		for _, p := range slices.Concat(s.Inputs, s.Outputs) {
			if web.Array(p.DType) == "" {
				return nil, fmt.Errorf("-web: method %s: %q has type %s, which scripts do not have", s.Name, p.Name, p.DType)
			}
		}
	}
	return list, nil
}

// array returns the type of TypeScript for the elements of a port.
func array(p rt.Port) string {
	if class := web.Array(p.DType); class != "Array" {
		return class
	}
	return "string[]"
}

// webTypes declares in TypeScript what burngen.js exports.
func webTypes(name string, methods []rt.ServedMethod) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// %s\n", emit.Header)
	b.WriteString(`
/** A tensor: its elements in row-major order, and its extents. */
export interface Tensor<A> {
  data: A;
  shape: number[];
}

/** An input or output of a method. */
export interface Port {
  name: string;
  /** The type of the elements, such as "f32". Elements of f16 and bf16 are passed as their bits. */
  type: string;
  /** The class of the array with the elements, such as "Float32Array". */
  array: string;
  /** Numbers, and the symbols of open extents. */
  shape: (number | string)[];
}
`)
	for _, m := range methods {
		name := web.MethodName(m.Name)
		fmt.Fprintf(&b, "\n/** The inputs of the method %s. */\nexport interface %sInputs {\n", name, m.Name)
		for _, p := range m.Inputs {
			accepted := fmt.Sprintf("Tensor<%s>", array(p))
			if openExtents(p) <= 1 {
				accepted = array(p) + " | " + accepted
			}
			fmt.Fprintf(&b, "  /** %s */\n  %s: %s;\n", shapeText(p), property(p.Name), accepted)
		}
		fmt.Fprintf(&b, "}\n\n/** The outputs of the method %s. */\nexport interface %sOutputs {\n", name, m.Name)
		for _, p := range m.Outputs {
			fmt.Fprintf(&b, "  /** %s */\n  %s: Tensor<%s>;\n", shapeText(p), property(p.Name), array(p))
		}
		b.WriteString("}\n")
	}
	fmt.Fprintf(&b, "\n/** The model %s in a worker. Its calls are computed one after the other. */\nexport interface Model {\n", inComment(strconv.QuoteToASCII(name)))
	b.WriteString(`  /** The model's name. */
  readonly name: string;
  /** What the methods take and return. */
  readonly methods: Readonly<Record<string, { inputs: Port[]; outputs: Port[] }>>;
`)
	for _, m := range methods {
		fmt.Fprintf(&b, "  %s(inputs: %sInputs): Promise<%sOutputs>;\n", web.MethodName(m.Name), m.Name, m.Name)
	}
	b.WriteString(`  /** Forgets the states that the model keeps from call to call. */
  reset(): Promise<void>;
  /** Ends the worker. Calls without an answer, and later ones, reject. */
  close(): void;
}

/** Starts the model. The promise rejects if the model cannot be loaded. */
export function load(): Promise<Model>;
`)
	return b.Bytes()
}

// openExtents returns the number of extents that depend on the call.
func openExtents(p rt.Port) (n int) {
	for _, text := range p.Shape {
		if _, err := strconv.Atoi(text); err != nil {
			n++
		}
	}
	return n
}

func shapeText(p rt.Port) string {
	return inComment(p.DType + "[" + strings.Join(p.Shape, ",") + "]")
}

// inComment returns text that does not end a comment.
func inComment(text string) string { return strings.ReplaceAll(text, "*/", "* /") }

// property returns a name as a quoted key.
func property(name string) string {
	quoted, _ := json.Marshal(name) // a string has no error
	return string(quoted)
}
