// Package gen is the pipeline from a model to a Go package: it loads, runs the
// passes, plans, prepares the weights, emits, and writes the files. It leaves
// each of these to the package that knows it.
package gen

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/burngen/burngen/gen/config"
	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/cost"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
	"github.com/burngen/burngen/ir/plan"
	"github.com/burngen/burngen/onnx"
	"github.com/burngen/burngen/runtime/rt"
)

// Options steer a generation.
type Options struct {
	// Inputs fix the shapes of inputs: "image" → "1x3x224x224", extents being
	// numbers or symbols.
	Inputs map[string]string
	// Dims fix or bound symbolic extents: "N" → "4" or "1..64".
	Dims map[string]string
	// Outputs cut the graph at these values; none keeps the model's.
	Outputs []string
	// Custom are the operators that functions of the user's program compute.
	Custom []op.Custom
	// Strict turns off what reassociates floating-point sums and products, but for long
	// sums, which become ones of parts: their error is about ONNX Runtime's.
	Strict bool
	// WeightsDType is what the weights of matrix products, and tables that rows are gathered
	// from, are stored as: ir.F16 or ir.BF16; ir.F32, or nothing, leaves them as they are.
	WeightsDType ir.DType
	// Costs says what kernels take on the machines that the code is for, to choose
	// algorithms; nil stands for [cost.Default].
	Costs *cost.Model
	// Train makes the package train the model: its weights file holds the model's own
	// weights.
	Train bool
	// Loss is what training minimises, one of [LossNames]; empty for the source's own
	// losses.
	Loss string
	// Params are patterns, as [rt.MatchName] has them, of the weights that are
	// parameters, instead of those that [Parameters] finds. Freeze are patterns of
	// parameters that are not trained: no code is made for their gradients.
	Params, Freeze []string
	// Foreign, if not nil, are the weights that the model has in place of its own, or of
	// those that New draws.
	Foreign *Foreign
	// Remat says what functions that train compute again instead of keeping it.
	Remat pass.Remat
	// CheckNaN makes functions that train look for NaN after each node, where
	// TrainerOptions.CheckNaN asks for it. NewTrainer returns an error if it does in a
	// package without these checks.
	CheckNaN bool
	// Config is what is given for the configuration of a description, and Stdout and
	// Stderr get what it prints; Stderr also gets the warnings about a model file. They
	// may be nil.
	Config         config.Given
	Stdout, Stderr io.Writer
	// Variants are what may be set of that configuration, too, each a list as Config.Set:
	// the first counts that describes a model which Foreign has the weights of.
	Variants [][]string
	// Package is the Go package's name; empty derives it from the output folder.
	Package string
	// WeightsOutside keeps the weights file out of the program.
	WeightsOutside bool
	// Keep says which weights the package's file holds.
	Keep Keep
	// Flags is the command line as model.go's header shows it.
	Flags string
	// MaxSteps is the largest number of steps in one Go function of the package; 0 leaves
	// that to [emit].
	MaxSteps int
	// Dump, when set, is called with the module after each pass.
	Dump func(index int, name string, m *ir.Module)
	// Stop ends the passes after that many; 0 runs all.
	Stop int
	// Progress, when set, is told what is done.
	Progress func(stage string)
}

func (o *Options) progress(stage string) {
	if o.Progress != nil {
		o.Progress(stage)
	}
}

// Model is a compiled model: its functions as steps, and its weights.
type Model struct {
	Name   string // of the file, without its extension
	Meta   rt.Meta
	Source *Source
	// Stats counts what the passes did, by their names.
	Stats map[string]int
	// Recomputed says what the functions that train compute again.
	Recomputed []pass.Recomputed
	Module     *ir.Module // lowered
	// Functions are those of the source, in its order, and Forward is the first.
	Functions []*program.Func
	Forward   *program.Func
	Prepare   *program.Func
	// Training is nil unless Options.Train is set.
	Training *Training
	// Raw are the source model's weights, Weights those that Functions load: of more than
	// [MaxEmbedded] bytes each is made when it is used or written, and where the package keeps
	// raw weights there are none.
	Raw, Weights *rt.Weights

	options Options
	given   map[string]bool // names of the source model's weights
	large   bool            // the weights are more than largeBytes: no sample is computed
}

// Load reads and compiles a model file, or a description. Errors: what is wrong with the
// file or the description, all at once, what o names and the model does not have, and those
// of [CompileSource].
func Load(path string, o Options) (*Model, error) {
	o.progress("reading " + filepath.Base(path))
	if IsDescription(path) {
		return described(path, o)
	}
	custom := newCustoms(o.Custom)
	src, err := onnx.Open(path, onnx.Options{Inputs: o.Inputs, Dims: o.Dims, Outputs: o.Outputs, Custom: custom.find})
	if err == nil {
		err = custom.unused(filepath.Base(path))
	}
	if err != nil {
		return nil, err
	}
	if o.Stderr != nil {
		for _, w := range src.Warnings {
			fmt.Fprintln(o.Stderr, w)
		}
	}
	return Compile(src, o)
}

// Compile compiles an imported model. Errors are those of [CompileSource].
func Compile(src *onnx.Model, o Options) (*Model, error) { return CompileSource(fromONNX(src), o) }

// CompileSource compiles a model. Errors: options that do not fit it, weights of another
// file that do not, and operators that a pass finds no kernel or no gradient for.
func CompileSource(src *Source, o Options) (*Model, error) {
	if err := src.check(); err != nil {
		return nil, err
	}
	src = src.unreserved()
	if o.Foreign != nil {
		o.progress("matching weights")
		made, err := src.with(o.Foreign)
		if err != nil {
			return nil, err
		}
		src = made
	}
	if o.Loss != "" && o.Loss != NoLoss {
		made, err := withLoss(src, o.Loss)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", src.File, err)
		}
		src = made
	}
	m := &Model{Name: src.Name, Source: src, Meta: src.Meta, Module: src.Module.Clone(), options: o}
	if err := m.compile(); err != nil {
		return nil, fmt.Errorf("%s: %w", src.File, err)
	}
	return m, nil
}

func (m *Model) compile() error {
	o := &m.options
	m.given = map[string]bool{}
	for _, w := range m.Source.Module.Weights {
		m.given[w.Name] = true
	}
	ctx := &pass.Context{Strict: o.Strict, WeightsDType: o.WeightsDType, Costs: o.Costs}
	for _, f := range m.Source.Functions {
		ctx.Prepared = append(ctx.Prepared, f.Name)
	}
	if o.Train {
		ctx.WeightsDType = ir.F32 // steps read the model's own weights
		o.progress("differentiating")
		if err := m.addTraining(); err != nil {
			return err
		}
		ctx.Remat, ctx.Plan = o.Remat, planOf
		for _, f := range m.Training.differentiated() {
			ctx.Trained = append(ctx.Trained, f.Source.Name)
		}
	}
	optimising := func(name string) { o.progress("optimising: " + strings.ReplaceAll(name, "_", " ")) }
	if err := pass.All(ctx, m.Module, pass.Options{Dump: o.Dump, Stop: o.Stop, Outline: true, Progress: optimising}); err != nil {
		return err
	}
	m.Stats, m.Recomputed = ctx.Stats, ctx.Recomputed
	o.progress("planning")
	for _, f := range m.Source.Functions {
		p, err := program.Compile(m.Module, f.Name)
		if err == nil {
			err = checkPorts(p.IR)
		}
		if err != nil {
			return err
		}
		m.Functions = append(m.Functions, p)
	}
	m.Forward = m.Functions[0]
	if err := m.planTraining(); err != nil {
		return err
	}
	var err error
	if m.Prepare, err = program.Compile(m.Module, pass.Prepare); err != nil {
		return err
	}
	o.progress("preparing weights")
	return m.prepare()
}

// planOf plans a function of a lowered module.
func planOf(m *ir.Module, name string) (*plan.Plan, error) {
	f, err := program.Compile(m, name)
	if err != nil {
		return nil, err
	}
	return f.Plan, nil
}

// kept returns the weights that the weights file holds: those that Functions
// load, and the constants that Prepare does.
func (m *Model) kept() []emit.Prepared {
	var out []emit.Prepared
	seen := map[string]bool{}
	note := func(f *program.Func, of func(name string) bool) {
		for n := range f.IR.All() {
			l, ok := n.Op.(ir.Load)
			if ok && !seen[l.Name] && of(l.Name) {
				seen[l.Name] = true
				out = append(out, emit.Prepared{Name: l.Name, Type: l.Type})
			}
		}
	}
	for _, f := range m.Functions {
		note(f, func(string) bool { return true })
	}
	note(m.Prepare, m.isConstant)
	optional := map[string]bool{}
	for _, w := range m.optional(m.Source.Wanted()) {
		optional[w.Name] = true
	}
	note(m.Prepare, func(name string) bool { return optional[name] })
	return out
}

// isConstant reports whether a weight was made of the model's constants: it is not one of
// the source model's weights.
func (m *Model) isConstant(name string) bool { return !m.given[name] }

// emission returns what is printed, but the sample, and the file of constants that
// the package needs beside its weights, if any.
func (m *Model) emission() (*emit.Model, []emit.File, error) {
	file := m.fileName()
	weights := file + ".safetensors"
	e := &emit.Model{
		Package:     m.options.Package,
		Title:       m.Name,
		Source:      fmt.Sprintf("%s (%s, sha256 %s)", m.Source.File, m.Source.Format, m.Source.Sum[:16]),
		Flags:       m.options.Flags,
		Doc:         m.Source.Doc,
		Prepare:     m.Prepare,
		Wanted:      m.Source.Wanted(),
		WeightsFile: weights, Embed: !m.options.WeightsOutside,
		Meta: m.Meta, Limits: m.Source.Limits, MaxSteps: m.options.MaxSteps,
		Raw: m.keepsRaw() || m.Source.Initial != nil, Stored: m.keepsPrepared(), Initial: m.Source.Initial,
	}
	if m.Source.Configs != nil {
		e.Taken = append(m.Source.Configs.Names(), "Built")
	}
	switch {
	case e.Initial != nil:
		e.WeightsFile, e.Embed = "", false
	case m.inPlace():
		e.WeightsFile, e.Elsewhere = m.Source.From, true
	}
	for i, f := range m.Source.Functions {
		e.Functions = append(e.Functions, &emit.Function{Func: m.Functions[i], Method: f.Method, Doc: f.Doc, Inputs: f.Inputs, Outputs: f.Outputs, Direct: f.Direct, States: f.States})
	}
	loaded, made := map[string]bool{}, map[string]bool{}
	for _, name := range m.Prepare.IR.ResultNames {
		made[name] = true
	}
	for _, f := range m.Functions {
		for n := range f.IR.All() {
			if l, ok := n.Op.(ir.Load); ok {
				loaded[l.Name] = true
			}
		}
	}
	for _, w := range m.kept() {
		if loaded[w.Name] {
			e.Prepared = append(e.Prepared, w)
		}
		if m.isConstant(w.Name) && !made[w.Name] {
			e.Outside = append(e.Outside, ir.Weight{Name: w.Name, Type: w.Type})
		}
	}
	if m.Training != nil {
		m.trainer(e)
	}
	var own []emit.File
	if e.Embed {
		e.EmbeddedFile = weights
	} else if constants := m.constants(e); len(constants.Names()) > 0 {
		// LoadFrom is given the model's own weights only.
		e.EmbeddedFile = file + ".const.safetensors"
		var data bytes.Buffer
		if _, err := constants.WriteTo(&data); err != nil {
			return nil, nil, err
		}
		own = append(own, emit.File{Name: e.EmbeddedFile, Data: data.Bytes()})
	}
	return e, own, nil
}

// constants returns what the package needs beside a weights file: constants of the
// module, and weights that New gives elements of their own.
func (m *Model) constants(e *emit.Model) *rt.Weights {
	constants := rt.NewWeights()
	if e.Initial != nil {
		constants = m.Source.given()
	}
	for _, w := range e.Constants() {
		shape, _ := w.Type.Static()
		constants.AddRaw(w.Name, w.Type.DType.String(), shape, m.constant(w.Name))
	}
	for _, w := range m.optional(e.Wanted) {
		if !e.Raw {
			constants.AddRaw(w.Name, w.DType, w.Shape, m.Raw.Raw(w.Name))
		}
	}
	return constants
}

// constant returns the elements of a weight that the module's constants became.
func (m *Model) constant(name string) []byte {
	if m.Weights.Raw(name) != nil {
		return m.Weights.Raw(name)
	}
	return m.Raw.Raw(name)
}

// inPlace reports whether Load is to read the file that the weights were taken from.
func (m *Model) inPlace() bool {
	return m.keepsRaw() && !m.keepsPrepared() && m.options.WeightsOutside && m.Source.InPlace
}

// keepsRaw reports whether the package loads the model's own weights.
func (m *Model) keepsRaw() bool { return m.Training != nil || m.options.Keep != KeepPrepared }

// keepsPrepared reports whether the package's file holds what kernels read.
func (m *Model) keepsPrepared() bool {
	return m.Source.Initial == nil && (!m.keepsRaw() || m.options.Keep == KeepBoth)
}

// fileWeights returns what the weights file holds: what is prepared, the model's own
// weights and the constants beside them, or both.
func (m *Model) fileWeights(e *emit.Model) *rt.Weights {
	w := rt.NewWeights()
	if m.keepsPrepared() {
		w = m.Weights
	}
	if !e.Raw {
		return w
	}
	add := func(name string, data []byte) {
		if _, there := w.Info(name); !there {
			info, _ := m.Raw.Info(name)
			w.AddRaw(name, info.DType, info.Shape, data)
		}
	}
	for _, weight := range m.Source.Module.Weights {
		add(weight.Name, m.Raw.Raw(weight.Name))
	}
	for _, c := range e.Constants() {
		add(c.Name, m.constant(c.Name))
	}
	return w
}

// Timed returns the files of a package of that name for measuring: without a sample
// and without the weights file, which Load is to be given. With a lap, which numbers
// steps, the package's variable Lap is called with a step's number after it.
func (m *Model) Timed(name string, lap func(program.Step) int) ([]emit.File, error) {
	outside, src := *m, *m.Source
	src.Initial = nil // Load is to be there, and New is not
	outside.Source = &src
	outside.options.Package, outside.options.WeightsOutside = name, true
	e, own, err := outside.emission()
	if err != nil {
		return nil, err
	}
	e.Lap = lap
	for _, f := range e.Functions {
		f.SampleTooLarge = true
	}
	files, err := emit.Files(e)
	return append(files, own...), err
}

// configFile is the file of the generated package that holds configurations.
const configFile = "config.go"

// Files returns the generated package's files.
func (m *Model) Files() ([]emit.File, error) {
	m.options.progress("emitting")
	e, own, err := m.emission()
	if err != nil {
		return nil, err
	}
	for i, f := range e.Functions {
		m.addSample(f, m.Source.Module.Func(m.Source.Functions[i].Name))
	}
	files, err := emit.Files(e)
	if err != nil {
		return nil, err
	}
	if c := m.Source.Configs; c != nil && len(c.Structs) > 0 {
		text, err := c.Declare(emit.Header, m.options.Package, m.Source.Built)
		if err != nil {
			return nil, fmt.Errorf("burngen bug: %s: %w", configFile, err)
		}
		files = append(files, emit.File{Name: configFile, Data: text})
	}
	text := "// " + emit.Header + "\n\n" + m.Module.String()
	files = append(files, emit.File{Name: m.fileName() + ".ir", Data: []byte(text)})
	files = append(files, own...)
	if e.WeightsFile == "" || e.Elsewhere {
		return files, nil
	}
	weights := m.fileWeights(e)
	if m.WeightsSize() > maxBuffered {
		return append(files, emit.File{Name: e.WeightsFile, Large: weights}), nil
	}
	var data bytes.Buffer
	if _, err := weights.WriteTo(&data); err != nil {
		return nil, err
	}
	return append(files, emit.File{Name: e.WeightsFile, Data: data.Bytes()}), nil
}

// maxBuffered is the size of weights up to which their file is put together in memory.
const maxBuffered = 64 << 20

// fileName returns what the files called after the model begin with.
func (m *Model) fileName() string { return FileName(m.Name, "model") }

// CanRun returns why Run cannot compute the model, nil if it can: it may have custom
// operators.
func (m *Model) CanRun() error {
	if err := exec.Refuses(m.Forward); err != nil {
		return fmt.Errorf("%s: %w", m.Source.File, err)
	}
	return nil
}

// Run computes the model without generating it. Arguments and results are Go
// slices of the elements, and containers as [exec.HeldType] has them.
func (m *Model) Run(args []any, shapes [][]int) ([]any, [][]int, error) {
	return m.RunContext(context.Background(), args, shapes)
}

// RunContext is Run that ends early, with the context's error, when ctx is done.
func (m *Model) RunContext(ctx context.Context, args []any, shapes [][]int) ([]any, [][]int, error) {
	return exec.New(m.Forward, exec.Weights(m.Weights)).Run(ctx, args, shapes)
}

func opsetsText(opsets []rt.Opset) string {
	if len(opsets) == 0 {
		return "no opset"
	}
	var parts []string
	for _, o := range opsets {
		name := o.Domain
		if name == "" {
			name = "opset"
		}
		parts = append(parts, fmt.Sprintf("%s %d", name, o.Version))
	}
	return strings.Join(parts, ", ")
}
