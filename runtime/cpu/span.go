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

// span returns the outputs from o up to at most `end` whose windows have the same taps inside the
// input as the window of o. A dilated kernel may have taps that are outside of the input in every
// window. No span has these taps.
func (a *axis) span(o, end int) span {
	if o >= a.from && o < a.to {
		return span{o, min(a.to, end), 0, a.kernel, a.kernel}
	}
	s := a.single(o)
	for a.repeats() && s.to < end && a.alike(s, s.to) {
		s.to++
	}
	return s
}

// whole returns how many outputs have the same taps inside the input as the outputs of s. These
// outputs are adjacent, and some may be before or after s.
func (a *axis) whole(s span) int {
	if s.from >= a.from && s.from < a.to {
		return a.to - a.from
	}
	if !a.repeats() {
		return 1
	}
	from := s.from
	for from > 0 && a.alike(s, from-1) {
		from--
	}
	return a.span(from, a.out).to - from
}

// repeats reports whether two adjacent windows that reach beyond the input may have the same taps
// inside the input. They cannot if the stride is at least the dilation.
func (a *axis) repeats() bool { return a.dil > a.stride }

// single returns the span of output o alone.
func (a *axis) single(o int) span {
	origin := o*a.stride - a.pad
	s := span{from: o, to: o + 1}
	s.first, s.last = a.taps(origin, 0, a.in)
	first, last := a.taps(origin, -a.pad, a.in+a.end)
	s.counted = last - first
	return s
}

// alike reports whether the window of output o has the same taps inside the input, and as many
// inside the padding, as the windows of s.
func (a *axis) alike(s span, o int) bool {
	t := a.single(o)
	return t.first == s.first && t.last == s.last && t.counted == s.counted
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
