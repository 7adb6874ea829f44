// Package untyped calls methods of generated packages with tensors whose types are known only when the program runs.
// The elements of a tensor are bytes or strings. Programs that receive tensors from elsewhere, such as a server, need
// it. [rt.Served], which a generated package returns, says which methods there are, and reflection calls them.
package untyped

import (
	"fmt"
	"strconv"

	"github.com/burngen/burngen/runtime/rt"
)

// Port is an input or an output of a [Method].
type Port struct {
	// Name is the port's name in the model.
	Name string
	// DType is the type of the elements, in the spelling of [rt.DTypeOf], such as "f32".
	DType string
	// Size is the size of an element in bytes. It is 0 if the elements are strings.
	Size int
	// Extents are the extents of the dimensions. An extent is -1 if it depends on the call.
	Extents []int
	// Symbols are the texts of the extents: numbers, symbols, or expressions of symbols.
	Symbols []string
}

// IsText reports whether the elements of p are strings.
func (p *Port) IsText() bool { return p.Size == 0 }

// sizes maps a type to the size of an element in bytes, or to 0 for strings.
var sizes = map[string]int{
	"bool": 1,
	"u8":   1, "u16": 2, "u32": 4, "u64": 8,
	"i8": 1, "i16": 2, "i32": 4, "i64": 8,
	"f16": 2, "bf16": 2, "f32": 4, "f64": 8,
	"string": 0,
}

// SizeOf returns the size in bytes of an element of type dtype. The size of strings is 0. ok is false if a tensor
// cannot have elements of this type.
func SizeOf(dtype string) (size int, ok bool) {
	size, ok = sizes[dtype]
	return size, ok
}

// portsOf returns the ports for list. It returns an error for a type that tensors cannot have.
func portsOf(list []rt.Port) ([]*Port, error) {
	var out []*Port
	for _, p := range list {
		size, ok := SizeOf(p.DType)
		if !ok {
			return nil, fmt.Errorf("%q has type %s, which only Go programs can pass", p.Name, p.DType)
		}
		q := &Port{Name: p.Name, DType: p.DType, Size: size}
		for _, text := range p.Shape {
			n, err := strconv.Atoi(text)
			if err != nil {
				n = -1
			}
			q.Extents, q.Symbols = append(q.Extents, n), append(q.Symbols, text)
		}
		out = append(out, q)
	}
	return out, nil
}

// CheckShapes returns an error if the shape of a tensor does not fit its port, or if inputs have different
// extents for the same symbol. Extents that are expressions of symbols are not checked; the model checks
// them.
func CheckShapes(in []Tensor) error {
	bound := map[string]int{}
	for i := range in {
		if err := in[i].Port.check(in[i].Shape, bound); err != nil {
			return err
		}
	}
	return nil
}

// check returns an error if a tensor of this shape does not fit the port. `bound` maps the
// symbols of earlier inputs to their extents; check adds the symbols of this input.
func (p *Port) check(shape []int, bound map[string]int) error {
	if len(shape) != len(p.Extents) {
		return fmt.Errorf("input %q has shape %v, want %d dimensions, %v", p.Name, shape, len(p.Extents), p.Symbols)
	}
	for i, n := range shape {
		want := p.Extents[i]
		if want < 0 && isName(p.Symbols[i]) {
			have, ok := bound[p.Symbols[i]]
			if !ok {
				bound[p.Symbols[i]] = n
				continue
			}
			want = have
		}
		if want >= 0 && n != want {
			return fmt.Errorf("input %q has shape %v, want %d along dimension %d, %v", p.Name, shape, want, i, p.Symbols)
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
