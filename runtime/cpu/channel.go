package cpu

// ChannelMoments computes the mean and the population variance of each channel over all images and
// pixels. x is a blocked tensor, f32[n][⌈c/16⌉][pixels][16]. dst is f32[2][c], first the means and
// then the variances. If there are no pixels, both are NaN.
func ChannelMoments(dst, x []float32, n, c, pixels int) {
	s := newChannelTask(n, c, pixels)
	s.dst, s.x = dst[:volume(2, c)], x[:s.size]
	s.work = momentsOfChannels
	s.run(8 * int64(s.size))
}

// ChannelSums computes two sums for each channel over all images and pixels: of g, and of g·(x −
// mean). g and x are blocked tensors, f32[n][⌈c/16⌉][pixels][16], and means is f32[c]. dst is
// f32[2][c], first the sums of g.
func ChannelSums(dst, g, x, means []float32, n, c, pixels int) {
	s := newChannelTask(n, c, pixels)
	s.dst, s.g, s.x, s.factors = dst[:volume(2, c)], g[:s.size], x[:s.size], means[:c]
	s.work = sumsOfChannels
	s.run(8 * int64(s.size))
}

// ChannelMix computes dst = f0·g + f1·x + f2. The factors f0, f1 and f2 are numbers of the channel;
// factors is f32[3][c]. g, x and dst are blocked tensors, f32[n][⌈c/16⌉][pixels][16]. Channels
// beyond c are zero in dst if they are finite in g and x.
func ChannelMix(dst, g, x, factors []float32, n, c, pixels int) {
	s := newChannelTask(n, c, pixels)
	s.dst, s.g, s.x, s.factors = dst[:s.size], g[:s.size], x[:s.size], factors[:volume(3, c)]
	s.work = mixOfChannels
	s.run(12 * int64(s.size))
}

// newChannelTask returns a task without operands. It panics if c is below 1, or if n or pixels is
// negative.
func newChannelTask(n, c, pixels int) channelTask {
	if c < 1 || min(n, pixels) < 0 {
		panic("cpu: channels of negative or no size")
	}
	return channelTask{n: n, c: c, pixels: pixels, size: volume(n, ceil(c, 16), pixels, 16)}
}

type channelWork int

const (
	momentsOfChannels channelWork = iota
	sumsOfChannels
	mixOfChannels
)

// channelTask is the state of a running operator on channels.
type channelTask struct {
	dst, g, x, factors []float32
	n, c, pixels, size int
	work               channelWork
}

var channelTasks slot[channelTask, *channelTask]

func (s *channelTask) run(bytes int64) {
	if !channelTasks.run(s, partsFor(0, bytes)) {
		s.Part(0, 1)
	}
}

func (s *channelTask) Part(i, parts int) {
	from, to := portion(ceil(s.c, 16), i, parts)
	for ; from < to; from++ {
		switch s.work {
		case momentsOfChannels:
			s.moments(from)
		case sumsOfChannels:
			s.sums(from)
		case mixOfChannels:
			s.mix(from)
		}
	}
}

// somePixels is the maximum number of pixels that are summed in float32. Such sums are then added
// in float64.
const somePixels = 256

// pieces divides a channel block of all images into pieces of at most somePixels pixels, each in
// one image. It calls `body` for each piece, with the range [from, to) of its elements in the
// tensor.
func (s *channelTask) pieces(block int, body func(from, to int)) {
	blocks := ceil(s.c, 16)
	for image := range s.n {
		at := 16 * s.pixels * (image*blocks + block)
		for end := at + 16*s.pixels; at < end; at += 16 * somePixels {
			body(at, min(end, at+16*somePixels))
		}
	}
}

func (s *channelTask) moments(block int) {
	var means, part [32]float32
	var total [16]float64
	s.pieces(block, func(from, to int) {
		channelSums(&part, s.x[from:to], s.x[from:to], (*[16]float32)(means[16:]))
		for i := range total {
			total[i] += float64(part[i])
		}
	})
	count := float64(s.n * s.pixels)
	for i, v := range total {
		means[i], total[i] = float32(v/count), 0
	}
	s.pieces(block, func(from, to int) {
		channelSquares((*[16]float32)(part[:]), s.x[from:to], (*[16]float32)(means[:]))
		for i := range total {
			total[i] += float64(part[i])
		}
	})
	for i := range min(16, s.c-16*block) {
		s.dst[16*block+i] = means[i]
		s.dst[s.c+16*block+i] = float32(total[i] / count)
	}
}

func (s *channelTask) sums(block int) {
	var mean [16]float32
	var part [32]float32
	var total [32]float64
	copy(mean[:], s.factors[16*block:])
	s.pieces(block, func(from, to int) {
		channelSums(&part, s.g[from:to], s.x[from:to], &mean)
		for i, v := range part {
			total[i] += float64(v)
		}
	})
	for i := range min(16, s.c-16*block) {
		s.dst[16*block+i] = float32(total[i])
		s.dst[s.c+16*block+i] = float32(total[16+i])
	}
}

func (s *channelTask) mix(block int) {
	var factors [48]float32
	lanes := min(16, s.c-16*block)
	for k := range 3 {
		copy(factors[16*k:][:lanes], s.factors[k*s.c+16*block:])
	}
	s.pieces(block, func(from, to int) {
		channelMix(s.dst[from:to], s.g[from:to], s.x[from:to], &factors)
	})
}

// channelSumsRef computes two sums over pixels i for each channel j: sums[j] = Σ g[i][j], and
// sums[16+j] = Σ g[i][j]·(x[i][j] − mean[j]).
func channelSumsRef(sums *[32]float32, g, x []float32, mean *[16]float32) {
	clear(sums[:])
	for ; len(g) >= 16; g, x = g[16:], x[16:] {
		by := (*[16]float32)(x)
		for j, v := range (*[16]float32)(g) {
			sums[j] += v
			sums[16+j] += float32(v * (by[j] - mean[j]))
		}
	}
}

// channelSquaresRef computes sums[j] = Σ (x[i][j] − mean[j])².
func channelSquaresRef(sums *[16]float32, x []float32, mean *[16]float32) {
	clear(sums[:])
	for ; len(x) >= 16; x = x[16:] {
		for j, v := range (*[16]float32)(x) {
			v -= mean[j]
			sums[j] += float32(v * v)
		}
	}
}

// channelMixRef computes dst[i][j] = factors[j]·g[i][j] + factors[16+j]·x[i][j] + factors[32+j].
func channelMixRef(dst, g, x []float32, factors *[48]float32) {
	for ; len(dst) >= 16; dst, g, x = dst[16:], g[16:], x[16:] {
		by := (*[16]float32)(x)
		for j, v := range (*[16]float32)(g) {
			dst[j] = float32(factors[j]*v) + float32(factors[16+j]*by[j]) + factors[32+j]
		}
	}
}
