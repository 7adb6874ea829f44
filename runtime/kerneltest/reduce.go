package kerneltest

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// A ReduceCase is the definition of a reduction of a line.
type ReduceCase struct {
	Name string
	Want func(line []float64) (value, magnitude float64)
	// Room is the largest error for a line of n elements, on targets that divide and take roots exactly. The
	// unit is 2⁻²⁴ times the magnitude that Want returns. If Room is 0, the result is exact.
	Room func(n int) float64
	// Quotient is the number of these units by which the result may change if a quotient changes by one unit in
	// the last place. Root is the same for a square root.
	Quotient, Root float64
	// MayBeNaN reports whether some order of the steps gives NaN for a line. least is the number below which a
	// kernel may round to zero. MayBeNaN may be nil.
	MayBeNaN func(line []float64, least float64) bool
}

// Reductions are the reductions of float32.
var Reductions = []ReduceCase{
	{Name: "Sum", Want: func(x []float64) (float64, float64) { return sum(x, same), sum(x, math.Abs) }, Room: always(16)},
	{Name: "Mean", Want: func(x []float64) (float64, float64) {
		n := float64(len(x))
		return sum(x, same) / n, sum(x, math.Abs) / n
	}, Room: always(17), Quotient: 2},
	{Name: "SumSquare", Want: func(x []float64) (float64, float64) { return sum(x, square), sum(x, square) }, Room: always(16)},
	{Name: "L1", Want: func(x []float64) (float64, float64) { return sum(x, math.Abs), sum(x, math.Abs) }, Room: always(16)},
	{Name: "L2", Want: func(x []float64) (float64, float64) {
		return math.Sqrt(sum(x, square)), math.Sqrt(sum(x, square))
	}, Room: always(8), Root: 2},
	{Name: "LogSum", Want: func(x []float64) (float64, float64) {
		s := sum(x, same)
		return math.Log(s), sum(x, math.Abs)/math.Abs(s) + math.Abs(math.Log(s))
	}, Room: always(17)},
	{Name: "LogSumExp", Want: func(x []float64) (float64, float64) {
		top := extreme(x, greater, math.Inf(-1))
		if math.IsInf(top, 0) || top != top {
			return top, 0
		}
		v := top + math.Log(sum(x, func(v float64) float64 { return math.Exp(v - top) }))
		return v, 1 + math.Abs(v)
	}, Room: always(8)},
	{Name: "Prod", Want: func(x []float64) (float64, float64) {
		p := 1.0
		for _, v := range x {
			p *= v
		}
		return p, math.Abs(p)
	}, Room: roundings, MayBeNaN: hasInfinityAndZero},
	{Name: "Max", Want: func(x []float64) (float64, float64) { return extreme(x, greater, math.Inf(-1)), 0 }, Room: always(0)},
	{Name: "Min", Want: func(x []float64) (float64, float64) { return extreme(x, lesser, math.Inf(1)), 0 }, Room: always(0)},
}

// hasInfinityAndZero reports whether a line, the factors of one product, has an infinity and finite factors whose
// product may underflow to zero. This may happen if the product of min(|x|, 1) of all finite x is less than
// `least`. The kernel's result is NaN if it multiplies such a zero by the infinity.
func hasInfinityAndZero(line []float64, least float64) bool {
	product := 1.0
	for _, v := range line {
		product *= min(math.Abs(v), 1)
	}
	return product < least && slices.ContainsFunc(line, func(v float64) bool { return math.IsInf(v, 0) })
}

func always(room float64) func(int) float64 { return func(int) float64 { return room } }

// roundings bounds the relative error of a product of n numbers, multiplied in any order. The bound is in units
// of u = 2⁻²⁴, the relative error of one rounding. For k = n − 1 roundings it is k/(1 − k·u) (Higham, Accuracy
// and Stability of Numerical Algorithms, 2nd edition, lemma 3.1).
func roundings(n int) float64 {
	k := float64(max(n-1, 0))
	return k / (1 - k/(1<<24))
}

func greater(a, b float64) float64 { return max(a, b) }
func lesser(a, b float64) float64  { return min(a, b) }

func same(v float64) float64   { return v }
func square(v float64) float64 { return v * v }

func sum(x []float64, f func(float64) float64) float64 {
	s := 0.0
	for _, v := range x {
		s += f(v)
	}
	return s
}

func extreme(x []float64, pick func(a, b float64) float64, start float64) float64 {
	for _, v := range x {
		start = pick(start, v)
	}
	return start
}

// Reduce tests the kernels for [Reductions], by name. A kernel reads src as [outer, n, inner] and reduces the
// middle axis. a is the accuracy of the target.
func Reduce(t *testing.T, kernels map[string]func(dst, src []float32, outer, n, inner int), a Accuracy) {
	for _, c := range Reductions {
		t.Run(c.Name, func(t *testing.T) {
			f := kernels[c.Name]
			if f == nil {
				t.Fatal("there is no such kernel")
			}
			for _, n := range []int{0, 1, 2, 7, 8, 9, 16, 31, 33, 63, 64, 65, 130, 257} {
				for _, inner := range []int{1, 2, 7, 8, 9, 16, 31, 33, 64, 100, 257, 300} {
					checkReduce(t, f, &c, a, 2, n, inner, false)
					checkReduce(t, f, &c, a, 3, n, inner, true)
				}
			}
			checkReduce(t, f, &c, a, 2, 10_000, 1, false)
			checkReduce(t, f, &c, a, 1, 3_000, 17, false)
		})
	}
}

func checkReduce(t *testing.T, f func(dst, src []float32, outer, n, inner int), c *ReduceCase, a Accuracy, outer, n, inner int, special bool) {
	t.Helper()
	r := NewRandom(uint32(n + inner))
	r.special = special
	src := r.Input(outer*n*inner, n%5)
	dst := NewSlice[float32](outer*inner, inner%3)
	f(dst.Data, src.Data, outer, n, inner)
	dst.Check(t, "dst")
	src.Check(t, "src")
	line := make([]float64, n)
	for o := range outer {
		for i := range inner {
			for j := range line {
				line[j] = float64(src.Data[(o*n+j)*inner+i])
			}
			if got := dst.Data[o*inner+i]; !c.accepts(got, line, a) {
				want, _ := c.Want(line)
				t.Fatalf("[%d, %d, %d]: dst[%d, %d] = %v, want %v", outer, n, inner, o, i, got, want)
			}
		}
	}
}

func (c *ReduceCase) accepts(got float32, line []float64, a Accuracy) bool {
	n, step, least := len(line), 0x1p-150, math.SmallestNonzeroFloat32 // step is the rounding of a step that underflows
	lines := [][]float64{line}
	if a.Flushes {
		step, least = normal, normal
		flushed := slices.Clone(line)
		for i, v := range flushed {
			if small(v) {
				flushed[i] = math.Copysign(0, v)
			}
		}
		lines = append(lines, flushed)
	}
	if c.MayBeNaN != nil && c.MayBeNaN(line, least) && got != got {
		return true
	}
	units, underflow := c.Room(n)+c.Quotient*a.Division+c.Root*a.Root, step*float64(max(n, 2))
	if c.Room(2) == 0 { // it computes nothing
		underflow = 0
	}
	return slices.ContainsFunc(lines, func(line []float64) bool {
		want, magnitude := c.Want(line)
		return within(got, want, 0, units*magnitude/(1<<24)+underflow)
	})
}

// Softmax tests a softmax along the middle axis of [rows, n, inner]. If logarithm is true, f computes the
// logarithm of the softmax. a is the accuracy of the target.
func Softmax(t *testing.T, f func(dst, src []float32, rows, n, inner int), logarithm bool, a Accuracy) {
	for _, n := range []int{1, 2, 3, 8, 10, 15, 16, 17, 40, 64, 100, 129, 1000, 5000, 70_000} {
		for _, inner := range []int{1, 2, 5, 16, 33, 300} {
			if n*inner > 80_000 {
				continue
			}
			t.Run(fmt.Sprintf("n=%d inner=%d", n, inner), func(t *testing.T) {
				const rows = 3
				r := NewRandom(uint32(n * inner))
				src := NewSlice[float32](rows*n*inner, n%4)
				for i := range src.Data {
					src.Data[i] = 20 * r.Float32()
				}
				// The first line makes exp overflow unless the maximum is subtracted. Most terms of
				// the second line vanish. The third line has a NaN.
				src.Data[0] = 1000
				if n > 2 {
					src.Data[n*inner+inner] = float32(math.Inf(-1))
					src.Data[2*n*inner+2*inner] = float32(math.NaN())
				}
				dst := NewSlice[float32](len(src.Data), inner%3)
				place := NewSlice[float32](len(src.Data), 1)
				copy(place.Data, src.Data)
				src.Freeze()
				f(dst.Data, src.Data, rows, n, inner)
				f(place.Data, place.Data, rows, n, inner)
				dst.Check(t, "dst")
				src.Check(t, "src")
				place.Check(t, "in place")
				SameBits(t, "in place", place.Data, dst.Data)
				for row := range rows {
					for i := range inner {
						at := func(j int) int { return (row*n+j)*inner + i }
						top, sum := math.Inf(-1), 0.0
						for j := range n {
							top = max(top, float64(src.Data[at(j)]))
						}
						for j := range n {
							sum += math.Exp(float64(src.Data[at(j)]) - top)
						}
						for j := range n {
							x := float64(src.Data[at(j)]) - top
							want, ulp := math.Exp(x)/sum, 8+a.Division
							room := math.Abs(want) * math.Abs(x) / (1 << 24)
							if logarithm {
								want, ulp, room = x-math.Log(sum), 4, (1+math.Log(sum))/(1<<22)
							}
							if a.Flushes {
								room += normal
							}
							if got := dst.Data[at(j)]; !within(got, want, ulp, room) {
								t.Fatalf("line %d, %d: element %d is %v, want %v", row, i, j, got, want)
							}
						}
					}
				}
			})
		}
	}
}

// Norm tests a normalisation of rows of n elements, with and without scale and bias. centred says that f
// subtracts the mean. If biased is false, Norm always passes a nil bias. a is the accuracy of the target.
func Norm(t *testing.T, f func(dst, src, scale, bias []float32, rows, n int, eps float32), centred, biased bool, a Accuracy) {
	for _, n := range []int{1, 2, 7, 8, 16, 31, 64, 100, 129, 768, 5000} {
		for _, operands := range []string{"", "scale", "bias", "scale, bias"} {
			if !biased && operands != "" && operands != "scale" {
				continue
			}
			t.Run(fmt.Sprintf("n=%d %s", n, operands), func(t *testing.T) {
				const rows, eps = 3, 1e-3
				r := NewRandom(uint32(n))
				src, dst := r.Input(rows*n, n%3), NewSlice[float32](rows*n, 2)
				var scale, bias []float32
				if operands == "scale" || operands == "scale, bias" {
					scale = r.Input(n, 1).Data
				}
				if operands == "bias" || operands == "scale, bias" {
					bias = r.Input(n, 3).Data
				}
				f(dst.Data, src.Data, scale, bias, rows, n, eps)
				dst.Check(t, "dst")
				src.Check(t, "src")
				place := NewSlice[float32](rows*n, 1)
				copy(place.Data, src.Data)
				f(place.Data, place.Data, scale, bias, rows, n, eps)
				place.Check(t, "in place")
				SameBits(t, "in place", place.Data, dst.Data)
				for row := range rows {
					x := src.Data[row*n:][:n]
					mean, squares := 0.0, 0.0
					if centred {
						for _, v := range x {
							mean += float64(v) / float64(n)
						}
					}
					for _, v := range x {
						squares += (float64(v) - mean) * (float64(v) - mean)
					}
					factor := 1 / math.Sqrt(squares/float64(n)+float64(float32(eps)))
					for i, v := range x {
						want := (float64(v) - mean) * factor
						if scale != nil {
							want *= float64(scale[i])
						}
						room := factor*0x1p-21 + a.inverseRoot(want)
						if bias != nil {
							want += float64(bias[i])
						}
						if got := dst.Data[row*n+i]; !within(got, want, 8, room) {
							t.Fatalf("dst[%d, %d] = %v, want %v", row, i, got, want)
						}
					}
				}
			})
		}
	}
}

// inverseRoot returns the absolute error that the target may add to v, a product with a factor 1/√x, if its division
// and root are less precise than correct rounding. The bound is |v|·(a.Division + a.Root)·2⁻²³, because a unit in the
// last place is at most 2⁻²³ of the number.
func (a Accuracy) inverseRoot(v float64) float64 {
	return math.Abs(v) * (a.Division + a.Root) * 0x1p-23
}

// GroupNorm tests a normalisation of groups of channels. src is [n, channels, pixels]; each group
// has channels/groups adjacent channels. a is the accuracy of the target.
func GroupNorm(t *testing.T, f func(dst, src, scale, bias []float32, n, groups, channels, pixels int, eps float32), a Accuracy) {
	const n, eps = 2, 1e-3
	for _, s := range [][3]int{{1, 1, 1}, {1, 3, 5}, {4, 4, 49}, {2, 6, 33}, {3, 3, 5000}, {1, 2, 16}, {4, 32, 0}} {
		groups, channels, pixels := s[0], s[1], s[2]
		r, size := NewRandom(uint32(pixels)), channels*pixels
		src, dst := r.Input(n*size, 1), NewSlice[float32](n*size, 2)
		for _, operands := range []struct{ scale, bias []float32 }{
			{}, {scale: r.Input(channels, 1).Data}, {bias: r.Input(channels, 1).Data}, {r.Input(channels, 1).Data, r.Input(channels, 3).Data},
		} {
			f(dst.Data, src.Data, operands.scale, operands.bias, n, groups, channels, pixels, eps)
			dst.Check(t, "dst")
			src.Check(t, "src")
			place := NewSlice[float32](n*size, 1)
			copy(place.Data, src.Data)
			f(place.Data, place.Data, operands.scale, operands.bias, n, groups, channels, pixels, eps)
			place.Check(t, "in place")
			SameBits(t, "in place", place.Data, dst.Data)
			run := size / groups
			for first := 0; first < n*size; first += max(run, 1) {
				x, mean, squares := src.Data[first:][:run], 0.0, 0.0
				for _, v := range x {
					mean += float64(v) / float64(run)
				}
				for _, v := range x {
					squares += (float64(v) - mean) * (float64(v) - mean)
				}
				factor := 1 / math.Sqrt(squares/float64(run)+float64(float32(eps)))
				for i, v := range x {
					c := (first + i) / pixels % channels
					want := (float64(v) - mean) * factor
					if operands.scale != nil {
						want *= float64(operands.scale[c])
					}
					room := factor*0x1p-20 + a.inverseRoot(want)
					if operands.bias != nil {
						want += float64(operands.bias[c])
					}
					if got := dst.Data[first+i]; !within(got, want, 8, room) {
						t.Fatalf("%v: element %d is %v, want %v", s, first+i, got, want)
					}
				}
			}
		}
	}
}
