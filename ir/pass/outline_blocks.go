package pass

import (
	"fmt"
	"slices"
	"strings"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/plan"
)

// minOutlined is the minimum number of nodes that outlining has to save.
const minOutlined = 30

// outlineBlocks replaces repeated runs of nodes by calls of one new function. Such runs follow each
// other, for example the layers of a transformer. The parameters of the function are the values
// that a run reads from outside, including its weights. outlineBlocks does not change @prepare, or
// functions that other functions call. If ctx.Watched is set, it does not change the functions
// ctx.Trained either.
func outlineBlocks(ctx *Context, m *ir.Module) (changed bool, err error) {
	called := calledFuncs(m)
	for _, f := range slices.Clone(m.Funcs) {
		if called[f.Name] || ctx.Watched && slices.Contains(ctx.Trained, f.Name) {
			continue
		}
		c, err := outlineFrom(ctx, m, f)
		if err != nil {
			return changed, fmt.Errorf("@%s: %w", f.Name, err)
		}
		changed = changed || c
	}
	return changed, nil
}

func outlineFrom(ctx *Context, m *ir.Module, f *ir.Func) (changed bool, err error) {
	for {
		r := findRepeat(f)
		if r == nil {
			return changed, nil
		}
		body, err := r.body(freeFunc(m, "block"))
		if err != nil {
			return changed, err
		}
		m.Funcs = append(m.Funcs, body)
		if err := r.call(f, body); err != nil {
			return changed, err
		}
		f.Prune()
		ctx.Count(OutlinedBlocks, len(r.runs))
		changed = true
	}
}

func freeFunc(m *ir.Module, hint string) string {
	name := hint
	for i := 2; m.Func(name) != nil; i++ {
		name = fmt.Sprint(hint, i)
	}
	return name
}

// repeat is a list of runs. A run is a sequence of nodes. All runs apply the same operators in the
// same order, to different values.
type repeat struct {
	runs [][]*ir.Node
	// inputs holds, for each run, the values it reads from outside. Value i of a run corresponds to
	// value i of the others.
	inputs [][]*ir.Value
	// outputs holds the indices, in a run, of the nodes whose results are read outside.
	outputs []int
	// views is the number of nodes that are computed again outside, for all runs together.
	views int
}

// saved returns the number of nodes saved if the runs become calls of one function. It does not
// count views that are read outside of their run, because they are computed again there.
func (r *repeat) saved() int {
	return savedBy(len(r.runs[0]), len(r.runs)) - r.views
}

// savedBy returns the number of nodes saved if `count` runs of `period` nodes become one function
// and `count` calls.
func savedBy(period, count int) int { return (count-1)*period - count }

// findRepeat returns the repeat in f that saves the most nodes. It returns nil if no repeat saves
// at least minOutlined nodes. Loads and constants are not part of runs.
func findRepeat(f *ir.Func) *repeat {
	var nodes []*ir.Node
	var kinds []int
	numbers := map[string]int{}
	for _, n := range f.Nodes {
		if n.IsStored() {
			continue
		}
		text := kindOf(n)
		kind, ok := numbers[text]
		if !ok || text == "" {
			kind = len(nodes) + 1 // equal to no other node
			numbers[text] = kind
		}
		nodes, kinds = append(nodes, n), append(kinds, kind)
	}
	uses := f.Uses()
	for _, c := range candidates(kinds) {
		var best *repeat
		for first := c.first; first <= c.last; first++ {
			var runs [][]*ir.Node
			for i := range c.count {
				runs = append(runs, nodes[first+i*c.period:first+(i+1)*c.period])
			}
			r := repeatOf(uses, runs)
			if r != nil && r.saved() >= minOutlined && (best == nil || r.border() < best.border()) {
				best = r
			}
		}
		if best != nil {
			return best
		}
	}
	return nil
}

func (r *repeat) border() int { return len(r.inputs[0]) + len(r.outputs) }

// kindOf returns a text that describes n. Two nodes have the same text if they have the same
// operator and the same types of operands and results. kindOf returns "" for a node that cannot be
// part of a run.
func kindOf(n *ir.Node) string {
	b, binder := n.Op.(ir.Binder)
	binder = binder && len(b.Binds()) > 0
	_, invoke := n.Op.(ir.Invoke)
	held := slices.ContainsFunc(slices.Concat(n.ArgTypes(), n.ResultTypes()), func(t ir.Type) bool { return !t.IsZero() && plan.IsHeld(t) })
	if binder || invoke || held || isRandom(n.Op) || len(n.Blocks) > 0 && !isFused(n.Op) {
		return ""
	}
	var s strings.Builder
	s.WriteString((&ir.Node{Op: n.Op}).Text())
	for _, t := range slices.Concat(n.ArgTypes(), n.ResultTypes()) {
		fmt.Fprintf(&s, " %s", t)
	}
	for _, b := range n.Blocks {
		writeBlock(&s, numbered(b))
	}
	return s.String()
}

// candidate describes a part of a list of kinds. The part consists of `count` copies of a sequence
// of `period` kinds. It may begin at any index in [first, last].
type candidate struct{ period, count, first, last int }

func (c candidate) saved() int { return savedBy(c.period, c.count) }

const maxCandidates = 32

// candidates returns the candidates that save the most nodes, in descending order. Each saves at
// least minOutlined nodes, and there are at most maxCandidates. kinds has a number for each node of
// a function; nodes of the same kind have equal numbers.
func candidates(kinds []int) []candidate {
	var found []candidate
	for period := 1; period <= len(kinds)/2; period++ {
		for first, same := 0, 0; first+period+same <= len(kinds); {
			if at := first + same; at+period < len(kinds) && kinds[at] == kinds[at+period] {
				same++
				continue
			}
			c := candidate{period, same/period + 1, first, first + same%period}
			if c.count > 1 && c.saved() >= minOutlined {
				found = append(found, c)
			}
			first, same = first+same+1, 0
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return b.saved() - a.saved() })
	return found[:min(len(found), maxCandidates)]
}

// repeatOf returns the repeat with the given runs. It returns nil if the runs differ in structure,
// or if a symbol in them is not an extent of an input.
func repeatOf(uses map[*ir.Value]int, runs [][]*ir.Node) *repeat {
	r := &repeat{runs: runs}
	places := make([]map[*ir.Value]int, len(runs))
	for i, run := range r.runs {
		places[i] = map[*ir.Value]int{}
		for _, n := range run {
			for _, v := range n.Results {
				places[i][v] = len(places[i])
			}
		}
	}
	r.inputs = make([][]*ir.Value, len(runs))
	for j, n := range r.runs[0] {
		for k, a := range n.Args {
			if !r.match(places, j, k, a) {
				return nil
			}
		}
	}
	if !r.bound() {
		return nil
	}
	r.findOutputs(uses)
	return r
}

// match compares operand k of node j in all runs. a is this operand in the first run. match reports
// whether the operands correspond: whether all are results of the same node of their own run, or
// all come from outside of the runs. In the second case it records them as an input. places[i] maps
// each result of a node in run i to its index among all results in the run.
func (r *repeat) match(places []map[*ir.Value]int, j, k int, a *ir.Value) bool {
	place, inside := places[0][a]
	slot := slices.Index(r.inputs[0], a)
	for i, run := range r.runs {
		v := run[j].Args[k]
		p, in := places[i][v]
		if (v == nil) != (a == nil) || in != inside || in && p != place {
			return false
		}
		switch {
		case in || v == nil:
		case slot < 0:
			r.inputs[i] = append(r.inputs[i], v)
		case r.inputs[i][slot] != v:
			return false
		}
	}
	return true
}

// bound reports whether each symbol in the types of the first run is an extent of one of the run's
// inputs.
func (r *repeat) bound() bool {
	known := map[string]bool{}
	for _, v := range r.inputs[0] {
		for _, d := range v.Type.Shape {
			known[d.String()] = true
		}
	}
	ok := true
	note := func(s string) (dim.Dim, bool) {
		ok = ok && known[s]
		return dim.Dim{}, false
	}
	for _, n := range r.runs[0] {
		ir.SubstOp(n.Op, note)
		for _, v := range n.Results {
			v.Type.Subst(note)
		}
	}
	return ok
}

// findOutputs records the nodes whose results are read outside of their run. uses holds the number
// of readers of each value.
func (r *repeat) findOutputs(uses map[*ir.Value]int) {
	for _, run := range r.runs {
		outputs, views := outputsOf(uses, run)
		r.outputs = append(r.outputs, outputs...)
		r.views += views
	}
	slices.Sort(r.outputs)
	r.outputs = slices.Compact(r.outputs)
}

// outputsOf returns the indices of the nodes in run whose results are read outside of it. If a view
// is read outside, it is computed again there, and its operand is the output instead. views is the
// number of these views.
func outputsOf(uses map[*ir.Value]int, run []*ir.Node) (out []int, views int) {
	inside := (&ir.Block{Nodes: run}).Uses()
	shown := map[*ir.Value]bool{}
	for j, n := range slices.Backward(run) {
		switch {
		case !slices.ContainsFunc(n.Results, func(v *ir.Value) bool { return uses[v] > inside[v] || shown[v] }):
		case isViewer(n):
			shown[n.Args[0]] = true
			views++
		default:
			out = append(out, j)
		}
	}
	slices.Reverse(out)
	return out, views
}

func (r *repeat) results(i int) []*ir.Value {
	var out []*ir.Value
	for _, j := range r.outputs {
		out = append(out, r.runs[i][j].Results...)
	}
	return out
}

func (r *repeat) body(name string) (*ir.Func, error) {
	f := &ir.Func{Name: name}
	err := ir.Try(func() {
		b := ir.NewBuilder(f)
		params := make([]*ir.Value, len(r.inputs[0]))
		for i, v := range r.inputs[0] {
			params[i] = b.Param(v.Name, v.Type)
		}
		run := &ir.Block{Params: r.inputs[0], Nodes: r.runs[0], Results: r.results(0)}
		b.Return(b.Inline(run, params, "")...)
	})
	for _, v := range f.Results {
		f.ResultNames = append(f.ResultNames, v.Name)
	}
	return f, err
}

func (r *repeat) call(f, body *ir.Func) error {
	type position struct{ run, node int }
	at := map[*ir.Node]position{}
	for i, run := range r.runs {
		for j, n := range run {
			at[n] = position{i, j}
		}
	}
	made := map[*ir.Value]*ir.Value{} // by the value of a run, or one that is lifted
	seen := map[*ir.Node]bool{}
	_, err := f.Rewrite(func(b *ir.Builder, n *ir.Node) []*ir.Value {
		seen[n] = true
		p, ok := at[n]
		switch {
		case !ok && len(n.Results) == 1 && made[n.Results[0]] != nil:
			return []*ir.Value{made[n.Results[0]]} // it was lifted
		case !ok:
			return nil
		}
		if p.node == 0 {
			args := make([]*ir.Value, len(r.inputs[p.run]))
			for k, v := range r.inputs[p.run] {
				switch {
				case v.Def != nil && v.Def.IsStored():
					args[k] = b.Node(v.Def.Op)
				case made[v] != nil:
					args[k] = made[v]
				case v.Def != nil && isLifted(v.Def) && !seen[v.Def]:
					made[v] = b.Node(v.Def.Op, v.Def.Args...)
					args[k] = made[v]
				default:
					args[k] = v
				}
			}
			results := r.results(p.run)
			invoke := ir.Invoke{Func: body.Name}
			for _, v := range results {
				invoke.Types = append(invoke.Types, v.Type)
			}
			for k, v := range b.Nodes(invoke, args...) {
				made[results[k]] = v
			}
		}
		if len(n.Results) > 0 && !slices.Contains(r.outputs, p.node) {
			return nil // nobody reads it any more, or it is a view
		}
		values := make([]*ir.Value, len(n.Results))
		for k, v := range n.Results {
			values[k] = made[v]
		}
		return values
	})
	return err
}
