package kernels

import (
	"errors"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

var errAttention = errors.New("the attention cannot be computed by groups of threads")

// check returns an error unless groups of threads can compute a: a kernel must be able to copy the queries, keys
// and values in boxes, and to count their elements in i32.
func (a Attention) check() error {
	if a.Matrix != ir.F16 && a.Matrix != ir.BF16 || a.Width < 8 || a.Width > 128 || a.Width%8 != 0 || a.Past < 0 {
		return errAttention
	}
	elements := a.Width
	for _, n := range []int{a.Batch, a.Heads, a.Queries} {
		if n < 1 || elements > math.MaxInt32/n {
			return errAttention
		}
		elements *= n
	}
	const most = math.MaxInt32 / 8 // so that sums of positions are i32
	if a.KeyHeads < 1 || a.Heads%a.KeyHeads != 0 || a.Keys < 1 || max(a.Keys, a.Past, a.Before, a.After) > most {
		return errAttention
	}
	for _, r := range []HeadRows{a.Q, a.K, a.V} {
		if !r.hasBoxes(a.Width) {
			return errAttention
		}
	}
	return nil
}

// hasBoxes reports whether boxes can be copied from r. A row of a head has `width` elements.
func (r HeadRows) hasBoxes(width int) bool {
	apart := r.Columns%width == 0 && r.Column%width == 0 && r.HeadColumns%width == 0
	return r.Columns%8 == 0 && (width%columnsOfBox == 0 || apart)
}

// columnsOf returns width, the number of elements of a row, rounded up to a multiple of
// columnsOfBox.
func columnsOf(width int) int { return (width + columnsOfBox - 1) / columnsOfBox * columnsOfBox }

// headBoxes copies rows of heads to shared memory, in boxes of 64 columns.
type headBoxes struct {
	*Emitter
	matrix  ir.DType
	width   int // elements of a row
	columns int // of the boxes with a row: width, or more
}

// boxes adds a parameter to the kernel: a map, which describes the tensor r.Value. With it the kernel copies boxes
// of `rows` rows and 64 columns. If a row of a head does not fill whole boxes, the map has an axis for heads. The
// last box of the row then has zeros after the row's last element.
func (p *headBoxes) boxes(name string, r HeadRows, rows int) *kernel.Value {
	p.args = append(p.args, Arg{Read: r.Value})
	if p.columns == p.width {
		return p.Map(name, p.matrix, &kernel.Map{Extents: []int{r.Outer, r.Rows, r.Columns}, Box: []int{1, rows, columnsOfBox}})
	}
	return p.Map(name, p.matrix, &kernel.Map{Extents: []int{r.Outer, r.Rows, r.Columns / p.width, p.width}, Box: []int{1, rows, 1, columnsOfBox}})
}

// copyRows copies n rows of a head, beginning with row `first`, to elements of the array `to`, beginning with
// element `at`. It copies boxes of `rows` rows and 64 columns: first all boxes of the first `rows` rows, then all
// boxes of the next `rows` rows, and so on. Barrier i of `full` counts the copied bytes. `from` is the map that
// the method boxes has returned for r.
func (p *headBoxes) copyRows(to, at, from *kernel.Value, r HeadRows, full, i, batch, head, first *kernel.Value, n, rows int) {
	outer := p.Add(p.Mul(batch, p.Int(r.BatchOuter)), p.Mul(head, p.Int(r.HeadOuter)))
	for row := 0; row < n; row += rows {
		for c := 0; c < p.columns; c += columnsOfBox {
			place := []*kernel.Value{outer, p.Add(first, p.Int(r.Row+row))}
			if p.columns == p.width {
				place = append(place, p.Add(p.Mul(head, p.Int(r.HeadColumns)), p.Int(r.Column+c)))
			} else {
				place = append(place, p.Add(p.Mul(head, p.Int(r.HeadColumns/p.width)), p.Int(r.Column/p.width)), p.Int(c))
			}
			p.CopyBox(to, p.Add(at, p.Int(row*p.columns+c*rows)), from, full, i, place...)
		}
	}
}

// next returns the stage after s of n stages.
func (p *headBoxes) next(s stage, n int) stage {
	i := p.Add(s.index, p.Int(1))
	last := p.Eq(i, p.Int(n))
	return stage{p.Select(last, p.Int(0), i), p.Select(last, p.other(s.phase), s.phase)}
}

func (p *headBoxes) other(phase *kernel.Value) *kernel.Value { return p.Sub(p.Int(1), phase) }

// words rounds f32 numbers to the type of matrices and joins every two neighbours into a word.
func (p *headBoxes) words(x []*kernel.Value) []*kernel.Value {
	words := make([]*kernel.Value, len(x)/2)
	for i := range words {
		words[i] = p.Join(p.Convert(p.matrix, x[2*i]), p.Convert(p.matrix, x[2*i+1]))
	}
	return words
}
