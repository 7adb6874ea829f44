// Package grad implements reverse-mode differentiation of IR functions. It appends the gradients of a value to a
// function. The derivative of an operator comes from the operator ([ir.Differentiable]). The package knows how
// gradients pass from node to node and through control flow, and how training changes a function. It does not know
// the derivative of any operator, memory or Go.
package grad

import (
	"errors"
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// Append computes the gradients of y with respect to each value of wrt: it appends nodes to the function that b
// builds. It returns one tensor for each value of wrt. The tensor has the type of the value, and is zero if y does
// not depend on the value. seed is the gradient of y itself; nil means ones. Append returns an error if a node
// between wrt and y has no derivative; the error lists all such nodes. It also returns an error if a value of wrt
// is not a float.
func Append(b *ir.Builder, y, seed *ir.Value, wrt []*ir.Value) ([]*ir.Value, error) {
	var grads []*ir.Value
	var failed error
	err := ir.Try(func() {
		t := newTape(b, b.Here().Nodes, wrt)
		if seed == nil {
			seed = op.Full(b, y.Type, 1)
		}
		t.add(y, seed)
		t.backward()
		for _, w := range wrt {
			if !w.Type.IsTensor() || !w.Type.DType.IsFloat() {
				t.errs = append(t.errs, fmt.Errorf("%s has no gradient: it is %s", w, w.Type))
				continue
			}
			grads = append(grads, t.total(w))
		}
		failed = errors.Join(t.errs...)
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return nil, err
	}
	return grads, nil
}

// NoDerivative is the error for a node that cannot be differentiated.
type NoDerivative struct {
	Node *ir.Node
	Why  string // "" if its operator has no derivative
}

func (e *NoDerivative) Error() string {
	text := e.Node.String() + " has no derivative"
	if e.Why != "" {
		text += ": " + e.Why
	}
	return text
}

// Stops returns the names of the operators without a derivative that err lists, sorted and each once. err is an
// error that this package returned.
func Stops(err error) []string {
	var names []string
	switch e := err.(type) {
	case *NoDerivative:
		names = []string{ir.OpName(e.Node.Op)}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			names = append(names, Stops(inner)...)
		}
	case interface{ Unwrap() error }:
		names = Stops(e.Unwrap())
	}
	slices.Sort(names)
	return slices.Compact(names)
}

type tape struct {
	b     *ir.Builder
	nodes []*ir.Node
	// active holds the differentiated values, and the floats and containers that depend on them.
	active map[*ir.Value]bool
	// parts holds, for each value, the contributions to its gradient so far. Their sum is the gradient.
	parts map[*ir.Value][]*ir.Value
	errs  []error
}

func newTape(b *ir.Builder, nodes []*ir.Node, wrt []*ir.Value) *tape {
	t := &tape{b: b, nodes: slices.Clone(nodes), active: map[*ir.Value]bool{}, parts: map[*ir.Value][]*ir.Value{}}
	for _, w := range wrt {
		t.active[w] = true
	}
	for _, n := range t.nodes {
		if slices.ContainsFunc(reads(n), func(v *ir.Value) bool { return t.active[v] }) {
			for _, r := range n.Results {
				t.active[r] = r.Type.IsTensor() && r.Type.DType.IsFloat() || !r.Type.IsTensor()
			}
		}
	}
	return t
}

func reads(n *ir.Node) []*ir.Value {
	values := slices.Clone(n.Args)
	for _, block := range n.Blocks {
		values = append(values, block.Captured()...)
	}
	return values
}

// add adds `part` to the gradient of v. It does nothing if v does not depend on a differentiated value, or if v or
// `part` is nil.
func (t *tape) add(v, part *ir.Value) {
	if v == nil || part == nil || !t.active[v] {
		return
	}
	t.parts[v] = append(t.parts[v], part)
}

// sum returns the gradient of v, or nil if it is zero.
func (t *tape) sum(v *ir.Value) *ir.Value {
	parts := t.parts[v]
	if len(parts) == 0 {
		return nil
	}
	total := t.b.Now(parts[0])
	for _, p := range parts[1:] {
		total = t.b.Node(op.Add{}, total, p)
	}
	t.parts[v] = []*ir.Value{total}
	return total
}

func (t *tape) total(v *ir.Value) *ir.Value {
	if s := t.sum(v); s != nil {
		return s
	}
	return op.Full(t.b, v.Type, 0)
}

func (t *tape) backward() {
	for _, n := range slices.Backward(t.nodes) {
		of := make([]*ir.Value, len(n.Results))
		has := false
		for i, r := range n.Results {
			of[i] = t.sum(r)
			has = has || of[i] != nil
		}
		want := make([]bool, len(n.Args))
		wanted := false
		for i, a := range n.Args {
			want[i] = a != nil && t.active[a]
			wanted = wanted || want[i]
		}
		if !has || !wanted && len(n.Blocks) == 0 {
			continue
		}
		t.b.At(n.Pos)
		t.node(n, of, want)
	}
}

// node adds the gradients of n's operands to the tape. dy are the gradients of n's results; a nil
// dy[i] is zero. Operand i needs a gradient if want[i] is true.
func (t *tape) node(n *ir.Node, dy []*ir.Value, want []bool) {
	var grads []*ir.Value
	if o, ok := n.Op.(ir.Composite); ok {
		first := len(t.b.Here().Nodes)
		if results := o.Compose(t.b, n); results != nil {
			t.share(n, t.through(n, dy, want, first, results), want)
			return
		}
	}
	switch o := n.Op.(type) {
	case ir.Assume:
		grads = []*ir.Value{t.b.Assume(dy[0], n.Arg(0).Type.Shape...)}
	case op.If:
		t.branches(n, dy)
	case op.Loop:
		t.trips(n, dy)
	case ir.Differentiable:
		grads = o.Grad(t.b, n, dy, want)
	default:
		t.errs = append(t.errs, &NoDerivative{Node: n})
		return
	}
	t.share(n, grads, want)
}

func (t *tape) share(n *ir.Node, grads []*ir.Value, want []bool) {
	for i, g := range grads {
		if g == nil || !want[i] {
			continue
		}
		if !g.Type.Equal(t.b.Now(n.Args[i]).Type) {
			ir.Fail("%s: the gradient of operand %d is %s, not %s", n, i, g.Type, n.Args[i].Type)
		}
		t.add(n.Args[i], g)
	}
}

// through returns the gradients of n's operands; nil is a zero gradient. It differentiates the nodes of the current
// block from index `first` on, which recompute n. results are the recomputed results, and dy are their gradients.
// Operand i needs a gradient if want[i] is true.
func (t *tape) through(n *ir.Node, dy []*ir.Value, want []bool, first int, results []*ir.Value) []*ir.Value {
	var wrt []*ir.Value
	for i, a := range n.Args {
		if want[i] {
			wrt = append(wrt, t.b.Now(a))
		}
	}
	inner := newTape(t.b, t.b.Here().Nodes[first:], wrt)
	for i, r := range results {
		inner.add(r, dy[i])
	}
	inner.backward()
	t.errs = append(t.errs, inner.errs...)
	grads := make([]*ir.Value, len(n.Args))
	taken := map[*ir.Value]bool{} // if several operands are the same value, the first has the gradient
	for i, a := range n.Args {
		if want[i] && !taken[a] {
			grads[i], taken[a] = inner.sum(t.b.Now(a)), true
		}
	}
	return grads
}
