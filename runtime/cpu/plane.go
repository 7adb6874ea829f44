package cpu

import (
	"math"
	"unsafe"
)

// planes computes rows y of the outputs of planes [from, from+planes). The same rows of the window
// must be inside the input for all rows y. planes copies rows of the input to a buffer, called a
// room. It returns false, and computes nothing, if there is no assembly or if the windows do not
// suit a room.
func (p *pool) planes(from, planes int, y span, across *axis) bool {
	kh, reach := y.taps(), (p.KW-1)*p.DilW
	if !hasPlane() || kh == 0 || kh*p.KW > roomTaps {
		return false
	}
	depth := (kh-1)*p.DilH + 1 // rows of a window
	wide := min(windowsAtOnce(depth, reach, p.StrideW), roomLen/4)
	if wide < min(p.OutW, 16) {
		return false
	}
	var room [roomLen]float32
	var scales [roomLen / 4]float32
	for x := 0; x < p.OutW; x += wide {
		w := strip{pool: p, from: x, n: min(wide, p.OutW-x), room: &room, scales: &scales}
		w.phases = newPhases(w.n, reach, p.StrideW)
		high := max(1, (roomLen/w.row-depth)/p.StrideH+1)
		w.fill(kh, across, y.counted)
		for row := y.from; row < y.to; row += high {
			rows := span{from: row, to: min(row+high, y.to), first: y.first, last: y.last}
			for i := from; i < from+planes; i++ {
				w.compute(i, rows)
			}
		}
	}
	return true
}

// strip computes the output columns [from, from+n) of planes.
type strip struct {
	*pool
	phases
	from, n int
	taps    [roomTaps]int         // their distances in room in bytes
	room    *[roomLen]float32     // rows of the input with their padding
	scales  *[roomLen / 4]float32 // for each column, the factor of a sum
}

// fill sets the fields that are the same for all planes: the padding, the taps and the factors of
// the sums. kh is the number of a window's rows that are inside the input. `counted` is the number
// of a window's rows that count for a mean if CountPad is set.
func (w *strip) fill(kh int, across *axis, counted int) {
	neutral := float32(0)
	if w.op == largest {
		neutral = float32(math.Inf(-1))
	}
	Fill(w.room[:], neutral)
	for i := range kh * w.KW {
		w.taps[i] = 4 * (i/w.KW*w.DilH*w.row + w.tap(i%w.KW*w.DilW))
	}
	for x := (span{to: w.from}); x.to < w.from+w.n; {
		x = across.span(x.to, w.from+w.n)
		divisor := kh * x.taps()
		if w.CountPad {
			divisor = counted * x.counted
		}
		Fill(w.scales[x.from-w.from:x.to-w.from], 1/float32(max(divisor, 1)))
	}
}

func (w *strip) compute(i int, y span) {
	first := w.from*w.StrideW - w.PadW // column of the input at the start
	begin, end := max(first, 0), min(first+w.row, w.InW)
	top := y.from*w.StrideH - w.PadH + y.first*w.DilH
	bottom := (y.to-1)*w.StrideH - w.PadH + (y.last-1)*w.DilH + 1
	for r := top; r < bottom && begin < end; r++ {
		w.spread(w.room[(r-top)*w.row:][:w.row], w.src[(i*w.InH+r)*w.InW+begin:][:end-begin], begin-first)
	}
	high := y.to - y.from
	dst := w.dst[(i*w.OutH+y.from)*w.OutW+w.from:][:(high-1)*w.OutW+w.n]
	count, src, down := y.taps()*w.KW, &w.room[0], 4*w.StrideH*w.row
	runPlane(w.op, &dst[0], src, &w.scales[0], &w.taps[0], count, high, w.n, 4*w.OutW, down)
}

// splitPairs separates pairs: even[i], odd[i] = src[2·i], src[2·i+1].
func splitPairs(even, odd, src []float32) {
	even, odd = even[:(len(src)+1)/2], odd[:len(src)/2]
	done := 0
	if n := len(src) / 32; n > 0 {
		pairsOf(even, odd, src, n)
		// The rest overlaps with elements that are already done.
		if done = 16 * n; done < len(odd) {
			done = len(odd)
			pairsOf(even[done-16:], odd[done-16:], src[2*done-32:], 1)
		}
	}
	pairsOfRef(even[done:], odd[done:], src[2*done:])
	if len(even) > len(odd) {
		even[len(odd)] = src[2*len(odd)]
	}
}

// pairsOfRef is [splitPairs] of whole pairs in plain Go.
func pairsOfRef(even, odd, src []float32) {
	odd = odd[:len(src)/2]
	even = even[:len(odd)]
	for i := range odd {
		even[i], odd[i] = src[2*i], src[2*i+1]
	}
}

// everySecond computes dst[i] = src[2·i].
func everySecond(dst, src []uint32) {
	done := 0
	if hasPlane() {
		var others [128]float32
		for len(src)-2*done >= 32 {
			n := min((len(src)-2*done)/32, len(others)/16)
			to, from := dst[done:][:16*n], src[2*done:][:32*n]
			pairsOf(asFloats(to), others[:], asFloats(from), n)
			done += 16 * n
		}
	}
	for i := done; i < len(dst); i++ {
		dst[i] = src[2*i]
	}
}

// asFloats reinterprets words for kernels that only move them.
func asFloats(s []uint32) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}
