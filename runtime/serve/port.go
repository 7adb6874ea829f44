package serve

import (
	"fmt"
	"strconv"

	"github.com/burngen/burngen/runtime/rt"
)

type port struct {
	datatype
	label string // the port's name in the model
	// an extent is -1 if it depends on the call
	extents []int
	// the text of each extent: a number, a symbol or an expression of symbols
	symbols []string
}

// portsOf returns the ports for list. It returns an error if the protocol does not have the
// type of a port.
func portsOf(list []rt.Port) ([]*port, error) {
	var out []*port
	for _, p := range list {
		d, ok := datatypeOf(p.DType)
		if !ok {
			return nil, fmt.Errorf("%q has elements of type %s, which the protocol does not have", p.Name, p.DType)
		}
		q := &port{datatype: d, label: p.Name}
		for _, text := range p.Shape {
			n, err := strconv.Atoi(text)
			if err != nil {
				n = -1
			}
			q.extents, q.symbols = append(q.extents, n), append(q.symbols, text)
		}
		out = append(out, q)
	}
	return out, nil
}

// check returns an error if a tensor of this shape does not fit the port. `bound` maps the
// symbols of earlier inputs to their extents; check adds the symbols of this input. The model
// itself checks extents that are expressions of symbols.
func (p *port) check(shape []int, bound map[string]int) error {
	if len(shape) != len(p.extents) {
		return badRequest("input %q has shape %v, want %d dimensions, %v", p.label, shape, len(p.extents), p.symbols)
	}
	for i, n := range shape {
		want := p.extents[i]
		if want < 0 && isName(p.symbols[i]) {
			have, ok := bound[p.symbols[i]]
			if !ok {
				bound[p.symbols[i]] = n
				continue
			}
			want = have
		}
		if want >= 0 && n != want {
			return badRequest("input %q has shape %v, want %d along dimension %d, %v", p.label, shape, want, i, p.symbols)
		}
	}
	return nil
}

// isName reports whether text is a symbol, not an expression of symbols.
func isName(text string) bool {
	for i, c := range text {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return text != ""
}
