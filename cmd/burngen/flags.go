package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/config"
	"github.com/burngen/burngen/internal/file"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/cost"
	"github.com/burngen/burngen/pytorch"
)

// pairs is a flag that is repeated: name=value.
type pairs map[string]string

func (p pairs) String() string {
	var list []string
	for _, k := range slices.Sorted(maps.Keys(p)) {
		list = append(list, k+"="+p[k])
	}
	return strings.Join(list, " ")
}

func (p pairs) repeats() {}

// Set adds "name=value"; the value is what stands after the last sign, because
// names in models hold anything.
func (p pairs) Set(text string) error {
	i := strings.LastIndexByte(text, '=')
	if i < 1 || i == len(text)-1 {
		return fmt.Errorf("name=value expected")
	}
	if _, twice := p[text[:i]]; twice {
		return fmt.Errorf("%s is given twice", text[:i])
	}
	p[text[:i]] = text[i+1:]
	return nil
}

// list is a flag that is repeated.
type list []string

func (l *list) String() string { return strings.Join(*l, " ") }

func (l *list) repeats() {}

func (l *list) Set(text string) error {
	if text == "" {
		return fmt.Errorf("a name expected")
	}
	*l = append(*l, text)
	return nil
}

// customs is a flag that is repeated: OPERATOR=FUNC: TYPE.
type customs struct{ options *gen.Options }

func (c customs) String() string {
	if c.options == nil {
		return ""
	}
	var list []string
	for _, o := range c.options.Custom {
		list = append(list, o.String())
	}
	return strings.Join(list, " ")
}

func (c customs) repeats() {}

func (c customs) Set(text string) error { return c.options.AddCustom(text) }

// costs is a flag that names a file of machines.
type costs struct{ options *gen.Options }

func (c costs) String() string { return "" }

func (c costs) Set(path string) error {
	data, err := file.Read(path, maxJSON)
	if err == nil {
		c.options.Costs, err = cost.Read(bytes.NewReader(data))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// weightsDType is a flag that names what weights are stored as.
type weightsDType struct{ dtype *ir.DType }

func (w weightsDType) String() string {
	if w.dtype == nil || *w.dtype == ir.Invalid {
		return ""
	}
	return w.dtype.String()
}

func (w weightsDType) Set(text string) error {
	for _, d := range []ir.DType{ir.F32, ir.F16, ir.BF16} {
		if d.String() == text {
			*w.dtype = d
			return nil
		}
	}
	return fmt.Errorf("f32, f16 or bf16 expected")
}

// weightsDTypeHelp tells what the flag does.
const weightsDTypeHelp = "store the weights of matrix products and embedding tables as `TYPE`; sums stay in f32:\n" +
	"  f32   as they are (default)\n" +
	"  f16   half the size, 11 significant bits, nothing beyond 65504\n" +
	"  bf16  half the size, 8 significant bits"

// strictHelp tells what -strict does.
const strictHelp = "keep rounding errors about as small as ONNX Runtime's: no minimal filtering, no rewritten formulas, long sums in parts"

// configFile is a flag that names a configuration.
type configFile struct{ given *config.Given }

func (c configFile) String() string {
	if c.given == nil {
		return ""
	}
	return c.given.File
}

// Set takes what stands after the last colon for a key, unless there is a file of the
// whole name.
func (c configFile) Set(text string) error {
	c.given.File, c.given.Foreign = text, nil
	path, key := text, ""
	i := strings.LastIndexByte(text, ':')
	_, err := os.Stat(text)
	keyed := err != nil && i > 0
	if keyed {
		path, key = text[:i], text[i+1:]
	}
	switch {
	case torchExts[strings.ToLower(filepath.Ext(path))]:
		c.given.Foreign = func() ([]byte, error) { return pytorch.ConfigJSON(path, key) }
	case keyed:
		c.given.Foreign = func() ([]byte, error) { return jsonUnder(path, key) }
	}
	return nil
}

// maxJSON bounds the JSON files that are read.
const maxJSON = 64 << 20

// jsonUnder returns what a JSON file has under a key, whose parts are joined by dots.
func jsonUnder(path, key string) ([]byte, error) {
	data, err := file.Read(path, maxJSON)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if key == "" {
		return data, nil
	}
	for part := range strings.SplitSeq(key, ".") {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(data, &object); err != nil {
			return nil, fmt.Errorf("%s: key %q: no object has it", path, key)
		}
		below, ok := object[part]
		if !ok {
			return nil, fmt.Errorf("%s: key %q: there is none; there are %q", path, key, slices.Sorted(maps.Keys(object)))
		}
		data = below
	}
	return data, nil
}

// modelFlags declares the flags that change how a model is read.
func modelFlags(flags *flagSet) *gen.Options {
	o := &gen.Options{Inputs: map[string]string{}, Dims: map[string]string{}}
	flags.section(ofFiles, func() {
		flags.Var(pairs(o.Inputs), "input", "give an input another shape, `NAME=1x3x224x224`")
		flags.Var((*list)(&o.Outputs), "output", "compute the value `NAME` of the graph instead of the outputs")
		flags.Var(customs{o}, "custom", "compute an operator with a Go function, `OPERATOR=FUNC:TYPE`, as in\n'com.acme.Foo=example.com/ops.Foo: (f32[N,C], i64[N]) -> f32[N]'.\nThe function is a func(*rt.Call) error and decides the extents that only results have")
	})
	flags.section(ofDescriptions, func() {
		flags.Var(configFile{&o.Config}, "config", "call New with the configuration in a file, `FILE[:KEY]`: JSON, or a file that PyTorch saved.\nThe configuration of another program needs a key, as in ckpt.pt:model.args or config.json: (default none)")
		flags.Var((*list)(&o.Config.Set), "set", "set a field of the configuration, `NAME=VALUE`, as in Classes=10")
	})
	flags.Var(pairs(o.Dims), "dim", "fix a symbol, `NAME=4`, or bound it, NAME=1..64")
	flags.Var(costs{o}, "cost", "choose algorithms for the machines in `FILE`, which burngen calibrate writes (default: the machines that burngen knows)")
	flags.Var(weightsDType{&o.WeightsDType}, "weights-dtype", weightsDTypeHelp)
	flags.BoolVar(&o.Strict, "strict", false, strictHelp)
	return o
}

// oneModel returns the only file of a command line.
func oneModel(files []string) (string, error) {
	switch len(files) {
	case 0:
		return "", usagef("a model file is missing")
	case 1:
		return files[0], nil
	}
	return "", usagef("one model file expected, not %q", files)
}

// checkKind returns an error if a flag is given that the kind of model does not have.
func checkKind(flags *flagSet, isDescription bool) error {
	if wrong := flags.given(ofDescriptions); len(wrong) > 0 && !isDescription {
		return usagef("%s is for descriptions, not for model files", wrong[0])
	}
	if wrong := flags.given(ofFiles); len(wrong) > 0 && isDescription {
		return usagef("%s is for model files, not for descriptions", wrong[0])
	}
	return nil
}

// load reads and compiles what a command line names.
func load(flags *flagSet, path string, o *gen.Options, s *streams) (*gen.Model, error) {
	if err := checkKind(flags, gen.IsDescription(path)); err != nil {
		return nil, err
	}
	o.Stdout, o.Stderr = s.err, s.err
	return gen.Load(path, *o)
}
