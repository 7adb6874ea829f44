package plan

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/runtime/rt"
)

// line is the number of bytes of a cache line. Sizes of buffers are rounded up to multiples of it.
const line = 64

// buffer adds a buffer for v and returns it. i is the index of the first node that writes v.
func (p *planner) buffer(v *ir.Value, i int) *Buffer {
	d, elems := v.Type.DType, v.Type.Elems()
	b := &Buffer{Name: v.Name, Value: v, DType: d, Elems: elems, Bytes: roundUp(elems.Mul(dim.Const(d.Size()))), First: i, Last: i}
	if v.Def == nil { // scratch
		b.Bytes = bounded(b.Bytes)
	}
	if p.at(b).Kind == Tail {
		p.Tails = append(p.Tails, b)
	} else {
		p.Buffers = append(p.Buffers, b)
	}
	return b
}

// maxBound is a number of bytes. If the size of scratch memory is symbolic, and has an upper bound
// of at most maxBound, the bound is used as the size.
const maxBound = 16 << 20

// bounded returns an upper bound of b, in bytes, as a constant. It returns b itself if the bound is
// greater than maxBound. If the size of a buffer is constant, later buffers can have offsets that
// are constant or multiples of one symbol.
func bounded(b dim.Dim) dim.Dim {
	if _, hi := b.Bounds(); hi <= maxBound {
		return dim.Const64(hi)
	}
	return b
}

// at returns the place of the whole buffer b. The place is in the arena if b's size is known when
// the arena is laid out. Otherwise the place is of kind Tail: such a buffer is allocated when the
// node that computes it runs.
func (p *planner) at(b *Buffer) Place {
	if hasSymbol(ir.TensorOf(b.DType, b.Elems), p.Tailed) {
		return Place{Kind: Tail, Buffer: b}
	}
	return Place{Kind: Arena, Buffer: b}
}

// roundUp rounds a number of bytes up to a multiple of [line]. If the number is c·S with one symbol
// S, roundUp rounds c, so that the result is a multiple of S too.
func roundUp(bytes dim.Dim) dim.Dim {
	if symbols := bytes.Symbols(); len(symbols) == 1 {
		if coef, ok := multiple(bytes, symbols[0]); ok {
			return dim.Const64(coef).CeilDiv(dim.Const(line)).Mul(dim.Const(line)).Mul(dim.Sym(symbols[0]))
		}
	}
	return bytes.CeilDiv(dim.Const(line)).Mul(dim.Const(line))
}

func multiple(d dim.Dim, symbol string) (coef int64, ok bool) {
	c, rest, ok := d.Linear(symbol)
	if !ok || !rest.Equal(dim.Dim{}) {
		return 0, false
	}
	return c.Int64()
}

func (p *planner) arena() error {
	var fixed, scaled []*Buffer // of constant size, and multiples of one symbol
	given := p.Func.Symbols()   // others are sizes of arenas that are laid out when they are needed
	for _, b := range p.Buffers {
		if err := b.Bytes.Err(); err != nil {
			return fmt.Errorf("the size of %q: %w", b.Name, err)
		}
		symbols := b.Bytes.Symbols()
		if len(symbols) == 0 {
			fixed = append(fixed, b)
			continue
		}
		if len(scaled) == 0 {
			p.Symbol = symbols[0]
		}
		scaled = append(scaled, b)
		if _, ok := multiple(b.Bytes, p.Symbol); !ok || !slices.Contains(given, p.Symbol) {
			p.Mode = Dynamic
		}
	}
	switch {
	case p.Mode == Dynamic:
		p.Symbol = ""
		return nil
	case len(scaled) > 0:
		p.Mode = Scaled
	}
	head, headLive, okHead := place(fixed, "")
	body, bodyLive, okBody := place(scaled, p.Symbol)
	for _, b := range scaled {
		b.Offset = b.Offset.Add(head)
	}
	p.Size, p.Live = head.Add(body), headLive.Add(bodyLive)
	if !okHead || !okBody || p.Size.Overflow() {
		return errArena
	}
	return nil
}

var errArena = errors.New("the buffers together take more bytes than a 64-bit size holds")

// place assigns offsets to buffers. Their sizes are constants if symbol is empty, else multiples of
// symbol. size is the number of bytes that all buffers take in the arena. live is the largest
// number of bytes that are in use at the same time. ok is false if a size overflows.
func place(buffers []*Buffer, symbol string) (size, live dim.Dim, ok bool) {
	n := len(buffers)
	bytes, offsets := make([]int64, n), make([]int64, n)
	first, last := make([]int32, n), make([]int32, n)
	unit := dim.Const(1)
	if symbol != "" {
		unit = dim.Sym(symbol)
	}
	for i, b := range buffers {
		if bytes[i], ok = b.Bytes.Int64(); !ok {
			bytes[i], _ = multiple(b.Bytes, symbol)
		}
		first[i], last[i] = int32(b.First), int32(b.Last)
	}
	total := rt.Layout(bytes, first, last, offsets)
	if total == math.MaxInt64 {
		return size, live, false
	}
	var most int64
	steps := map[int]int64{}
	for i, b := range buffers {
		b.Offset = dim.Const64(offsets[i]).Mul(unit)
		for s := b.First; s <= b.Last; s++ {
			steps[s] += bytes[i]
			most = max(most, steps[s])
		}
	}
	return dim.Const64(total).Mul(unit), dim.Const64(most).Mul(unit), true
}
