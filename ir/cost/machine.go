package cost

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// Machine is what one core of a processor can do.
type Machine struct {
	Name         string  `json:"name"`
	MultiplyAdds float64 `json:"multiply_adds"` // of f32 in a nanosecond
	Rows         int     `json:"rows"`          // of the largest tile of a product; see package cpu
	Stream       float64 `json:"stream"`        // bytes of weights that arrive in a nanosecond from beyond its own caches
	Move         float64 `json:"move"`          // bytes in a nanosecond that a transform writes to its second-level cache
	Cache        int     `json:"cache"`         // bytes of that cache
}

// Model is the machines that a choice has to suit.
type Model struct {
	Machines []Machine `json:"machines"`
}

// Default is a server with two 512-bit units for multiply-adds (Emerald Rapids), one that
// halves them (Zen 4), and a desktop with AVX2. The numbers were measured, the last
// machine's on the first with AVX-512 turned off.
func Default() *Model {
	return &Model{Machines: []Machine{
		{Name: "avx512", MultiplyAdds: 88, Rows: 14, Stream: 28, Move: 23, Cache: 2 << 20},
		{Name: "zen4", MultiplyAdds: 58, Rows: 14, Stream: 26, Move: 50, Cache: 1 << 20},
		{Name: "avx2", MultiplyAdds: 45, Rows: 6, Stream: 24, Move: 20, Cache: 1 << 20},
	}}
}

// Read reads a model: {"machines": […]}, each with every field of [Machine]. Rates and
// sizes are above zero.
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

// Write writes a model as [Read] reads it.
func (m *Model) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "\t")
	return e.Encode(m)
}

// Ratio is the time of one way divided by that of another, as the geometric mean over the
// machines.
func (m *Model) Ratio(a, b func(Machine) float64) float64 {
	sum := 0.0
	for _, c := range m.Machines {
		sum += math.Log(a(c) / b(c))
	}
	return math.Exp(sum / float64(len(m.Machines)))
}

// farMove is the share of a machine's rate of moving that is left for what does not stay in
// its second-level cache.
const farMove = 0.6

// blocking estimates the nanoseconds of moving so many elements from planes to blocks of 16
// channels, or back.
func (m *Machine) blocking(elems float64) float64 {
	rate := m.Move
	if 8*elems > float64(m.Cache) {
		rate *= farMove
	}
	return 4 * elems / rate
}
