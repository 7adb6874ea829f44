package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/config"
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

func (c customs) Set(text string) error { return c.options.AddCustom(text) }

// costs is a flag that names a file of machines.
type costs struct{ options *gen.Options }

func (c costs) String() string { return "" }

func (c costs) Set(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	c.options.Costs, err = cost.Read(f)
	return err
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
const weightsDTypeHelp = "stores the weights of matrix products, and tables that rows are gathered from, as `f32|f16|bf16`; they are widened when they are read, and sums stay in f32"

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
	file, key := text, ""
	i := strings.LastIndexByte(text, ':')
	_, err := os.Stat(text)
	keyed := err != nil && i > 0
	if keyed {
		file, key = text[:i], text[i+1:]
	}
	switch {
	case torchExts[strings.ToLower(filepath.Ext(file))]:
		c.given.Foreign = func() ([]byte, error) { return pytorch.ConfigJSON(file, key) }
	case keyed:
		c.given.Foreign = func() ([]byte, error) { return jsonUnder(file, key) }
	}
	return nil
}

// jsonUnder returns what a JSON file has under a key, whose parts are joined by dots.
func jsonUnder(file, key string) ([]byte, error) {
	data, err := os.ReadFile(file)
	if err != nil || key == "" {
		return data, err
	}
	for part := range strings.SplitSeq(key, ".") {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(data, &object); err != nil {
			return nil, fmt.Errorf("%s: key %q: no object has it", file, key)
		}
		below, ok := object[part]
		if !ok {
			return nil, fmt.Errorf("%s: key %q: there is none; there are %q", file, key, slices.Sorted(maps.Keys(object)))
		}
		data = below
	}
	return data, nil
}

// modelFlags declares the flags that change how a model is read.
func modelFlags(flags *flag.FlagSet) *gen.Options {
	o := &gen.Options{Inputs: map[string]string{}, Dims: map[string]string{}}
	flags.Var(pairs(o.Inputs), "input", "gives an input a shape, as in `NAME=1x3x224x224` (repeatable)")
	flags.Var(pairs(o.Dims), "dim", "fixes a symbol, as in `N=4`, or bounds it, as in N=1..64 (repeatable)")
	flags.Var((*list)(&o.Outputs), "output", "computes the value `NAME` instead of the outputs (repeatable)")
	flags.Var(customs{o}, "custom", "makes a Go function compute an operator, as in `'com.acme.Foo=example.com/ops.Foo: (f32[N,C], i64[N]) -> f32[N]'` (repeatable); the function is a func(*rt.Call) error, and decides the extents that only results have")
	flags.Var(costs{o}, "cost", "chooses algorithms for the machines in `FILE`, as burngen calibrate writes it, instead of those that burngen knows")
	flags.Var(configFile{&o.Config}, "config", "gives New of a description the configuration in the JSON `FILE[:KEY]`, or in a file that PyTorch saved; with a key, as in ckpt.pt:model.args or config.json:, it is another program's")
	flags.Var((*list)(&o.Config.Set), "set", "gives a field of that configuration a value, as in `Classes=10` (repeatable)")
	flags.Var(weightsDType{&o.WeightsDType}, "weights-dtype", weightsDTypeHelp)
	flags.BoolVar(&o.Strict, "strict", false, "keeps rounding errors about as small as ONNX Runtime's: no minimal filtering, no formulas rewritten, long sums in parts")
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

// forDescription checks that flags are given for a kind of model that they mean something
// to: a description or, otherwise, a file.
func forDescription(o *gen.Options, isDescription bool) error {
	for _, f := range []struct {
		name  string
		given bool
		of    bool
	}{
		{"-input", len(o.Inputs) > 0, false},
		{"-output", len(o.Outputs) > 0, false},
		{"-custom", len(o.Custom) > 0, false},
		{"-config", o.Config.File != "", true},
		{"-set", len(o.Config.Set) > 0, true},
	} {
		switch {
		case f.given && f.of && !isDescription:
			return usagef("%s is for descriptions, not for model files", f.name)
		case f.given && !f.of && isDescription:
			return usagef("%s is for model files, not for descriptions", f.name)
		}
	}
	return nil
}

// load reads and compiles what a command line names.
func load(path string, o *gen.Options, s *streams) (*gen.Model, error) {
	if err := forDescription(o, gen.IsDescription(path)); err != nil {
		return nil, err
	}
	o.Stdout, o.Stderr = s.err, s.err
	return gen.Load(path, *o)
}
