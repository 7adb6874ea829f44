package launch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/templates/kernels"
)

// Memo remembers the launches of nodes, so that the kernels of nodes that differ only in names and positions are built
// once. It keeps no node alive. It is not for concurrent use. A nil Memo remembers nothing.
type Memo struct{ known map[string]remembered }

type remembered struct {
	launches []kernels.Launch
	err      error
	values   []*ir.Value // the operands and results in launches, see [outer]
}

// Of returns what the function [Of] returns. Launches of several nodes may share kernels, which must not be changed.
func (m *Memo) Of(n *ir.Node, by Options) ([]kernels.Launch, error) {
	captures := func(b *ir.Block) bool { return len(b.Captured()) > 0 }
	if m == nil || slices.ContainsFunc(n.Blocks, captures) {
		return Of(n, by)
	}
	values := outer(n)
	next := 0
	alone := (&ir.Block{Params: values[:len(values)-len(n.Results)], Nodes: []*ir.Node{n}}).Clone(func(string) string {
		next++
		return strconv.Itoa(next)
	})
	key := keyOf(alone, by)
	r, ok := m.known[key]
	if !ok {
		r.values = outer(alone.Nodes[0])
		r.launches, r.err = Of(alone.Nodes[0], by)
		if m.known == nil {
			m.known = map[string]remembered{}
		}
		m.known[key] = r
	}
	return r.of(values), r.err
}

// outer returns the operands of n, each once, and its results.
func outer(n *ir.Node) []*ir.Value {
	var values []*ir.Value
	for _, a := range n.Args {
		if a != nil && !slices.Contains(values, a) {
			values = append(values, a)
		}
	}
	return append(values, n.Results...)
}

// of returns the launches with `values` in the place of r.values.
func (r remembered) of(values []*ir.Value) []kernels.Launch {
	with := map[*ir.Value]*ir.Value{}
	for i, v := range r.values {
		with[v] = values[i]
	}
	launches := slices.Clone(r.launches)
	replace := func(l *kernels.Launch) {
		l.Args = slices.Clone(l.Args)
		for i, a := range l.Args {
			l.Args[i].Read, l.Args[i].Write = with[a.Read], with[a.Write]
		}
	}
	for i := range launches {
		replace(&launches[i])
		if f := launches[i].Faster; f != nil {
			own := *f
			replace(&own)
			launches[i].Faster = &own
		}
	}
	return launches
}

// keyOf returns a text that is the same for blocks with the same launches.
func keyOf(b *ir.Block, by Options) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%+v", by)
	var write func(b *ir.Block)
	write = func(b *ir.Block) {
		s.WriteString("(")
		for _, p := range b.Params {
			fmt.Fprintf(&s, "%s %s,", p, p.Type)
		}
		s.WriteString("){\n")
		for _, n := range b.Nodes {
			s.WriteString(n.Text())
			for _, inner := range n.Blocks {
				write(inner)
			}
			s.WriteByte('\n')
		}
		fmt.Fprintf(&s, "%s}", b.Results)
	}
	write(b)
	return s.String()
}
