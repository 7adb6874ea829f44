package plan

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/runtime/rt"
)

const (
	// pictureWidth is the number of columns of the picture after the names.
	pictureWidth = 64
	pictureRows  = 60
	// pictureNames is the maximum length of a name in the picture, in characters.
	pictureNames = 60
)

// Picture draws the arena. It has a row for each buffer, with the buffer's addresses and the steps
// at which it is alive. The picture is drawn for one value of all symbols: 1, or the smallest power
// of two at which no buffer has a negative size. For example, a buffer of n−16 elements is drawn
// for n = 16. If there are too many buffers, the smallest are left out. `name` returns the name of
// a buffer.
func (p *Plan) Picture(name func(*Buffer) string) string {
	var b strings.Builder
	d := p.drawing()
	if p.Mode == Dynamic {
		fmt.Fprintf(&b, "%s, placed once the extents are known: where all are %d, in %d bytes\n", buffers(len(p.Buffers)), d.symbol, d.total)
	} else {
		fmt.Fprintf(&b, "%s in %s bytes; the largest live set is %s\n", buffers(len(p.Buffers)), p.Size, p.Live)
	}
	if d.total > 0 {
		p.rows(&b, name, d)
	}
	if n := len(p.Tails); n > 0 {
		fmt.Fprintf(&b, "%d more, each allocated at the step that fills it\n", n)
	}
	return b.String()
}

func buffers(n int) string {
	if n == 1 {
		return "1 buffer"
	}
	return fmt.Sprintf("%d buffers", n)
}

// drawing is the arena with every symbol replaced by the same number.
type drawing struct {
	symbol         int64             // the value of every symbol
	sizes, offsets map[*Buffer]int64 // in bytes, at least 0
	total          int64             // size of the arena in bytes; 0 if nothing is drawn
}

// drawing lays out the arena for Picture, with one value for all symbols. The value is the smallest
// power of two at which no buffer has a negative size. The drawing is empty if there is no such
// power below 2³¹.
func (p *Plan) drawing() drawing {
	for symbol := int64(1); symbol < 1<<31; symbol *= 2 {
		if d, ok := p.drawingAt(symbol); ok {
			return d
		}
	}
	return drawing{symbol: 1}
}

// drawingAt returns the arena with the value `symbol` for every symbol. It returns false if a size
// or an offset cannot be drawn.
func (p *Plan) drawingAt(symbol int64) (drawing, bool) {
	d := drawing{symbol: symbol, sizes: map[*Buffer]int64{}, offsets: map[*Buffer]int64{}}
	n := len(p.Buffers)
	sizes, first, last, places := make([]int64, n), make([]int32, n), make([]int32, n), make([]int64, n)
	for i, b := range p.Buffers {
		size, ok := bytesAt(b.Bytes, symbol)
		if !ok {
			return d, false
		}
		d.sizes[b] = size
		sizes[i], first[i], last[i] = size, int32(b.First), int32(b.Last)
	}
	if p.Mode == Dynamic {
		d.total = rt.Layout(sizes, first, last, places)
		for i, b := range p.Buffers {
			d.offsets[b] = places[i]
		}
		return d, d.total != math.MaxInt64
	}
	var ok bool
	if d.total, ok = bytesAt(p.Size, symbol); !ok {
		return d, false
	}
	for _, b := range p.Buffers {
		if d.offsets[b], ok = bytesAt(b.Offset, symbol); !ok || d.offsets[b] > d.total-d.sizes[b] {
			return d, false
		}
	}
	return d, true
}

func (p *Plan) rows(b *strings.Builder, name func(*Buffer) string, d drawing) {
	rows := slices.Clone(p.Buffers)
	slices.SortStableFunc(rows, func(x, y *Buffer) int { return cmp.Compare(d.sizes[y], d.sizes[x]) })
	left := max(0, len(rows)-pictureRows)
	rows = rows[:len(rows)-left]
	slices.SortStableFunc(rows, func(x, y *Buffer) int { return cmp.Compare(x.First, y.First) })
	width := 0
	for _, r := range rows {
		width = max(width, len(pictureName(name(r))))
	}
	end := fmt.Sprint(d.total)
	fmt.Fprintf(b, "\n%-*s %-9s 0%s%s\n", width, "", "steps", strings.Repeat(" ", max(1, pictureWidth-len(end))), end)
	for _, r := range rows {
		from := column(d.offsets[r], d.total)
		to := max(from+1, column(d.offsets[r]+d.sizes[r], d.total))
		bar := "|"
		if to-from > 1 {
			bar = "[" + strings.Repeat("-", to-from-2) + ")"
		}
		fmt.Fprintf(b, "%-*s %-9s %s%s\n", width, pictureName(name(r)), fmt.Sprintf("%d-%d", r.First, r.Last), strings.Repeat(" ", from), bar)
	}
	if left > 0 {
		fmt.Fprintf(b, "and %d smaller ones\n", left)
	}
}

// column returns the column of the picture for an address. The column is from 0 to pictureWidth,
// both included. The arena has `total` bytes, and 0 ≤ address ≤ total.
func column(address, total int64) int {
	hi, lo := bits.Mul64(uint64(address), pictureWidth)
	c, _ := bits.Div64(hi, lo, uint64(total)) // at most pictureWidth, as address is at most total
	return int(c)
}

// bytesAt evaluates a size with the value `symbol` for every symbol. It returns false if the result
// is negative or not a number.
func bytesAt(d dim.Dim, symbol int64) (int64, bool) {
	n, ok := d.Subst(func(string) (dim.Dim, bool) { return dim.Const64(symbol), true }).Int64()
	return n, ok && n >= 0
}

// pictureName returns a name that fits a row of the picture. The name is printable ASCII, and
// cannot be taken for a build constraint.
func pictureName(name string) string {
	out := strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' || r == '+' {
			return '?'
		}
		return r
	}, name)
	return out[:min(len(out), pictureNames)]
}
