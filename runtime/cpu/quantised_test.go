package cpu

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestQuantizeRoundsHalvesToEvenAndSaturates(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	x := []float32{0.5, 1.5, 2.5, -0.5, -1.5, 300, -300, nan, inf, -inf, 0}
	bytes := make([]uint8, len(x))
	QuantizeScalar(bytes, x, 1, 3, 0, 255)
	if want := []uint8{3, 5, 5, 3, 1, 255, 0, 0, 255, 0, 3}; !slices.Equal(bytes, want) {
		t.Errorf("u8: %v, want %v", bytes, want)
	}
	nibbles := make([]int8, len(x))
	QuantizeScalar(nibbles, x, 1, 0, -8, 7)
	if want := []int8{0, 2, 2, 0, -2, 7, -8, -8, 7, -8, 0}; !slices.Equal(nibbles, want) {
		t.Errorf("i4: %v, want %v", nibbles, want)
	}
	words := make([]int32, len(x))
	QuantizeScalar(words, x, 1e-9, 0, math.MinInt32, math.MaxInt32)
	if words[0] != 499999968 && words[0] != 500000000 || words[5] != math.MaxInt32 || words[7] != math.MinInt32 {
		t.Errorf("i32: %v", words)
	}
}

func TestQuantizeAgreesWithRoundToEven(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	x, y := make([]float32, 4096), make([]int16, 4096)
	for i := range x {
		x[i] = float32(r.IntN(1<<18)-1<<17) / 2
	}
	QuantizeScalar(y, x, 0.75, -7, math.MinInt16, math.MaxInt16)
	for i, v := range x {
		want := math.RoundToEven(float64(v/0.75)) - 7
		if want = min(max(want, math.MinInt16), math.MaxInt16); float64(y[i]) != want {
			t.Fatalf("%v: %d, want %v", v, y[i], want)
		}
	}
}

func TestScalesOfBlocksAreRagged(t *testing.T) {
	x := []uint8{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	y := make([]float32, len(x))
	Dequantize(y, x, []float32{1, 10, 2, 20, 3, 30}, []uint8{0, 0, 1, 1, 2, 2}, 1, 5, 2, 2)
	if want := []float32{1, 20, 3, 40, 8, 100, 12, 140, 21, 240}; !slices.Equal(y, want) {
		t.Errorf("%v, want %v", y, want)
	}
}

func TestByteTableTakesBitsForTheIndex(t *testing.T) {
	table := make([]float32, 256)
	for i := range table {
		table[i] = float32(i)
	}
	y := make([]float32, 3)
	ByteTable(y, []int8{-1, 0, 1}, table)
	if want := []float32{255, 0, 1}; !slices.Equal(y, want) {
		t.Errorf("%v, want %v", y, want)
	}
}

// integerConv is a convolution for tests.
type integerConv struct {
	n, c, m, group                            int
	in, out, kernel, strides, dilations, pads []int
	x, w                                      []int32 // elements
	x0, w0, bias                              []int32
	scale                                     []float64
}

// sum returns one sum by its definition.
func (v *integerConv) sum(n, m, oy, ox int) int32 {
	sum := v.bias[m]
	width := v.c / v.group
	for c := range width {
		for ky := range v.kernel[0] {
			for kx := range v.kernel[1] {
				y, x := oy*v.strides[0]+ky*v.dilations[0]-v.pads[0], ox*v.strides[1]+kx*v.dilations[1]-v.pads[1]
				if y < 0 || x < 0 || y >= v.in[0] || x >= v.in[1] {
					continue
				}
				plane := n*v.c + m/(v.m/v.group)*width + c
				a := v.x[(plane*v.in[0]+y)*v.in[1]+x] - v.x0[0]
				sum += a * (v.w[((m*width+c)*v.kernel[0]+ky)*v.kernel[1]+kx] - v.w0[m])
			}
		}
	}
	return sum
}

// each calls f for each sum.
func (v *integerConv) each(f func(i int, m int, sum int32)) {
	i := 0
	for n := range v.n {
		for m := range v.m {
			for y := range v.out[0] {
				for x := range v.out[1] {
					f(i, m, v.sum(n, m, y, x))
					i++
				}
			}
		}
	}
}

// drawBytes draws elements of T and returns them as numbers too.
func drawBytes[T Byte](r *rand.Rand, n int) ([]T, []int32) {
	s, v := make([]T, n), make([]int32, n)
	for i := range s {
		s[i] = T(r.IntN(256))
		v[i] = int32(s[i])
	}
	return s, v
}

func testIntegerConv[X, W Byte](t *testing.T, v integerConv) {
	r := rand.New(rand.NewPCG(5, 6))
	for i := range v.out {
		v.out = slices.Clone(v.out)
		v.out[i] = (v.in[i]+2*v.pads[i]-(v.kernel[i]-1)*v.dilations[i]-1)/v.strides[i] + 1
	}
	plane, places, k := volume(v.in...), volume(v.out...), v.c/v.group*volume(v.kernel...)
	var x, x0 []X
	var w, w0 []W
	x, v.x = drawBytes[X](r, v.n*v.c*plane)
	w, v.w = drawBytes[W](r, v.m*k)
	x0, v.x0 = drawBytes[X](r, 1)
	w0, v.w0 = drawBytes[W](r, v.m)
	_, v.bias = drawBytes[int8](r, v.m)
	v.scale = make([]float64, v.m)
	for i := range v.scale {
		v.scale[i] = float64(float32(r.Float64() / 1000))
	}
	check := func(t *testing.T, sums []int32, bytes []int8) {
		t.Helper()
		v.each(func(i, m int, sum int32) {
			if sums[i] != sum {
				t.Fatalf("sum %d is %d, want %d", i, sums[i], sum)
			}
			q := math.RoundToEven(float64(float32(sum)*float32(v.scale[m]))) - 5
			if q = min(max(q, -100), 127); float64(bytes[i]) != q {
				t.Fatalf("result %d of sum %d is %d, want %v", i, sum, bytes[i], q)
			}
		})
	}
	count := v.n * v.m * places
	sums, bytes := make([]int32, count), make([]int8, count)
	t.Run("product", func(t *testing.T) {
		each, width := v.m/v.group, ceil(k, 4)*4
		rows := make([]uint8, v.n*v.group*places*width)
		rowSums := make([]int32, v.n*v.group*places)
		moved := v.x0[0] + int32(flip[uint8, X]())
		Patches(rows, rowSums, x, []int32{moved}, v.n*v.group, v.c/v.group, v.in, v.out, v.kernel, v.strides, v.dilations, v.pads)
		columns := make([]W, v.m*k) // the weights of each group, transposed
		bias, zero := make([]int32, v.m), make([]int32, v.m)
		for i := range v.m {
			zero[i] = v.w0[i] - int32(flip[int8, W]())
			sum := int32(0)
			for j, u := range w[i*k:][:k] {
				columns[(i/each*k+j)*each+i%each] = u
				sum += int32(u) - v.w0[i]
			}
			bias[i] = v.bias[i] - moved*sum
		}
		panels := make([]int8, v.group*ceil(each, 16)*width*16)
		PackColumns(panels, nil, columns, v.group, k, each)
		sums, bytes := slices.Clone(sums), slices.Clone(bytes)
		ProductInteger(sums, rows, panels, bias, zero, nil, rowSums, nil, v.n*v.group, v.group, places, each, width, 0, 0)
		ProductInteger(bytes, rows, panels, bias, zero, v.scale, rowSums, []int32{-5}, v.n*v.group, v.group, places, each, width, -100, 127)
		planar(sums, v.n*v.group, places, each)
		planar(bytes, v.n*v.group, places, each)
		check(t, sums, bytes)
	})
	plain := v
	plain.w0 = slices.Repeat([]int32{int32(flip[int8, W]())}, v.m)
	for _, lanes := range []int{4, 16} {
		depthwise := v.group == v.c && v.m == v.c && v.group > 1
		if lanes == 4 && (v.c > 4 || depthwise) {
			continue
		}
		t.Run(fmt.Sprint("blocks of ", lanes), func(t *testing.T) {
			atLevels(t, func(t *testing.T) {
				got := blockedConv(t, &plain, x, w, lanes)
				plain.each(func(i, m int, sum int32) {
					q := math.RoundToEven(float64(float32(sum)*float32(v.scale[m]))) - 5
					if q = min(max(q, -100), 127); float64(got[i]) != q {
						t.Fatalf("result %d of sum %d is %d, want %v", i, sum, got[i], q)
					}
				})
			})
		})
	}
	if v.c != v.group {
		return
	}
	t.Run("depthwise", func(t *testing.T) {
		clear(sums)
		clear(bytes)
		DepthwiseInteger(sums, x, w, x0, w0, v.bias, nil, nil, v.n, v.c, v.m, v.in, v.out, v.kernel, v.strides, v.dilations, v.pads, 0, 0)
		DepthwiseInteger(bytes, x, w, x0, w0, v.bias, v.scale, []int8{-5}, v.n, v.c, v.m, v.in, v.out, v.kernel, v.strides, v.dilations, v.pads, -100, 127)
		check(t, sums, bytes)
	})
}

// planar transposes each of n matrices of rows×columns elements.
func planar[T any](x []T, n, rows, columns int) {
	from := slices.Clone(x)
	for i, v := range from {
		matrix, row, column := i/columns/rows, i/columns%rows, i%columns
		x[(matrix*columns+column)*rows+row] = v
	}
}

func TestIntegerConvolutionsAreExact(t *testing.T) {
	ones, none, out := []int{1, 1}, []int{0, 0}, []int{0, 0}
	for _, v := range []integerConv{
		{n: 1, c: 1, m: 1, group: 1, in: []int{3, 3}, kernel: ones, strides: ones, dilations: ones, pads: none},
		{n: 2, c: 5, m: 7, group: 1, in: []int{6, 9}, kernel: []int{3, 2}, strides: []int{1, 2}, dilations: ones, pads: ones},
		{n: 1, c: 6, m: 4, group: 2, in: []int{5, 5}, kernel: []int{2, 2}, strides: ones, dilations: []int{2, 1}, pads: []int{2, 0}},
		{n: 1, c: 200, m: 3, group: 1, in: []int{4, 5}, kernel: []int{3, 3}, strides: ones, dilations: ones, pads: ones},
		{n: 2, c: 3, m: 6, group: 3, in: []int{5, 300}, kernel: []int{3, 3}, strides: []int{2, 1}, dilations: ones, pads: ones},
		{n: 1, c: 4, m: 4, group: 4, in: []int{7, 8}, kernel: []int{1, 5}, strides: []int{1, 3}, dilations: []int{1, 2}, pads: []int{0, 9}},
		{n: 1, c: 3, m: 18, group: 1, in: []int{11, 40}, kernel: []int{3, 3}, strides: []int{2, 2}, dilations: ones, pads: ones},
		{n: 2, c: 40, m: 50, group: 1, in: []int{5, 31}, kernel: ones, strides: ones, dilations: ones, pads: none},
		{n: 1, c: 64, m: 32, group: 2, in: []int{6, 7}, kernel: []int{3, 3}, strides: ones, dilations: ones, pads: ones},
		{n: 2, c: 36, m: 36, group: 36, in: []int{9, 10}, kernel: []int{3, 3}, strides: ones, dilations: ones, pads: ones},
		{n: 1, c: 17, m: 17, group: 17, in: []int{9, 11}, kernel: []int{5, 5}, strides: []int{2, 2}, dilations: []int{2, 1}, pads: []int{4, 2}},
		{n: 1, c: 16, m: 16, group: 16, in: []int{8, 8}, kernel: []int{8, 8}, strides: ones, dilations: ones, pads: none},
	} {
		v.out = out
		name := fmt.Sprintf("%d of %d in %d groups %v", v.m, v.c, v.group, v.kernel)
		t.Run(name+" u8 s8", func(t *testing.T) { testIntegerConv[uint8, int8](t, v) })
		t.Run(name+" s8 u8", func(t *testing.T) { testIntegerConv[int8, uint8](t, v) })
		t.Run(name+" s8 s8", func(t *testing.T) { testIntegerConv[int8, int8](t, v) })
	}
}

func TestSumsAreRequantised(t *testing.T) {
	const half = 27.4999999 / 5697 // times 5697 it is 27.5 in float32
	for _, test := range []struct {
		name               string
		sum                int32
		scale              float64
		want, zero, lo, hi int
	}{
		{"a half in float32", 5697, half, 28, 0, -128, 127},
		{"halves to even", 5, 0.5, 2, 0, -128, 127},
		{"negative halves to even", -7, 0.5, -4, 0, -128, 127},
		{"a sum that float32 rounds", 1<<25 + 1, 1.0 / (1 << 26), 0, 0, -128, 127},
		{"zero point", -3, 1, -13, -10, -128, 127},
		{"least", math.MinInt32, 1e30, -20, 7, -20, 127},
		{"most", math.MaxInt32, 1e300, 30, -7, -20, 30},
		{"NaN", 1, math.NaN(), -20, 0, -20, 30},
	} {
		t.Run(test.name, func(t *testing.T) {
			dst := make([]byte, 3)
			requantize(dst, []int32{test.sum, 0, test.sum}, test.scale, test.zero, test.lo, test.hi)
			if got := int(int8(dst[0])); got != test.want || dst[2] != dst[0] {
				t.Errorf("%d, want %d", got, test.want)
			}
			atLevels(t, func(t *testing.T) {
				dst := make([]int8, 2*17)
				ProductInteger(dst, make([]uint8, 8), make([]int8, 128), []int32{test.sum}, nil, []float64{test.scale}, nil, []int32{int32(test.zero)}, 1, 1, 2, 17, 4, test.lo, test.hi)
				for i, v := range dst {
					if int(v) != test.want {
						t.Fatalf("element %d is %d, want %d", i, v, test.want)
					}
				}
			})
		})
	}
}

// atLevels runs a test at every level.
func atLevels(t *testing.T, test func(t *testing.T)) {
	for _, l := range Levels() {
		t.Run(l.String(), func(t *testing.T) {
			defer SetLevel(l)()
			test(t)
		})
	}
}

// guarded returns n elements with guards around them, and a check that the guards did not change.
func guarded[T comparable](n int, guard T) (s []T, check func(t *testing.T)) {
	const margin = 67
	all := slices.Repeat([]T{guard}, n+2*margin)
	return all[margin : margin+n : margin+n], func(t *testing.T) {
		t.Helper()
		for i, v := range all {
			if v != guard && (i < margin || i >= margin+n) {
				t.Fatalf("element %d of %d is written", i-margin, n)
			}
		}
	}
}

func TestIntegerMatrixProductIsExact(t *testing.T) { atLevels(t, testIntegerMatrixProduct) }

func testIntegerMatrixProduct(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, s := range [][4]int{
		{1, 1, 1, 1}, {2, 3, 17, 5}, {1, 9, 70, 1030}, {3, 2, 33, 4}, {1, 4, 5, 0}, {1, 15, 32, 64}, {2, 29, 16, 24},
		{1, 2, 48, 2052}, {1, 5, 64, 12}, {1, 6, 31, 20}, {1, 7, 96, 8}, {1, 13, 40, 36}, {1, 200, 20, 16},
	} {
		batch, m, n, k := s[0], s[1], s[2], s[3]
		a, av := drawBytes[int8](r, batch*m*k)
		b, bv := drawBytes[uint8](r, k*n)
		extreme(a, av)
		extreme(b, bv)
		rows, sums := make([]uint8, batch*m*ceil(k, 4)*4), make([]int32, batch*m)
		PackRows(rows, sums, a, batch, m, k)
		panels, columns := make([]int8, ceil(n, 16)*ceil(k, 4)*64), make([]int32, n)
		PackColumns(panels, nil, b, 1, k, n)
		for i, v := range bv {
			columns[i%n] += v - 128
		}
		// a = rows − 128, b = panels + 128
		bias, scale, offset := make([]int32, n), make([]float64, n), make([]float32, n)
		factors := make([]float32, n)
		for j := range bias {
			bias[j] = -128 * (columns[j] + 128*int32(k))
			scale[j] = r.Float64() / 1000
			factors[j], offset[j] = r.Float32(), float32(r.NormFloat64())
		}
		zero := []int32{-128}
		dst, intact := guarded[int32](batch*m*n, 1<<30)
		ProductInteger(dst, rows, panels, bias, zero, nil, sums, nil, batch, 1, m, n, ceil(k, 4)*4, 0, 0)
		intact(t)
		signed, intact := guarded[int8](batch*m*n, 99)
		ProductInteger(signed, rows, panels, bias, zero, scale, sums, []int32{-3}, batch, 1, m, n, ceil(k, 4)*4, -120, 98)
		intact(t)
		unsigned, intact := guarded[uint8](batch*m*n, 99)
		ProductInteger(unsigned, rows, panels, bias, zero, scale[:1], sums, []int32{130}, batch, 1, m, n, ceil(k, 4)*4, 0, 255)
		intact(t)
		scaled, intact := guarded[float32](batch*m*n, 1e30)
		ProductScaled(scaled, rows, panels, bias, zero, factors, offset, sums, batch, 1, m, n, ceil(k, 4)*4)
		intact(t)
		direct, intact := guarded[int32](batch*m*n, 1<<30)
		scratch := make([]int8, (1+r.IntN(3))*ProductColumnsScratch(k))
		ProductColumns(direct, rows, b, []int32{128}, zero, sums, scratch, batch, 1, m, n, k)
		intact(t)
		if !slices.Equal(direct, dst) {
			t.Fatalf("%v: columns packed on the way give %v, not %v", s, direct, dst)
		}
		for i := range dst {
			want, j := int32(0), i%n
			for l := range k {
				want += av[i/n*k+l] * bv[l*n+j]
			}
			if dst[i] != want {
				t.Fatalf("%v: element %d is %d, want %d", s, i, dst[i], want)
			}
			exact := func(scale float64) float64 {
				return math.RoundToEven(float64(float32(float64(float32(want)) * scale)))
			}
			if q := min(max(exact(scale[j])-3, -120), 98); float64(signed[i]) != q {
				t.Fatalf("%v: element %d is %d in i8, want %v", s, i, signed[i], q)
			}
			if q := min(max(exact(scale[0])+130, 0), 255); float64(unsigned[i]) != q {
				t.Fatalf("%v: element %d is %d in u8, want %v", s, i, unsigned[i], q)
			}
			if q := float32(float32(want)*factors[j]) + offset[j]; scaled[i] != q {
				t.Fatalf("%v: element %d is %v in f32, want %v", s, i, scaled[i], q)
			}
		}
	}
}

// extreme sets the first half of bytes to the values with the largest sums of products.
func extreme[T Byte](s []T, v []int32) {
	most := T(0)
	for i := range 256 {
		most = max(most, T(i))
	}
	for i := range len(s) / 2 {
		s[i], v[i] = most, int32(most)
	}
}

// A product by a float64 is rounded once, although two float32s represent it.
func TestFactorsKeepHalves(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for range 100000 {
		scale := r.Float64() * math.Exp2(float64(r.IntN(40)-20))
		if r.IntN(2) == 0 {
			scale = float64(r.IntN(99)+1) / float64(r.IntN(99)+1)
		}
		x := float32(int32(r.Uint32()) >> r.IntN(31))
		high, low := factor(scale)
		if got, want := times(x, high, low), float32(float64(x)*scale); got != want {
			exact := new(big.Float).Mul(big.NewFloat(float64(x)), big.NewFloat(scale))
			middle := (float64(got) + float64(want)) / 2
			off, _ := new(big.Float).Sub(exact, big.NewFloat(middle)).Float64()
			if math.Abs(off) > math.Abs(middle)*0x1p-46 {
				t.Fatalf("%v·%v is %v, want %v", x, scale, got, want)
			}
		}
	}
}

// blockedConv computes an integer convolution on blocked bytes.
func blockedConv[X, W Byte](t *testing.T, v *integerConv, x []X, w []W, lanes int) []int8 {
	if v.w0[0] != int32(flip[int8, W]()) {
		t.Fatal("weights have a zero point")
	}
	moved := v.x0[0] + int32(flip[uint8, X]())
	bias := make([]int32, v.m)
	k := len(w) / v.m
	for i := range bias {
		bias[i] = v.bias[i]
		for _, u := range w[i*k:][:k] {
			bias[i] -= moved * (int32(u) - v.w0[i])
		}
	}
	top, left := v.pads[0], v.pads[1]
	height := max(v.in[0]+2*top, (v.out[0]-1)*v.strides[0]+(v.kernel[0]-1)*v.dilations[0]+1)
	width := max(v.in[1]+2*left, (v.out[1]-1)*v.strides[1]+(v.kernel[1]-1)*v.dilations[1]+1)
	pad := [4]int{top, left, height - top - v.in[0], width - left - v.in[1]}
	src, intact := guarded[uint8](v.n*ceil(v.c, lanes)*height*width*lanes, 3)
	if lanes == 16 {
		inner := make([]uint8, v.n*ceil(v.c, 16)*v.in[0]*v.in[1]*16)
		BlockBytes(inner, x, nil, v.n, v.c, v.in[0], v.in[1], 16, [4]int{})
		PadBytes(src, inner, []int32{moved}, v.n*ceil(v.c, 16), v.in[0], v.in[1], pad)
		both := make([]uint8, len(src))
		BlockBytes(both, x, []int32{moved}, v.n, v.c, v.in[0], v.in[1], 16, pad)
		if v.c%16 == 0 && !slices.Equal(both, src) {
			t.Fatal("blocking with padding is not blocking and padding")
		}
	} else {
		BlockBytes(src, x, []int32{moved}, v.n, v.c, v.in[0], v.in[1], lanes, pad)
	}
	intact(t)
	s := &ConvShape{
		N: v.n, InC: v.c, InH: height, InW: width, InBlock: lanes, OutC: v.m, OutH: v.out[0], OutW: v.out[1],
		KH: v.kernel[0], KW: v.kernel[1], StrideH: v.strides[0], StrideW: v.strides[1], DilH: v.dilations[0], DilW: v.dilations[1], Group: v.group,
	}
	places := v.out[0] * v.out[1]
	dst, intact := guarded[uint8](v.n*ceil(v.m, 16)*places*16, 77)
	if v.group == v.c && v.m == v.c && v.group > 1 {
		packed := make([]int8, ceil(v.c, 16)*s.KH*ceil(s.KW, 4)*64)
		PackDepthwiseBytes(packed, w, v.c, s.KH, s.KW)
		DepthwiseBytes(dst, src, packed, bias, v.scale, []int32{-5 + 128}, s, 28, 255)
	} else {
		packed := make([]int8, s.outBlocks()*s.depth(s.width())*16)
		PackConvBytes(packed, w, s)
		ConvBytes(dst, src, packed, bias, v.scale, []int32{-5 + 128}, s, 1, 28, 255)
	}
	intact(t)
	y := make([]int8, v.n*v.m*places)
	UnblockBytes(y, dst, v.n, v.m, places)
	return y
}

// The kernels round, saturate and take NaN as the plain loops do.
func TestBytesAreQuantisedAlikeAtAllLevels(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, n := range []int{0, 1, 15, 16, 17, 64, 1000, 70000} {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(r.IntN(1200)-600) / 4
			if special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 1e-40, 3e38}; r.IntN(9) == 0 {
				x[i] = float32(special[r.IntN(len(special))])
			}
		}
		for _, scale := range []float32{0.5, 0.37, 1e-30, 1e30} {
			restore := SetLevel(Generic)
			signed, unsigned, floats, others := make([]int8, n), make([]uint8, n), make([]float32, n), make([]float32, n)
			QuantizeScalar(signed, x, scale, -7, -100, 120)
			QuantizeScalar(unsigned, x, scale, 130, 0, 255)
			DequantizeScalar(floats, signed, scale, -7)
			DequantizeScalar(others, unsigned, scale, 130)
			restore()
			atLevels(t, func(t *testing.T) {
				i8, intact := guarded[int8](n, 55)
				QuantizeScalar(i8, x, scale, -7, -100, 120)
				intact(t)
				u8, intact := guarded[uint8](n, 55)
				QuantizeScalar(u8, x, scale, 130, 0, 255)
				intact(t)
				f, intact := guarded[float32](n, 55)
				DequantizeScalar(f, signed, scale, -7)
				intact(t)
				g, intact := guarded[float32](n, 55)
				DequantizeScalar(g, unsigned, scale, 130)
				intact(t)
				if !slices.Equal(i8, signed) || !slices.Equal(u8, unsigned) || !slices.Equal(f, floats) || !slices.Equal(g, others) {
					t.Errorf("%d elements by %v differ", n, scale)
				}
			})
		}
	}
}

func TestMaxPoolOfBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	atLevels(t, func(t *testing.T) {
		src, _ := drawBytes[uint8](r, 3*7*9*16)
		dst, intact := guarded[uint8](3*3*3*16, 200)
		MaxPoolBytes(dst, src, 3, []int{7, 9}, []int{3, 3}, []int{3, 2}, []int{2, 3}, []int{1, 2})
		intact(t)
		for i, v := range dst {
			plane, y, x, lane := i/16/9, i/16/3%3, i/16%3, i%16
			want := uint8(0)
			for ky := range 3 {
				for kx := range 2 {
					want = max(want, src[((plane*7+2*y+ky)*9+3*x+2*kx)*16+lane])
				}
			}
			if v != want {
				t.Fatalf("element %d is %d, want %d", i, v, want)
			}
		}
	})
}

func TestQuantizingDividesNearHalves(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	x, dst := make([]float32, 1<<14), make([]uint8, 1<<14)
	for range 60 {
		scale := float32(math.Ldexp(1+r.Float64(), r.IntN(20)-10))
		switch r.IntN(8) {
		case 0:
			scale = float32(math.Ldexp(float64(scale), -110-r.IntN(30)))
		case 1:
			scale = float32(math.Ldexp(float64(scale), 100+r.IntN(15)))
		}
		for i := range x {
			x[i] = (float32(r.IntN(1200)-600) / 2) * scale
			for range r.IntN(3) {
				x[i] = math.Nextafter32(x[i], float32(math.Inf(r.IntN(2)*2-1)))
			}
		}
		zero := r.IntN(256)
		atLevels(t, func(t *testing.T) {
			QuantizeScalar(dst, x, scale, zero, 0, 255)
			for i, v := range x {
				want := min(max(math.RoundToEven(float64(v/scale))+float64(zero), 0), 255)
				if float64(dst[i]) != want {
					t.Fatalf("%v by %v is %d, want %v", v, scale, dst[i], want)
				}
			}
		})
	}
}
