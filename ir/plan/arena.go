package plan

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/runtime/rt"
)

// line is the unit that buffers' sizes are rounded up to, in bytes.
const line = 64

// buffer adds a buffer that node i writes first.
func (p *planner) buffer(name string, d ir.DType, elems ir.Dim, i int) *Buffer {
	b := &Buffer{Name: name, DType: d, Elems: elems, Bytes: roundUp(elems.Mul(ir.Const(d.Size()))), First: i, Last: i}
	if p.at(b).Kind == Tail {
		p.Tails = append(p.Tails, b)
	} else {
		p.Buffers = append(p.Buffers, b)
	}
	return b
}

// at returns the place that a whole buffer is.
func (p *planner) at(b *Buffer) Place {
	if hasSymbol(ir.TensorOf(b.DType, b.Elems), p.Tailed) {
		return Place{Kind: Tail, Buffer: b}
	}
	return Place{Kind: Arena, Buffer: b}
}

// roundUp rounds a number of bytes up to whole lines. A multiple of one symbol
// keeps that form: its coefficient is rounded.
func roundUp(bytes ir.Dim) ir.Dim {
	if symbols := bytes.Symbols(); len(symbols) == 1 {
		if coef, ok := multiple(bytes, symbols[0]); ok {
			return ir.Const64(coef).CeilDiv(ir.Const(line)).Mul(ir.Const(line)).Mul(ir.Sym(symbols[0]))
		}
	}
	return bytes.CeilDiv(ir.Const(line)).Mul(ir.Const(line))
}

// multiple returns the number that symbol is multiplied by to give d.
func multiple(d ir.Dim, symbol string) (coef int64, ok bool) {
	c, rest, ok := d.Linear(symbol)
	if !ok || !rest.Equal(ir.Dim{}) {
		return 0, false
	}
	return c.Int64()
}

// arena chooses the arena's mode and the buffers' offsets.
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

// place gives buffers offsets, in units of symbol when it is not empty, and
// returns the size they take together and the size of the largest live set.
func place(buffers []*Buffer, symbol string) (size, live ir.Dim, ok bool) {
	n := len(buffers)
	bytes, offsets := make([]int64, n), make([]int64, n)
	first, last := make([]int32, n), make([]int32, n)
	unit := ir.Const(1)
	if symbol != "" {
		unit = ir.Sym(symbol)
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
		b.Offset = ir.Const64(offsets[i]).Mul(unit)
		for s := b.First; s <= b.Last; s++ {
			steps[s] += bytes[i]
			most = max(most, steps[s])
		}
	}
	return ir.Const64(total).Mul(unit), ir.Const64(most).Mul(unit), true
}
