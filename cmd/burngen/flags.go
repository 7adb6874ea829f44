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
	"github.com/burngen/burngen/gen/target"
	"github.com/burngen/burngen/gen/target/cpu"
	"github.com/burngen/burngen/gen/target/cpu/cost"
	"github.com/burngen/burngen/internal/file"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/pytorch"
)

type pairs map[string]string

func (p pairs) String() string {
	var list []string
	for _, k := range slices.Sorted(maps.Keys(p)) {
		list = append(list, k+"="+p[k])
	}
	return strings.Join(list, " ")
}

func (p pairs) repeats() {}

// Set adds "NAME=VALUE". It splits at the last "=", because names in models may contain any character.
// It returns an error if NAME or VALUE is empty, or if NAME is given twice.
func (p pairs) Set(text string) error {
	i := strings.LastIndexByte(text, '=')
	if i < 1 || i == len(text)-1 {
		return fmt.Errorf("NAME=VALUE expected")
	}
	if _, twice := p[text[:i]]; twice {
		return fmt.Errorf("%s is given twice", text[:i])
	}
	p[text[:i]] = text[i+1:]
	return nil
}

type list []string

func (l *list) String() string { return strings.Join(*l, " ") }

func (l *list) repeats() {}

func (l *list) Set(text string) error {
	if text == "" {
		return fmt.Errorf("the value is empty")
	}
	*l = append(*l, text)
	return nil
}

// customs is the flag -custom OPERATOR=FUNC: TYPE, which adds custom operators to options.
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

// costs is a flag whose value is a file of machine parameters. It sets the target in options to a target that uses
// these parameters.
type costs struct{ options *gen.Options }

func (c costs) String() string { return "" }

func (c costs) Set(path string) error {
	data, err := file.Read(path, maxJSON)
	if err == nil {
		var model *cost.Model
		model, err = cost.Read(bytes.NewReader(data))
		c.options.Target = cpu.Target{Costs: model}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// weightsDType is a flag with the type in which weights are stored: f32, f16 or bf16.
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

const weightsDTypeHelp = "store the weights of matrix products and embedding tables as `TYPE`; sums stay in f32:\n" +
	"  f32   full precision (default)\n" +
	"  f16   half the size, 11 significant bits, numbers up to 65504\n" +
	"  bf16  half the size, 8 significant bits, the range of f32"

const strictHelp = "keep rounding errors within 1.5 times ONNX Runtime's; slower: no Winograd convolutions, no algebraic\n" +
	"rewrites, and long sums are added in parts"

// configFile is the flag -config FILE[:KEY]. KEY tells where in the file the configuration is.
type configFile struct{ given *config.Given }

func (c configFile) String() string {
	if c.given == nil {
		return ""
	}
	return c.given.File
}

// Set stores FILE, or FILE and KEY. The key follows the last colon, unless a file with the whole
// text as its name exists.
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

const maxJSON = 64 << 20

// jsonUnder returns the value at key in a JSON file. key is a path of keys joined by dots; "" is
// the whole file. It returns an error if there is no such key.
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
			return nil, fmt.Errorf("%s: key %q: no JSON object holds %q", path, key, part)
		}
		below, ok := object[part]
		if !ok {
			return nil, fmt.Errorf("%s: key %q: there is no %q; the keys are %q", path, key, part, slices.Sorted(maps.Keys(object)))
		}
		data = below
	}
	return data, nil
}

// modelFlags declares the flags that change how a model is read. The options are set when the flags
// are parsed.
func modelFlags(flags *flagSet) *gen.Options {
	o := &gen.Options{Inputs: map[string]string{}, Dims: map[string]string{}}
	flags.section(ofFiles, func() {
		flags.Var(pairs(o.Inputs), "input", "change the shape of an input, `NAME=1x3x224x224`")
		flags.Var((*list)(&o.Outputs), "output", "return the value `NAME` of the graph instead of the model's outputs")
		flags.Var(customs{o}, "custom", "compute an operator with a Go function, `OPERATOR=FUNC:TYPE`, as in\n'com.acme.Foo=example.com/ops.Foo: (f32[N,C], i64[N]) -> f32[N]'.\nFUNC is a func(*rt.Call) error. It sets the dimensions that only results have")
	})
	flags.section(ofDescriptions, func() {
		flags.Var(configFile{&o.Config}, "config", "read the configuration that New takes from a file, `FILE[:KEY]`: JSON, or a file that PyTorch saved.\nKEY is the path of the configuration in FILE, as in ckpt.pt:model.args. JSON that another program wrote\nneeds a KEY, which may be empty: config.json: (default none)")
		flags.Var((*list)(&o.Config.Set), "set", "set a field of the configuration, `NAME=VALUE`, as in Classes=10")
	})
	flags.Var(pairs(o.Dims), "dim", "fix an open dimension, `NAME=4`, or bound it, NAME=1..64")
	flags.Var(costs{o}, "cost", "choose algorithms for the machines that `FILE` describes; burngen calibrate writes it (default: three built-in machines)")
	flags.Var(weightsDType{&o.WeightsDType}, "weights-dtype", weightsDTypeHelp)
	flags.BoolVar(&o.Strict, "strict", false, strictHelp)
	return o
}

// oneModel returns the only file argument. It returns an error unless there is exactly one.
func oneModel(files []string) (string, error) {
	switch len(files) {
	case 0:
		return "", usagef("name a model: an ONNX file, or the folder of a description in Go")
	case 1:
		return files[0], nil
	}
	return "", usagef("name one model, not %d: %q", len(files), files)
}

// checkKind returns an error if a flag for the other kind of model is given. isDescription says
// that the model is a description in Go, not an ONNX file.
func checkKind(flags *flagSet, isDescription bool) error {
	if wrong := flags.given(ofDescriptions); len(wrong) > 0 && !isDescription {
		return usagef("%s applies to descriptions in Go, not to ONNX files", wrong[0])
	}
	if wrong := flags.given(ofFiles); len(wrong) > 0 && isDescription {
		return usagef("%s applies to ONNX files, not to descriptions in Go", wrong[0])
	}
	return nil
}

// load compiles the model at path, an ONNX file or a Go package that describes a model. It returns an error if a flag
// for the other kind of model is given. What a Go package prints goes to s.err.
func load(flags *flagSet, path string, o *gen.Options, s *streams) (*gen.Model, error) {
	if err := checkKind(flags, gen.IsDescription(path)); err != nil {
		return nil, err
	}
	o.Stdout, o.Stderr = s.err, s.err
	return gen.Load(path, *o)
}

// loadFor calls [load] for each target in `on`, the value of a flag. If the flag is not given, it calls load for the
// target in o. It returns the models in the order of the targets.
func loadFor(on *oneTarget, flags *flagSet, path string, o *gen.Options, s *streams) ([]*gen.Model, error) {
	targets := []target.Target{on.target}
	if on.auto {
		targets = target.All
	}
	var models []*gen.Model
	for _, t := range targets {
		options := *o
		if t != nil {
			options.Target = t
		}
		if at, ok := target.At(options.Target, *on.precision); ok {
			options.Target = at
		}
		m, err := load(flags, path, &options, s)
		if err != nil {
			return nil, err
		}
		models = append(models, m)
	}
	return models, nil
}
