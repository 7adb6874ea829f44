package cpu

// axis describes the windows of a convolution or pool along one axis.
type axis struct {
	in, out, kernel, stride, dil int
	pad, end                     int // cells before the first and after the last
	from, to                     int // the outputs whose windows are inside the input
}

// newAxis returns an axis with these fields. It also computes the range of outputs whose windows
// are inside the input.
func newAxis(in, out, kernel, stride, dil, pad, end int) axis {
	a := axis{in: in, out: out, kernel: kernel, stride: stride, dil: dil, pad: pad, end: end}
	if last := in - 1 + pad - volume(kernel-1, dil); last >= 0 {
		a.from, a.to = ceil(pad, stride), min(out, last/stride+1)
	}
	a.from = min(a.from, a.to)
	return a
}

// span describes the outputs [from, to) along an axis. Their windows have the same taps inside the
// input: taps [first, last). counted is the number of taps inside the input or the padding.
type span struct{ from, to, first, last, counted int }

// taps returns how many taps are inside the input.
func (s span) taps() int { return s.last - s.first }

// span returns outputs from o up to at most `end` whose windows have the same taps inside the
// input. If a part of o's window is outside of the input, the result is o alone.
func (a *axis) span(o, end int) span {
	if o >= a.from && o < a.to {
		return span{o, min(a.to, end), 0, a.kernel, a.kernel}
	}
	origin := o*a.stride - a.pad
	s := span{from: o, to: o + 1}
	s.first, s.last = a.taps(origin, 0, a.in)
	first, last := a.taps(origin, -a.pad, a.in+a.end)
	s.counted = last - first
	return s
}

// taps returns the range [first, last) of the window's taps whose positions are in [low, high).
// origin is the position of tap 0.
func (a *axis) taps(origin, low, high int) (first, last int) {
	if origin < low {
		first = ceil(low-origin, a.dil)
	}
	last = first
	if origin < high {
		last = max(first, min(a.kernel, ceil(high-origin, a.dil)))
	}
	return first, last
}

// inside returns a position in the input. It is the position of the first tap that is inside the
// input, for the window of the first output of s.
func (a *axis) inside(s span) int { return s.from*a.stride - a.pad + s.first*a.dil }
