package images

import (
	"errors"
	"fmt"
	"math/rand/v2"
)

// Pipeline applies transforms to pictures that become items of batches. Its methods may be called by
// several goroutines at once. A pipeline keeps the memory of its transforms for later pictures. After
// it has seen all sizes of pictures, it does not allocate.
type Pipeline struct {
	transforms Sequence
	ending     *ending // the last two transforms, or nil
	samples    pool[Sample]
}

// NewPipeline returns a pipeline of transforms, which are applied in order.
func NewPipeline(transforms ...Transform) *Pipeline {
	p := &Pipeline{transforms: append(Sequence(nil), transforms...)}
	p.ending = endingOf(p.transforms)
	return p
}

// Do applies the transforms to a copy of the sample, and calls `use` with the result. The sample does not change.
// `use` must not keep the result. Do returns the error of a transform or of `use`.
func (p *Pipeline) Do(sample Sample, r *rand.Rand, use func(s *Sample) error) error {
	if use == nil {
		return errors.New("pipeline: no function uses the result")
	}
	s, err := p.apply(p.transforms, &sample, r)
	if err == nil {
		err = use(s)
	}
	p.release(s)
	return err
}

// Put applies the transforms to a copy of the sample `in`, and stores the picture in dst as floats,
// [channels, height, width]. `in` does not change. A picture of 8 bits is converted by [Floats] to
// 1, 3 or 4 channels, depending on the length of dst. Put returns the error of a transform. It also
// returns an error if dst does not have the length of the picture.
func (p *Pipeline) Put(dst []float32, in Sample, r *rand.Rand) error {
	transforms := p.transforms
	if p.ending != nil {
		transforms = transforms[:len(transforms)-2]
	}
	s, err := p.apply(transforms, &in, r)
	if err == nil && !p.ending.store(dst, s) {
		if err = p.transforms[len(transforms):].Apply(s, r); err == nil {
			err = s.store(dst)
		}
	}
	p.release(s)
	return err
}

// apply returns a copy of `in` to which transforms are applied. The caller must pass the copy to
// [Pipeline.release], even if the method apply returns an error.
func (p *Pipeline) apply(transforms Sequence, in *Sample, r *rand.Rand) (*Sample, error) {
	s := p.samples.get()
	s.Image, s.CHW, s.Mask, s.Boxes = in.Image, in.CHW, in.Mask, in.Boxes
	if err := s.check(r); err != nil {
		return s, fmt.Errorf("pipeline: %w", err)
	}
	return s, transforms.Apply(s, r)
}

// release returns a sample to the pipeline for later use. The sample keeps its spare memory.
func (p *Pipeline) release(s *Sample) {
	*s = Sample{spare: s.spare}
	p.samples.put(s)
}

// store stores the picture in dst as floats, one channel after the other. A picture of 8 bits gets
// 1, 3 or 4 channels, depending on the length of dst. store returns an error if dst has another
// length.
func (s *Sample) store(dst []float32) error {
	w, h := s.size()
	if s.Image == nil {
		if len(dst) != len(s.CHW.Data) {
			return fmt.Errorf("pipeline: room for %d numbers: the picture has %d × %d × %d", len(dst), s.CHW.Channels, h, w)
		}
		copy(dst, s.CHW.Data)
		return nil
	}
	channels := len(dst) / (w * h)
	if len(dst) != channels*w*h || channels != 1 && channels != 3 && channels != 4 {
		return fmt.Errorf("pipeline: room for %d numbers: the picture has %d × %d pixels of 1, 3 or 4 channels", len(dst), w, h)
	}
	floats(CHW{dst, channels, h, w}, s.Image)
	return nil
}
