package nn

import (
	"github.com/burngen/burngen/ir/dim"
)

// Dim is an extent of a tensor. It is a number, or an expression in symbols while a method is recorded. The symbols
// are extents of the method's inputs. Compare two Dims with Equal.
type Dim struct {
	_ [0]func()
	d dim.Dim
}

// Extent is an element of a shape: an int or a [Dim].
type Extent = any

// String returns the extent as the IR prints it: "28", "N", "2*N+1".
func (d Dim) String() string { return d.d.String() }

// Equal reports whether two extents are known to be equal, whatever the values of their symbols are.
func (d Dim) Equal(e Extent) bool { return d.d.Same(extent(e)) }

// Int returns the extent as an int. It panics with an [*Error] if the extent has a symbol: use the
// extent itself, [Where], [If] or [While] instead.
func (d Dim) Int() int {
	n, ok := d.d.Int()
	if !ok {
		fail("dimension %s is symbolic: it has no number while the model is recorded", d)
	}
	return n
}

// IsStatic reports whether the extent is a number, without symbols.
func (d Dim) IsStatic() bool { return d.d.IsConst() }

// Add returns the sum of two extents.
func (d Dim) Add(e Extent) Dim { return checked(d.d.Add(extent(e))) }

// Sub returns the difference of two extents.
func (d Dim) Sub(e Extent) Dim { return checked(d.d.Sub(extent(e))) }

// Mul returns the product of two extents.
func (d Dim) Mul(e Extent) Dim { return checked(d.d.Mul(extent(e))) }

// Div returns the quotient of two extents, rounded down.
func (d Dim) Div(e Extent) Dim { return checked(d.d.FloorDiv(extent(e))) }

func checked(d dim.Dim) Dim {
	if err := d.Err(); err != nil {
		fail("%v", err)
	}
	return Dim{d: d}
}

func extent(e Extent) dim.Dim {
	switch e := e.(type) {
	case int:
		return dim.Const(e)
	case Dim:
		return e.d
	case dim.Dim:
		return e
	}
	fail("an extent is an int or an nn.Dim, not a %T", e)
	panic("unreachable")
}

// extents converts a shape to dim.Dims. It panics with an [*Error] if an extent is negative.
func extents(shape []Extent) []dim.Dim {
	dims := make([]dim.Dim, len(shape))
	for i, e := range shape {
		dims[i] = extent(e)
		if n, ok := dims[i].Int(); ok && n < 0 {
			fail("extent %d is negative: %d", i, n)
		}
	}
	return dims
}
