package cost

// Depthwise is a depthwise convolution of planar operands.
type Depthwise struct {
	N, C       int
	InH, InW   int
	OutH, OutW int
	KH, KW     int
	StrideW    int
}

// planarPeak and blockedPeak are the fractions of m.MultiplyAdds that the kernels reach on planes and in blocks.
// Copying a row takes copyRow nanoseconds. If the stride is above 1, it takes copyStrided more for each element.
const (
	planarPeak  = 1. / 3 // of multiply-adds that each load an element
	blockedPeak = 0.7
	copyRow     = 5
	copyStrided = 0.2 // to copy an element to its phase
)

// Planes reports whether it is faster to compute the convolution on planes than in blocks of 16 channels. Blocks
// require converting its operand to blocks, and its result back.
func (m *Model) Planes(d Depthwise) bool { return m.Ratio(d.Planar, d.Blocked) < 1 }

// Planar estimates the nanoseconds of the convolution on planes: copying rows, and computing in
// whole vectors of 16.
func (d Depthwise) Planar(m Machine) float64 {
	planes := float64(d.N * d.C)
	row := float64(copyRow)
	if d.StrideW > 1 {
		row += copyStrided * float64(d.InW)
	}
	sums := float64(d.OutH * 16 * ceil(d.OutW, 16) * d.KH * d.KW)
	return planes * (sums/(planarPeak*m.MultiplyAdds) + row*float64(d.InH+d.KH-1))
}

// Blocked estimates the nanoseconds of converting planes to blocks, the convolution, and converting
// the result back.
func (d Depthwise) Blocked(m Machine) float64 {
	planes := float64(16 * d.N * ceil(d.C, 16))
	moves := m.blocking(planes * float64(d.InH*d.InW+d.OutH*d.OutW))
	return moves + planes*float64(d.OutH*d.OutW*d.KH*d.KW)/(blockedPeak*m.MultiplyAdds)
}
