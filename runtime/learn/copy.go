package learn

import "github.com/burngen/burngen/runtime/rt"

// copier copies states into memory that it reuses for the next state.
type copier struct{ memory []byte }

// copyOf returns a copy of w, which is valid until the next call.
func (c *copier) copyOf(w *rt.Weights) (*rt.Weights, error) {
	const line = 64 // tensors begin at multiples of it, so that they can be read in place
	names := w.Names()
	size := 0
	for _, name := range names {
		size += (len(w.Raw(name)) + line - 1) / line * line
	}
	if err := w.Err(); err != nil {
		return nil, err
	}
	if cap(c.memory) < size {
		c.memory = rt.Make[byte](size)
	}
	rest := c.memory[:size]
	out := rt.NewWeights()
	for _, name := range names {
		info, _ := w.Info(name)
		raw := w.Raw(name)
		out.AddRaw(name, info.DType, info.Shape, rest[:copy(rest, raw)])
		rest = rest[(len(raw)+line-1)/line*line:]
	}
	return out, out.Err()
}
