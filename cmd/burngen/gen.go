package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/ir"
)

var genCommand = command{
	name:  "gen",
	usage: "MODEL -o DIR [flags]",
	short: "generates a Go package and a weights file from a model",
	examples: `  burngen resnet50.onnx -o internal/resnet
  burngen detector.onnx -o detector -dim N=1 -input image=1x3x320x320
  burngen gen encoder.onnx -o encoder -output /pooler/output
  burngen boxes.onnx -o boxes -custom 'acme.NMS=example.com/ops.NMS: (f32[N,4], f32[N]) -> i64[K]'
  burngen resnet50.onnx -o resnet -train -loss cross_entropy -freeze 'layer[12].**'
  burngen resnet50.onnx -o internal/resnet -check    is the package up to date?
  //go:generate go tool burngen resnet50.onnx -o .
`,
	define: defineGen,
}

// genFlags are the flags of gen.
type genFlags struct {
	options *gen.Options
	dir     string
	weights string
	check   bool
	dump    string
}

func defineGen(flags *flag.FlagSet) func(*streams, []string) error {
	g := &genFlags{options: modelFlags(flags)}
	flags.StringVar(&g.dir, "o", "", "writes the package to the folder `DIR`")
	flags.StringVar(&g.options.Package, "pkg", "", "calls the package `NAME` instead of what the folder is called")
	flags.StringVar(&g.weights, "weights", "", "puts the weights into the program or beside it, `embed|file`; above 512 MiB they go beside it unless embed is given")
	flags.BoolVar(&g.options.Train, "train", false, "makes the package train the model: the weights file holds the model's own weights, and -loss says what is minimised")
	flags.StringVar(&g.options.Loss, "loss", "", "minimises `LOSS` of the first output and a target, in training: "+strings.Join(gen.LossNames(), ", ")+"; with none the caller computes it")
	flags.Var((*list)(&g.options.Params), "params", "trains the weights that match `PATTERN`, as in 'head.**', instead of those that look like parameters (repeatable)")
	flags.Var((*list)(&g.options.Freeze), "freeze", "does not train the parameters that match `PATTERN` (repeatable)")
	flags.BoolVar(&g.check, "check", false, "writes nothing, prints what would change, and exits with 1 if anything would")
	flags.StringVar(&g.dump, "dump", "", "writes the IR after each pass to the folder `DIR`, as 07_name.ir")
	flags.IntVar(&g.options.Stop, "stop", 0, "ends the passes after number `N`, but for those that generating needs")
	return g.run
}

// complete checks the flags and derives what they leave open.
func (g *genFlags) complete(files []string) (model string, err error) {
	if model, err = oneModel(files); err != nil {
		return "", err
	}
	if g.dir == "" {
		return "", usagef("-o DIR is missing")
	}
	switch g.weights {
	case "", "embed":
	case "file":
		g.options.WeightsOutside = true
	default:
		return "", usagef("-weights %s: embed or file expected", g.weights)
	}
	if err := g.checkTraining(); err != nil {
		return "", err
	}
	if g.options.Stop < 0 {
		return "", usagef("-stop %d: a number of passes expected", g.options.Stop)
	}
	if g.options.Package == "" {
		g.options.Package, err = gen.PackageName(g.dir)
	} else if !gen.CanName(g.options.Package) {
		err = usagef("-pkg %s: a package cannot have this name", g.options.Package)
	}
	g.options.Flags = g.line()
	return model, err
}

// checkTraining checks the flags that say how the package trains.
func (g *genFlags) checkTraining() error {
	o := g.options
	switch {
	case o.Train && o.Loss == "":
		return usagef("-train: -loss is missing, one of %s", strings.Join(gen.LossNames(), ", "))
	case o.Train && !slices.Contains(gen.LossNames(), o.Loss):
		return usagef("-loss %s: one of %s expected", o.Loss, strings.Join(gen.LossNames(), ", "))
	case !o.Train && (o.Loss != "" || len(o.Params) > 0 || len(o.Freeze) > 0):
		return usagef("-loss, -params and -freeze are for -train")
	}
	return nil
}

// line returns the flags as the header of the package shows them, without those
// that change nothing in it.
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
	add("weights", g.weights)
	for _, o := range g.options.Custom {
		parts = append(parts, "-custom '"+o.String()+"'")
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
	m, out, err := g.generate(model)
	bar.end()
	if err != nil {
		return err
	}
	if g.check {
		diff, err := out.Diff()
		if err != nil || len(diff) == 0 {
			return err
		}
		s.out.Write(diff)
		return errReported
	}
	if err := out.Write(); err != nil {
		return err
	}
	fmt.Fprint(s.out, m.Report())
	fmt.Fprintf(s.out, "wrote %s in %.1f s\n", names(out), time.Since(start).Seconds())
	return nil
}

// generate compiles the model and checks where its files are to go.
func (g *genFlags) generate(model string) (*gen.Model, *gen.Output, error) {
	var dumped error
	if g.dump != "" {
		dumped = os.MkdirAll(g.dump, 0o777)
		g.options.Dump = func(index int, name string, m *ir.Module) {
			if dumped == nil {
				path := filepath.Join(g.dump, fmt.Sprintf("%02d_%s.ir", index, name))
				dumped = os.WriteFile(path, []byte(m.String()), 0o666)
			}
		}
	}
	for _, o := range g.options.Custom {
		if err := gen.CheckFunc(o, g.dir); err != nil {
			return nil, nil, err
		}
	}
	m, err := gen.Load(model, *g.options)
	switch {
	case dumped != nil:
		return nil, nil, fmt.Errorf("-dump: %w", dumped)
	case err != nil:
		return nil, nil, err
	}
	if err := m.CheckGradients(g.dir); err != nil {
		return nil, nil, err
	}
	if m.WeightsSize() > gen.MaxEmbedded && g.weights == "" {
		m.KeepWeightsOutside()
	}
	files, err := m.Files()
	if err != nil {
		return nil, nil, err
	}
	out, err := gen.NewOutput(g.dir, files)
	return m, out, err
}

func names(o *gen.Output) string {
	var list []string
	for _, f := range o.Files {
		list = append(list, f.Name)
	}
	return strings.Join(list, " ")
}
