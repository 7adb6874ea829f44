package gpu

import (
	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/plan"
)

// Count is a step in Measures of a [program.Bind]. It reads a symbol's value from memory, after a launch has
// written it.
type Count struct {
	Node   *ir.Node
	Memory *plan.Ref // of i32
	Index  int       // of the number in Memory
}

// At implements [program.Step]. It returns Node.
func (c *Count) At() *ir.Node { return c.Node }

// Refs implements [program.Step]. It returns Memory.
func (c *Count) Refs() []*plan.Ref { return []*plan.Ref{c.Memory} }

// bind returns the step that gives the symbols of n, an [ir.Binder], their values: the numbers in memory.
func bind(n *ir.Node, memory *plan.Ref) *program.Bind {
	b := &program.Bind{Node: n, Symbols: n.Op.(ir.Binder).Binds()}
	for i := range b.Symbols {
		b.Measures = append(b.Measures, &Count{n, memory, i})
	}
	return b
}

// Measure implements [emit.Printer]. For a [Count] it prints an expression that reads the counted number from memory.
// For other steps it prints what the CPU's printer prints.
func (p *printer) Measure(s *emit.Scope, step program.Step) (value *jen.Statement, fallible bool) {
	if c, ok := step.(*Count); ok {
		return jen.Int().Call(s.Slice(c.Memory).Index(jen.Lit(c.Index))), false
	}
	return p.Printer.Measure(s, step)
}

// Measure implements [exec.Runner]. For a [Count] it returns the number in memory. It leaves other steps to the CPU's
// target.
func (t Target) Measure(f *exec.Frame, s program.Step) (int64, error) {
	c, ok := s.(*Count)
	if !ok {
		return t.host.Measure(f, s)
	}
	memory, err := f.Slice(c.Memory)
	if err != nil {
		return 0, err
	}
	return memory.Index(c.Index).Int(), nil
}
