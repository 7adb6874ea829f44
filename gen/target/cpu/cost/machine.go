package cost

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// Machine describes the speed of one core of a processor.
type Machine struct {
	Name         string  `json:"name"`
	MultiplyAdds float64 `json:"multiply_adds"` // f32 multiply-adds per nanosecond
	Rows         int     `json:"rows"`          // rows of the largest tile of a product; see package cpu
	Stream       float64 `json:"stream"`        // bytes of weights per nanosecond from beyond the core's own caches
	Move         float64 `json:"move"`          // bytes per nanosecond that a transform writes to the second-level cache
	Cache        int     `json:"cache"`         // size of the second-level cache in bytes
}

// Model holds the machines for which a choice is made.
type Model struct {
	Machines []Machine `json:"machines"`
}

// Default returns three machines: a server with two 512-bit multiply-add units (Emerald Rapids), one that splits
// 512-bit operations into halves (Zen 4), and a desktop with AVX2. All numbers were measured. For the desktop, they
// were measured on the first server with AVX-512 turned off.
func Default() *Model {
	return &Model{Machines: []Machine{
		{Name: "avx512", MultiplyAdds: 88, Rows: 14, Stream: 28, Move: 23, Cache: 2 << 20},
		{Name: "zen4", MultiplyAdds: 58, Rows: 14, Stream: 26, Move: 50, Cache: 1 << 20},
		{Name: "avx2", MultiplyAdds: 45, Rows: 6, Stream: 24, Move: 20, Cache: 1 << 20},
	}}
}

// Read reads a model: {"machines": […]}, each with the fields of [Machine]; name may be missing. It
// returns an error if a field is unknown, if there are no machines, or if a rate or a size is not
// positive.
func Read(r io.Reader) (*Model, error) {
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	m := &Model{}
	if err := d.Decode(m); err != nil {
		return nil, fmt.Errorf("cost model: %w", err)
	}
	if len(m.Machines) == 0 {
		return nil, fmt.Errorf("cost model: no machines")
	}
	for i, c := range m.Machines {
		if !(c.MultiplyAdds > 0 && c.Stream > 0 && c.Move > 0) || c.Rows < 1 || c.Cache < 1 {
			return nil, fmt.Errorf("cost model: machine %d %q: a rate or a size is not above zero", i, c.Name)
		}
	}
	return m, nil
}

// Write writes a model in the format of [Read].
func (m *Model) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "\t")
	return e.Encode(m)
}

// Ratio returns the time of a divided by the time of b, as the geometric mean over the machines.
func (m *Model) Ratio(a, b func(Machine) float64) float64 {
	sum := 0.0
	for _, c := range m.Machines {
		sum += math.Log(a(c) / b(c))
	}
	return math.Exp(sum / float64(len(m.Machines)))
}

// farMove is the rate at which a machine moves data that exceeds the second-level cache, relative to [Machine].Move.
const farMove = 0.6

// blocking estimates the nanoseconds of converting elems elements between planes and blocks of 16
// channels.
func (m *Machine) blocking(elems float64) float64 {
	rate := m.Move
	if 8*elems > float64(m.Cache) {
		rate *= farMove
	}
	return 4 * elems / rate
}
