package pass

import (
	"fmt"
	"strings"

	"github.com/burngen/burngen/ir"
)

// eliminateCommon removes nodes that compute the same as an earlier node of their block. It also removes checks of
// extents that always hold or that repeat an earlier check.
func eliminateCommon(_ *Context, m *ir.Module) (changed bool, err error) {
	for _, f := range m.Funcs {
		e := &eliminator{home: homes(f), seen: map[place][]*ir.Node{}}
		c, err := f.Rewrite(func(_ *ir.Builder, n *ir.Node) []*ir.Value { return e.visit(n) })
		if err != nil {
			return changed, fmt.Errorf("@%s: %w", f.Name, err)
		}
		changed = changed || c || e.dropped
	}
	return changed, nil
}

type eliminator struct {
	home    map[*ir.Node]*ir.Block
	seen    map[place][]*ir.Node
	dropped bool // a check was removed
}

// place identifies what a node computes: its block, its operator, and the text of [keyOf].
type place struct {
	block *ir.Block
	op    uint64 // see [ir.Hash]
	key   string
}

func (e *eliminator) visit(n *ir.Node) []*ir.Value {
	check, isCheck := n.Op.(ir.CheckDim)
	if isCheck && check.Holds() {
		e.dropped = true
		return []*ir.Value{}
	}
	if !isCheck && !isPure(n.Op) {
		return nil
	}
	at := place{e.home[n], ir.Hash(n.Op), keyOf(n)}
	for _, m := range e.seen[at] {
		if ir.Equal(m.Op, n.Op) {
			e.dropped = e.dropped || isCheck
			return append([]*ir.Value{}, m.Results...)
		}
	}
	e.seen[at] = append(e.seen[at], n)
	return nil
}

// keyOf returns a text that is the same for nodes with equal operands, result types and blocks.
func keyOf(n *ir.Node) string {
	var s strings.Builder
	for _, a := range n.Args {
		fmt.Fprintf(&s, " %s", a)
	}
	for _, r := range n.Results {
		fmt.Fprintf(&s, " %s", r.Type)
	}
	for _, b := range n.Blocks {
		writeBlock(&s, numbered(b))
	}
	return s.String()
}

// numbered returns a copy of b in which values have numbers as names.
func numbered(b *ir.Block) *ir.Block {
	next := 0
	return b.Clone(func(string) string {
		next++
		return fmt.Sprintf("/%d", next)
	})
}

func writeBlock(s *strings.Builder, b *ir.Block) {
	fmt.Fprintf(s, "(%s){", b.Params)
	for _, n := range b.Nodes {
		s.WriteString(n.Text())
		for _, inner := range n.Blocks {
			writeBlock(s, inner)
		}
		s.WriteByte('\n')
	}
	fmt.Fprintf(s, "%s}", b.Results)
}
