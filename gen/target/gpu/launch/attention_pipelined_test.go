package launch

import (
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// TestHeadRows compares the places of elements by strides with their places by rows, for 2 batch elements of 3 heads with 4
// rows of 8 elements.
func TestHeadRows(t *testing.T) {
	const batch, heads, rows, width = 2, 3, 4, 8
	for _, c := range []struct {
		name   string
		total  int
		layout [4]int
		ok     bool
	}{
		{"heads are columns", 2 * 4 * 24, [4]int{0, 96, 8, 24}, true},
		{"heads are columns of a wider matrix", 2 * 4 * 72, [4]int{24, 288, 8, 72}, true},
		{"a gap between heads", 2 * 4 * 32, [4]int{4, 128, 10, 32}, true},
		{"heads are matrices", 2 * 3 * 32, [4]int{0, 96, 32, 8}, true},
		{"heads are matrices with more rows", 2 * 3 * 48, [4]int{8, 144, 48, 8}, true},
		{"batches are matrices between heads", 3 * 2 * 32, [4]int{0, 32, 64, 8}, false},
		{"one matrix for all heads", 2 * 4 * 8, [4]int{0, 32, 0, 8}, true},
		{"one batch element for all", 4 * 24, [4]int{0, 0, 8, 24}, false},
		{"elements of the next row", 2 * 4 * 24, [4]int{8, 96, 8, 24}, false},
		{"rows beyond the last", 2 * 4 * 24, [4]int{24, 96, 8, 24}, false},
		{"batches that begin within a row", 1000, [4]int{0, 100, 8, 24}, false},
		{"no rows", 24, [4]int{0, 0, 0, 0}, false},
	} {
		v := &ir.Value{Type: ir.TensorOf(ir.BF16, dim.Const(c.total))}
		r, ok := headRows(v, dim.Consts(c.layout[:]...), batch, heads, rows, width)
		if ok != c.ok {
			t.Errorf("%s: %+v, %t", c.name, r, ok)
		}
		if !ok {
			continue
		}
		if r.Outer*r.Rows*r.Columns != c.total {
			t.Errorf("%s: %+v has not %d elements", c.name, r, c.total)
		}
		for b := range batch {
			for h := range heads {
				for i := range rows {
					outer, row, column := b*r.BatchOuter+h*r.HeadOuter, r.Row+i, r.Column+h*r.HeadColumns
					got := (outer*r.Rows+row)*r.Columns + column
					if want := c.layout[0] + b*c.layout[1] + h*c.layout[2] + i*c.layout[3]; got != want || outer >= r.Outer || row >= r.Rows || column+width > r.Columns {
						t.Fatalf("%s: batch element %d, head %d, row %d is at %d, want %d: %+v", c.name, b, h, i, got, want, r)
					}
				}
			}
		}
	}
}
