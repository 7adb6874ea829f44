package gen

// MaxEmbedded is the size of the weights, in bytes, above which they are kept
// out of the program unless embedding was asked for.
const MaxEmbedded = 512 << 20

// WeightsSize returns the size of the weights that the package loads, in bytes.
func (m *Model) WeightsSize() int64 {
	weights := m.Weights
	if m.keepsRaw() {
		weights = m.Raw
	}
	var n int64
	for _, name := range weights.Names() {
		info, _ := weights.Info(name)
		n += info.Bytes
	}
	return n
}

// isLarge reports whether the weights that the package loads have more than largeBytes.
func (m *Model) isLarge() bool {
	if m.keepsRaw() {
		return m.WeightsSize() > largeBytes
	}
	var size float64
	for _, w := range m.kept() {
		n, _ := w.Type.Elems().Int()
		size += float64(n) * float64(w.Type.DType.Bits()) / 8
	}
	return size > float64(largeBytes)
}

// KeepWeightsOutside makes the package load its weights from a file that the
// program is given, as Options.WeightsOutside does.
func (m *Model) KeepWeightsOutside() { m.options.WeightsOutside = true }
