package plan

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/burngen/burngen/ir"
)

// The picture's width in columns and its largest number of rows.
const (
	pictureWidth = 64
	pictureRows  = 60
)

// Picture draws the arena: a row for each buffer, with the steps at which it is
// alive and the addresses that it takes. Buffers beyond a number of rows are
// left out, the smallest first.
func (p *Plan) Picture() string {
	var b strings.Builder
	if p.Mode == Dynamic {
		fmt.Fprintf(&b, "%s, placed once the extents are known\n", buffers(len(p.Buffers)))
	} else {
		fmt.Fprintf(&b, "%s in %s bytes; the largest live set is %s\n", buffers(len(p.Buffers)), p.Size, p.Live)
		p.rows(&b)
	}
	if n := len(p.Tails); n > 0 {
		fmt.Fprintf(&b, "%d more, each allocated at the step that fills it\n", n)
	}
	return b.String()
}

// buffers counts buffers in words.
func buffers(n int) string {
	if n == 1 {
		return "1 buffer"
	}
	return fmt.Sprintf("%d buffers", n)
}

// rows draws the buffers that take memory.
func (p *Plan) rows(b *strings.Builder) {
	total := bytesAtOne(p.Size)
	if total == 0 {
		return
	}
	rows := slices.Clone(p.Buffers)
	slices.SortStableFunc(rows, func(x, y *Buffer) int { return cmp.Compare(bytesAtOne(y.Bytes), bytesAtOne(x.Bytes)) })
	left := max(0, len(rows)-pictureRows)
	rows = rows[:len(rows)-left]
	slices.SortStableFunc(rows, func(x, y *Buffer) int { return cmp.Compare(x.First, y.First) })
	end := fmt.Sprint(total)
	fmt.Fprintf(b, "\n%-16s %-9s 0%s%s\n", "", "steps", strings.Repeat(" ", max(1, pictureWidth-len(end))), end)
	for _, r := range rows {
		from := column(bytesAtOne(r.Offset), total)
		to := max(from+1, column(bytesAtOne(r.Offset)+bytesAtOne(r.Bytes), total))
		bar := "|"
		if to-from > 1 {
			bar = "[" + strings.Repeat("-", to-from-2) + ")"
		}
		fmt.Fprintf(b, "%-16s %-9s %s%s\n", pictureName(r.Name), fmt.Sprintf("%d-%d", r.First, r.Last), strings.Repeat(" ", from), bar)
	}
	if left > 0 {
		fmt.Fprintf(b, "and %d smaller ones\n", left)
	}
}

// column returns the column of an address.
func column(at, total int64) int {
	hi, lo := bits.Mul64(uint64(at), pictureWidth)
	c, _ := bits.Div64(hi, lo, uint64(total)) // at most pictureWidth, as at is at most total
	return int(c)
}

// bytesAtOne returns a size for a symbol of 1.
func bytesAtOne(d ir.Dim) int64 {
	n, _ := d.Subst(func(string) (ir.Dim, bool) { return ir.Const(1), true }).Int64()
	return n
}

// pictureName shortens a name to the printable ASCII that a row has room for, without
// what a build constraint begins with.
func pictureName(name string) string {
	out := strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' || r == '+' {
			return '?'
		}
		return r
	}, name)
	return out[:min(len(out), 16)]
}
