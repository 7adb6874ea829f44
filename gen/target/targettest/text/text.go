// Package text is an example of a small target, and a test of the interface of targets. Each node is one step.
// Generated code prints a line of text for the step. Running the step evaluates the node as package ir does. The
// package does not use any kernel.
package text

import (
	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/arena"
	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/gen/value"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/pass"
	"github.com/burngen/burngen/ir/plan"
)

// Target is a target that prints a program as text and runs it by evaluating its nodes. Its zero value
// is ready to use.
type Target struct{}

// Name returns "text".
func (Target) Name() string { return "text" }

// Computes implements [pass.Target]. It returns nil: the target computes every node without
// lowering.
func (Target) Computes(*ir.Node) error { return nil }

// Reads implements [pass.Target]. It returns all operands.
func (Target) Reads(n *ir.Node) []*ir.Value { return n.Args }

// Keeps implements [pass.Target]. It returns true: no node is decomposed, because the target
// computes every node as a whole.
func (Target) Keeps(*ir.Node) bool { return true }

// Lower implements [pass.Target]. It returns nil: no node is replaced.
func (Target) Lower(*ir.Builder, *ir.Node) []*ir.Value { return nil }

// Lowering implements [pass.Target]. It returns the passes that every target needs.
func (t Target) Lowering() pass.Pipeline {
	return pass.Pipeline{
		Passes:    []pass.Pass{pass.SpillConstants, pass.LiftWeights, pass.SplitPrepare, pass.Prune, arena.RecomputeValues(t)},
		Outlining: arena.Outlining(t),
	}
}

// launch is a step that computes a node, or the value of a symbol that the node binds.
type launch struct {
	node              *ir.Node
	operands, results []*plan.Ref // an absent operand is nil
	symbol            string      // the symbol that a measure finds, "" for the computation of a node
}

func (l *launch) At() *ir.Node      { return l.node }
func (l *launch) Refs() []*plan.Ref { return program.Present(l.operands, l.results) }

// Build implements [program.Target]. It adds a step for each symbol that the node binds. The step determines the
// symbol's value. It then adds a launch for the node, unless the node only binds symbols.
func (Target) Build(b *program.Builder, n *ir.Node) error {
	operands, results := b.Reads(n.Args), b.Writes(n.Results)
	o, binds := n.Op.(ir.Binder)
	if binds {
		bind := &program.Bind{Node: n, Symbols: o.Binds()}
		for _, symbol := range bind.Symbols {
			bind.Measures = append(bind.Measures, &launch{node: n, operands: operands, symbol: symbol})
		}
		b.Add(bind)
	}
	if !binds || len(results) > 0 {
		b.Add(&launch{node: n, operands: operands, results: results})
	}
	return nil
}

// Run implements [exec.Runner]. It evaluates a node, or copies a value.
func (Target) Run(f *exec.Frame, s program.Step) error {
	if c, ok := s.(*program.Copy); ok {
		from, err := f.Slice(c.From)
		if err != nil {
			return err
		}
		return f.Set(c.To, from)
	}
	l := s.(*launch)
	out, _, err := l.evaluate(f)
	if err != nil {
		return err
	}
	return value.SetResults(f, l.results, out)
}

// Measure implements [exec.Runner]. It evaluates a node and returns the value of a symbol that the
// node binds.
func (Target) Measure(f *exec.Frame, s program.Step) (int64, error) {
	l := s.(*launch)
	_, symbols, err := l.evaluate(f)
	return symbols[l.symbol], err
}

// Plain does nothing: the evaluator gives the same bits on every machine.
func (Target) Plain() (restore func()) { return func() {} }

// CanRun returns true.
func (Target) CanRun() bool { return true }

// evaluate returns the results of the node, and the values of all symbols that are known after it.
func (l *launch) evaluate(f *exec.Frame) (out []*ir.Tensor, symbols map[string]int64, err error) {
	in, err := value.Operands(f, l.operands)
	if err != nil {
		return nil, nil, err
	}
	symbols = f.Symbols()
	out, err = new(ir.Evaluator).Node(l.node, symbols, in)
	return out, symbols, err
}

// Printer returns a printer of lines of text.
func (Target) Printer() emit.Printer { return &printer{} }

type printer struct{ declared bool }

func (*printer) Imports() map[string]string                           { return nil }
func (*printer) OnDevice() bool                                       { return false }
func (*printer) Queued(program.Step) bool                             { return false }
func (*printer) Device() (*emit.Device, error)                        { return nil, nil }
func (*printer) Copy(_ *emit.Scope, to, from jen.Code) *jen.Statement { return jen.Copy(to, from) }
func (*printer) Ends(program.Step) bool                               { return false }
func (*printer) Moves(program.Step) bool                              { return false }
func (*printer) Vars() (doc string, declarations []jen.Code)          { return "", nil }

func (*printer) Step(s *emit.Scope, step program.Step) []jen.Code {
	text := "copy"
	if n := step.At(); n != nil {
		text = n.Text()
	}
	args := []jen.Code{emit.Text(text)}
	for _, r := range step.Refs() {
		args = append(args, s.Slice(r))
	}
	return []jen.Code{jen.Id("launch").Call(args...)}
}

func (*printer) Measure(s *emit.Scope, step program.Step) (measure *jen.Statement, fallible bool) {
	return jen.Id("launch").Call(emit.Text(step.At().Text())), false
}

// Funcs implements [emit.Printer]. The first call returns the generated function launch, later calls return nil.
func (p *printer) Funcs() []jen.Code {
	if p.declared {
		return nil
	}
	p.declared = true
	return []jen.Code{jen.Func().Id("launch").Params(jen.Id("step").String(), jen.Id("memory").Op("...").Any()).Int().Block(
		jen.Println(jen.Id("step"), jen.Len(jen.Id("memory"))), jen.Return(jen.Lit(0)))}
}
