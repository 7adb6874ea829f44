package nn

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/burngen/burngen/ir"
)

// [Value.Format] abbreviates an axis with at least maxPrinted elements: it prints only the first printedEnd elements
// and the last printedEnd.
const maxPrinted, printedEnd = 16, 3

// Format prints the type and, if known, the elements: "f32[2] [1 2]". A precision, as in %.4v, is the number of
// digits after the decimal point. Long axes are abbreviated. The flag + (%+v) prints them whole.
func (v Value) Format(s fmt.State, verb rune) {
	if !v.Valid() {
		fmt.Fprint(s, "none")
		return
	}
	fmt.Fprint(s, v.typ())
	if v.n.open {
		fmt.Fprintf(s, " of %s", v.n.source())
		return
	}
	p := printer{t: v.tensor(), precision: -1, all: s.Flag('+')}
	if digits, ok := s.Precision(); ok {
		p.precision = digits
	}
	s.Write([]byte{' '})
	p.axis(0, 0)
	fmt.Fprint(s, p.b.String())
}

// String formats the value with %v.
func (v Value) String() string { return fmt.Sprintf("%v", v) }

type printer struct {
	t         *ir.Tensor
	precision int
	all       bool
	b         strings.Builder
}

func (p *printer) axis(axis, start int) {
	if axis == p.t.Rank() {
		p.element(start)
		return
	}
	inner := 1
	for _, d := range p.t.Shape[axis+1:] {
		inner *= d
	}
	n := p.t.Shape[axis]
	p.b.WriteByte('[')
	for i := 0; i < n; i++ {
		if i > 0 {
			p.b.WriteByte(' ')
		}
		if !p.all && n >= maxPrinted && i == printedEnd {
			p.b.WriteString("… ")
			i = n - printedEnd
		}
		p.axis(axis+1, start+i*inner)
	}
	p.b.WriteByte(']')
}

func (p *printer) element(i int) {
	switch {
	case p.t.DType == Bool:
		p.b.WriteString(strconv.FormatBool(p.t.Bool(i)))
	case p.t.DType == ir.String:
		p.b.WriteString(strconv.Quote(p.t.Text(i)))
	case p.t.DType == U64:
		p.b.WriteString(strconv.FormatUint(uint64(p.t.Int(i)), 10))
	case !p.t.DType.IsFloat():
		p.b.WriteString(strconv.FormatInt(p.t.Int(i), 10))
	case p.precision >= 0:
		p.b.WriteString(strconv.FormatFloat(p.t.Float(i), 'f', p.precision, 64))
	default:
		bits := 32
		if p.t.DType == F64 {
			bits = 64
		}
		p.b.WriteString(strconv.FormatFloat(p.t.Float(i), 'g', -1, bits))
	}
}

func percentage(tolerance, share float64) string {
	return fmt.Sprintf("%.0e: %6.2f %%", tolerance, 100*share)
}
