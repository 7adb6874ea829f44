package op

import (
	"fmt"
	"slices"
	"strings"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// importEinsum imports Einsum. It combines the operands from left to right by matrix products.
func importEinsum(c ir.Importer) ([]*ir.Value, error) {
	args := make([]*ir.Value, c.NumArgs())
	ranks := make([]int, len(args))
	for i := range args {
		if args[i] = c.Arg(i); args[i] == nil {
			return nil, fmt.Errorf("operand %d is absent", i)
		}
		ranks[i] = args[i].Type.Rank()
	}
	terms, out, err := parseEquation(c.Text("equation", ""), ranks)
	if err != nil {
		return nil, err
	}
	e := einsum{b: c.Builder()}
	operands := make([]labelled, len(args))
	for i, v := range args {
		operands[i] = labelled{v, terms[i]}
	}
	e.unify(operands)
	sum := e.own(operands[0], out, operands[1:])
	for i, next := range operands[1:] {
		rest := operands[i+2:]
		next = e.own(next, append(out[:len(out):len(out)], sum.labels...), rest)
		sum = e.contract(sum, next, func(l label) bool { return needed(l, out, rest) })
	}
	sum = e.own(sum, out, nil)
	return []*ir.Value{e.order(sum, out).v}, nil
}

// label names an axis in an equation. It is a letter, or −n for the n-th axis from the end of an ellipsis.
type label rune

type labelled struct {
	v      *ir.Value
	labels []label
}

func (x labelled) axis(l label) int { return slices.Index(x.labels, l) }

func parseEquation(equation string, ranks []int) (terms [][]label, out []label, err error) {
	inputs, result, explicit := strings.Cut(strings.ReplaceAll(equation, " ", ""), "->")
	texts := strings.Split(inputs, ",")
	if len(texts) != len(ranks) {
		return nil, nil, fmt.Errorf("equation %q has %d terms for %d operands", equation, len(texts), len(ranks))
	}
	deepest := 0
	for i, text := range texts {
		letters := len(strings.ReplaceAll(text, "...", ""))
		term, err := parseTerm(text, ranks[i]-letters)
		if err != nil {
			return nil, nil, fmt.Errorf("equation %q: %w", equation, err)
		}
		if len(term) != ranks[i] {
			return nil, nil, fmt.Errorf("equation %q: term %q for rank %d", equation, text, ranks[i])
		}
		deepest = max(deepest, len(term)-letters)
		terms = append(terms, term)
	}
	if !explicit {
		for _, l := range slices.Sorted(slices.Values(slices.Concat(terms...))) {
			if uses := countLabel(terms, l); l < 0 && !slices.Contains(out, l) || l >= 0 && uses == 1 {
				out = append(out, l)
			}
		}
		return terms, out, nil
	}
	if out, err = parseTerm(result, deepest); err != nil {
		return nil, nil, fmt.Errorf("equation %q: %w", equation, err)
	}
	for i, l := range out {
		if slices.Contains(out[:i], l) {
			return nil, nil, fmt.Errorf("equation %q: the result has a label twice", equation)
		}
		if countLabel(terms, l) == 0 {
			return nil, nil, fmt.Errorf("equation %q: no operand has label %c", equation, l)
		}
	}
	return terms, out, nil
}

func countLabel(terms [][]label, l label) (n int) {
	for _, t := range terms {
		for _, m := range t {
			if m == l {
				n++
			}
		}
	}
	return n
}

// parseTerm returns the labels of a term. `ellipsis` is the number of axes that an ellipsis in the term stands for.
func parseTerm(text string, ellipsis int) ([]label, error) {
	before, after, found := strings.Cut(text, "...")
	var term []label
	for i, part := range []string{before, after} {
		if i == 1 && found {
			if ellipsis < 0 {
				return nil, fmt.Errorf("term %q has more labels than its operand axes", text)
			}
			for k := ellipsis; k > 0; k-- {
				term = append(term, label(-k))
			}
		}
		for _, r := range part {
			if !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z') {
				return nil, fmt.Errorf("term %q has %q where a label is expected", text, r)
			}
			term = append(term, label(r))
		}
	}
	return term, nil
}

// needed reports whether label l occurs in `out`, the labels of the result, or in an operand in rest.
func needed(l label, out []label, rest []labelled) bool {
	return slices.Contains(out, l) || slices.ContainsFunc(rest, func(x labelled) bool { return x.axis(l) >= 0 })
}

type einsum struct{ b *ir.Builder }

// unify changes operands until all axes with the same label have the same extent. If an operand repeats a label,
// unify takes the diagonal of the two axes. If an axis has extent 1 and another axis with its label has another
// extent, unify broadcasts the axis to this extent.
func (e einsum) unify(operands []labelled) {
	for {
		extents, err := extentsOf(operands)
		if err != nil {
			values := make([]*ir.Value, len(operands))
			for i, x := range operands {
				values[i] = x.v
			}
			equate(e.b, err, values)
			for i, v := range values {
				operands[i].v = v
			}
			continue
		}
		for i, x := range operands {
			shape := make([]dim.Dim, len(x.labels))
			for k, l := range x.labels {
				shape[k] = extents[l]
			}
			operands[i] = e.diagonal(labelled{ExpandTo(e.b, x.v, shape...), x.labels})
		}
		return
	}
}

// extentsOf returns the extent of each label. If some axes of a label have extent 1, the extent of the others is
// returned. extentsOf returns an error if the other extents of a label are not provably equal.
func extentsOf(operands []labelled) (map[label]dim.Dim, error) {
	extents := map[label]dim.Dim{}
	for _, x := range operands {
		for i, l := range x.labels {
			have, seen := extents[l]
			d, one := x.v.Type.Shape[i], dim.Const(1)
			switch {
			case !seen || have.Equal(one):
				extents[l] = d
			case d.Equal(one):
			default:
				if err := Same(have, d, "extents of a label"); err != nil {
					return nil, err
				}
			}
		}
	}
	return extents, nil
}

// diagonal merges the axes of x that have the same label into one. It returns the elements of x whose indices on
// these axes are equal.
func (e einsum) diagonal(x labelled) labelled {
	copied := StridedCopy{}
	var labels []label
	for i, s := range RowMajor(x.v.Type.Shape) {
		if k := slices.Index(labels, x.labels[i]); k >= 0 {
			copied.Strides[k] = copied.Strides[k].Add(s)
			continue
		}
		labels = append(labels, x.labels[i])
		copied.Shape, copied.Strides = append(copied.Shape, x.v.Type.Shape[i]), append(copied.Strides, s)
	}
	if len(labels) == len(x.labels) {
		return x
	}
	return labelled{e.b.Node(copied, x.v), labels}
}

// own returns x summed over the labels that neither the result nor an operand in rest has. `out` are the labels of
// the result.
func (e einsum) own(x labelled, out []label, rest []labelled) labelled {
	var axes []int
	var left []label
	for i, l := range x.labels {
		if needed(l, out, rest) {
			left = append(left, l)
		} else {
			axes = append(axes, i)
		}
	}
	if len(axes) == 0 {
		return x
	}
	return labelled{e.b.Node(Reduce{Kind: ReduceSum, Axes: axes}, x.v), left}
}

func (e einsum) order(x labelled, labels []label) labelled {
	perm := make([]int, len(labels))
	for i, l := range labels {
		perm[i] = x.axis(l)
	}
	return labelled{TransposeBy(e.b, x.v, perm...), labels}
}

// contract returns the product of x and y. It sums over each label that both have, unless kept returns true for it.
func (e einsum) contract(x, y labelled, kept func(label) bool) labelled {
	var batch, summed, rows, columns []label
	for _, l := range x.labels {
		switch {
		case y.axis(l) < 0:
			rows = append(rows, l)
		case kept(l):
			batch = append(batch, l)
		default:
			summed = append(summed, l)
		}
	}
	for _, l := range y.labels {
		if x.axis(l) < 0 {
			columns = append(columns, l)
		}
	}
	x, y = e.order(x, slices.Concat(batch, rows, summed)), e.order(y, slices.Concat(batch, summed, columns))
	extents := func(v labelled, from, n int) []dim.Dim { return v.v.Type.Shape[from : from+n] }
	nb, nr, nc := len(batch), len(rows), len(columns)
	both := extents(x, 0, nb)
	m, n := extents(x, nb, nr), extents(y, nb+len(summed), nc)
	labels := slices.Concat(batch, rows, columns)
	if len(summed) == 0 {
		ones := slices.Repeat([]dim.Dim{dim.Const(1)}, nr)
		wide := ReshapeTo(e.b, x.v, slices.Concat(both, m, slices.Repeat([]dim.Dim{dim.Const(1)}, nc))...)
		high := ReshapeTo(e.b, y.v, slices.Concat(both, ones, n)...)
		return labelled{e.b.Node(Mul{}, wide, high), labels}
	}
	k := dim.Product(extents(y, nb, len(summed))...)
	count := dim.Product(both...)
	a := ReshapeTo(e.b, x.v, count, dim.Product(m...), k)
	b := ReshapeTo(e.b, y.v, count, k, dim.Product(n...))
	return labelled{ReshapeTo(e.b, e.b.Node(MatMul{}, a, b), slices.Concat(both, m, n)...), labels}
}
