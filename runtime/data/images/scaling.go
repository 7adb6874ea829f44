package images

import (
	"fmt"
	"image"
	"math"

	"golang.org/x/image/draw"

	"github.com/burngen/burngen/runtime/cpu"
)

// Filter says how values between the pixels of a picture are computed.
type Filter int

const (
	Bilinear Filter = iota // a tent (default)
	Bicubic                // the cubic of Catmull and Rom, a = -½
	Nearest                // the pixel at the point
)

// kernel returns the kernel of x/image/draw for a filter.
func (f Filter) kernel() *draw.Kernel {
	if f == Bicubic {
		return draw.CatmullRom
	}
	return draw.BiLinear
}

func (f Filter) check(most Filter) error {
	if f < 0 || f > most {
		return fmt.Errorf("filter %d", f)
	}
	return nil
}

type scale struct {
	width, height int // of the result
	from          image.Rectangle
	filter        Filter
}

// rescale is [reshape] for g. It also returns an error if the picture is too large after its rows are scaled, and
// before its columns are.
func rescale(s *Sample, name string, g scale) error {
	if g.filter != Nearest && checkSize(g.width, g.height) == nil {
		if err := checkSize(g.width, g.from.Dy()); err != nil {
			return fmt.Errorf("%s: before columns are scaled: %w", name, err)
		}
	}
	return reshape(s, name, g)
}

func (g scale) size() (width, height int) { return g.width, g.height }

func (g scale) source() affine {
	return affine{
		float64(g.from.Dx()) / float64(g.width), 0, float64(g.from.Min.X),
		0, float64(g.from.Dy()) / float64(g.height), float64(g.from.Min.Y),
	}
}

func (g scale) bytes(dst, src raster[uint8], w *scaling) {
	if g.filter == Nearest {
		g.classes(dst, src, w)
		return
	}
	w.plan(g)
	w.fixed = w.x.fixed(w.fixed)
	w.pixels.Set(w.x.first, w.x.end, w.fixed, g.from.Dx())
	w.fixed = w.y.fixed(w.fixed)
	w.scaled = sized(w.scaled, 4*dst.width*w.y.most())
	scaledPixels(dst, src.part(g.from), &w.pixels, &w.y, w.fixed, w.scaled)
}

func (g scale) floats(dst, src raster[float32], _, _ int, w *scaling) {
	if g.filter == Nearest {
		nearest(dst, src.part(g.from), w)
		return
	}
	w.plan(g)
	w.floatX, w.floatY = w.x.floats(w.floatX), w.y.floats(w.floatY)
	w.rows = sized(w.rows, dst.width*g.from.Dy())
	scaledPlane(dst, src.part(g.from), &w.x, &w.y, w.floatX, w.floatY, w.rows)
}

func (g scale) classes(dst, src raster[uint8], w *scaling) { nearest(dst, src.part(g.from), w) }

type scaling struct {
	x, y           windows
	fixed          []int32
	pixels         cpu.PixelWindows
	scaled         []uint8
	floatX, floatY []float32
	rows           []float32
	columns        []int
}

// plan computes the weights of both axes.
func (w *scaling) plan(g scale) {
	k := g.filter.kernel()
	w.x.plan(k, g.from.Dx(), g.width)
	w.y.plan(k, g.from.Dy(), g.height)
}

// windows holds the weights for scaling along one axis. Pixel i of the result is a weighted sum of
// pixels, from pixel first[i] on. The weights are weight[end[i-1]:end[i]], where end[-1] stands for
// 0.
type windows struct {
	first, end []int
	weight     []float64
}

// plan computes the weights for scaling an axis from n pixels to m. If the picture shrinks, the
// kernel is stretched so that all pixels count. A window at the edge has fewer pixels. The weights
// of each window sum to 1.
func (w *windows) plan(k *draw.Kernel, n, m int) {
	w.first, w.end, w.weight = w.first[:0], w.end[:0], w.weight[:0]
	step := float64(n) / float64(m)
	stretch := max(1, step)
	support := k.Support * stretch
	for i := range m {
		centre := float64((float64(i) + 0.5) * step)
		from := max(0, int(centre-support+0.5))
		to := min(n, int(centre+support+0.5))
		begin, sum := len(w.weight), 0.0
		for j := from; j < to; j++ {
			weight := 0.0
			if t := math.Abs(float64(j)-centre+0.5) * (1 / stretch); t < k.Support {
				weight = k.At(t)
			}
			w.weight = append(w.weight, weight)
			sum += weight
		}
		for j := begin; j < len(w.weight); j++ {
			w.weight[j] /= sum
		}
		w.first, w.end = append(w.first, from), append(w.end, len(w.weight))
	}
}

// most returns the number of pixels of the largest window.
func (w *windows) most() int {
	most, begin := 0, 0
	for _, end := range w.end {
		most, begin = max(most, end-begin), end
	}
	return most
}

// fixed returns the weights in the fixed point of package cpu. It reuses dst.
func (w *windows) fixed(dst []int32) []int32 {
	dst = sized(dst, len(w.weight))
	for i, x := range w.weight {
		dst[i] = int32(math.Round(x * (1 << cpu.PixelWeightBits)))
	}
	return dst
}

func (w *windows) floats(dst []float32) []float32 {
	dst = sized(dst, len(w.weight))
	for i, x := range w.weight {
		dst[i] = float32(x)
	}
	return dst
}

// scaledPlane scales a raster of floats of 1 channel. It first scales along rows and stores the result
// in `rows`. It then scales along columns. wx and wy are the weights of the windows x and y.
func scaledPlane(dst, src raster[float32], x, y *windows, wx, wy, rows []float32) {
	for v := range src.height {
		in, out := src.row(v), rows[v*dst.width:][:dst.width]
		begin := 0
		for u, end := range x.end {
			weights, sum := wx[begin:end], float32(0)
			for j, p := range in[x.first[u]:][:len(weights)] {
				sum += float32(p * weights[j])
			}
			out[u], begin = sum, end
		}
	}
	begin := 0
	for v, end := range y.end {
		out := dst.row(v)
		clear(out)
		for j, w := range wy[begin:end] {
			for i, p := range rows[(y.first[v]+j)*dst.width:][:len(out)] {
				out[i] += float32(p * w)
			}
		}
		begin = end
	}
}

// nearest sets each pixel of dst to the pixel of src in which its centre lies.
func nearest[T channel](dst, src raster[T], w *scaling) {
	w.columns = sized(w.columns, dst.width)
	for x := range w.columns {
		w.columns[x] = under(x, src.width, dst.width)
	}
	for y := range dst.height {
		in, out := src.row(under(y, src.height, dst.height)), dst.row(y)
		for x, u := range w.columns {
			if dst.channels == 1 {
				out[x] = in[u]
			} else {
				*(*[4]T)(out[4*x:]) = [4]T(in[4*u:])
			}
		}
	}
}

// under compares two rows of pixels that have the same width as a whole, one of m pixels and one of
// n pixels. It returns the index of the pixel of the second row that contains the centre of pixel i
// of the first row.
func under(i, n, m int) int {
	return min(n-1, int((float64(i)+0.5)*(float64(n)/float64(m))))
}
