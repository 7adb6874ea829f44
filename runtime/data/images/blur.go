package images

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Blur is a Gaussian blur. The kernel has 2·⌈3σ⌉+1 pixels along each axis, where σ is drawn from
// Sigma. The weights are proportional to exp(-x²/2σ²) and sum to 1. The picture is mirrored at its
// edges. Masks and boxes do not change. Blur agrees with torchvision's GaussianBlur with this kernel.
type Blur struct {
	Sigma [2]float64 // least and largest standard deviation, in pixels; default 0.1 to 2
}

// Apply implements [Transform].
func (t Blur) Apply(s *Sample, r *rand.Rand) error {
	if err := s.begin("blur", r); err != nil {
		return err
	}
	t.Sigma = or(t.Sigma, [2]float64{0.1, 2})
	if err := checkRange("sigma", t.Sigma, 1e-3, 1e3); err != nil {
		return fmt.Errorf("blur: %w", err)
	}
	s.spare.kernel = gaussian(s.spare.kernel, uniform(r, t.Sigma[0], t.Sigma[1]))
	w, h := s.size()
	if s.Image != nil {
		dst := s.spare.imageFor(s.Image, w, h)
		s.spare.rows(4 * w * h)
		blurred(rgbaRaster(dst), rgbaRaster(s.Image), s.spare.kernel, s.spare.between, byteOf)
		s.Image = dst
		return nil
	}
	dst := s.spare.planesFor(s.CHW, s.CHW.Channels, w, h)
	s.spare.rows(w * h)
	for c := range s.CHW.Channels {
		blurred(dst.plane(c), s.CHW.plane(c), s.spare.kernel, s.spare.between, same)
	}
	s.CHW = dst
	return nil
}

// rows gives s.between a length of n elements. s.between holds the picture between the two passes
// of a blur.
func (s *spare) rows(n int) { s.between = sized(s.between, n) }

// gaussian returns the 2·⌈3·sigma⌉+1 weights of a Gaussian. Their sum is 1. They are in the memory
// of dst if it is large enough.
func gaussian(dst []float32, sigma float64) []float32 {
	radius := int(math.Ceil(3 * sigma))
	dst = sized(dst, 2*radius+1)
	weight := func(x int) float64 { return math.Exp(-0.5 * float64(x) * float64(x) / (sigma * sigma)) }
	sum := 0.0
	for x := -radius; x <= radius; x++ {
		sum += weight(x)
	}
	for x := -radius; x <= radius; x++ {
		dst[x+radius] = float32(weight(x) / sum)
	}
	return dst
}

// blurred blurs src and stores the result in dst. It first blurs along rows, into temp, and then
// along columns. finish converts a sum to a channel.
func blurred[T channel](dst, src raster[T], kernel, temp []float32, finish func(float32) T) {
	n, radius := src.channels, len(kernel)/2
	length := src.width * n
	for y := range src.height {
		in, out := src.row(y), temp[y*length:][:length]
		clear(out)
		for k, weight := range kernel {
			for x := range src.width {
				u := PadReflect.inside(x+k-radius, src.width)
				for c := range n {
					out[x*n+c] += float32(weight * float32(in[u*n+c]))
				}
			}
		}
	}
	for y := range src.height {
		out := dst.row(y)
		for i := range out {
			sum := float32(0)
			for k, weight := range kernel {
				sum += float32(weight * temp[PadReflect.inside(y+k-radius, src.height)*length+i])
			}
			out[i] = finish(sum)
		}
	}
}
