package cpu

import (
	"unsafe"

	"github.com/burngen/burngen/runtime/rt"
)

// Block sizes of a part of ConvWeights.
const (
	weightStrip = 32       // columns of the weights, two panels
	weightDepth = 1024     // largest number of terms of a sum at a time
	weightRows  = 96 << 10 // elements of g that fit the second-level cache
)

// ConvWeightsParts is a number of parts. Generated code allocates scratch memory for this many parts
// of [ConvWeights] and [ConvWeightsBlocked].
const ConvWeightsParts = 16

// ConvWeightsScratch returns the number of scratch elements that [ConvWeights] needs for each part
// that it computes concurrently. terms is the number of terms of each sum.
func ConvWeightsScratch(terms int) int { return (weightStrip + 16) * min(terms, weightDepth) }

// ConvWeights computes the gradient of the weights of a convolution, and writes it to dst,
// f32[OutC][InC/Group][KH][KW]. x is the planar input of the convolution, f32[N][InC][InH][InW]. g
// is the gradient of its result, f32[OutC][N][OutH][OutW]. It computes
//
//	dst[m][c][i][j] = Σ g[m][n][p][q]·x[n][c0+c][p·StrideH + i·DilH − PadH][q·StrideW + j·DilW − PadW]
//
// The sum goes over all images n, output rows p and output columns q. c0 is the first input channel
// of the group of output channel m. x is 0 outside of the input. Sums are in float32. Their order
// depends on [CurrentLevel]. ConvWeights computes parts concurrently, as many as scratch is long
// enough for; see [ConvWeightsScratch].
func ConvWeights(dst, x, g, scratch []float32, s *ConvShape) {
	w := newConvWeights(dst, x, g, scratch, s)
	if len(w.dst) == 0 || w.terms == 0 {
		clear(w.dst)
		return
	}
	size := ConvWeightsScratch(w.terms)
	if len(scratch) < size {
		panic("cpu: too little scratch for the weights of a convolution")
	}
	parts := partsFor(int64(len(w.dst))*int64(w.terms), 4*int64(len(w.x)+len(w.g)))
	rt.EndIfDone(s.Ctx)
	if !weightsOfConvs.run(&w, min(parts, len(scratch)/size)) {
		w.Part(0, 1)
	}
	rt.EndIfDone(s.Ctx)
}

// newConvWeights returns the state of a ConvWeights. It panics unless the operands fit the shape.
func newConvWeights(dst, x, g, scratch []float32, s *ConvShape) convWeights {
	if s.Group < 1 || s.InC%s.Group != 0 || s.OutC%s.Group != 0 || min(s.StrideH, s.StrideW, s.DilH, s.DilW) < 1 {
		panic("cpu: weights of no convolution")
	}
	w := convWeights{ConvShape: *s, scratch: scratch}
	w.rows, w.columns = s.OutC/s.Group, volume(s.InC/s.Group, s.KH, s.KW)
	w.terms = volume(s.N, s.OutH, s.OutW)
	w.dst = dst[:volume(s.OutC, w.columns)]
	w.x = x[:volume(s.N, s.InC, s.InH, s.InW)]
	w.g = g[:volume(s.OutC, w.terms)]
	w.strips = ceil(w.columns, weightStrip)
	w.depth = max(1, min(w.terms, weightDepth, max(weightDepth/4, weightRows/max(1, w.rows))))
	return w
}

// convWeights is the state of ConvWeights. For each group it computes a matrix product. The left
// matrix has the rows of g. The right matrix has a column for each tap of each channel, with the
// elements of x at this tap in all windows. A part packs a strip of these columns into panels.
type convWeights struct {
	ConvShape
	dst, x, g, scratch []float32

	rows, columns int // of a group
	terms         int
	depth         int // terms that are summed before the next columns
	strips        int // of a group
}

var weightsOfConvs slot[convWeights, *convWeights]

// Part implements [rt.Task]. It computes part i of `parts` of the strips of all groups.
func (w *convWeights) Part(i, parts int) {
	size := ConvWeightsScratch(w.terms)
	scratch := w.scratch[i*size:][:size]
	panels, lines := scratch[:weightStrip*w.depth], scratch[weightStrip*w.depth:]
	from, to := portion(w.Group*w.strips, i, parts)
	for from < to {
		group := from / w.strips
		end := min(to, (group+1)*w.strips)
		for k := 0; k < w.terms; k += w.depth {
			depth := min(w.depth, w.terms-k)
			for strip := from; strip < end && rt.Done(w.Ctx) == nil; strip++ {
				j := (strip - group*w.strips) * weightStrip
				width := min(weightStrip, w.columns-j)
				for p := 0; p < width; p += 16 {
					w.panel(panels[p*depth:][:16*depth], lines[:16*depth], group, j+p, min(16, width-p), k, depth)
				}
				w.multiply(panels[:ceil(width, 16)*16*depth], group, j, width, k, depth)
			}
		}
		from = end
	}
}

// multiply computes a part of a group's product: columns [k, k+depth) of g, times panels. The
// result belongs to columns [j, j+width) of the group's weights. multiply stores it there if k is
// 0, and adds it there otherwise.
func (w *convWeights) multiply(panels []float32, group, j, width, k, depth int) {
	row := group * w.rows
	p := product{a: w.g[row*w.terms+k:], panels: unsafe.Pointer(unsafe.SliceData(panels)), dst: w.dst[row*w.columns+j:]}
	p.M, p.N, p.K, p.LDA, p.LDC, p.Batch = w.rows, width, depth, w.terms, w.columns, 1
	if k > 0 {
		p.ep.Residual = p.dst
	}
	p.plan()
	p.blocks(0, 0, p.rows.tiles, 0, width)
}

// panel packs terms [k, k+depth) of columns [j, j+width) into dst, a panel of 16 columns. It uses
// `lines` as scratch memory for the columns before they are transposed.
func (w *convWeights) panel(dst, lines []float32, group, j, width, k, depth int) {
	clear(lines[width*depth:])
	taps := w.KH * w.KW
	for c := range width {
		channel, tap := (j+c)/taps, (j+c)%taps
		w.line(lines[c*depth:][:depth], group*(w.InC/w.Group)+channel, tap/w.KW*w.DilH-w.PadH, tap%w.KW*w.DilW-w.PadW, k)
	}
	transpose(dst, lines, 16, depth, 16, depth)
}

// line gathers the elements of a channel of x at one tap, for windows k, k+1, …, and writes them to
// dst. An element in the padding is 0. `down` and `right` are the row and the column of the tap in
// an image's first window. They are negative if the tap is in the padding above or to the left.
func (w *convWeights) line(dst []float32, channel, down, right, k int) {
	row, at := k/w.OutW, k%w.OutW
	// The windows of a row whose cell is not in the padding.
	first := min(max(0, ceil(-right, w.StrideW)), w.OutW)
	last := w.OutW
	if right >= w.InW {
		last = first
	} else {
		last = max(first, min(last, (w.InW-1-right)/w.StrideW+1))
	}
	for len(dst) > 0 {
		n := min(w.OutW-at, len(dst))
		part := dst[:n]
		dst = dst[n:]
		y := row%w.OutH*w.StrideH + down
		if y < 0 || y >= w.InH {
			clear(part)
		} else {
			lo, hi := min(max(first-at, 0), n), min(max(last-at, 0), n)
			clear(part[:lo])
			clear(part[hi:])
			src := w.x[((row/w.OutH*w.InC+channel)*w.InH+y)*w.InW:][:w.InW]
			if lo < hi {
				x := (at+lo)*w.StrideW + right
				if part = part[lo:hi]; w.StrideW == 1 {
					copy(part, src[x:])
				} else {
					for i := range part {
						part[i] = src[x]
						x += w.StrideW
					}
				}
			}
		}
		row, at = row+1, 0
	}
}
