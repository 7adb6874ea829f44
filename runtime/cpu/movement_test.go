package cpu_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/kerneltest"
)

func TestStridedCopy(t *testing.T) {
	t.Run("float32", func(t *testing.T) { atEachLevel(t, checkStrided[float32]) })
	t.Run("int64", checkStrided[int64])
}

// checkStrided compares StridedCopy and ScatterStrided with their definition.
func checkStrided[T float32 | int64](t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// A strided view of a permuted, sliced, reversed or repeated row-major array.
		rank := rapid.IntRange(0, 5).Draw(t, "rank")
		dims, strides := make([]int, rank), make([]int, rank)
		order := rapid.Permutation([]int{0, 1, 2, 3, 4}[:rank]).Draw(t, "order")
		size, offset, distinct := 1, rapid.IntRange(0, 5).Draw(t, "offset"), true
		for _, axis := range order {
			dims[axis] = rapid.IntRange(0, 9).Draw(t, "extent")
			step := rapid.SampledFrom([]int{1, 1, 1, 2, -1, 0}).Draw(t, "step")
			if rank <= 2 && rapid.Bool().Draw(t, "long") {
				dims[axis] *= 13
			}
			strides[axis] = size * step
			switch {
			case step == 0:
				distinct = distinct && dims[axis] <= 1
				continue
			case step < 0 && dims[axis] > 0:
				offset += size * (dims[axis] - 1)
			}
			size *= max(1, dims[axis]*max(step, 1))
		}
		src := make([]T, offset+size)
		for i := range src {
			src[i] = T(i + 1)
		}
		var want []T
		each(dims, strides, offset, func(at int) { want = append(want, src[at]) })
		got := make([]T, len(want))
		cpu.StridedCopy(got, src, dims, strides, offset)
		if !slices.Equal(got, want) {
			t.Fatalf("dims %v strides %v offset %d:\ngot  %v\nwant %v", dims, strides, offset, got, want)
		}
		if !distinct {
			return
		}
		back, wantBack := make([]T, len(src)), make([]T, len(src))
		each(dims, strides, offset, func(at int) { wantBack[at] = src[at] })
		cpu.ScatterStrided(back, got, dims, strides, offset)
		if !slices.Equal(back, wantBack) {
			t.Fatalf("scatter: dims %v strides %v offset %d:\ngot  %v\nwant %v", dims, strides, offset, back, wantBack)
		}
	})
}

// each calls f with the place of every element of a strided array, in order.
func each(dims, strides []int, at int, f func(at int)) {
	if len(dims) == 0 {
		f(at)
		return
	}
	for i := range dims[0] {
		each(dims[1:], strides[1:], at+i*strides[0], f)
	}
}

func TestFill(t *testing.T) {
	dst := make([]string, 3)
	cpu.Fill(dst[1:], "x")
	expect(t, "fill", dst, "", "x", "x")
	cpu.Copy(dst[:2], []string{"a", "b", "c"})
	expect(t, "copy", dst, "a", "b", "x")
}

func TestGather(t *testing.T) {
	src := []int32{0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15} // [2, 3, 2]
	dst := make([]int32, 8)
	if err := cpu.Gather(dst, src, []int64{2, -3}, 2, 3, 2); err != nil {
		t.Fatal(err)
	}
	expect(t, "pairs", dst, 4, 5, 0, 1, 14, 15, 10, 11)
	dst = make([]int32, 3)
	if err := cpu.Gather(dst, src, []int32{11, 0, -1}, 1, 12, 1); err != nil {
		t.Fatal(err)
	}
	expect(t, "single", dst, 15, 0, 15)
	for _, i := range []int64{12, -13, math.MaxInt64, math.MinInt64} {
		var wrong *cpu.IndexError
		err := cpu.Gather(dst, src, []int64{0, i, 1}, 1, 12, 1)
		if !errors.As(err, &wrong) || wrong.Index != i || wrong.Dim != 12 {
			t.Errorf("index %d: %v", i, err)
		}
	}
}

func TestResize(t *testing.T) {
	src := []float32{1, 2, 3, 4} // [1, 2, 2, 1] and [1, 1, 2, 2]
	dst := make([]float32, 12)
	cpu.ResizeNearest(dst, src, 1, 2, 2, 1, []int32{0, 0, 1}, []int32{0, 0, 1, 1})
	expect(t, "nearest", dst, 1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4)
	dst = make([]float32, 6)
	cpu.ResizeNearest(dst, src, 1, 1, 2, 2, []int32{0}, []int32{1, 0, 0})
	expect(t, "nearest, channels last", dst, 3, 4, 1, 2, 1, 2)

	dst = make([]float32, 6)
	cpu.ResizeLinear(dst, src, 1, 2, 2, 1, []int32{0, 1, 1, 1}, []float32{0.5, 0.5, 1, 0}, []int32{0, 0, 0, 1, 1, 1}, []float32{1, 0, 0.25, 0.75, 1, 0})
	expect(t, "linear", dst, 2, 2.75, 3, 3, 3.75, 4)
	dst = make([]float32, 4)
	cpu.ResizeAxis(dst, src, 1, 2, 2, 3, []int32{0, 1, 1, 1, 0, 0}, []float32{0.5, 0.25, 0.25, 1, 0.5, 0.5})
	expect(t, "weighted", dst, 2, 3, 4, 6)
}

// ResizeLinear is ResizeAxis on the columns and then on the rows.
func TestResizeAxes(t *testing.T) {
	const outer, h, w, inner = 3, 4, 5, 16
	src := make([]float32, outer*h*w*inner)
	for i := range src {
		src[i] = float32(i*i%97) - 48
	}
	rows, rowWeights := []int32{0, 0, 0, 1, 2, 3}, []float32{1, 0, 0.375, 0.625, 0.5, 0.5}
	cols, colWeights := []int32{0, 1, 3, 4}, []float32{0.25, 0.75, 0.875, 0.125}
	direct, half, byAxis := make([]float32, outer*3*2*inner), make([]float32, outer*h*2*inner), make([]float32, outer*3*2*inner)
	cpu.ResizeLinear(direct, src, outer, h, w, inner, rows, rowWeights, cols, colWeights)
	cpu.ResizeAxis(half, src, outer*h, w, inner, 2, cols, colWeights)
	cpu.ResizeAxis(byAxis, half, outer, h, 2*inner, 2, rows, rowWeights)
	expect(t, "by axis", byAxis, direct...)
}

func TestCumSum(t *testing.T) {
	x := []int64{1, 2, 3, 4, 5, 6}
	for _, c := range []struct {
		name               string
		inner              int
		exclusive, reverse bool
		want               []int64
	}{
		{"forward", 1, false, false, []int64{1, 3, 6, 4, 9, 15}},
		{"exclusive", 1, true, false, []int64{0, 1, 3, 0, 4, 9}},
		{"reverse", 1, false, true, []int64{6, 5, 3, 15, 11, 6}},
		{"both", 1, true, true, []int64{5, 3, 0, 11, 6, 0}},
		{"middle axis", 2, false, false, []int64{1, 2, 4, 6, 9, 12}},
		{"middle axis, both", 2, true, true, []int64{8, 10, 5, 6, 0, 0}},
	} {
		dst := make([]int64, 6)
		cpu.CumSum(dst, x, 2/c.inner, 3, c.inner, c.exclusive, c.reverse)
		expect(t, c.name, dst, c.want...)
	}
}

func TestCumProd(t *testing.T) {
	x, dst := []int64{1, 2, 3, 4, 5, 6}, make([]int64, 6)
	cpu.CumProd(dst, x, 2, 3, 1, false, false)
	expect(t, "forward", dst, 1, 2, 6, 4, 20, 120)
	cpu.CumProd(dst, x, 1, 3, 2, true, true)
	expect(t, "middle axis, exclusive, reverse", dst, 15, 24, 5, 6, 1, 1)
}

func TestRange(t *testing.T) {
	i, f := make([]int16, 4), make([]float32, 3)
	cpu.Range(i, 10, -3)
	cpu.Range(f, 0.5, 0.25)
	expect(t, "integers", i, 10, 7, 4, 1)
	expect(t, "floats", f, 0.5, 0.75, 1)
}

// Kernels do not allocate, and they panic if an operand is too short.
func TestKernelsAllocateNothing(t *testing.T) {
	f, g, h := make([]float32, 600), make([]float32, 600), make([]float32, 600)
	half := make([]uint8, 600)
	bits := make([]bool, 600)
	idx := []int64{1, 0}
	spec := &cpu.ResizeSpec{Mode: "cubic", Coordinates: "half_pixel", CubicA: -0.75, ExcludeOutside: true}
	rows := make([]int32, 400)
	for name, run := range map[string]func(){
		"Add":                func() { cpu.Add(f, g, h) },
		"AddScalar":          func() { cpu.AddScalar(half, half, 3) },
		"Exp":                func() { cpu.Exp(f, g) },
		"Pow":                func() { cpu.Pow(f, g, h) },
		"Clip":               func() { cpu.Clip(f, g, -1, 1) },
		"Less":               func() { cpu.Less(bits, f, g) },
		"Where":              func() { cpu.Where(f, bits, g, h) },
		"Cast":               func() { cpu.Cast(half, g) },
		"CastToBool":         func() { cpu.CastToBool(bits, g) },
		"FromBool":           func() { cpu.CastFromBool(f, bits) },
		"StridedCopy":        func() { cpu.StridedCopy(f, g, []int{5, 6, 20}, []int{20, 100, 1}, 0) },
		"Transpose":          func() { cpu.StridedCopy(f, g, []int{20, 30}, []int{1, 20}, 0) },
		"Sum":                func() { cpu.ReduceSum(f[:6], g, 2, 100, 3) },
		"SumColumns":         func() { cpu.ReduceSum(f[:120], g, 2, 5, 60) },
		"LogSumExp":          func() { cpu.ReduceLogSumExp(f[:6], g, 2, 100, 3) },
		"ArgMax":             func() { cpu.ArgMax(make([]int64, 6), g, 2, 100, 3, false) },
		"Softmax":            func() { cpu.Softmax(f, g, 6, 100, 1) },
		"Columns":            func() { cpu.Softmax(f, g, 2, 10, 30) },
		"LogSoftmax":         func() { cpu.LogSoftmax(f, g, 6, 100, 1) },
		"LayerNorm":          func() { cpu.LayerNorm(f, g, h, h, 6, 100, 1e-5) },
		"RMSNorm":            func() { cpu.RMSNorm(f, g, nil, 6, 100, 1e-5) },
		"Gather":             func() { _ = cpu.Gather(f, g, idx, 2, 2, 150) },
		"CumSum":             func() { cpu.CumSum(f, g, 2, 100, 3, true, true) },
		"GatherElements":     func() { _ = cpu.GatherElements(f[:2], g, idx, []int{1, 2}, []int{2, 300}, 1) },
		"GatherND":           func() { _ = cpu.GatherND(f, g, idx, 1, 2, []int{2}, 300) },
		"ScatterElements":    func() { _ = cpu.ScatterElementsMax(f, g, idx, h[:2], []int{1, 2}, []int{2, 300}, 1) },
		"ScatterND":          func() { _ = cpu.ScatterND(f, g, idx, h, []int{2}, 300) },
		"ScatterNDAdd":       func() { _ = cpu.ScatterNDAdd(f, g, idx, h, []int{2}, 300) },
		"Pad":                func() { cpu.Pad(f, g, []int{10, 28}, []int{5, 1}, []int{5, 1}, 1) },
		"Trilu":              func() { cpu.Trilu(f, g, 6, 10, 10, 1, true) },
		"Eye":                func() { cpu.Eye(f, 20, 30, -3, 1) },
		"OneHot":             func() { cpu.OneHot(f, idx, g, 1, 300, 2) },
		"ResizeNearestTable": func() { _ = cpu.ResizeNearestTable(rows, 70, 100, spec, nil) },
		"ResizeTable":        func() { _ = cpu.ResizeTable(rows, f, 70, 100, 4, spec, nil) },
		"WrapBits":           func() { cpu.WrapBits(half, half, 4) },
	} {
		atEachLevel(t, func(t *testing.T) {
			if n := testing.AllocsPerRun(10, run); n != 0 {
				t.Errorf("%s allocates %v times", name, n)
			}
		})
	}
	for name, run := range map[string]func(){
		"Add":                   func() { cpu.Add(f, g, h[:599]) },
		"Exp":                   func() { cpu.Exp(f, g[:599]) },
		"Less":                  func() { cpu.Less(bits, f, g[:599]) },
		"Softmax":               func() { cpu.Softmax(f, g, 6, 101, 1) },
		"LayerNorm":             func() { cpu.LayerNorm(f, g, h[:99], nil, 6, 100, 1e-5) },
		"Sum":                   func() { cpu.ReduceSum(f[:120], g[:599], 2, 5, 60) },
		"Gather":                func() { _ = cpu.Gather(f[:4], g, idx, 2, 2, 150) },
		"Cast":                  func() { cpu.Cast(f, half[:599]) },
		"GatherElements":        func() { _ = cpu.GatherElements(f[:1], g, idx, []int{1, 2}, []int{2, 300}, 1) },
		"GatherND":              func() { _ = cpu.GatherND(f, g[:599], idx, 1, 2, []int{2}, 300) },
		"ScatterElements":       func() { _ = cpu.ScatterElements(f, g, idx, h[:1], []int{1, 2}, []int{2, 300}, 1) },
		"ScatterND":             func() { _ = cpu.ScatterND(f, g, idx, h[:599], []int{2}, 300) },
		"Pad":                   func() { cpu.Pad(f, g[:279], []int{10, 28}, []int{5, 1}, []int{5, 1}, 1) },
		"Pad less than nothing": func() { cpu.Pad(f, g, []int{600}, []int{-1}, []int{1}, 1) },
		"Trilu":                 func() { cpu.Trilu(f[:599], g, 6, 10, 10, 1, true) },
		"Eye":                   func() { cpu.Eye(f, 20, 31, 0, 1) },
		"OneHot":                func() { cpu.OneHot(f, idx, g[:1], 1, 300, 2) },
		"ResizeNearestTable":    func() { _ = cpu.ResizeNearestTable(rows, 7, 401, spec, nil) },
		"ResizeTable":           func() { _ = cpu.ResizeTable(rows, f, 7, 101, 4, spec, nil) },
	} {
		atEachLevel(t, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Errorf("%s accepts a short operand", name)
				}
			}()
			run()
		})
	}
}

// Matrices are transposed eight by eight, and in strips.
func TestTranspose(t *testing.T) {
	atEachLevel(t, func(t *testing.T) {
		testTranspose[int8](t)
		testTranspose[uint16](t)
		testTranspose[float32](t)
		testTranspose[int32](t)
		testTranspose[int64](t)
		testTranspose[float64](t)
	})
}

func testTranspose[T cpu.Number](t *testing.T) {
	for _, s := range [][2]int{
		{1, 1}, {3, 50}, {50, 3}, {8, 8}, {7, 16}, {17, 9}, {33, 40}, {64, 100}, {9, 1}, {64, 2}, {40, 4},
		{100, 5}, {31, 6}, {24, 7}, {70, 130}, {600, 9}, {1100, 17},
	} {
		rows, columns := s[0], s[1]
		x := kerneltest.NewSlice[T](rows*columns, 3)
		for i := range x.Data {
			x.Data[i] = T(i * 37 % 8191)
		}
		x.Freeze()
		dst := kerneltest.NewSlice[T](rows*columns, 1)
		cpu.StridedCopy(dst.Data, x.Data, []int{columns, rows}, []int{1, columns}, 0)
		back := kerneltest.NewSlice[T](rows*columns, 2)
		cpu.ScatterStrided(back.Data, dst.Data, []int{columns, rows}, []int{1, columns}, 0)
		for r := range rows {
			for c := range columns {
				want := x.Data[r*columns+c]
				if got := dst.Data[c*rows+r]; got != want {
					t.Fatalf("%T %v: element %d, %d is %v, want %v", want, s, c, r, got, want)
				}
				if got := back.Data[r*columns+c]; got != want {
					t.Fatalf("%T %v: element %d, %d is %v after the way back, want %v", want, s, r, c, got, want)
				}
			}
		}
		for _, v := range []*kerneltest.Slice[T]{x, dst, back} {
			v.Check(t, "operand")
		}
	}
}

// Every second element of a row is taken by vectors where rows are long.
func TestEverySecond(t *testing.T) {
	atEachLevel(t, func(t *testing.T) {
		testEverySecond[float32](t)
		testEverySecond[uint32](t)
		testEverySecond[int64](t)
	})
}

func testEverySecond[T cpu.Number](t *testing.T) {
	for _, columns := range []int{1, 15, 16, 17, 40, 128, 300} {
		const rows = 3
		x := kerneltest.NewSlice[T]((rows-1)*(2*columns+1)+2*columns-1, 1)
		for i := range x.Data {
			x.Data[i] = T(i * 37 % 8191)
		}
		x.Freeze()
		dst := kerneltest.NewSlice[T](rows*columns, 3)
		cpu.StridedCopy(dst.Data, x.Data, []int{rows, columns}, []int{2*columns + 1, 2}, 0)
		x.Check(t, "src")
		dst.Check(t, "dst")
		for i, got := range dst.Data {
			if want := x.Data[i/columns*(2*columns+1)+2*(i%columns)]; got != want {
				t.Fatalf("%T, %d columns: element %d is %v, want %v", got, columns, i, got, want)
			}
		}
	}
}

// A softmax over two classes is made of sigmoids; an infinite maximum gives NaN.
func TestSoftmaxOfTwo(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	cases := [][4]float32{
		{0, 0, 0.5, 0.5}, {3, 3, 0.5, 0.5}, {200, 0, 1, 0}, {-200, 200, 0, 1}, {-inf, 7, 0, 1}, {7, -inf, 1, 0},
		{inf, 0, nan, nan}, {inf, inf, nan, nan}, {-inf, -inf, nan, nan}, {nan, 1, nan, nan}, {1, nan, nan, nan}, {0, -inf, 1, 0},
	}
	atEachLevel(t, func(t *testing.T) {
		const rows = 400
		src, dst := make([]float32, 2*rows), make([]float32, 2*rows)
		for i := range rows {
			copy(src[2*i:], cases[i%len(cases)][:2])
		}
		cpu.Softmax(dst, src, rows, 2, 1)
		for i, got := range dst {
			if want := cases[i/2%len(cases)][2+i%2]; got != want && (got == got || want == want) {
				t.Fatalf("%v: element %d is %v, want %v", cases[i/2%len(cases)][:2], i%2, got, want)
			}
		}
	})
}
