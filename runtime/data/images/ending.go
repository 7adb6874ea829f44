package images

// ending is a pair of transforms in which most pipelines end. Together they map each value of a
// channel of 8 bits to one float, so that a picture can be stored by looking up its pixels in
// tables.
type ending struct {
	floats    Floats
	normalize Normalize
}

// endingOf returns the last two transforms if they are a [Floats] and a [Normalize]. Otherwise, or
// if one of the transforms is nil, it returns nil.
func endingOf(transforms Sequence) *ending {
	n := len(transforms)
	if n < 2 {
		return nil
	}
	for _, t := range transforms {
		if t == nil {
			return nil
		}
	}
	f, ok := transforms[n-2].(Floats)
	if !ok {
		return nil
	}
	normalize, ok := transforms[n-1].(Normalize)
	if !ok {
		return nil
	}
	return &ending{f, normalize}
}

// store applies e to a picture of 8 bits and stores it in dst, with the same bits as the two
// transforms. It returns false, and stores nothing, for other pictures, for luma, and where the
// transforms return an error.
func (e *ending) store(dst []float32, s *Sample) bool {
	if e == nil || s.Image == nil {
		return false
	}
	w, h := s.size()
	channels := e.floats.Channels
	if channels == 0 {
		channels = 3
	}
	mean, std := e.normalize.Mean, e.normalize.Std
	if channels != 3 && channels != 4 || len(mean) != channels || len(std) != channels || len(dst) != channels*w*h {
		return false
	}
	var values [4][256]float32
	var tables [4]*[256]float32
	for c := range channels {
		if !(std[c] > 0) {
			return false
		}
		for i, x := range unit {
			values[c][i] = (x - mean[c]) / std[c]
		}
		tables[c] = &values[c]
	}
	lookedUp(CHW{dst, channels, h, w}, s.Image, tables)
	return true
}
