package gen

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/runtime/rt"
)

// MaxEmbedded is the largest size in bytes of weights that are embedded in the program by default.
const MaxEmbedded = 512 << 20

// WeightsSize returns the size of the weights that the package loads, in bytes.
func (m *Model) WeightsSize() int64 {
	keep := m.store().Form()
	sizes := map[string]int64{}
	add := func(w *rt.Weights) {
		for _, name := range w.Names() {
			info, _ := w.Info(name)
			sizes[name] = info.Bytes
		}
	}
	if keep.HasRaw() {
		add(m.Raw)
	}
	if keep.HasPrepared() {
		add(m.Weights)
	}
	var total int64
	for _, n := range sizes {
		total += n
	}
	return total
}

// sourceSize returns the size of the model's own weights, in bytes.
func (m *Model) sourceSize() int64 {
	var size int64
	for _, w := range m.Source.Module.Weights {
		if n, ok := w.Type.Elems().Int64(); ok {
			size += (n*int64(w.Type.DType.Bits()) + 7) / 8
		}
	}
	return size
}

func (m *Model) isLarge() bool {
	keep := m.store().Form()
	sizes := map[string]float64{}
	add := func(name string, t ir.Type) {
		n, _ := t.Elems().Int()
		sizes[name] = float64(n) * float64(t.DType.Bits()) / 8
	}
	if keep.HasRaw() {
		for _, w := range m.Source.Module.Weights {
			add(w.Name, w.Type)
		}
	}
	if keep.HasPrepared() {
		for _, w := range m.kept() {
			add(w.Name, w.Type)
		}
	}
	var size float64
	for _, n := range sizes {
		size += n
	}
	return size > float64(largeBytes)
}

// KeepWeightsOutside makes the package load its weights from a file at run time, like
// Options.WeightsOutside.
func (m *Model) KeepWeightsOutside() { m.options.WeightsOutside = true }
