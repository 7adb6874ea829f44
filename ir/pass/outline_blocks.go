package pass

import (
	"fmt"
	"slices"
	"strings"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/plan"
)

// minOutlined is the number of nodes that an outlined block has to save.
const minOutlined = 30

// outlineBlocks makes runs of nodes of a function that come several times in a row,
// such as the layers of a transformer, one function that is called as often. What
// the runs read from outside, their weights among it, are its parameters.
// Functions that others call, and @prepare, stay as they are.
func outlineBlocks(ctx *Context, m *ir.Module) (changed bool, err error) {
	called := map[string]bool{Prepare: true}
	for _, f := range m.Funcs {
		for n := range f.All() {
			if o, ok := n.Op.(ir.Invoke); ok {
				called[o.Func] = true
			}
		}
	}
	for _, f := range slices.Clone(m.Funcs) {
		if called[f.Name] {
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

// outlineFrom outlines the repeats of one function.
func outlineFrom(ctx *Context, m *ir.Module, f *ir.Func) (changed bool, err error) {
	for {
		r := findRepeat(f)
		if r == nil {
			return changed, nil
		}
		name := "block"
		for i := 2; m.Func(name) != nil; i++ {
			name = fmt.Sprint("block", i)
		}
		body, err := r.body(name)
		if err != nil {
			return changed, err
		}
		m.Funcs = append(m.Funcs, body)
		if err := r.call(f, body); err != nil {
			return changed, err
		}
		f.Prune()
		ctx.count(OutlinedBlocks, len(r.runs))
		changed = true
	}
}

// repeat is a list of runs that compute the same of different values.
type repeat struct {
	runs [][]*ir.Node
	// inputs are, for each run, the values it reads from outside: value i of each
	// run stands for value i of the others.
	inputs [][]*ir.Value
	// outputs are the places, in a run, of the nodes whose results are read outside.
	outputs []int
}

// findRepeat returns the repeat of f that saves the most nodes, at least
// minOutlined; nil if there is none. Loads and constants are no parts of runs.
func findRepeat(f *ir.Func) *repeat {
	var nodes []*ir.Node
	var kinds []int
	numbers := map[string]int{}
	for _, n := range f.Nodes {
		if isLoaded(n) {
			continue
		}
		text := kindOf(n)
		kind, ok := numbers[text]
		if !ok || text == "" {
			kind = len(nodes) + 1 // like no other
			numbers[text] = kind
		}
		nodes, kinds = append(nodes, n), append(kinds, kind)
	}
	uses := f.Uses()
	for _, c := range candidates(kinds) {
		var best *repeat
		for first := c.first; first <= c.last; first++ {
			r := repeatAt(uses, nodes[first:], c.period, c.count)
			if r != nil && (best == nil || r.border() < best.border()) {
				best = r
			}
		}
		if best != nil {
			return best
		}
	}
	return nil
}

// border is the number of values that go into and out of a run.
func (r *repeat) border() int { return len(r.inputs[0]) + len(r.outputs) }

// isLoaded reports whether n stands for what the module holds.
func isLoaded(n *ir.Node) bool {
	switch n.Op.(type) {
	case ir.Load, ir.Constant:
		return true
	}
	return false
}

// kindOf returns a text that nodes share which do the same to other values; the
// empty text for a node that cannot be part of a run.
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

// candidate is a stretch of kinds that repeat with a period, count times, from
// any place between first and last.
type candidate struct{ period, count, first, last int }

func (c candidate) saved() int { return (c.count-1)*c.period - c.count }

// maxCandidates bounds how many stretches are looked at more closely.
const maxCandidates = 32

// candidates returns the stretches that save enough, the best first.
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

// repeatAt returns the repeat of count runs of period nodes, nil where they are
// not put together in the same way.
func repeatAt(uses map[*ir.Value]int, nodes []*ir.Node, period, count int) *repeat {
	r := &repeat{}
	for i := range count {
		r.runs = append(r.runs, nodes[i*period:(i+1)*period])
	}
	places := make([]map[*ir.Value]int, count)
	for i, run := range r.runs {
		places[i] = map[*ir.Value]int{}
		for _, n := range run {
			for _, v := range n.Results {
				places[i][v] = len(places[i])
			}
		}
	}
	r.inputs = make([][]*ir.Value, count)
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

// match compares operand k of node j of the first run, a, with those of the
// others, and notes it as an input where it comes from outside.
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

// bound reports whether every symbol of a run is an extent of an input.
func (r *repeat) bound() bool {
	known := map[string]bool{}
	for _, v := range r.inputs[0] {
		for _, d := range v.Type.Shape {
			known[d.String()] = true
		}
	}
	ok := true
	note := func(s string) (ir.Dim, bool) {
		ok = ok && known[s]
		return ir.Dim{}, false
	}
	for _, n := range r.runs[0] {
		ir.SubstOp(n.Op, note)
		for _, v := range n.Results {
			v.Type.Subst(note)
		}
	}
	return ok
}

// findOutputs notes the nodes of which any run's results are read outside; uses
// counts all readers.
func (r *repeat) findOutputs(uses map[*ir.Value]int) {
	for _, run := range r.runs {
		inside := (&ir.Block{Nodes: run}).Uses()
		for j, n := range run {
			read := slices.ContainsFunc(n.Results, func(v *ir.Value) bool { return uses[v] > inside[v] })
			if read && !slices.Contains(r.outputs, j) {
				r.outputs = append(r.outputs, j)
			}
		}
	}
	slices.Sort(r.outputs)
}

// results returns what run i computes for the outside.
func (r *repeat) results(i int) []*ir.Value {
	var out []*ir.Value
	for _, j := range r.outputs {
		out = append(out, r.runs[i][j].Results...)
	}
	return out
}

// body returns the function that the runs become.
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

// call puts calls of body in the place of the runs.
func (r *repeat) call(f, body *ir.Func) error {
	type position struct{ run, node int }
	at := map[*ir.Node]position{}
	for i, run := range r.runs {
		for j, n := range run {
			at[n] = position{i, j}
		}
	}
	made := map[*ir.Value]*ir.Value{} // by the value of a run
	_, err := f.Rewrite(func(b *ir.Builder, n *ir.Node) []*ir.Value {
		p, ok := at[n]
		if !ok {
			return nil
		}
		if p.node == 0 {
			args := make([]*ir.Value, len(r.inputs[p.run]))
			for k, v := range r.inputs[p.run] {
				switch {
				case v.Def != nil && isLoaded(v.Def):
					args[k] = b.Node(v.Def.Op)
				case made[v] != nil:
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
			return nil // nobody reads it any more
		}
		values := make([]*ir.Value, len(n.Results))
		for k, v := range n.Results {
			values[k] = made[v]
		}
		return values
	})
	return err
}
