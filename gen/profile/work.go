package profile

import (
	"fmt"
	"strings"
	"time"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// describe says what a node is and what it works on. What depends on extents that are
// known only while the model runs counts as nothing.
func describe(n *ir.Node, d time.Duration, runs int64, symbols map[string]int64) Node {
	if n == nil {
		return Node{Name: "copies of results", Op: "copy", Time: d, Runs: 1}
	}
	value := func(d ir.Dim) int64 {
		v, err := d.Eval(func(s string) (int64, bool) { x, ok := symbols[s]; return x, ok })
		if err != nil {
			return 0
		}
		return v
	}
	out := Node{Name: n.Pos, Op: ir.OpName(n.Op), Time: d, Runs: max(runs, 1)}
	if out.Name == "" {
		out.Name = n.String()
	}
	if len(n.Results) > 0 {
		out.Shape = n.Results[0].Type.String()
	}
	for _, t := range n.ArgTypes()[:min(len(n.Args), maxOperands)] {
		out.Operands = append(out.Operands, t.String())
	}
	for _, t := range append(n.ArgTypes(), n.ResultTypes()...) {
		if t.IsTensor() {
			out.Bytes += value(t.Elems()) * int64(t.DType.Size())
		}
	}
	if c, ok := n.Op.(ir.Coster); ok {
		out.Flops = value(c.Flops(n.ArgTypes(), n.ResultTypes()))
	}
	if _, ok := n.Op.(op.Pointwise); ok {
		for _, part := range n.Blocks[0].Nodes {
			if _, ok := part.Op.(ir.Coster); ok {
				out.Flops += value(n.Results[0].Type.Elems())
			}
		}
	}
	out.Flops, out.Bytes = out.Flops*out.Runs, out.Bytes*out.Runs
	return out
}

// runsOf counts how often the nodes of a function, and of those it calls, are computed
// in a call: those in the blocks of control flow once.
func runsOf(f *program.Func) map[*ir.Node]int64 {
	runs := map[*ir.Node]int64{}
	var visit func(f *program.Func, times int64)
	visit = func(f *program.Func, times int64) {
		for _, s := range f.Steps {
			if i, ok := s.(*program.Invoke); ok {
				visit(i.Callee, times)
			}
		}
		seen := map[*ir.Node]bool{}
		for _, s := range f.Steps {
			if n := s.At(); n != nil && !seen[n] {
				seen[n] = true
				runs[n] += times
			}
		}
	}
	visit(f, 1)
	return runs
}

// maxOperands is how many operands a node is described with: what it works on, and the
// weights.
const maxOperands = 2

// kind is what nodes have in common that are one row of the table.
func (n Node) kind() string {
	return fmt.Sprintf("%s %s → %s", n.Op, strings.Join(n.Operands, ", "), n.Shape)
}

// shortened cuts the middle out of a long name.
func shortened(name string, width int) string {
	r := []rune(strings.ReplaceAll(name, "\n", " "))
	if len(r) <= width {
		return string(r)
	}
	return string(r[:width/2]) + "…" + string(r[len(r)-width/2+1:])
}
