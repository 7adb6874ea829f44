package op

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

func TestSpatialInfer(t *testing.T) {
	window := Window{Kernel: []int{3, 3}}
	for _, test := range []struct {
		name string
		op   ir.Op
		in   []string
		want string // a type, or part of an error
	}{
		{"grid keeps symbols", GridSample{Mode: "linear", Padding: "zeros"}, []string{"f32[N,3,H,W]", "f16[N,P,Q,2]"}, "f32[N,3,P,Q]"},
		{"grid of strings", GridSample{Mode: "nearest", Padding: "border"}, []string{"string[1,2,5]", "f64[1,4,1]"}, "string[1,2,4]"},
		{"grid of interpolated strings", GridSample{Mode: "linear", Padding: "border"}, []string{"string[1,2,5]", "f64[1,4,1]"}, "numbers expected"},
		{"grid of another rank", GridSample{Mode: "linear", Padding: "zeros"}, []string{"f32[1,3,4,4]", "f32[1,5,2]"}, "grid f32[1,5,2] for f32[1,3,4,4]"},
		{"grid of another batch", GridSample{Mode: "linear", Padding: "zeros"}, []string{"f32[1,3,4,4]", "f32[2,5,5,2]"}, "batches of the grid"},
		{"grid of other places", GridSample{Mode: "linear", Padding: "zeros"}, []string{"f32[1,3,4,4]", "f32[1,5,5,3]"}, "numbers of a place"},
		{"grid in an unknown mode", GridSample{Mode: "bilinear", Padding: "zeros"}, []string{"f32[1,3,4,4]", "f32[1,5,5,2]"}, `mode "bilinear"`},
		{"grid of too many axes", GridSample{Mode: "cubic", Padding: "zeros"}, []string{"f32[1,1,1,1,1,1,1]", "f32[1,1,1,1,1,1,5]"}, "5 spatial axes"},
		{"grid of an unknown padding", GridSample{Mode: "linear", Padding: "wrap"}, []string{"f32[1,3,4,4]", "f32[1,5,5,2]"}, `padding mode "wrap"`},

		{"regions", RoiAlign{Mode: "avg", Height: 2, Width: 3}, []string{"f32[N,C,H,W]", "f32[R,4]", "i64[R]"}, "f32[R,C,2,3]"},
		{"regions of another type", RoiAlign{Mode: "avg", Height: 2, Width: 3}, []string{"f32[N,C,H,W]", "f64[R,4]", "i64[R]"}, "operand 1 is f64"},
		{"regions in an unknown mode", RoiAlign{Mode: "sum", Height: 2, Width: 3}, []string{"f32[N,C,H,W]", "f32[R,4]", "i64[R]"}, `mode "sum"`},
		{"more images than regions", RoiAlign{Mode: "max", Height: 2, Width: 3}, []string{"f32[N,C,H,W]", "f32[2,4]", "i64[3]"}, "images and regions"},
		{"regions of too few numbers", MaxRoiPool{Height: 2, Width: 3}, []string{"f32[N,C,H,W]", "f32[R,4]"}, "numbers of a region"},
		{"pooled regions", MaxRoiPool{Height: 0, Width: 3}, []string{"f16[N,C,H,W]", "f16[R,5]"}, "f16[R,C,0,3]"},

		{"deformed windows", DeformConv{Window: window, Group: 2, Offsets: 2}, []string{"f32[N,4,6,7]", "f32[6,2,3,3]", "f32[N,36,4,5]", "f32[6]", "f32[N,18,4,5]"}, "f32[N,6,4,5]"},
		{"offsets of other groups", DeformConv{Window: window, Group: 2, Offsets: 1}, []string{"f32[N,4,6,7]", "f32[6,2,3,3]", "f32[N,36,4,5]"}, "axis 1 of operand 1"},
		{"unequal groups of offsets", DeformConv{Window: window, Group: 2, Offsets: 3}, []string{"f32[N,4,6,7]", "f32[6,2,3,3]", "f32[N,54,4,5]"}, "3 groups of offsets for 4 channels"},

		{"folded columns", Col2Im{Image: dim.Consts(5, 5), Block: dim.Consts(1, 5)}, []string{"f32[N,10,5]"}, "f32[N,2,5,5]"},
		{"folded to symbols", Col2Im{Image: []dim.Dim{dim.Sym("H"), dim.Sym("W")}, Block: dim.Consts(2, 2)}, []string{"i32[1,8,9]"}, "i32[1,2,H,W]"},
		{"rows of a part of a channel", Col2Im{Image: dim.Consts(5, 5), Block: dim.Consts(2, 2)}, []string{"f32[N,10,16]"}, "10 rows for blocks of 4 cells"},
		{"other columns", Col2Im{Image: dim.Consts(5, 5), Block: dim.Consts(2, 2)}, []string{"f32[N,4,15]"}, "15 columns for 16 places"},

		{"image", ImageDecoder{Format: "Grayscale", Height: "H", Width: "W"}, []string{"u8[N]"}, "u8[H,W,1]"},
		{"image of another format", ImageDecoder{Format: "CMYK", Height: "H", Width: "W"}, []string{"u8[N]"}, `pixel format "CMYK"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, err := test.op.Infer(types(t, test.in...))
			if err != nil {
				if !strings.Contains(err.Error(), test.want) {
					t.Errorf("error %q, want %q", err, test.want)
				}
				return
			}
			if got := out[0].String(); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

func TestSpatialEval(t *testing.T) {
	row := "f32[1,1,1,3](1,2,4)"
	regions := []string{"f32[1,1,2,2](1,2,3,4)", "f32[1,4](0,0,2,2)", "i64[1](0)"}
	for _, test := range []struct {
		name string
		op   ir.Op
		in   []string
		want string
	}{
		{"centres of corners", GridSample{Mode: "linear", Padding: "zeros", AlignCorners: true}, []string{row, "f32[1,1,3,2](-1,0,-0.5,0,1,0)"}, "f32[1,1,1,3](1,1.5,4)"},
		{"edges of corners", GridSample{Mode: "linear", Padding: "zeros"}, []string{row, "f32[1,1,2,2](-1,0,1,0)"}, "f32[1,1,1,2](0.5,2)"},
		{"repeated edge", GridSample{Mode: "linear", Padding: "border"}, []string{row, "f32[1,1,2,2](-1,0,9,0)"}, "f32[1,1,1,2](1,4)"},
		{"mirrored about the edge", GridSample{Mode: "nearest", Padding: "reflection"}, []string{row, "f32[1,1,2,2](-2,0,2,0)"}, "f32[1,1,1,2](2,2)"},
		{"mirrored about the corner", GridSample{Mode: "nearest", Padding: "reflection", AlignCorners: true}, []string{row, "f32[1,1,2,2](-2,0,4,0)"}, "f32[1,1,1,2](2,2)"},
		{"even of two", GridSample{Mode: "nearest", Padding: "zeros", AlignCorners: true}, []string{row, "f32[1,1,2,2](-0.5,0,0.5,0)"}, "f32[1,1,1,2](1,4)"},
		{"strings", GridSample{Mode: "nearest", Padding: "zeros"}, []string{`string[1,1,2]("a","b")`, "f32[1,2,1](0.9,3)"}, `string[1,1,2]("b","")`},
		{"truncated integers", GridSample{Mode: "linear", Padding: "border", AlignCorners: true}, []string{"i8[1,1,2](-3,0)", "f32[1,1,1](0)"}, "i8[1,1,1](-1)"},

		{"mean of samples", RoiAlign{Mode: "avg", Height: 1, Width: 1, Sampling: 2, Scale: 1, HalfPixel: true}, regions, "f32[1,1,1,1](2.5)"},
		{"as many samples as elements", RoiAlign{Mode: "avg", Height: 1, Width: 1, Scale: 1, HalfPixel: true}, regions, "f32[1,1,1,1](2.5)"},
		{"greatest product", RoiAlign{Mode: "max", Height: 1, Width: 1, Sampling: 1, Scale: 1, HalfPixel: true}, regions, "f32[1,1,1,1](1)"},
		{"nothing", RoiAlign{Mode: "max", Height: 1, Width: 1, Scale: 1, HalfPixel: true}, []string{regions[0], "f32[1,4](1,1,1,1)", regions[2]}, "f32[1,1,1,1](0)"},
		{"bins that overlap", MaxRoiPool{Height: 2, Width: 2, Scale: 1}, []string{"f32[1,1,3,3](1,2,3,4,5,6,7,8,9)", "f32[1,5](0,0,0,2,2)"}, "f32[1,1,2,2](5,6,8,9)"},
		{"a bin outside", MaxRoiPool{Height: 1, Width: 2, Scale: 1}, []string{"f32[1,1,1,2](-1,-2)", "f32[1,5](0,0,0,3,0)"}, "f32[1,1,1,2](-1,0)"},

		{
			"moved cells", DeformConv{Window: Window{Kernel: []int{1}}, Group: 1, Offsets: 1},
			[]string{"f32[1,1,3](1,2,4)", "f32[1,1,1](10)", "f32[1,1,3](0.5,1,0.5)", "f32[1](3)", "f32[1,1,3](1,2,1)"}, "f32[1,1,3](18,83,23)",
		},
		{"added columns", Col2Im{Image: dim.Consts(4), Block: dim.Consts(2)}, []string{"i32[1,2,3](1,2,3,10,20,30)"}, "i32[1,1,4](1,12,23,30)"},
		{"added columns on padding", Col2Im{Image: dim.Consts(2), Block: dim.Consts(2), Pads: []int{1, 1}}, []string{"u8[1,2,3](1,255,3,10,2,30)"}, "u8[1,1,2](9,5)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := make([]*ir.Tensor, len(test.in))
			for i, text := range test.in {
				in[i] = parsed(t, text)
			}
			types := make([]ir.Type, len(in))
			for i, x := range in {
				types[i] = x.Type()
			}
			got := checkLower(t, nodeFunc(t, test.op, types...), 1e-6, in...)
			if want := parsed(t, test.want); !closeTo(got[0], want, 1e-6) {
				t.Errorf("%s, want %s", got[0], want)
			}
		})
	}
}

func TestSamplersLower(t *testing.T) {
	check := func(r *rapid.T, op ir.Op, in []*ir.Tensor) {
		var given []*ir.Tensor
		var types []ir.Type
		for _, x := range in {
			if x != nil {
				given, types = append(given, x), append(types, x.Type())
			}
		}
		f := buildFunc(r, types, func(b *ir.Builder, params []*ir.Value) []*ir.Value {
			args := make([]*ir.Value, len(in))
			for i, x := range in {
				if x != nil {
					args[i], params = params[0], params[1:]
				}
			}
			return b.Nodes(op, args...)
		})
		checkLower(r, f, 5e-2, given...)
	}
	rapid.Check(t, func(r *rapid.T) {
		d := draws{r}
		dtype := rapid.SampledFrom([]ir.DType{ir.F32, ir.F64, ir.F16, ir.I8, ir.U4}).Draw(r, "dtype")
		grid, in := d.grid(dtype, ir.F32)
		check(r, grid, in)
		dtype = rapid.SampledFrom([]ir.DType{ir.F32, ir.F64, ir.F16}).Draw(r, "dtype")
		deform, in := d.deform(dtype)
		check(r, deform, in)
		check(r, LRN{Size: d.int(1, 4, "size"), Alpha: 0.5, Beta: 0.75, Bias: 2}, []*ir.Tensor{drawTensor(r, ir.F64, 1, 3, 2)})
	})
}

func TestSpatialImports(t *testing.T) {
	for _, test := range []struct {
		name, op  string
		opset     int
		attrs     attrs
		types     []string
		constants []string
		want      string // a type, or part of an error
	}{
		{"old name of linear", "GridSample", 16, attrs{"mode": "bilinear", "align_corners": 1}, []string{"f32[N,3,H,W]", "f32[N,4,5,2]"}, nil, "f32[N,3,4,5]"},
		{"regions before half pixels", "RoiAlign", 10, attrs{"output_height": 2}, []string{"f32[1,3,4,4]", "f32[R,4]", "i64[R]"}, nil, "f32[R,3,2,1]"},
		{"unknown coordinates", "RoiAlign", 16, attrs{"coordinate_transformation_mode": "asymmetric"}, []string{"f32[1,3,4,4]", "f32[R,4]", "i64[R]"}, nil, "asymmetric"},
		{"pooled regions", "MaxRoiPool", 1, attrs{"pooled_shape": []int{2, 3}}, []string{"f32[1,3,4,4]", "f32[R,5]"}, nil, "f32[R,3,2,3]"},
		{"pooled regions without a shape", "MaxRoiPool", 1, nil, []string{"f32[1,3,4,4]", "f32[R,5]"}, nil, "pooled_shape"},
		{"deformed windows", "DeformConv", 19, attrs{"offset_group": 1, "pads": []int{1, 1, 1, 1}}, []string{"f32[1,1,3,3]", "f32[1,1,3,3]", "f32[1,18,3,3]"}, nil, "f32[1,1,3,3]"},
		{"columns", "Col2Im", 18, attrs{"pads": []int{0, 1, 0, 1}}, []string{"f32[N,4,L]"}, []string{"i64[2](2,3)", "i64[2](2,2)"}, "f32[N,1,2,3]"},
		{"places of matrices", "AffineGrid", 20, attrs{"align_corners": 1}, []string{"f16[N,2,3]"}, []string{"i64[4](1,2,3,5)"}, "f16[N,3,5,2]"},
		{"matrices of another rank", "AffineGrid", 20, nil, []string{"f32[N,2,3]"}, []string{"i64[5](1,2,3,5,4)"}, "matrices f32[N,2,3]"},
		{"image", "ImageDecoder", 20, attrs{"pixel_format": "BGR"}, []string{"u8[N]"}, nil, "u8[height,width,3]"},
		{"given tensor", "GivenTensorFill", 1, attrs{"values": []float64{1, 2}, "shape": []int{2, 1}}, nil, nil, "f32[2,1]"},
		{"given tensor of another size", "GivenTensorFill", 1, attrs{"values": []float64{1, 2}, "shape": []int{3}}, nil, nil, "2 values for 3 elements"},
		{"filled like an operand", "ConstantFill", 1, attrs{"value": 2.0, "extra_shape": []int{4}}, []string{"f32[N,3]"}, nil, "f32[N,3,4]"},
		{"filled by the elements of an operand", "ConstantFill", 1, attrs{"input_as_shape": 1, "dtype": ir.I32}, nil, []string{"i64[2](3,4)"}, "i32[3,4]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var constants []*ir.Tensor
			for _, text := range test.constants {
				constants = append(constants, parsed(t, text))
			}
			f, err := importFunc(test.op, test.opset, 1, test.attrs, types(t, test.types...), constants...)
			if err != nil {
				if !strings.Contains(err.Error(), test.want) {
					t.Errorf("error %q, want %q", err, test.want)
				}
				return
			}
			verifyFunc(t, f)
			if got := f.Results[0].Type.String(); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
			if test.op != "ImageDecoder" {
				lowered(t, f)
			}
		})
	}
}

func TestPlacesOfMatrices(t *testing.T) {
	for _, test := range []struct {
		name  string
		align int
		size  []int64
		want  string
	}{
		{"outer edges", 0, []int64{1, 1, 1, 2}, "f32[1,1,2,2](-1.5,4.5,-0.5,5.5)"},
		{"centres", 1, []int64{1, 1, 2, 2}, "f32[1,2,2,2](-3.5,3.5,-1.5,5.5,-0.5,4.5,1.5,6.5)"},
		{"centres of single elements", 1, []int64{1, 1, 1, 1}, "f32[1,1,1,2](-3.5,3.5)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, err := importFunc("AffineGrid", 20, 1, attrs{"align_corners": test.align}, types(t, "f32[1,2,3]"), ints(test.size...))
			if err != nil {
				t.Fatal(err)
			}
			got := checkLower(t, f, 1e-6, parsed(t, "f32[1,2,3](1,1.5,-1,1,0.5,5)"))
			if want := parsed(t, test.want); !closeTo(got[0], want, 1e-6) {
				t.Errorf("%s, want %s", got[0], want)
			}
		})
	}
}

// draws are the helpers of a random case.
type draws struct{ *rapid.T }

func (d draws) int(lo, hi int, what string) int { return rapid.IntRange(lo, hi).Draw(d.T, what) }

func (d draws) ints(n, lo, hi int, what string) []int {
	return rapid.SliceOfN(rapid.IntRange(lo, hi), n, n).Draw(d.T, what)
}

// odd puts a NaN, an infinity or a huge number somewhere.
func (d draws) odd(x *ir.Tensor) *ir.Tensor {
	if x.Len() > 0 && d.int(0, 3, "odd") == 0 {
		v := rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e30, -1e9}).Draw(d.T, "value")
		x.SetFloat(d.int(0, x.Len()-1, "place"), v)
	}
	return x
}

// grid returns a GridSample and its operands.
func (d draws) grid(dtype, places ir.DType) (GridSample, []*ir.Tensor) {
	op := GridSample{
		Mode:         rapid.SampledFrom([]string{"nearest", "linear", "cubic"}).Draw(d.T, "mode"),
		Padding:      rapid.SampledFrom([]string{"zeros", "border", "reflection"}).Draw(d.T, "padding"),
		AlignCorners: rapid.Bool().Draw(d.T, "align"),
	}
	spatial := d.int(1, 3, "axes")
	n, c := d.int(0, 2, "n"), d.int(0, 3, "c")
	x := drawTensor(d.T, dtype, append([]int{n, c}, d.ints(spatial, 0, 4, "in")...)...)
	shape := append(append([]int{n}, d.ints(spatial, 0, 3, "out")...), spatial)
	grid := drawTensor(d.T, places, shape...)
	for i := range grid.Len() {
		grid.SetFloat(i, grid.Float(i)/7)
	}
	return op, []*ir.Tensor{x, d.odd(grid)}
}

// deform returns a DeformConv and its operands.
func (d draws) deform(dtype ir.DType) (DeformConv, []*ir.Tensor) {
	extents := d.ints(d.int(1, 3, "axes"), 1, 4, "extents")
	op := DeformConv{Window: drawWindow(d.T, extents), Group: d.int(1, 2, "group"), Offsets: d.int(1, 2, "offsets")}
	c, m := op.Group*op.Offsets*d.int(1, 2, "c"), op.Group*d.int(1, 2, "m")
	n := d.int(0, 2, "n")
	out, err := op.Places(dim.Consts(extents...))
	if err != nil {
		d.Fatal(err)
	}
	places, _ := dim.Ints(out)
	cells := LenOf(op.Kernel) * op.Offsets
	tensor := func(shape ...[]int) *ir.Tensor {
		var all []int
		for _, s := range shape {
			all = append(all, s...)
		}
		return drawTensor(d.T, dtype, all...)
	}
	offsets := tensor([]int{n, cells * len(extents)}, places)
	for i := range offsets.Len() {
		offsets.SetFloat(i, offsets.Float(i)/5)
	}
	in := []*ir.Tensor{tensor([]int{n, c}, extents), tensor([]int{m, c / op.Group}, op.Kernel), offsets, nil, nil}
	if rapid.Bool().Draw(d.T, "bias") {
		in[3] = tensor([]int{m})
	}
	if rapid.Bool().Draw(d.T, "mask") {
		in[4] = tensor([]int{n, cells}, places)
	}
	return op, in
}
