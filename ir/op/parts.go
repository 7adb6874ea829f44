package op

import "github.com/burngen/burngen/ir"

// Parts is how a kernel adds up the products of a sum in f32.
type Parts struct {
	// Terms is the most terms that are added one after the other: a longer sum is that of
	// the sums of parts of it, which rounds less. 0 stands for as many as is fastest.
	Terms int
}

// Summer is an operator whose kernel can add up its sums in [Parts].
type Summer interface {
	ir.Op
	// InParts returns the operator of n with parts of so many terms; nil where its sums
	// have no more than those.
	InParts(n *ir.Node, terms int) ir.Op
}

// parts returns those of a sum of n terms, and whether there are several.
func parts(n ir.Dim, terms int) (p Parts, several bool) {
	_, most := n.Bounds()
	return Parts{terms}, most > int64(terms)
}

// in returns the shape that a kernel takes with the parts in it.
func (p Parts) in(shape ir.Struct) ir.Struct {
	shape.Fields = append(shape.Fields, ir.Field{Name: "Terms", Value: p.Terms})
	return shape
}
