package profile

import (
	"fmt"
	"strings"
	"time"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// describe returns the description of n. A call computed n `runs` times, in the time d. Flops and Bytes are 0 if they
// depend on extents that are known only while the model runs. A nil n stands for the copies of results.
func describe(n *ir.Node, d time.Duration, runs int64, symbols map[string]int64) Node {
	if n == nil {
		return Node{Name: "copies of results", Op: "copy", Time: d, Runs: 1}
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
	work := n.Work()
	out.Flops, out.Bytes = extent(work.Flops, symbols)*out.Runs, extent(work.Bytes, symbols)*out.Runs
	return out
}

func extent(d dim.Dim, symbols map[string]int64) int64 {
	v, err := d.Eval(func(s string) (int64, bool) { x, ok := symbols[s]; return x, ok })
	if err != nil {
		return 0
	}
	return v
}

// runsOf returns how often a call of f computes each node of f and of the functions that f invokes. It leaves out
// functions that branches and loops call.
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

// maxOperands is the maximum number of operands that the description of a node shows, such as the input and the
// weights. It leaves out the others.
const maxOperands = 2

// kind returns the operator and the shape of a node. Nodes with the same kind and kernel can be shown as one row.
func (n Node) kind() string {
	if n.Shape == "" {
		return n.Op
	}
	return fmt.Sprintf("%s %s → %s", n.Op, strings.Join(n.Operands, ", "), n.Shape)
}

func shortened(name string, width int) string {
	r := []rune(strings.ReplaceAll(name, "\n", " "))
	if len(r) <= width {
		return string(r)
	}
	return string(r[:width/2]) + "…" + string(r[len(r)-width/2+1:])
}
