// Package gen is the pipeline from a model to a Go package. It loads the model, runs the passes,
// makes the steps, plans their memory, prepares the weights, emits, and writes the files. Each
// stage is a package of its own.
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
	"github.com/burngen/burngen/gen/target"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/grad"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
	"github.com/burngen/burngen/onnx"
	"github.com/burngen/burngen/runtime/rt"
)

// Options configure a generation.
type Options struct {
	// Inputs sets shapes of inputs: "image" → "1x3x224x224". Extents are numbers or symbols.
	Inputs map[string]string
	// Dims sets or bounds symbolic extents: "N" → "4" or "1..64".
	Dims map[string]string
	// Outputs replaces the model's outputs by these values. If it is empty, they do not change.
	Outputs []string
	// Custom lists the operators that Go functions of the user compute.
	Custom []op.Custom
	// Target is the back end that computes the model, one of [target.All]. nil means the first
	// element of target.All.
	Target target.Target
	// Strict turns off transformations that change the rounding of floats, except that long sums
	// are divided into parts. Rounding errors are then at most 1.5 times ONNX Runtime's.
	Strict bool
	// WeightsDType is the type in which the weights of matrix products and embedding tables are
	// stored: ir.F16 or ir.BF16. The zero value and ir.F32 keep their types.
	WeightsDType ir.DType
	// Train generates a package that can train. Its weights file holds the model's original
	// weights.
	Train bool
	// Loss is the loss function, one of [LossNames]. If it is empty, the source's own losses are
	// used.
	Loss string
	// Params are patterns of the weights to train, see [rt.MatchName]. They replace the result of
	// [Parameters]. Freeze are patterns of parameters to exclude: no code is generated for their
	// gradients.
	Params, Freeze []string
	// Foreign, if not nil, provides weights that replace the model's own, or the weights that New draws.
	Foreign *Foreign
	// Remat selects the activations that training recomputes instead of storing them.
	Remat pass.Remat
	// Room is the size in bytes that the memory of a call may have, if every open extent is [pass.RematExtent]. Steps of
	// training recompute activations until they have room, unless Remat is [pass.RematNone]. A function that is larger is an
	// error. 0 sets no limit.
	Room int64
	// CheckNaN generates checks for NaN after each node of training functions.
	// TrainerOptions.CheckNaN turns them on. In a package without these checks, NewTrainer returns
	// an error if TrainerOptions.CheckNaN is set.
	CheckNaN bool
	// Config is the configuration of a description that the user gave. Stdout receives the output
	// of the description. Stderr receives everything else that it prints, and warnings about a
	// model file. Either may be nil.
	Config         config.Given
	Stdout, Stderr io.Writer
	// Variants are alternative settings for the configuration, each a list like Config.Set. The
	// first one whose model matches the weights in Foreign is used.
	Variants [][]string
	// Package is the name of the Go package. If it is empty, it is derived from the output folder.
	Package string
	// WeightsOutside makes the package load its weights file at run time instead of embedding it.
	WeightsOutside bool
	// Keep selects the form of the weights in the package's file. A package that trains, or has no
	// file, keeps the source model's weights in any case.
	Keep emit.Keep
	// Flags is the command line for the header of model.go.
	Flags string
	// Serve adds the file serve.go, which describes the model to a server.
	Serve bool
	// Web adds serve.go too, for a program in a browser. It cannot swap the weights, so that the program is smaller.
	Web bool
	// MaxSteps is the largest number of steps in one Go function of the package. 0 means the
	// default of [emit].
	MaxSteps int
	// Dump, if not nil, is called with the module after each pass.
	Dump func(index int, name string, m *ir.Module)
	// Stop ends the pipeline after this number of passes. 0 runs all.
	Stop int
	// Progress, if not nil, is called at the start of each stage.
	Progress func(stage string)
}

func (o *Options) progress(stage string) {
	if o.Progress != nil {
		o.Progress(stage)
	}
}

// Model is a compiled model: its functions as steps, and its weights.
type Model struct {
	Name   string // name of the file without extension, or of the described package
	Meta   rt.Meta
	Source *Source
	// Stats counts what the passes did, keyed by the names of the counts.
	Stats map[string]int
	// Recomputed lists what training functions recompute.
	Recomputed []pass.Recomputed
	Module     *ir.Module // lowered
	// Functions are the functions of the source in its order. The first one is Forward.
	Functions []*program.Func
	Forward   *program.Func
	Prepare   *program.Func
	// Training is nil unless Options.Train is set.
	Training *Training
	// Raw are the source model's weights, and Weights are the weights that Functions load. If
	// Weights exceed [MaxEmbedded] bytes, each weight is computed when it is used or written.
	// Weights are then empty if the package's file has only the source model's weights.
	Raw, Weights *rt.Weights

	options Options
	shared  *emit.Shared    // nil if the package has a weights file of its own
	given   map[string]bool // names of the source model's weights
	large   bool            // the weights exceed largeBytes: no sample is computed
}

// Load reads and compiles a model file or a description. Its error lists the problems of the file or the description,
// one per line. It also returns an error if o has a name that the model does not have. It returns the errors of
// [CompileSource].
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

// Compile compiles an imported model. It returns the errors of [CompileSource].
func Compile(src *onnx.Model, o Options) (*Model, error) { return CompileSource(fromONNX(src), o) }

// CompileSource compiles a model. It returns an error if options do not fit the model, or if the weights of another
// file do not fit it. It returns an error if an operator has no kernel or no gradient, or if an arena exceeds o.Room.
func CompileSource(src *Source, o Options) (*Model, error) {
	if err := src.check(); err != nil {
		return nil, err
	}
	if o.Target == nil {
		o.Target = target.All[0]
	}
	if !o.Target.CanRun() { // no weights can be prepared now
		o.Keep = emit.KeepRaw
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
	ctx := &pass.Context{Target: o.Target, Strict: o.Strict, WeightsDType: o.WeightsDType}
	for _, f := range m.Source.Functions {
		ctx.Prepared = append(ctx.Prepared, f.Name)
	}
	if o.Train {
		ctx.WeightsDType = ir.F32 // steps read the original weights
		o.progress("differentiating")
		if err := m.addTraining(); err != nil {
			return err
		}
		ctx.Remat, ctx.Room, ctx.Gradient, ctx.Watched = o.Remat, o.Room, grad.GradPrefix, o.CheckNaN
		for _, f := range m.Training.differentiated() {
			ctx.Trained = append(ctx.Trained, f.Source.Name)
		}
	}
	grad.Forget(m.Module)
	optimising := func(name string) { o.progress("optimising: " + strings.ReplaceAll(name, "_", " ")) }
	if err := pass.All(ctx, m.Module, pass.Options{Dump: o.Dump, Stop: o.Stop, Outline: true, Progress: optimising}); err != nil {
		return err
	}
	m.Stats, m.Recomputed = ctx.Stats, ctx.Recomputed
	o.progress("planning")
	for _, f := range m.Source.Functions {
		p, err := program.Compile(m.Module, f.Name, o.Target)
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
	if err := m.checkRoom(); err != nil {
		return err
	}
	var err error
	if m.Prepare, err = program.Compile(m.Module, pass.Prepare, o.Target); err != nil {
		return err
	}
	o.progress("preparing weights")
	return m.prepare()
}

// kept returns three groups of weights, one after the other: the weights that Functions load, the constants that
// Prepare loads, and the optional weights that Prepare loads. Each weight is listed once.
func (m *Model) kept() []emit.Prepared {
	var out []emit.Prepared
	seen := map[string]bool{}
	note := func(f *program.Func, match func(name string) bool) {
		for n := range f.IR.All() {
			l, ok := n.Op.(ir.Load)
			if ok && !seen[l.Name] && match(l.Name) {
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

// isConstant reports whether the stored tensor called `name` is a constant, and not a weight of the source model.
func (m *Model) isConstant(name string) bool { return !m.given[name] }

func (m *Model) emission() (*emit.Model, []emit.File, error) {
	e := &emit.Model{
		Package: m.options.Package,
		Title:   m.Name,
		Printer: m.options.Target.Printer(),
		Source:  fmt.Sprintf("%s (%s, sha256 %s)", m.Source.File, m.Source.Format, m.Source.Sum[:16]),
		Flags:   m.options.Flags,
		Doc:     m.Source.Doc,
		Prepare: m.Prepare,
		Wanted:  m.Source.Wanted(),
		Store:   m.store(),
		Shared:  m.shared,
		Meta:    m.Meta, Limits: m.Source.Limits, MaxSteps: m.options.MaxSteps,
		Serve: m.options.Serve, Web: m.options.Web,
	}
	if m.Source.Configs != nil {
		e.Taken = append(m.Source.Configs.Names(), "Built")
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
	if _, ok := e.Store.(emit.Embedded); ok && m.shared == nil {
		return e, nil, nil
	}
	if constants := m.constants(e); len(constants.Names()) > 0 {
		// LoadFrom receives only the original weights.
		e.ConstantsFile = m.fileName() + ".const.safetensors"
		var data bytes.Buffer
		if _, err := constants.WriteTo(&data); err != nil {
			return nil, nil, err
		}
		own = append(own, emit.File{Name: e.ConstantsFile, Data: data.Bytes()})
	}
	return e, own, nil
}

// constants returns the tensors that the package needs besides a weights file. They are the constants of the module,
// and the weights that New initialises with given elements. A package that keeps only prepared weights also needs the
// original elements of weights that a file for LoadFrom may lack.
func (m *Model) constants(e *emit.Model) *rt.Weights {
	constants := rt.NewWeights()
	if _, ok := e.Store.(emit.Drawn); ok {
		constants = m.Source.given()
	}
	for _, w := range e.Constants() {
		shape, _ := w.Type.Static()
		constants.AddRaw(w.Name, w.Type.DType.String(), shape, m.constant(w.Name))
	}
	for _, w := range m.optional(e.Wanted) {
		if e.Store.Form() == emit.KeepPrepared {
			constants.AddRaw(w.Name, w.DType, w.Shape, m.Raw.Raw(w.Name))
		}
	}
	return constants
}

func (m *Model) constant(name string) []byte {
	if m.Weights.Raw(name) != nil {
		return m.Weights.Raw(name)
	}
	return m.Raw.Raw(name)
}

// fileWeights returns the contents of the weights file. They are the prepared weights for [emit.KeepPrepared], the
// source model's weights and the constants for [emit.KeepRaw], and all of them for [emit.KeepBoth]. Constants are
// left out if several packages share the file.
func (m *Model) fileWeights(e *emit.Model) *rt.Weights {
	keep := e.Store.Form()
	w := rt.NewWeights()
	if keep.HasPrepared() {
		w = m.Weights
	}
	if !keep.HasRaw() {
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
	if m.shared != nil {
		return w // each package has its own constants
	}
	for _, c := range e.Constants() {
		add(c.Name, m.constant(c.Name))
	}
	return w
}

// Timed returns the files of a package, called name, for measurements. The package has no sample and no weights:
// Load reads the weights from a file, see [Model.TimedWeights]. If the function `lap` is not nil, it assigns a
// number to each step. The package calls the function in its variable Lap with this number after the step.
func (m *Model) Timed(name string, lap func(program.Step) int) ([]emit.File, error) {
	e, own, err := m.outside(name).emission()
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

// TimedWeights returns the weights for the file that a package from [Model.Timed] loads.
func (m *Model) TimedWeights() (*rt.Weights, error) {
	outside := m.outside("timed")
	e, _, err := outside.emission()
	if err != nil {
		return nil, err
	}
	return outside.fileWeights(e), nil
}

// outside returns a copy of m whose package has the given name and loads its weights from a file.
func (m *Model) outside(name string) *Model {
	outside, src := *m, *m.Source
	src.Initial = nil // generate Load instead of New
	src.InPlace = false
	outside.Source = &src
	outside.options.Package, outside.options.WeightsOutside = name, true
	return &outside
}

const configFile = "config.go"

// Files returns the generated package's files.
func (m *Model) Files() ([]emit.File, error) {
	m.options.progress("emitting")
	e, own, err := m.emission()
	if err != nil {
		return nil, err
	}
	if err := m.addSamples(e.Functions); err != nil {
		return nil, err
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
	if !m.writesWeights() || m.shared != nil {
		return files, nil
	}
	weights, err := m.weightsFileOf(e)
	return append(files, weights), err
}

func (m *Model) writesWeights() bool {
	switch m.store().(type) {
	case emit.Drawn, emit.Existing:
		return false
	}
	return true
}

func (m *Model) weightsFileOf(e *emit.Model) (emit.File, error) {
	weights := m.fileWeights(e)
	if m.WeightsSize() > maxBuffered {
		return emit.File{Name: m.weightsFile(), Large: weights}, nil
	}
	var data bytes.Buffer
	_, err := weights.WriteTo(&data)
	return emit.File{Name: m.weightsFile(), Data: data.Bytes()}, err
}

// maxBuffered is the largest size of weights, in bytes, for which the file is assembled in memory. The files of
// larger weights are written piece by piece.
const maxBuffered = 64 << 20

func (m *Model) fileName() string { return FileName(m.Name, "model") }

// CanRun returns an error if Run cannot compute the model because it has custom operators.
func (m *Model) CanRun() error {
	if err := exec.Refuses(m.Forward); err != nil {
		return fmt.Errorf("%s: %w", m.Source.File, err)
	}
	return nil
}

// Run computes the model without generating a package. Arguments and results are Go slices of the
// elements, with their shapes; for containers see [exec.HeldType]. It returns the results and their
// shapes.
func (m *Model) Run(args []any, shapes [][]int) ([]any, [][]int, error) {
	return m.RunContext(context.Background(), args, shapes)
}

// RunContext is like Run, but returns the context's error when ctx is done.
func (m *Model) RunContext(ctx context.Context, args []any, shapes [][]int) ([]any, [][]int, error) {
	return exec.New(m.Forward, m.options.Target, exec.Weights(m.Weights)).Run(ctx, args, shapes)
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
