package pass

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
)

// minShared is a number of nodes. A part that several functions have becomes a function of its own
// only if this saves at least minShared nodes.
const minShared = 12

// OutlinePart finds a computation that several of the functions `funcs` contain, and moves it to a
// new function that they call. An example is the forward pass in a loss, an evaluation and a
// training step. OutlinePart orders the candidates by the number of nodes that they save. It skips
// the best `skip` candidates, and takes the next. It leaves out nodes that only gradients depend
// on, because functions without gradients do not have them. OutlinePart returns the number of calls
// of the new function, or 0 if there is no such computation.
func OutlinePart(ctx *Context, m *ir.Module, funcs []*ir.Func, skip int) (runs int, err error) {
	r := findShared(ctx, funcs, skip)
	if r == nil {
		return 0, nil
	}
	body, err := r.body(freeFunc(m, "part"))
	if err != nil {
		return 0, err
	}
	m.Funcs = append(m.Funcs, body)
	for i, f := range funcs {
		if of := r.of(i); len(of.runs) > 0 {
			if err := of.call(f, body); err != nil {
				return 0, fmt.Errorf("@%s: %w", f.Name, err)
			}
			f.Prune()
		}
	}
	return len(r.runs), nil
}

// Hosts returns two groups of functions of m. In generated code, each group becomes the methods of
// one type. The first group has the functions that infer. The second has the functions that train
// and evaluate; if c.Watched is set, it has only the functions that evaluate. Other functions, such
// as @prepare, are in neither group.
func (c *Context) Hosts(m *ir.Module) [][]*ir.Func {
	infer := c.prepared(m)
	called := calledFuncs(m)
	var train []*ir.Func
	for _, f := range m.Funcs {
		if !called[f.Name] && !slices.Contains(infer, f) && !(c.Watched && slices.Contains(c.Trained, f.Name)) {
			train = append(train, f)
		}
	}
	return [][]*ir.Func{infer, train}
}

// shared is a repeat with runs in several functions.
type shared struct {
	repeat
	funcs []int // index of the function that each run is in
}

func (r *shared) of(f int) *repeat {
	out := &repeat{outputs: r.outputs}
	for i, at := range r.funcs {
		if at == f {
			out.runs, out.inputs = append(out.runs, r.runs[i]), append(out.inputs, r.inputs[i])
		}
	}
	return out
}

// findShared returns the part that saves the most nodes in funcs, after the best `skip` parts. It
// returns nil if no further part saves at least minShared nodes.
func findShared(ctx *Context, funcs []*ir.Func, skip int) *shared {
	var nodes []*ir.Node
	var kinds, owners []int
	numbers := map[string]int{}
	uses := map[*ir.Value]int{}
	for i, f := range funcs {
		for v, n := range f.Uses() {
			uses[v] = n
		}
		kept := ctx.forward(f)
		for _, n := range f.Nodes {
			if isLifted(n) || len(n.Results) > 0 && !kept[n] {
				continue
			}
			text := kindOf(n)
			kind, ok := numbers[text]
			if !ok || text == "" || len(n.Results) == 0 {
				kind = len(nodes) + 1 // equal to no other node
				numbers[text] = kind
			}
			nodes, kinds, owners = append(nodes, n), append(kinds, kind), append(owners, i)
		}
		nodes, kinds, owners = append(nodes, nil), append(kinds, len(nodes)+1), append(owners, -1)
	}
	for _, c := range sharedCandidates(kinds, owners) {
		var best *shared
		for shift := 0; shift <= c.shifts; shift++ {
			var runs [][]*ir.Node
			var funcs []int
			for _, at := range c.at {
				runs, funcs = append(runs, nodes[at+shift:at+shift+c.length]), append(funcs, owners[at])
			}
			if found := repeatOf(uses, runs); found != nil {
				if r := alikeOutside(uses, found, funcs); r != nil && (best == nil || r.border() < best.border()) {
					best = r
				}
			}
		}
		if best != nil {
			if skip == 0 {
				return best
			}
			skip--
		}
	}
	return nil
}

// alikeOutside selects runs of the repeat `all` that one function can replace. Such runs have the
// same outputs: the results of the same nodes are read outside of the run. alikeOutside returns the
// largest set of such runs. funcs[i] is the index of the function that contains run i. alikeOutside
// returns nil if the set saves fewer than minShared nodes, or if all its runs are in one function.
func alikeOutside(uses map[*ir.Value]int, all *repeat, funcs []int) *shared {
	var groups []*shared
	for i, run := range all.runs {
		outputs, views := outputsOf(uses, run)
		k := slices.IndexFunc(groups, func(g *shared) bool { return slices.Equal(g.outputs, outputs) })
		if k < 0 {
			k = len(groups)
			groups = append(groups, &shared{repeat: repeat{outputs: outputs}})
		}
		g := groups[k]
		g.runs, g.inputs, g.funcs = append(g.runs, run), append(g.inputs, all.inputs[i]), append(g.funcs, funcs[i])
		g.views += views
	}
	best := slices.MaxFunc(groups, func(a, b *shared) int { return cmp.Compare(len(a.runs), len(b.runs)) })
	if best.saved() < minShared || slices.Min(best.funcs) == slices.Max(best.funcs) {
		return nil
	}
	return best
}

// forward returns the nodes on which the results of f depend. Results that are gradients are
// ignored.
func (c *Context) forward(f *ir.Func) map[*ir.Node]bool {
	needed := map[*ir.Node]bool{}
	var visit func(values []*ir.Value)
	visit = func(values []*ir.Value) {
		for _, v := range values {
			if v == nil || v.Def == nil || needed[v.Def] {
				continue
			}
			needed[v.Def] = true
			visit(v.Def.Args)
			for _, b := range v.Def.Blocks {
				visit(b.Captured())
			}
		}
	}
	for i, r := range f.Results {
		if !c.isGradient(f.ResultNames[i]) {
			visit([]*ir.Value{r})
		}
	}
	return needed
}

// isLifted reports whether n is computed by the caller before a run, and not as a node of the run.
// This holds for a weight, a constant, and random numbers that are drawn with the function's key.
func isLifted(n *ir.Node) bool {
	given := !slices.ContainsFunc(n.Args, func(v *ir.Value) bool { return v == nil || v.Def != nil })
	return n.IsStored() || isRandom(n.Op) && given && len(n.Results) == 1 && len(n.Blocks) == 0
}
