package plan

import (
	"cmp"
	"fmt"
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
		fmt.Fprintf(&b, "%d buffers, placed once the extents are known\n", len(p.Buffers))
		return b.String()
	}
	rows := slices.Clone(p.Buffers)
	slices.SortStableFunc(rows, func(x, y *Buffer) int { return cmp.Compare(p.bytes(y.Bytes), p.bytes(x.Bytes)) })
	left := max(0, len(rows)-pictureRows)
	rows = rows[:len(rows)-left]
	slices.SortStableFunc(rows, func(x, y *Buffer) int { return x.First - y.First })
	total := p.bytes(p.Size)
	fmt.Fprintf(&b, "%d buffers in %s bytes; the largest live set is %s\n\n", len(p.Buffers), p.Size, p.Live)
	if total == 0 {
		return strings.TrimRight(b.String(), "\n") + "\n"
	}
	fmt.Fprintf(&b, "%-16s %-9s 0%s%d\n", "", "steps", strings.Repeat(" ", max(1, pictureWidth-len(fmt.Sprint(total)))), total)
	for _, r := range rows {
		from := int(p.bytes(r.Offset) * pictureWidth / total)
		to := max(from+1, int((p.bytes(r.Offset)+p.bytes(r.Bytes))*pictureWidth/total))
		bar := "[" + strings.Repeat("-", max(0, to-from-2)) + ")"
		if to-from < 2 {
			bar = "|"
		}
		fmt.Fprintf(&b, "%-16s %-9s %s%s\n", pictureName(r.Name), fmt.Sprintf("%d-%d", r.First, r.Last), strings.Repeat(" ", from), bar)
	}
	if left > 0 {
		fmt.Fprintf(&b, "and %d smaller ones\n", left)
	}
	return b.String()
}

// bytes returns a size for a symbol of 1.
func (p *Plan) bytes(d ir.Dim) int64 {
	n, _ := d.Subst(func(string) (ir.Dim, bool) { return ir.Const(1), true }).Int64()
	return n
}

// pictureName shortens a name to the printable ASCII that a row has room for.
func pictureName(name string) string {
	out := strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return '?'
		}
		return r
	}, name)
	return out[:min(len(out), 16)]
}
