package cpu

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"
)

// transformOf returns the transform of a line by its definition.
func transformOf(line []complex128, inverse bool) []complex128 {
	n, sign := len(line), -1.0
	if inverse {
		sign = 1
	}
	out := make([]complex128, n)
	for k := range out {
		for i, v := range line {
			out[k] += v * cmplx.Rect(1, sign*2*math.Pi*float64(k*i%n)/float64(n))
		}
		if inverse {
			out[k] /= complex(float64(n), 0)
		}
	}
	return out
}

func TestDFT(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	lengths := []int{97, 121, 128, 240}
	for n := 1; n <= 32; n++ {
		lengths = append(lengths, n)
	}
	for _, length := range lengths {
		for variant := range 8 {
			inverse, oneSided, complexIn := variant&1 != 0, variant&2 != 0, variant&4 != 0
			if oneSided && complexIn != inverse {
				continue
			}
			t.Run(fmt.Sprint(length, inverse, oneSided, complexIn), func(t *testing.T) {
				outer, inner, parts := 2, 3, 1
				if complexIn {
					parts = 2
				}
				bins, toParts := length, 2
				switch {
				case oneSided && inverse:
					toParts = 1
				case oneSided:
					bins = length/2 + 1
				}
				for _, n := range []int{length, length + 2, max(length-3, 0)} {
					src := draw(rng, outer*n*inner*parts)
					dst := make([]float64, outer*bins*inner*toParts)
					narrow := make([]float32, len(dst))
					roots, scratch := make([]float64, 2*length), make([]float64, 6*length)
					DFT(dst, src, roots, scratch, outer, n, inner, parts, length, inverse, oneSided)
					DFT(narrow, to[float32](src), roots, scratch, outer, n, inner, parts, length, inverse, oneSided)
					for o := range outer {
						for i := range inner {
							line := make([]complex128, length)
							for k := range min(n, length) {
								at := ((o*n+k)*inner + i) * parts
								line[k] = complex(src[at], 0)
								if parts == 2 {
									line[k] += complex(0, src[at+1])
								}
							}
							if oneSided && inverse {
								line[0] = complex(real(line[0]), 0)
								for k := 1; k < length; k++ {
									switch {
									case 2*k == length:
										line[k] = complex(real(line[k]), 0)
									case 2*k > length:
										line[k] = cmplx.Conj(line[length-k])
									}
								}
							}
							want := transformOf(line, inverse)
							for k := range bins {
								at := ((o*bins+k)*inner + i) * toParts
								for part, w := range []float64{real(want[k]), imag(want[k])}[:toParts] {
									if math.Abs(dst[at+part]-w) > 1e-10 || math.Abs(float64(narrow[at+part])-w) > 1e-4 {
										t.Fatalf("%d elements: part %d of bin %d is %v and %v, want %v", n, part, k, dst[at+part], narrow[at+part], w)
									}
								}
							}
						}
					}
				}
			})
		}
	}
	DFT([]float32{}, []float32{}, nil, nil, 0, 0, 1, 1, 0, true, true)
}

func BenchmarkDFT(b *testing.B) {
	for _, n := range []int{512, 500, 509} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			src, dst := make([]float32, 64*n), make([]float32, 64*(n/2+1)*2)
			roots, scratch := make([]float64, 2*n), make([]float64, 6*n)
			for b.Loop() {
				DFT(dst, src, roots, scratch, 64, n, 1, 1, n, false, true)
			}
		})
	}
}
