package cpu

import "math"

// GroupNorm normalises groups of channels to mean 0 and variance 1, and applies a scale and a bias
// for each channel: dst = (src − mean)/√(variance + eps)·scale[c] + bias[c] (ONNX
// GroupNormalization; InstanceNormalization has groups of one channel). src and dst are [n,
// channels, pixels]. A nil scale means ones, and a nil bias zeros. `groups` must divide channels.
// dst may be src.
func GroupNorm[T Float](dst, src, scale, bias []T, n, groups, channels, pixels int, eps T) {
	dst, src = trim(dst, volume(n, channels, pixels)), trim(src, volume(n, channels, pixels))
	scale, bias = optional(scale, channels), optional(bias, channels)
	if len(dst) == 0 {
		return
	}
	if groups < 1 || channels%groups != 0 {
		panic("cpu: groups of parts of channels")
	}
	if d, u, ok := float32s1(dst, src); ok {
		t := groupNorm{dst: d, src: u, groups: groups, channels: channels / groups, pixels: pixels, eps: float32(eps)}
		t.scale, t.bias = any(scale).([]float32), any(bias).([]float32)
		t.share()
		return
	}
	groupNormRef(dst, src, scale, bias, groups, channels/groups, pixels, eps)
}

// groupNormRef is [GroupNorm] in plain Go. Here, channels is the number of channels of a group.
func groupNormRef[T Float](dst, src, scale, bias []T, groups, channels, pixels int, eps T) {
	n := channels * pixels
	for i := range len(dst) / n {
		layerNormRef(dst[i*n:][:n], src[i*n:][:n], nil, nil, n, eps)
		first := i % groups * channels
		for c := range channels {
			to := dst[i*n+c*pixels:][:pixels]
			if scale != nil {
				MulScalar(to, to, scale[first+c])
			}
			if bias != nil {
				AddScalar(to, to, bias[first+c])
			}
		}
	}
}

type groupNorm struct {
	dst, src, scale, bias    []float32
	groups, channels, pixels int // groups of an image, channels of a group, pixels of a channel
	eps                      float32
}

var groupNorms slot[groupNorm, *groupNorm]

// share processes all groups, in parts if that is worthwhile.
func (t *groupNorm) share() {
	const work = 24 // multiply-adds that take as long as an element
	if !groupNorms.run(t, min(partsFor(work*int64(len(t.src)), 0), len(t.src)/(t.channels*t.pixels))) {
		t.Part(0, 1)
	}
}

func (t *groupNorm) Part(i, parts int) {
	n := t.channels * t.pixels
	from, to := portion(len(t.src)/n, i, parts)
	for g := from; g < to; g++ {
		t.group(t.dst[g*n:][:n], t.src[g*n:][:n], g%t.groups*t.channels)
	}
}

// group normalises one group of an image. `first` is its first channel.
func (t *groupNorm) group(dst, src []float32, first int) {
	scales, biases := after(t.scale, first), after(t.bias, first)
	if level == Generic {
		groupNormRef(dst, src, scales, biases, 1, t.channels, t.pixels, t.eps)
		return
	}
	mean, variance := moments(src)
	factor := 1 / math.Sqrt(variance+float64(t.eps))
	for c := range t.channels {
		scale, bias := float32(factor), 0.0
		if scales != nil {
			scale = float32(factor * float64(scales[c]))
		}
		if biases != nil {
			bias = float64(biases[c])
		}
		shift := float32(bias - float64(mean*float64(scale)))
		affineFast(dst[c*t.pixels:][:t.pixels], src[c*t.pixels:][:t.pixels], scale, shift)
	}
}

func after(s []float32, first int) []float32 {
	if s == nil {
		return nil
	}
	return s[first:]
}
