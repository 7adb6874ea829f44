package nn

import (
	"github.com/burngen/burngen/ir/op"
)

// cosineWindow returns n numbers of the window a − b·cos t + c·cos 2t, as f32. t and periodic are as in
// [BlackmanWindow].
func cosineWindow(n int, periodic bool, a, b, c float64) Value {
	return one(op.CosineWindow{DType: F32, Size: extents([]Extent{n})[0], Periodic: periodic, A: a, B: b, C: c})
}

// HannWindow returns n numbers of the Hann window, (1 − cos t)/2, as f32. t and periodic are as in [BlackmanWindow].
func HannWindow(n int, periodic bool) Value { return cosineWindow(n, periodic, 0.5, 0.5, 0) }

// HammingWindow returns n numbers of the Hamming window, 0.54 − 0.46·cos t, as f32. t and periodic are as in
// [BlackmanWindow].
func HammingWindow(n int, periodic bool) Value { return cosineWindow(n, periodic, 0.54, 0.46, 0) }

// BlackmanWindow returns n numbers of the Blackman window, 0.42 − 0.5·cos t + 0.08·cos 2t, as f32. For element i, t
// is 2π·i/n if periodic is true, and 2π·i/(n − 1) otherwise. If n is 1 and periodic is false, the number is 1.
func BlackmanWindow(n int, periodic bool) Value { return cosineWindow(n, periodic, 0.42, 0.5, 0.08) }

// RFFT returns the discrete Fourier transform of a real signal along the last axis. x is […, n]. The result is […,
// ⌊n/2⌋+1, 2]: the real and the imaginary part of each frequency from 0 to ⌊n/2⌋.
func RFFT(x Value) Value {
	return one(op.DFT{Axis: x.axis(-1), Length: x.Dim(-1).d, OneSided: true}, x.Unsqueeze(-1))
}

// IRFFT is the inverse of [RFFT]. x is […, ⌊n/2⌋+1, 2], and the result is […, n].
func IRFFT(x Value, n Extent) Value {
	if x.Rank() < 2 {
		fail("%s has no real and imaginary parts", x.typ())
	}
	return one(op.DFT{Axis: x.axis(-2), Length: extent(n), Inverse: true, OneSided: true}, x).Squeeze(-1)
}

// STFT returns the short-time Fourier transform of x, [N, L]. Frames have n samples. Each frame starts `hop`
// samples after the one before. STFT multiplies each frame by window, [n], and transforms it by [RFFT]. The zero
// Value is a window of ones. The result is [N, n/2+1, frames, 2].
func STFT(x Value, n, hop int, window Value) Value {
	frames := x.Unfold(-1, n, hop)
	if window.Valid() {
		frames = frames.Mul(window)
	}
	return RFFT(frames).Transpose(-3, -2)
}

// ISTFT is the inverse of [STFT], with the same n, hop and window. x is [N, n/2+1, frames, 2] with a static number
// of frames. The result is [N, (frames−1)·hop+n]. Samples that STFT drops after the last whole frame are not
// restored. Overlapping frames are added, and the sum is divided by the sum of the squared windows. A sample is NaN
// if all windows are 0 there.
func ISTFT(x Value, n, hop int, window Value) Value {
	if x.Rank() != 4 {
		fail("%s, [N,F,frames,2] expected", x.typ())
	}
	if !window.Valid() {
		window = Ones(n)
	}
	frames := x.Dim(2)
	length := frames.Sub(1).Mul(hop).Add(n)
	add := func(columns Value) Value { // [N, n, frames]
		o := op.Col2Im{Image: extents([]Extent{1, length}), Block: extents([]Extent{1, n}), Strides: []int{1, hop}}
		return one(o, columns).Reshape(columns.Dim(0), length)
	}
	signal := IRFFT(x.Transpose(1, 2), n).Mul(window)
	squares := window.Square().Reshape(1, n, 1).Expand(1, n, frames)
	return add(signal.T()).Div(add(squares))
}
