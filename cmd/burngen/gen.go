package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/gen/target"
	"github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/gen/temporary"
	"github.com/burngen/burngen/ir"
)

var genCommand = command{
	name:  "gen",
	usage: "MODEL -o DIR [flags]",
	short: "generate a Go package from a model: an ONNX file, or the folder of a description in Go",
	examples: `  burngen resnet50.onnx -o internal/resnet
  burngen resnet50.onnx -o resnet -target cuda -precision bf16
  burngen detector.onnx -o detector -dim N=1 -input image=1x3x320x320
  burngen gen encoder.onnx -o encoder -output /pooler/output
  burngen boxes.onnx -o boxes -custom 'acme.NMS=example.com/ops.NMS: (f32[N,4], f32[N]) -> i64[K]'
  burngen resnet50.onnx -o resnet -train -loss cross_entropy -freeze 'layer[12].**'
  burngen ./model -o digits -train -set Classes=10
  burngen resnet50.onnx -o resnet -serve
  burngen digits.onnx -o site/digits -web
  burngen ./model -o whisper -weights whisper.pt -top-key model -remap 'encoder\.(.*)=>enc.$1'
  burngen resnet50.onnx -o internal/resnet -check    is the package up to date?
  //go:generate go tool burngen resnet50.onnx -o .
`,
	define: defineGen,
}

// genFlags holds the flags of the command gen.
type genFlags struct {
	flags   *flagSet
	options *gen.Options
	weights *weightsFlags
	// value of -o
	dir     string
	keep    string // value of -weights-keep, or ""
	targets []target.Target
	// value of -precision, which applies to GPU targets
	precision *gpu.Precision
	// generate the package that chooses among the targets
	auto  bool
	force bool
	check bool
	dump  string
}

var auto = gen.Options{}.Remat

func defineGen(flags *flagSet) func(*streams, []string) error {
	g := &genFlags{flags: flags, options: modelFlags(flags), weights: fileFlags(flags, true)}
	flags.section(ofDescriptions, func() {
		flags.Var(each(func(text string) error {
			g.options.Variants = append(g.options.Variants, strings.Split(text, ";"))
			return nil
		}), "variant", "try these fields of the configuration, `'NAME=VALUE;…'`, as in 'Block=conv;Depth=2'. The first\n-variant whose model has the tensors of -weights FILE is used")
	})
	flags.StringVar(&g.dir, "o", "", "write the package to the folder `DIR` (required)")
	flags.Var(manyTargets{&g.targets, &g.auto}, "target", "generate for these `TARGETS`, separated by commas. The package of the first target is in DIR,\nand each other package in a folder below it, as in DIR/cuda"+targetsHelp+
		"  auto    all targets, and the package DIR/auto, which takes the first of cuda, vulkan, cpu that the machine has")
	g.precision = precisionFlag(flags)
	flags.StringVar(&g.options.Package, "pkg", "", "name the package `NAME` (default: the name of the folder)")
	flags.section(ofTraining, func() {
		flags.BoolVar(&g.options.Train, "train", false, "generate a package that can also train the model. Its weights file holds the original weights")
		flags.StringVar(&g.options.Loss, "loss", "", "train to minimise `LOSS` of the first output and a target (required for ONNX files), one of\n"+
			strings.Join(gen.LossNames(), ", ")+". With none, the caller computes the loss")
		flags.Var((*list)(&g.options.Params), "params", "train only the weights that match `PATTERN`, as in 'head.**'. Without it, the parameters that\nburngen inspect lists are trained")
		flags.Var((*list)(&g.options.Freeze), "freeze", "do not train the parameters that match `PATTERN`")
		flags.Var(&g.options.Remat, "remat", "recompute activations in the backward pass instead of storing them, by `MODE`; results are the same:\n"+
			"  none  nothing\n"+
			"  auto  memory-bound operators (default)\n"+
			"  all   products and convolutions too")
		flags.BoolVar(&g.options.CheckNaN, "check-nan", false, "let training stop at the first node that computes a NaN, if TrainerOptions.CheckNaN is set")
	})
	flags.Func("weights-keep", "choose the form of the weights in the package's weights file, `KIND`:\n"+
		"  prepared  packed for the kernels: starts fastest (default)\n"+
		"  raw       the original weights, packed on first use: slower start, smaller file (default with -train, -web and several targets)\n"+
		"  both      both, so that a program that trains can infer at once", func(text string) error {
		g.keep = text
		return g.options.Keep.Set(text)
	})
	flags.Var((*size)(&g.options.Room), "arena", "allow `SIZE` for the memory of a call, such as 64MiB, with 32 for open dimensions. With -train, activations\nare recomputed until a step fits. What does not fit is an error, which names the largest values")
	flags.BoolVar(&g.options.Serve, "serve", false, "also write serve.go, which describes the package to a server, and the program DIR/server, which\nserves it. The program needs the module runtime/serve of burngen; see docs/serve.md")
	flags.BoolVar(&g.options.Web, "web", false, "write, in place of a package, a folder for browsers that any server of static files serves: the program\nmain.wasm with the weights, the module burngen.js, and a page; see docs/web.md")
	flags.BoolVar(&g.force, "force", false, "write even if the folder holds the package of another model, and replace that package")
	flags.BoolVar(&g.check, "check", false, "write nothing; print how the files would change, and exit with 1 if any would")
	flags.StringVar(&g.dump, "dump", "", "write the IR after each compiler pass to the folder `DIR`, as 07_name.ir")
	flags.IntVar(&g.options.Stop, "stop", 0, "run only the first `N` compiler passes, and the later ones that code generation needs (default: all passes)")
	return g.run
}

// complete checks the flags, sets defaults, and returns the model named on the command line.
func (g *genFlags) complete(files []string) (model string, err error) {
	if model, err = oneModel(files); err != nil {
		return "", err
	}
	if g.dir == "" && !gen.IsDescription(model) {
		if _, err := os.Lstat(model); err != nil {
			return "", usagef("%s: there is no such file, and no such command", model)
		}
		return "", usagef("-o DIR is missing")
	}
	g.options.WeightsOutside = g.weights.place == "file"
	if err := checkKind(g.flags, gen.IsDescription(model)); err != nil {
		return "", err
	}
	if err := g.checkTraining(gen.IsDescription(model)); err != nil {
		return "", err
	}
	if err := g.checkKeep(); err != nil {
		return "", err
	}
	if len(g.options.Variants) > 0 && (g.weights.file == "" || !gen.IsDescription(model)) {
		return "", usagef("-variant needs a description in Go and -weights FILE")
	}
	if err := g.checkPrecision(); err != nil {
		return "", err
	}
	if err := g.checkWeb(); err != nil {
		return "", err
	}
	if g.options.Stop < 0 {
		return "", usagef("-stop %d: a number of passes expected, at least 0", g.options.Stop)
	}
	if g.dir == "" {
		return model, nil
	}
	if g.options.Package == "" {
		g.options.Package, err = gen.PackageName(g.dir)
	} else if !gen.CanName(g.options.Package) {
		err = usagef("-pkg %s: a package cannot have this name", g.options.Package)
	}
	g.options.Flags = g.line()
	return model, err
}

// checkTraining checks the training flags. described says that the model is a description, which
// has losses of its own and needs no -loss.
func (g *genFlags) checkTraining(described bool) error {
	o := g.options
	switch {
	case o.Train && o.Loss == "" && described:
	case o.Train && o.Loss == "":
		return usagef("-train needs -loss with an ONNX file: one of %s", strings.Join(gen.LossNames(), ", "))
	case o.Train && !slices.Contains(gen.LossNames(), o.Loss):
		return usagef("-loss %s: one of %s expected", o.Loss, strings.Join(gen.LossNames(), ", "))
	case o.Train && o.WeightsDType != ir.Invalid && o.WeightsDType != ir.F32:
		return usagef("-weights-dtype %s cannot be used with -train, which needs the original weights", o.WeightsDType)
	case o.Train && g.keep == "prepared":
		return usagef("-weights-keep prepared cannot be used with -train, which needs the original weights; use raw or both")
	case !o.Train && len(g.flags.given(ofTraining)) > 0:
		return usagef("%s needs -train", g.flags.given(ofTraining)[0])
	}
	return nil
}

// checkPrecision sets the precision of the GPU targets. It returns an error for a precision below
// f32 without a GPU target.
func (g *genFlags) checkPrecision() error {
	if *g.precision == gpu.F32 {
		return nil
	}
	found := false
	for i, t := range g.targets {
		if at, ok := target.At(t, *g.precision); ok {
			g.targets[i], found = at, true
		}
	}
	if !found {
		return errPrecision(*g.precision)
	}
	return nil
}

// checkKeep checks -weights-keep. The default is raw in two cases: for several targets, because their packages share
// the original weights, and for -web, because a browser downloads the weights. checkKeep returns an error for
// prepared with several targets, or with a target that cannot run here.
func (g *genFlags) checkKeep() error {
	several := len(g.targets) > 1
	switch {
	case g.keep == "" && (several || g.options.Web):
		g.options.Keep = emit.KeepRaw
	case g.keep == "prepared" && (several || len(g.targets) == 1 && !g.targets[0].CanRun()):
		return usagef("-weights-keep prepared cannot be used with -target %s, which needs the original weights; use raw or both", manyTargets{&g.targets, &g.auto})
	}
	return nil
}

// line returns the flags that the generated header repeats, in the syntax of a command line.
func (g *genFlags) line() string {
	var parts []string
	add := func(name, value string) {
		for _, v := range strings.Fields(value) {
			parts = append(parts, "-"+name+" "+v)
		}
	}
	add("input", pairs(g.options.Inputs).String())
	add("dim", pairs(g.options.Dims).String())
	add("output", strings.Join(g.options.Outputs, " "))
	parts = append(parts, g.weights.line()...)
	add("weights-keep", g.keep)
	if *g.precision != gpu.F32 {
		add("precision", g.precision.String())
	}
	add("weights-dtype", weightsDType{&g.options.WeightsDType}.String())
	for _, o := range g.options.Custom {
		parts = append(parts, "-custom '"+o.String()+"'")
	}
	add("config", g.options.Config.File)
	for _, text := range g.options.Config.Set {
		parts = append(parts, "-set "+text)
	}
	for _, set := range g.options.Variants {
		parts = append(parts, "-variant "+quoted(strings.Join(set, ";")))
	}
	if g.options.Strict {
		parts = append(parts, "-strict")
	}
	if g.options.Train {
		parts = append(parts, "-train")
	}
	add("loss", g.options.Loss)
	add("params", strings.Join(g.options.Params, " "))
	add("freeze", strings.Join(g.options.Freeze, " "))
	if g.options.Remat != auto {
		add("remat", g.options.Remat.String())
	}
	if g.options.Room > 0 {
		add("arena", (*size)(&g.options.Room).String())
	}
	if g.options.CheckNaN {
		parts = append(parts, "-check-nan")
	}
	if g.options.Serve {
		parts = append(parts, "-serve")
	}
	return strings.Join(parts, " ")
}

func (g *genFlags) run(s *streams, files []string) error {
	model, err := g.complete(files)
	if err != nil {
		return err
	}
	start := time.Now()
	bar := newProgress(s.err)
	g.options.Progress = bar.stage
	g.options.Stdout, g.options.Stderr = s.err, s.err
	models, outputs, err := g.generateAll(s, model)
	bar.end()
	if err != nil {
		return err
	}
	if g.check {
		var diff []byte
		for _, o := range outputs {
			more, err := o.Diff()
			if err != nil {
				return err
			}
			diff = append(diff, more...)
		}
		if len(diff) == 0 {
			return nil
		}
		s.out.Write(diff)
		return errReported
	}
	for _, o := range outputs {
		if o.Other != "" && !g.force {
			return fmt.Errorf("%s: holds the package of another model, %s; choose another folder with -o, or replace the package with -force", o.Dir, o.Other)
		}
	}
	for _, o := range outputs {
		if err := o.Write(); err != nil {
			return err
		}
	}
	for _, m := range models {
		fmt.Fprint(s.out, m.Report())
	}
	fmt.Fprintf(s.out, "wrote %s in %.1f s\n", names(g.dir, outputs), time.Since(start).Seconds())
	return nil
}

// generateAll compiles the model for each target. The first target's package is in the folder -o,
// the others in folders below. If -target has auto, it adds the package that chooses among the
// targets. It returns a model for each target and the files to write.
func (g *genFlags) generateAll(s *streams, model string) (models []*gen.Model, outputs []*gen.Output, err error) {
	first, dir, pkg := g.options.Target, g.dir, g.options.Package
	defer func() { g.dir, g.options.Target, g.options.Package = dir, first, pkg }()
	if len(g.targets) == 0 {
		g.targets = []target.Target{first}
	}
	done, err := g.weights.open(g.flags, g.options, s)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	var packages []gen.Packaged
	outside := false
	for i, t := range g.targets {
		if i > 0 {
			g.dir, g.options.Package = filepath.Join(dir, t.Name()), t.Name()
		}
		if t != nil && (first == nil || t.Name() != first.Name()) {
			g.options.Target = t
		}
		m, more, err := g.compile(s, model)
		if err != nil {
			return nil, nil, err
		}
		if m != nil {
			models, packages = append(models, m), append(packages, gen.Packaged{Model: m, Dir: g.dir})
			outside = outside || m.WeightsSize() > gen.MaxEmbedded && g.weights.place == ""
		}
		if i == 0 { // the output beside a description is the same for all targets
			outputs = more
		}
	}
	if len(packages) == 0 {
		return models, outputs, nil
	}
	if g.options.Web {
		files, err := buildWeb(models[0])
		if err != nil {
			return nil, nil, err
		}
		out, err := gen.NewWebOutput(dir, files)
		return models, append(outputs, out), err
	}
	if outside {
		for _, m := range models {
			m.KeepWeightsOutside()
		}
	}
	folders, err := gen.Packages(packages, g.auto)
	if err != nil {
		return nil, nil, err
	}
	if g.options.Serve {
		server, err := gen.Server(packages[0])
		if err != nil {
			return nil, nil, err
		}
		folders = append(folders, server)
	}
	for _, f := range folders {
		out, err := gen.NewOutput(f.Dir, f.Files)
		if err != nil {
			return nil, nil, err
		}
		outputs = append(outputs, out)
	}
	return models, outputs, nil
}

// compile compiles the model for one target. For a description, outputs has the configuration file
// to write into the description's folder. m is nil if that folder has only configurations.
func (g *genFlags) compile(s *streams, model string) (m *gen.Model, outputs []*gen.Output, err error) {
	var dumped error
	if g.dump != "" {
		dumped = os.MkdirAll(g.dump, 0o777)
		g.options.Dump = func(index int, name string, m *ir.Module) {
			if dumped == nil {
				path := filepath.Join(g.dump, fmt.Sprintf("%02d_%s.ir", index, name))
				dumped = temporary.Write(path, func(f *os.File) error { _, err := f.WriteString(m.String()); return err })
			}
		}
	}
	for _, o := range g.options.Custom {
		if err := gen.CheckFunc(o, g.dir); err != nil {
			return nil, nil, err
		}
	}
	if gen.IsDescription(model) {
		m, outputs, err = g.describe(model)
	} else {
		m, err = gen.Load(model, *g.options)
	}
	switch {
	case dumped != nil:
		return nil, nil, fmt.Errorf("-dump: %w", dumped)
	case err != nil || m == nil:
		return nil, outputs, err
	}
	return m, outputs, m.CheckGradients(g.dir)
}

// describe reads and compiles a description: a Go package that describes a model. It also returns the configuration
// file to write into the description's folder.
func (g *genFlags) describe(path string) (*gen.Model, []*gen.Output, error) {
	d, err := gen.Describe(path, *g.options)
	only := errors.Is(err, gen.ErrOnlyConfigs)
	if err != nil && !only {
		return nil, nil, err
	}
	beside, err := gen.NewConfigOutput(d)
	switch {
	case err != nil:
		return nil, nil, err
	case only:
		return nil, []*gen.Output{beside}, nil
	case g.dir == "":
		return nil, nil, usagef("-o DIR is missing")
	case sameFolder(g.dir, d.Dir):
		return nil, nil, usagef("-o %s: this folder holds the description; choose another folder", g.dir)
	}
	m, err := gen.CompileDescription(d, *g.options)
	return m, []*gen.Output{beside}, err
}

func sameFolder(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// names lists the files of outputs, separated by spaces. A file below dir has its path relative to dir, any other file
// its base name.
func names(dir string, outputs []*gen.Output) string {
	var list []string
	for _, o := range outputs {
		below, err := filepath.Rel(dir, o.Dir)
		if dir == "" || err != nil || !filepath.IsLocal(below) {
			below = ""
		}
		for _, f := range o.Files {
			list = append(list, filepath.ToSlash(filepath.Join(below, f.Name)))
		}
	}
	return strings.Join(list, " ")
}
