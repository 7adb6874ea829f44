package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/value"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx"
	"github.com/burngen/burngen/runtime/rt"
)

var runCommand = command{
	name:  "run",
	usage: "MODEL -in NAME=FILE… [-out DIR] [flags]",
	short: "run a model in this process, without generating code, and print its outputs",
	examples: `  burngen run classifier.onnx -in image=cat.png
  burngen run encoder.onnx -in ids=ids.npy -in mask=mask.npy -out results
  burngen run model.onnx -in x=input_0.pb -dim N=1
  burngen run ./model -weights trained.pt -remap '^module\.=>' -in image=cat.png
`,
	define: defineRun,
}

func defineRun(flags *flagSet) func(*streams, []string) error {
	o, weights := modelFlags(flags), fileFlags(flags, false)
	in := pairs{}
	flags.Var(in, "in", "read an input from a file, `NAME=FILE`: .npy, .pb (TensorProto), .bin (raw), .png, .jpg or .gif")
	on := runTarget(flags, "run on `TARGET`")
	dir := flags.String("out", "", "write the outputs to the folder `DIR` as .npy files")
	return func(s *streams, files []string) error {
		file, err := oneModel(files)
		if err != nil {
			return err
		}
		done, err := weights.open(flags, o, s)
		if err != nil {
			return err
		}
		defer done()
		t, err := on.found(s.err, o.Target)
		if err != nil {
			return err
		}
		var closed func()
		if o.Target, closed, err = onDevice(t); err != nil {
			return err
		}
		defer closed()
		bar := newProgress(s.err)
		o.Progress = bar.stage
		m, err := load(flags, file, o, s)
		bar.end()
		if err != nil {
			return err
		}
		if err := m.CanRun(); err != nil {
			return err
		}
		results, err := execute(m, in)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Source.File, err)
		}
		for i, t := range results {
			name := m.Forward.IR.ResultNames[i]
			if isState(m, name) {
				fmt.Fprint(s.out, "state ")
			}
			printTensor(s.out, name, t)
		}
		if *dir == "" {
			return nil
		}
		return save(*dir, m.Forward.IR.ResultNames, results)
	}
}

func isState(m *gen.Model, name string) bool {
	return slices.ContainsFunc(m.Meta.States, func(p rt.Port) bool { return p.Name == name })
}

// execute runs a model and returns its results. `in` maps the names of arguments to files. A state without a file
// starts as zeros. execute returns an error if another argument has no file.
func execute(m *gen.Model, in pairs) ([]*ir.Tensor, error) {
	f := m.Forward.IR
	given, err := readInputs(f, in)
	if err != nil {
		return nil, err
	}
	var args []any
	var shapes [][]int
	for _, p := range f.Params {
		t, ok := given[p.Name]
		switch {
		case ok:
			args, shapes = append(args, value.Slice(t)), append(shapes, t.Shape)
		case isState(m, p.Name):
			args, shapes = append(args, nil), append(shapes, nil)
		default:
			return nil, fmt.Errorf("-in %s=FILE is missing: %s", p.Name, p.Type)
		}
	}
	if err := m.BeginStates(args, shapes); err != nil {
		return nil, err
	}
	results, outShapes, err := m.Run(args, shapes)
	if err != nil {
		return nil, err
	}
	var out []*ir.Tensor
	for i, r := range results {
		t, err := value.FromSlice(f.Results[i].Type.DType, outShapes[i], r)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// readInputs reads the files of -in. The result is keyed by parameter name.
func readInputs(f *ir.Func, in pairs) (map[string]*ir.Tensor, error) {
	names, types := []string{}, map[string]ir.Type{}
	for _, p := range f.Params {
		names, types[p.Name] = append(names, p.Name), p.Type
	}
	given := map[string]*ir.Tensor{}
	for _, text := range slices.Sorted(maps.Keys(in)) {
		name, err := onnx.Named("input", text, names)
		if err != nil {
			return nil, fmt.Errorf("-in %s: %w", text, err)
		}
		t, err := value.Read(in[text], types[name])
		if err != nil {
			return nil, fmt.Errorf("-in %s: %w", name, err)
		}
		given[name] = t
	}
	return given, nil
}

const firstValues = 8

// printTensor prints the type, the first values and the largest element of an output.
func printTensor(w io.Writer, name string, t *ir.Tensor) {
	fmt.Fprintf(w, "%q %s:", name, t.Type())
	largest := -1
	for i := range t.Len() {
		if i < firstValues {
			fmt.Fprint(w, " "+elementText(t, i))
		}
		if t.DType != ir.String && t.Number(i) == t.Number(i) && (largest < 0 || t.Number(i) > t.Number(largest)) {
			largest = i
		}
	}
	if t.Len() > firstValues {
		fmt.Fprint(w, " …")
	}
	if largest >= 0 && t.Len() > 1 {
		fmt.Fprintf(w, "; largest %s at %d", elementText(t, largest), largest)
	}
	fmt.Fprintln(w)
}

func elementText(t *ir.Tensor, i int) string {
	switch {
	case t.DType == ir.String:
		return fmt.Sprintf("%q", t.Text(i))
	case t.DType.IsFloat():
		return fmt.Sprintf("%.6g", t.Float(i))
	case t.DType == ir.Bool:
		return fmt.Sprint(t.Bool(i))
	case t.DType == ir.U64:
		return fmt.Sprint(uint64(t.Int(i)))
	}
	return fmt.Sprint(t.Int(i))
}

// save writes results[i] to a file in dir as a NumPy array. The file is named after names[i].
func save(dir string, names []string, results []*ir.Tensor) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("-out: %w", err)
	}
	taken := map[string]bool{}
	for i, t := range results {
		name := fileName(names[i])
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s_%d", fileName(names[i]), n)
		}
		taken[name] = true
		if err := value.SaveNPY(filepath.Join(dir, name+".npy"), t); err != nil {
			return fmt.Errorf("-out: %w", err)
		}
	}
	return nil
}

// fileName converts `text` to a file name of at most 100 bytes. It replaces all characters but ASCII letters, digits,
// ".", "_" and "-" by underscores. It cuts off dots and underscores at both ends. It returns "output" if nothing is
// left.
func fileName(text string) string {
	name := strings.Trim(strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}, text), "._")
	if name == "" {
		return "output"
	}
	return name[:min(len(name), 100)]
}
