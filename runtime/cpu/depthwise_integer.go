package cpu

import "unsafe"

// DepthwiseInteger convolves each channel of integers x with its own weights w (ONNX ConvInteger
// and QLinearConv with as many groups as channels). x is [n, c, in…] with two spatial axes, w is
// [m, kernel…], and dst is [n, m, out…]. m/c channels of the result belong to each channel of x.
// pads lists the cells of padding before the first element of each axis.
//
// The zero point x0 has one element; w0 has one or m. Both are subtracted before the product, and
// the padding counts as x0. bias, of one or m elements, is added. If T is int32, dst receives the
// sums. Otherwise the sums are requantised as by [ProductInteger], with the zero point `last` and
// with scale, of one or m elements. x0, w0, bias and `last` may be nil.
func DepthwiseInteger[T Byte | int32, X, W Byte](
	dst []T, x []X, w []W, x0 []X, w0 []W, bias []int32, scale []float64, last []T,
	n, c, m int, in, out, kernel, strides, dilations, pads []int, lo, hi int,
) {
	d := depthwiseInteger{n: n, c: c, m: m, bias: bias, scale: scale, lo: lo, hi: hi}
	for i := range d.axis {
		d.axis[i] = patchAxis{in[i], out[i], kernel[i], strides[i], dilations[i], pads[i]}
		if min(strides[i], dilations[i]) < 1 || pads[i] < 0 {
			panic("cpu: a convolution of negative or no size")
		}
	}
	if n <= 0 || c <= 0 || m <= 0 || volume(out...) == 0 {
		return
	}
	d.x = bytesOf(x[:volume(n, c, volume(in...))])
	d.w = bytesOf(w[:volume(m, volume(kernel...))])
	d.changeX, d.changeW = flip[uint8, X](), flip[uint8, W]()
	d.x0, d.w0 = int32(d.changeX), int32(d.changeW)
	if len(x0) > 0 {
		d.x0 += int32(x0[0])
	}
	if w0 != nil {
		if len(w0) > 1 {
			w0 = w0[:m]
		}
		d.zeros, d.signedZeros = bytesOf(w0), signed[W]()
	}
	for _, size := range []int{len(bias), len(scale)} {
		if size > 1 && size < m {
			panic("cpu: a convolution with too few channels")
		}
	}
	if len(last) > 0 {
		d.last = int(last[0])
	}
	d.whole, d.dst = sumsOrBytes(dst[:volume(n, m, volume(out...))])
	if d.dst != nil && len(scale) == 0 {
		panic("cpu: a convolution without a scale")
	}
	work := int64(volume(n, m, volume(out...))) * int64(volume(kernel...))
	if !depthwiseIntegers.run(&d, partsFor(16*work, int64(len(d.x)))) {
		d.Part(0, 1)
	}
}

// depthwiseInteger is the state of DepthwiseInteger. int8 elements and zero points are shifted by
// 128, and then treated as uint8.
type depthwiseInteger struct {
	n, c, m          int
	axis             [2]patchAxis
	x, w             []byte
	changeX, changeW byte
	x0               int32
	w0               int32  // subtracted from weights besides their zero points
	zeros            []byte // of the weights
	signedZeros      bool
	bias             []int32
	scale            []float64
	last, lo, hi     int
	dst              []byte  // of a requantised result
	whole            []int32 // of sums
}

var depthwiseIntegers slot[depthwiseInteger, *depthwiseInteger]

func (d *depthwiseInteger) Part(i, parts int) {
	from, to := portion(d.n*d.m, i, parts)
	for ; from < to; from++ {
		d.plane(from/d.m, from%d.m)
	}
}

// plane computes one channel of the result for image n.
func (d *depthwiseInteger) plane(n, channel int) {
	down, across := &d.axis[0], &d.axis[1]
	size := down.in * across.in
	x := d.x[(n*d.c+channel*d.c/d.m)*size:][:size]
	w := d.w[channel*down.kernel*across.kernel:][:down.kernel*across.kernel]
	w0, first := d.w0, int32(0)
	if len(d.zeros) > 0 {
		w0 += number8(of(d.zeros, channel), d.signedZeros)
	}
	if len(d.bias) > 0 {
		first = of(d.bias, channel)
	}
	var room [256]int32
	for y := range down.out {
		for from := 0; from < across.out; from += len(room) {
			sums := room[:min(len(room), across.out-from)]
			for i := range sums {
				sums[i] = first
			}
			for ky := range down.kernel {
				row := y*down.stride - down.pad + ky*down.dilation
				if row < 0 || row >= down.in {
					continue
				}
				for kx := range across.kernel {
					weight := int32(w[ky*across.kernel+kx]^d.changeW) - w0
					d.tap(sums, x[row*across.in:][:across.in], from, kx*across.dilation-across.pad, weight)
				}
			}
			at := ((n*d.m+channel)*down.out+y)*across.out + from
			if d.whole != nil {
				copy(d.whole[at:], sums)
			} else {
				requantize(d.dst[at:][:len(sums)], sums, of(d.scale, channel), d.last, d.lo, d.hi)
			}
		}
	}
}

// tap adds weight times elements of an input row to sums, which is a part of an output row. sums[0]
// belongs to output column `start`. Output column j gets weight·row[j·stride+shift], or nothing if
// this index is outside of `row`.
func (d *depthwiseInteger) tap(sums []int32, row []byte, start, shift int, weight int32) {
	stride := d.axis[1].stride
	shift += start * stride
	first, end := 0, len(sums)
	if shift < 0 {
		first = ceil(-shift, stride)
	}
	end = min(end, ceil(max(len(row)-shift, 0), stride))
	if first >= end {
		return
	}
	sums, row = sums[first:end], row[shift+first*stride:]
	less := weight * d.x0
	if stride == 1 {
		row = row[:len(sums)]
		for i, v := range row {
			sums[i] += weight*int32(v^d.changeX) - less
		}
		return
	}
	for i := range sums {
		sums[i] += weight*int32(row[i*stride]^d.changeX) - less
	}
}

// sumsOrBytes returns dst in one of two forms: as sums if T is int32, or as bytes if T has 8 bits.
// The other result is nil.
func sumsOrBytes[T Byte | int32](dst []T) (sums []int32, bytes []byte) {
	if sums, ok := any(dst).([]int32); ok {
		return sums, nil
	}
	return nil, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(dst))), len(dst))
}

// requantize converts sums to bytes as [ProductInteger] does, with one scale and one zero point.
func requantize(dst []byte, sums []int32, scale float64, zero, lo, hi int) {
	least, most := float32(lo-zero), float32(hi-zero)
	high, low := factor(scale)
	for i, v := range sums {
		dst[i] = byte(int(toEven(times(float32(v), high, low), least, most)) + zero)
	}
}
