package op

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

func TestWindowExtents(t *testing.T) {
	h := dim.Sym("H")
	for name, c := range map[string]struct {
		w             Window
		in            dim.Dim
		want          string
		before, after string
	}{
		"plain":                  {Window{Kernel: []int{3}}, dim.Const(8), "6", "0", "0"},
		"symbolic":               {Window{Kernel: []int{3}, Pads: []int{1, 1}}, h, "H", "1", "1"},
		"strided":                {Window{Kernel: []int{3}, Strides: []int{2}, Pads: []int{1, 1}}, dim.Const(8), "4", "1", "1"},
		"dilated":                {Window{Kernel: []int{3}, Dilations: []int{2}}, dim.Const(8), "4", "0", "0"},
		"same upper":             {Window{Kernel: []int{4}, Same: "upper"}, dim.Const(8), "8", "1", "2"},
		"same lower":             {Window{Kernel: []int{4}, Same: "lower"}, dim.Const(8), "8", "2", "1"},
		"same of a symbol":       {Window{Kernel: []int{3}, Same: "upper"}, h, "H", "1", "1"},
		"same with large stride": {Window{Kernel: []int{1}, Strides: []int{3}, Same: "upper"}, dim.Const(8), "3", "0", "0"},
		"ceil":                   {Window{Kernel: []int{3}, Strides: []int{2}, Ceil: true}, dim.Const(6), "3", "0", "0"},
		"ceil starts inside":     {Window{Kernel: []int{1}, Strides: []int{2}, Ceil: true}, dim.Const(2), "1", "0", "0"},
		"ceil drops what starts in the end padding": {Window{Kernel: []int{3}, Strides: []int{3}, Pads: []int{1, 1}, Ceil: true}, dim.Const(5), "2", "1", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.w.Check(1); err != nil {
				t.Fatal(err)
			}
			before, after := c.w.pad(0, c.in)
			got := []string{c.w.extent(0, c.in).String(), before.String(), after.String()}
			if want := []string{c.want, c.before, c.after}; !slices.Equal(got, want) {
				t.Errorf("extent and padding %v, want %v", got, want)
			}
		})
	}
}

func TestNeuralInfer(t *testing.T) {
	n, h, c := dim.Sym("N"), dim.Sym("H"), dim.Sym("C")
	f32 := func(shape ...dim.Dim) ir.Type { return ir.TensorOf(ir.F32, shape...) }
	k := func(v int) dim.Dim { return dim.Const(v) }
	for name, x := range map[string]struct {
		op   ir.Op
		in   []ir.Type
		want string // the result's type, or the error
	}{
		"conv": {Conv{Window: Window{Kernel: []int{3, 3}, Pads: []int{1, 1, 1, 1}, Strides: []int{2, 2}}, Group: 1},
			[]ir.Type{f32(n, k(3), h, h), f32(k(8), k(3), k(3), k(3)), f32(k(8))}, "f32[N,8,floor((H+1)/2),floor((H+1)/2)]"},
		"conv over one axis": {Conv{Window: Window{Kernel: []int{3}}, Group: 1}, []ir.Type{f32(n, k(3), h), f32(k(8), k(3), k(3))}, "f32[N,8,H-2]"},
		"conv of unknown channels": {Conv{Window: Window{Kernel: []int{1}}, Group: 2}, []ir.Type{f32(n, c, h), f32(k(8), k(3), k(1))},
			"channels of the operand and the weights: cannot prove that C equals 6"},
		"conv of other channels": {Conv{Window: Window{Kernel: []int{1}}, Group: 2}, []ir.Type{f32(n, k(5), h), f32(k(8), k(3), k(1))},
			"channels of the operand and the weights: 5 is not 6"},
		"conv of uneven groups":      {Conv{Window: Window{Kernel: []int{1}}, Group: 3}, []ir.Type{f32(n, k(6), h), f32(k(8), k(2), k(1))}, "8 channels in 3 groups"},
		"conv of no groups":          {Conv{Window: Window{Kernel: []int{1}}, Group: 0}, []ir.Type{f32(n, k(6), h), f32(k(8), k(2), k(1))}, "0 groups"},
		"conv of another kernel":     {Conv{Window: Window{Kernel: []int{2}}, Group: 1}, []ir.Type{f32(n, k(2), h), f32(k(8), k(2), k(1))}, "weights and kernel shape: 1 is not 2"},
		"conv of integers":           {Conv{Window: Window{Kernel: []int{1}}, Group: 1}, []ir.Type{ir.StaticTensor(ir.I32, 1, 1, 1), ir.StaticTensor(ir.I32, 1, 1, 1)}, "operand 0 is i32, floats expected"},
		"conv with a bad bias":       {Conv{Window: Window{Kernel: []int{1}}, Group: 1}, []ir.Type{f32(n, k(2), h), f32(k(8), k(2), k(1)), f32(k(7))}, "bias and output channels: 7 is not 8"},
		"conv of too small input":    {Conv{Window: Window{Kernel: []int{5}}, Group: 1}, []ir.Type{f32(n, k(2), k(3)), f32(k(8), k(2), k(5))}, "spatial axis 0: a window of 5 cells over 3"},
		"conv without a kernel":      {Conv{Window: Window{}, Group: 1}, []ir.Type{f32(n, k(2), k(3)), f32(k(8), k(2), k(5))}, "kernel [] for 1 spatial axes"},
		"conv of negative pads":      {Conv{Window: Window{Kernel: []int{1}, Pads: []int{-1, 0}}, Group: 1}, []ir.Type{f32(n, k(2), h), f32(k(8), k(2), k(1))}, "pads [-1 0]: -1 is out of range"},
		"max pool":                   {MaxPool{Window: Window{Kernel: []int{2, 2}, Strides: []int{2, 2}}}, []ir.Type{f32(n, c, k(7), k(8))}, "f32[N,C,3,4]"},
		"max pool of a matrix":       {MaxPool{Window: Window{Kernel: []int{2}}}, []ir.Type{f32(n, c)}, "no spatial axes"},
		"average pool of bytes":      {AveragePool{Window: Window{Kernel: []int{2}}}, []ir.Type{ir.StaticTensor(ir.U8, 1, 1, 4)}, "operand 0 is u8, floats expected"},
		"global average pool":        {GlobalAveragePool{}, []ir.Type{f32(n, c, h, k(3))}, "f32[N,C,1,1]"},
		"lrn":                        {LRN{Size: 3}, []ir.Type{f32(n, c, h)}, "f32[N,C,H]"},
		"lrn of no channels":         {LRN{}, []ir.Type{f32(n, c, h)}, "size 0 is out of range"},
		"product":                    {MatMul{}, []ir.Type{f32(n, k(1), h, k(4)), f32(k(3), k(4), k(5))}, "f32[N,3,H,5]"},
		"product of vectors":         {MatMul{}, []ir.Type{f32(k(4)), f32(k(4))}, "f32[]"},
		"row times matrices":         {MatMul{}, []ir.Type{f32(k(4)), f32(n, k(4), h)}, "f32[N,H]"},
		"matrices times column":      {MatMul{}, []ir.Type{f32(n, h, k(4)), f32(k(4))}, "f32[N,H]"},
		"product of scalars":         {MatMul{}, []ir.Type{f32(), f32()}, "a product of f32[] and f32[]"},
		"product that does not fit":  {MatMul{}, []ir.Type{f32(n, k(4)), f32(k(3), n)}, "inner dimensions: 4 is not 3"},
		"product of unknown extents": {MatMul{}, []ir.Type{f32(n, c), f32(k(3), n)}, "inner dimensions: cannot prove that C equals 3"},
		"gemm":                       {Gemm{Alpha: 1, Beta: 1, TransA: true, TransB: true}, []ir.Type{f32(k(4), n), f32(k(3), k(4)), f32(k(3))}, "f32[N,3]"},
		"gemm with a bad c":          {Gemm{Alpha: 1, Beta: 1}, []ir.Type{f32(n, k(4)), f32(k(4), k(3)), f32(k(2), k(3))}, "axis 0 of f32[2,3] broadcast to f32[N,3]: cannot prove that 2 equals N"},
		"gemm of integers by halves": {Gemm{Alpha: 0.5, Beta: 1}, []ir.Type{ir.StaticTensor(ir.I32, 2, 2), ir.StaticTensor(ir.I32, 2, 2)}, "alpha 0.5 and beta 1 for i32"},
		"batch normalization":        {BatchNormalization{Epsilon: 1e-5}, []ir.Type{f32(n, k(3), h), f32(k(3)), f32(k(3)), f32(k(3)), f32(k(3))}, "f32[N,3,H]"},
		"batch normalization of other channels": {BatchNormalization{Epsilon: 1e-5}, []ir.Type{f32(n, k(3), h), f32(k(3)), f32(k(4)), f32(k(3)), f32(k(3))},
			"axis 0 of operand 2: 4 is not 3"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := x.op.Infer(x.in)
			got := fmt.Sprint(err)
			if err == nil {
				got = out[0].String()
			}
			if got != x.want {
				t.Errorf("got %s, want %s", got, x.want)
			}
		})
	}
}

// tensorOf returns a tensor of numbers in row-major order.
func tensorOf(d ir.DType, shape []int, v ...float64) *ir.Tensor {
	t := ir.NewTensor(d, shape...)
	for i, x := range v {
		t.SetNumber(i, x)
	}
	return t
}

func TestNeuralEval(t *testing.T) {
	ramp := counted(ir.F32, 1, 1, 3, 3)
	nan := math.NaN()
	for name, c := range map[string]struct {
		op   ir.Op
		in   []*ir.Tensor
		want []float64
	}{
		"conv": {Conv{Window: Window{Kernel: []int{2, 2}}, Group: 1}, []*ir.Tensor{ramp, tensorOf(ir.F32, []int{1, 1, 2, 2}, 1, 2, 3, 4), tensorOf(ir.F32, []int{1}, 0.5)},
			[]float64{27.5, 37.5, 57.5, 67.5}},
		"conv with padding and stride": {Conv{Window: Window{Kernel: []int{2, 2}, Strides: []int{2, 2}, Pads: []int{1, 0, 0, 1}}, Group: 1},
			[]*ir.Tensor{ramp, tensorOf(ir.F32, []int{1, 1, 2, 2}, 1, 2, 3, 4)}, []float64{4, 6, 57, 29}},
		"conv in groups": {Conv{Window: Window{Kernel: []int{1}}, Group: 2}, []*ir.Tensor{counted(ir.F32, 1, 4, 1), tensorOf(ir.F32, []int{2, 2, 1}, 1, 10, 100, 1000)},
			[]float64{10, 3200}},
		"dilated conv": {Conv{Window: Window{Kernel: []int{2}, Dilations: []int{2}}, Group: 1}, []*ir.Tensor{counted(ir.F32, 1, 1, 4), tensorOf(ir.F32, []int{1, 1, 2}, 1, 10)},
			[]float64{20, 31}},
		"max pool":                        {MaxPool{Window: Window{Kernel: []int{2, 2}, Pads: []int{1, 1, 0, 0}}}, []*ir.Tensor{ramp}, []float64{0, 1, 2, 3, 4, 5, 6, 7, 8}},
		"max pool with NaN":               {MaxPool{Window: Window{Kernel: []int{2}}}, []*ir.Tensor{tensorOf(ir.F32, []int{1, 1, 4}, 1, nan, 0, 2)}, []float64{nan, nan, 2}},
		"max pool of padding alone":       {MaxPool{Window: Window{Kernel: []int{1}, Pads: []int{1, 0}}}, []*ir.Tensor{tensorOf(ir.F32, []int{1, 1, 1}, 5)}, []float64{math.Inf(-1), 5}},
		"max pool of bytes":               {MaxPool{Window: Window{Kernel: []int{1}, Pads: []int{1, 0}}}, []*ir.Tensor{tensorOf(ir.I8, []int{1, 1, 1}, -5)}, []float64{-128, -5}},
		"average pool":                    {AveragePool{Window: Window{Kernel: []int{2}, Pads: []int{1, 1}}}, []*ir.Tensor{tensorOf(ir.F32, []int{1, 1, 2}, 2, 4)}, []float64{2, 3, 4}},
		"average pool that counts pads":   {AveragePool{Window: Window{Kernel: []int{2}, Pads: []int{1, 1}}, CountPad: true}, []*ir.Tensor{tensorOf(ir.F32, []int{1, 1, 2}, 2, 4)}, []float64{1, 3, 2}},
		"average pool beyond the padding": {AveragePool{Window: Window{Kernel: []int{3}, Strides: []int{2}, Pads: []int{0, 1}, Ceil: true}, CountPad: true}, []*ir.Tensor{tensorOf(ir.F32, []int{1, 1, 3}, 3, 3, 3)}, []float64{3, 1.5}},
		"average pool of nothing":         {AveragePool{Window: Window{Kernel: []int{1}, Pads: []int{1, 0}}}, []*ir.Tensor{tensorOf(ir.F32, []int{1, 1, 1}, 5)}, []float64{0, 5}},
		"blocked average pool":            {AveragePool{Window: Window{Kernel: []int{2}}, Blocked: true}, []*ir.Tensor{counted(ir.F32, 1, 1, 2, 16)}, []float64{8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}},
		"global average pool":             {GlobalAveragePool{}, []*ir.Tensor{counted(ir.F32, 1, 2, 3)}, []float64{1, 4}},
		"lrn":                             {LRN{Size: 2, Alpha: 2, Beta: 1, Bias: 1}, []*ir.Tensor{tensorOf(ir.F32, []int{1, 3, 1}, 1, 2, 3)}, []float64{1. / 6, 2. / 14, 3. / 10}},
		"product of integers":             {MatMul{}, []*ir.Tensor{tensorOf(ir.I8, []int{1, 2}, 100, 2), tensorOf(ir.I8, []int{2, 1}, 2, 60)}, []float64{64}},
		"gemm": {Gemm{Alpha: 2, Beta: 3, TransA: true}, []*ir.Tensor{tensorOf(ir.F32, []int{2, 1}, 1, 2), tensorOf(ir.F32, []int{2, 2}, 1, 2, 3, 4), tensorOf(ir.F32, []int{1}, 1)},
			[]float64{17, 23}},
		"batch normalization": {BatchNormalization{}, []*ir.Tensor{tensorOf(ir.F32, []int{1, 2, 1}, 3, 5), tensorOf(ir.F32, []int{2}, 1, 2), tensorOf(ir.F32, []int{2}, 0, 10), tensorOf(ir.F32, []int{2}, 1, 1), tensorOf(ir.F32, []int{2}, 4, 16)},
			[]float64{1, 12}},
		"batch normalization by place": {BatchNormalization{}, []*ir.Tensor{tensorOf(ir.F32, []int{2, 1, 2}, 3, 5, 7, 9), tensorOf(ir.F32, []int{1, 2}, 1, 2), tensorOf(ir.F32, []int{1, 2}, 0, 0), tensorOf(ir.F32, []int{1, 2}, 1, 1), tensorOf(ir.F32, []int{1, 2}, 1, 1)},
			[]float64{2, 8, 6, 16}},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := c.op.Eval(c.in)
			if err != nil {
				t.Fatal(err)
			}
			want := tensorOf(out[0].DType, out[0].Shape, c.want...)
			if out[0].Len() != len(c.want) || !closeTo(out[0], want, 1e-6) {
				t.Errorf("got %s, want %v", out[0], c.want)
			}
		})
	}
}

// drawTensor returns a tensor of small numbers.
func drawTensor(t *rapid.T, d ir.DType, shape ...int) *ir.Tensor {
	seed := rapid.Uint32().Draw(t, "seed")
	x := ir.NewTensor(d, shape...)
	for i := range x.Len() {
		seed = seed*1664525 + 1013904223
		x.SetNumber(i, float64(int32(seed)>>24)/8)
	}
	return x
}

// drawWindow returns a window that fits the extents.
func drawWindow(t *rapid.T, extents []int) Window {
	var w Window
	list := func(name string, n, lo, hi int) []int {
		return rapid.SliceOfN(rapid.IntRange(lo, hi), n, n).Draw(t, name)
	}
	n := len(extents)
	w.Kernel = list("kernel", n, 1, 3)
	w.Strides = list("strides", n, 1, 3)
	w.Dilations = list("dilations", n, 1, 2)
	for i := range extents {
		w.Kernel[i] = min(w.Kernel[i], (extents[i]-1)/w.Dilations[i]+1)
	}
	switch rapid.SampledFrom([]string{"", "upper", "lower", "pads"}).Draw(t, "padding") {
	case "upper":
		w.Same = "upper"
	case "lower":
		w.Same = "lower"
	case "pads":
		w.Pads = list("pads", 2*n, 0, 2)
	}
	return w
}

func TestPoolsLower(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(1, 5), 3, 5).Draw(r, "shape")
		d := rapid.SampledFrom([]ir.DType{ir.F32, ir.F16, ir.I8, ir.U8}).Draw(r, "dtype")
		w := drawWindow(r, shape[2:])
		w.Ceil = w.Same == "" && rapid.Bool().Draw(r, "ceil")
		x := drawTensor(r, d, shape...)
		ops := []ir.Op{MaxPool{Window: w}}
		if d.IsFloat() {
			ops = append(ops, AveragePool{Window: w, CountPad: rapid.Bool().Draw(r, "count")}, GlobalAveragePool{}, LRN{Size: 3, Alpha: 0.5, Beta: 0.75, Bias: 2})
		}
		for _, op := range ops {
			checkLower(t, nodeFunc(t, op, x.Type()), 2e-3, x)
		}
	})
}

func TestMatMulLowers(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		batch := rapid.SliceOfN(rapid.IntRange(1, 3), 0, 2).Draw(r, "batch")
		n, k, m := rapid.IntRange(1, 20).Draw(r, "n"), rapid.IntRange(1, 4).Draw(r, "k"), rapid.IntRange(1, 3).Draw(r, "m")
		operand := func(name string, matrix, vector []int) []int {
			if rapid.IntRange(0, 3).Draw(r, name+" is a vector") == 0 {
				return vector
			}
			own := slices.Clone(batch[rapid.IntRange(0, len(batch)).Draw(r, name+" lacks"):])
			for i := range own {
				if rapid.Bool().Draw(r, name+" repeats") {
					own[i] = 1
				}
			}
			return append(own, matrix...)
		}
		d := rapid.SampledFrom([]ir.DType{ir.F32, ir.F64, ir.F16, ir.I32}).Draw(r, "dtype")
		a := drawTensor(r, d, operand("a", []int{m, k}, []int{k})...)
		b := drawTensor(r, d, operand("b", []int{k, n}, []int{k})...)
		checkLower(t, nodeFunc(t, MatMul{}, a.Type(), b.Type()), 1e-2, a, b)
	})
}

func TestMatMulLowersWithSymbols(t *testing.T) {
	n, s, f32 := dim.Sym("N"), dim.Sym("S"), ir.F32
	f := nodeFunc(t, MatMul{}, ir.TensorOf(f32, n, dim.Const(2), s, dim.Const(4)), ir.TensorOf(f32, n, dim.Const(2), dim.Const(4), s))
	checkLower(t, f, 1e-6, counted(f32, 3, 2, 5, 4), counted(f32, 3, 2, 4, 5))
	f = nodeFunc(t, MatMul{}, ir.TensorOf(f32, n, s, dim.Const(4)), ir.StaticTensor(f32, 4, 17))
	checkLower(t, f, 1e-6, counted(f32, 3, 5, 4), counted(f32, 4, 17))
}

func TestGemmLowers(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n, k, m := rapid.IntRange(1, 20).Draw(r, "n"), rapid.IntRange(1, 4).Draw(r, "k"), rapid.IntRange(1, 3).Draw(r, "m")
		op := Gemm{
			Alpha: rapid.SampledFrom([]float64{1, 2}).Draw(r, "alpha"), Beta: rapid.SampledFrom([]float64{1, 3}).Draw(r, "beta"),
			TransA: rapid.Bool().Draw(r, "transA"), TransB: rapid.Bool().Draw(r, "transB"),
		}
		d := rapid.SampledFrom([]ir.DType{ir.F32, ir.F64, ir.BF16, ir.I32}).Draw(r, "dtype")
		shapes := [][]int{{m, k}, {k, n}}
		if op.TransA {
			shapes[0] = []int{k, m}
		}
		if op.TransB {
			shapes[1] = []int{n, k}
		}
		if c := rapid.SampledFrom([][]int{nil, {}, {1}, {n}, {1, n}, {m, 1}, {m, n}}).Draw(r, "c"); c != nil {
			shapes = append(shapes, c)
		}
		var types []ir.Type
		var args []*ir.Tensor
		for _, s := range shapes {
			args = append(args, drawTensor(r, d, s...))
			types = append(types, args[len(args)-1].Type())
		}
		tolerance := 1e-6
		if d == ir.BF16 {
			tolerance = 0.1
		}
		checkLower(t, nodeFunc(t, op, types...), tolerance, args...)
	})
}

func TestBatchNormalizationLowers(t *testing.T) {
	for _, shape := range [][]int{{2, 3}, {2, 3, 4}, {1, 3, 2, 2}} {
		for _, d := range []ir.DType{ir.F32, ir.F64, ir.F16} {
			x, c := counted(d, shape...), tensorOf(d, []int{3}, 0.5, 1, 2)
			f := nodeFunc(t, BatchNormalization{Epsilon: 1e-5}, x.Type(), c.Type(), c.Type(), c.Type(), c.Type())
			checkLower(t, f, 2e-3, x, c, c, c, c)
		}
	}
}

func TestNeuralImport(t *testing.T) {
	x := ir.StaticTensor(ir.F32, 1, 2, 5, 5)
	w := ir.StaticTensor(ir.F32, 4, 2, 3, 3)
	v := ir.StaticTensor(ir.F32, 2)
	for name, c := range map[string]struct {
		op    string
		opset int
		attrs attrs
		in    []ir.Type
		want  string // the node's text or the error
	}{
		"conv": {"Conv", 1, attrs{"pads": []int{1, 1, 1, 1}, "strides": []int{1, 1}, "auto_pad": "NOTSET"}, []ir.Type{x, w},
			"conv %x, %x1 {window={kernel=[3,3] pads=[1,1,1,1]} group=1} : f32[1,4,5,5]"},
		"conv padded to the same extents": {"Conv", 22, attrs{"auto_pad": "SAME_LOWER", "strides": []int{2, 2}, "kernel_shape": []int{3, 3}}, []ir.Type{x, w},
			`conv %x, %x1 {window={kernel=[3,3] strides=[2,2] same="lower"} group=1} : f32[1,4,3,3]`},
		"conv with unknown padding": {"Conv", 22, attrs{"auto_pad": "SOME"}, []ir.Type{x, w}, `unknown auto_pad "SOME"`},
		"conv of a matrix":          {"Conv", 22, nil, []ir.Type{v, v}, "weights f32[2] have no spatial axes"},
		"max pool": {"MaxPool", 12, attrs{"kernel_shape": []int{2, 2}, "ceil_mode": 1, "strides": []int{2, 2}, "storage_order": 0}, []ir.Type{x},
			"max_pool %x {window={kernel=[2,2] strides=[2,2] ceil=true}} : f32[1,2,3,3]"},
		"valid padding is not extended": {"MaxPool", 12, attrs{"kernel_shape": []int{2, 2}, "ceil_mode": 1, "strides": []int{2, 2}, "auto_pad": "VALID"}, []ir.Type{x},
			"max_pool %x {window={kernel=[2,2] strides=[2,2]}} : f32[1,2,2,2]"},
		"max pool without a kernel":      {"MaxPool", 12, nil, []ir.Type{x}, "no kernel_shape"},
		"no dilations before opset 10":   {"MaxPool", 8, attrs{"kernel_shape": []int{2, 2}, "dilations": []int{2, 2}}, []ir.Type{x}, "unknown attribute dilations"},
		"average pool":                   {"AveragePool", 7, attrs{"kernel_shape": []int{2, 2}, "count_include_pad": 1}, []ir.Type{x}, "average_pool %x {window={kernel=[2,2]} count_pad=true} : f32[1,2,4,4]"},
		"no average dilations before 19": {"AveragePool", 11, attrs{"kernel_shape": []int{2, 2}, "dilations": []int{2, 2}}, []ir.Type{x}, "unknown attribute dilations"},
		"gemm needs broadcast before 7":  {"Gemm", 6, nil, []ir.Type{ir.StaticTensor(ir.F32, 3, 4), ir.StaticTensor(ir.F32, 4, 2), v}, "operand C does not have the shape of the result, and broadcast is not set"},
		"gemm": {"Gemm", 6, attrs{"broadcast": 1, "transA": 0, "alpha": 0.5}, []ir.Type{ir.StaticTensor(ir.F32, 3, 4), ir.StaticTensor(ir.F32, 4, 2), v},
			"gemm %x, %x1, %x2 {alpha=0.5 beta=1} : f32[3,2]"},
		"lrn": {"LRN", 1, attrs{"size": 5}, []ir.Type{x}, "lrn %x {size=5 alpha=9.999999747378752e-05 beta=0.75 bias=1} : f32[1,2,5,5]"},
		"batch normalization": {"BatchNormalization", 1, attrs{"is_test": 1, "consumed_inputs": []int{0, 0, 0, 1, 1}, "spatial": 1, "momentum": 0.5, "epsilon": 0.25}, []ir.Type{x, v, v, v, v},
			"batch_normalization %x, %x1, %x2, %x3, %x4 {epsilon=0.25 momentum=0.5} : f32[1,2,5,5]"},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := importFunc(c.op, c.opset, 1, c.attrs, c.in)
			got := fmt.Sprint(err)
			if err == nil {
				_, got, _ = strings.Cut(f.Results[0].Def.Text(), " = ")
			}
			if got != c.want {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestRowNormalizationsLower(t *testing.T) {
	for _, d := range []ir.DType{ir.F32, ir.F64, ir.F16} {
		for axis := range 3 {
			x := counted(d, 2, 3, 4)
			scale, bias := counted(d, x.Shape[axis:]...), counted(d, x.Shape[axis:]...)
			for _, f := range []*ir.Func{
				nodeFunc(t, LayerNormalization{axis, 1e-5}, x.Type(), scale.Type(), bias.Type()),
				buildFunc(t, []ir.Type{x.Type(), scale.Type(), bias.Type()}, func(b *ir.Builder, p []*ir.Value) []*ir.Value {
					return []*ir.Value{b.Node(LayerNormalization{axis, 0.5}, p[0], nil, p[2]), b.Node(RMSNormalization{axis, 0.5}, p[0], p[1])}
				}),
			} {
				checkLower(t, f, 5e-2, x, scale, bias)
			}
		}
	}
}

func TestNeuralImportsCompute(t *testing.T) {
	x := tensorOf(ir.F32, []int{1, 4, 2}, 1, 3, 2, 6, 0, 0, 5, 9)
	for name, c := range map[string]struct {
		op        string
		opset     int
		results   int
		attrs     attrs
		constants []*ir.Tensor
		want      [][]float64
	}{
		"each channel": {"InstanceNormalization", 6, 1, attrs{"epsilon": 0.0}, []*ir.Tensor{tensorOf(ir.F32, []int{4}, 1, 2, 3, 4), tensorOf(ir.F32, []int{4}, 0, 1, 2, 3)},
			[][]float64{{-1, 1, -1, 3, math.NaN(), math.NaN(), -1, 7}}},
		"groups scaled one by one": {"GroupNormalization", 18, 1, attrs{"epsilon": 0.0, "num_groups": 2}, []*ir.Tensor{tensorOf(ir.F32, []int{2}, 1, 2), tensorOf(ir.F32, []int{2}, 0, 1)},
			[][]float64{{-1.069045, 0, -0.534522, 1.603567, -0.854345, -0.854345, 1.794719, 3.913971}}},
		"rows with their moments": {"LayerNormalization", 17, 3, attrs{"epsilon": 0.0, "stash_type": 1}, []*ir.Tensor{tensorOf(ir.F32, []int{1}, 2), tensorOf(ir.F32, []int{2}, 0, 1)},
			[][]float64{{-2, 3, -2, 3, math.NaN(), math.NaN(), -2, 3}, {2, 4, 0, 7}, {1, 0.5, math.Inf(1), 0.5}}},
		"rows scaled along other axes": {"RMSNormalization", 23, 1, attrs{"epsilon": 0.0}, []*ir.Tensor{tensorOf(ir.F32, []int{4, 1}, 1, 2, 1, 2)},
			[][]float64{{0.447214, 1.341641, 0.894427, 2.683282, math.NaN(), math.NaN(), 1.373606, 2.472490}}},
		"where the greatest elements stand": {"MaxPool", 12, 2, attrs{"kernel_shape": []int{2}, "pads": []int{1, 0}, "ceil_mode": 1, "strides": []int{2}}, nil,
			[][]float64{{1, 3, 2, 6, 0, 0, 5, 9}, {0, 1, 2, 3, 4, 5, 6, 7}}},
		"roots of sums of squares": {"LpPool", 18, 1, attrs{"kernel_shape": []int{2}, "strides": []int{2}, "pads": []int{1, 0}, "ceil_mode": 1}, nil,
			[][]float64{{1, 3, 2, 6, 0, 0, 5, 9}}},
		"sums of magnitudes": {"LpPool", 1, 1, attrs{"kernel_shape": []int{3}, "auto_pad": "SAME_UPPER", "p": 1.0}, nil,
			[][]float64{{4, 4, 8, 8, 0, 0, 14, 14}}},
		"a root over all pixels": {"GlobalLpPool", 2, 1, attrs{"p": 3}, nil,
			[][]float64{{math.Cbrt(28), math.Cbrt(224), 0, math.Cbrt(854)}}},
		"elements put back": {"MaxUnpool", 11, 1, attrs{"kernel_shape": []int{2}, "strides": []int{2}},
			[]*ir.Tensor{tensorOf(ir.I64, []int{1, 4, 2}, 0, 3, 4, 6, 9, 10, 13, 14), tensorOf(ir.I64, []int{3}, 1, 4, 5)},
			[][]float64{{1, 0, 0, 3, 0, 2, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 5, 9, 0, 0}}},
		"a batch in training": {"BatchNormalization", 15, 3, attrs{"epsilon": 0.0, "training_mode": 1, "momentum": 0.5},
			[]*ir.Tensor{tensorOf(ir.F32, []int{4}, 1, 1, 1, 1), tensorOf(ir.F32, []int{4}), tensorOf(ir.F32, []int{4}, 4, 4, 4, 4), tensorOf(ir.F32, []int{4}, 1, 2, 2, 2)},
			[][]float64{{-1, 1, -1, 1, math.NaN(), math.NaN(), -1, 1}, {3, 4, 2, 5.5}, {1, 3, 1, 3}}},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := importFunc(c.op, c.opset, c.results, c.attrs, []ir.Type{x.Type()}, c.constants...)
			if err != nil {
				t.Fatal(err)
			}
			for i, y := range checkLower(t, f, 1e-5, x) {
				if want := tensorOf(y.DType, y.Shape, c.want[i]...); !closeTo(y, want, 1e-5) {
					t.Errorf("result %d is %s, want %v", i, y, c.want[i])
				}
			}
		})
	}
}

func TestTransposedConvolution(t *testing.T) {
	x, w := counted(ir.F32, 1, 1, 3), tensorOf(ir.F32, []int{1, 2, 2}, 1, 10, 100, 1000)
	for name, c := range map[string]struct {
		opset int
		attrs attrs
		want  []float64 // or the error
		err   string
	}{
		"plain":                   {1, nil, []float64{0, 1, 12, 20, 0, 100, 1200, 2000}, ""},
		"with stride":             {11, attrs{"strides": []int{2}}, []float64{0, 0, 1, 10, 2, 20, 0, 0, 100, 1000, 200, 2000}, ""},
		"with gaps":               {11, attrs{"dilations": []int{2}}, []float64{0, 1, 2, 10, 20, 0, 100, 200, 1000, 2000}, ""},
		"cropped":                 {22, attrs{"pads": []int{1, 1}}, []float64{1, 12, 100, 1200}, ""},
		"with cells at the end":   {22, attrs{"strides": []int{3}, "output_padding": []int{1}}, []float64{0, 0, 0, 1, 10, 0, 2, 20, 0, 0, 0, 0, 100, 1000, 0, 200, 2000, 0}, ""},
		"of as many cells":        {22, attrs{"auto_pad": "SAME_UPPER"}, []float64{0, 1, 12, 0, 100, 1200}, ""},
		"of as many cells, lower": {22, attrs{"auto_pad": "SAME_LOWER"}, []float64{1, 12, 20, 100, 1200, 2000}, ""},
		"of a given shape":        {22, attrs{"output_shape": []int{2}}, []float64{1, 12, 100, 1200}, ""},
		"of a larger shape":       {22, attrs{"output_shape": []int{5}}, []float64{0, 1, 12, 20, 0, 0, 100, 1200, 2000, 0}, ""},
		"cropped away":            {22, attrs{"pads": []int{3, 3}}, nil, "conv_transpose: spatial axis 0: crop [3 3] of 4 cells"},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := importFunc("ConvTranspose", c.opset, 1, c.attrs, []ir.Type{x.Type(), w.Type()})
			if fmt.Sprint(err) != c.err && err != nil {
				t.Fatalf("error %v, want %s", err, c.err)
			}
			if err != nil {
				return
			}
			y := run(t, f, x, w)[0]
			if want := tensorOf(ir.F32, y.Shape, c.want...); y.Len() != len(c.want) || !y.Equal(want) {
				t.Errorf("got %s, want %v", y, c.want)
			}
		})
	}
}
