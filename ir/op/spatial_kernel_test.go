package op

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/runtime/cpu"
)

// spatialKernels are the kernels that sample images, of f32 and of f64.
var spatialKernels = map[string][2]any{
	"AveragePoolDirect": {cpu.AveragePoolDirect[float32], cpu.AveragePoolDirect[float64]},
	"Col2Im":            {cpu.Col2Im[float32], cpu.Col2Im[float64]},
	"ConvDirect":        {cpu.ConvDirect[float32], cpu.ConvDirect[float64]},
	"DeformColumns":     {cpu.DeformColumns[float32], cpu.DeformColumns[float64]},
	"GridNearest":       {cpu.GridNearest[float32, float32], cpu.GridNearest[float64, float64]},
	"GridSample":        {cpu.GridSample[float32, float32], cpu.GridSample[float64, float64]},
	"MaxPoolDirect":     {cpu.MaxPoolDirect[float32], cpu.MaxPoolDirect[float64]},
	"MaxRoiPool":        {cpu.MaxRoiPool[float32], cpu.MaxRoiPool[float64]},
	"RoiAlign":          {cpu.RoiAlign[float32, int64], cpu.RoiAlign[float64, int64]},
}

// checkSpatial compares the kernel of an operator of f32 or f64 with its Eval: both
// fail, or give the same.
func checkSpatial(t *rapid.T, op ir.Op, in ...*ir.Tensor) {
	t.Helper()
	n := &ir.Node{Op: op}
	for _, x := range in {
		if x == nil {
			n.Args = append(n.Args, nil)
			continue
		}
		n.Args = append(n.Args, &ir.Value{Type: x.Type()})
	}
	types, err := ir.Infer(n)
	if err != nil {
		t.Fatalf("%T%+v of %v: %v", op, op, n.ArgTypes(), err)
	}
	n.Results = []*ir.Value{{Type: types[0], Def: n}}
	want, failed := op.Eval(in)
	got, err := runSpatial(t, n, in)
	if (failed != nil) != (err != nil) {
		t.Fatalf("%T%+v of %v: kernel: %v, Eval: %v", op, op, n.ArgTypes(), err, failed)
	}
	if err == nil && !closeTo(got, want[0], 1e-4) {
		t.Fatalf("%T%+v of %v\nkernel %s\nEval   %s", op, op, in, got, want[0])
	}
}

func runSpatial(t *rapid.T, n *ir.Node, in []*ir.Tensor) (*ir.Tensor, error) {
	t.Helper()
	call, err := n.Op.(ir.Caller).Call(n)
	if err != nil {
		t.Fatal(err)
	}
	shape, _ := n.Results[0].Type.Static()
	y := ir.NewTensor(n.Results[0].Type.DType, shape...)
	instance := 0
	if y.DType == ir.F64 {
		instance = 1
	}
	k := reflect.ValueOf(spatialKernels[call.Kernel][instance])
	var out reflect.Value
	args := make([]reflect.Value, len(call.Args))
	for i, a := range call.Args {
		want := k.Type().In(i)
		switch a := a.(type) {
		case ir.Out:
			out = reflect.MakeSlice(want, y.Len(), y.Len())
			for j := range y.Len() {
				out.Index(j).SetFloat(math.NaN())
			}
			args[i] = out
		case ir.In:
			args[i] = reflect.Zero(want)
			if int(a) < len(in) && in[a] != nil {
				args[i] = sliceOf(want, in[a].Len(), in[a].Number)
			}
		case ir.Dim:
			v, _ := a.Int()
			args[i] = reflect.ValueOf(v)
		case []ir.Dim:
			args[i] = sliceOf(want, len(a), func(j int) float64 { v, _ := a[j].Int(); return float64(v) })
		default:
			args[i] = reflect.ValueOf(a)
		}
	}
	if results := k.Call(args); len(results) > 0 && !results[0].IsNil() {
		return nil, results[0].Interface().(error)
	}
	for i := range y.Len() {
		y.SetFloat(i, out.Index(i).Float())
	}
	return y, nil
}

func sliceOf(typ reflect.Type, n int, item func(int) float64) reflect.Value {
	s := reflect.MakeSlice(typ, n, n)
	for i := range n {
		s.Index(i).Set(reflect.ValueOf(item(i)).Convert(typ.Elem()))
	}
	return s
}

// draws are the helpers of a random case.
type draws struct{ *rapid.T }

func (d draws) int(lo, hi int, what string) int { return rapid.IntRange(lo, hi).Draw(d.T, what) }

func (d draws) ints(n, lo, hi int, what string) []int {
	return rapid.SliceOfN(rapid.IntRange(lo, hi), n, n).Draw(d.T, what)
}

func (d draws) float() ir.DType {
	return rapid.SampledFrom([]ir.DType{ir.F32, ir.F64}).Draw(d.T, "dtype")
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

// regions returns the operands of a RoiAlign.
func (d draws) regions(dtype ir.DType) []*ir.Tensor {
	x := drawTensor(d.T, dtype, 2, d.int(0, 2, "c"), d.int(0, 5, "h"), d.int(0, 5, "w"))
	rois := d.odd(drawTensor(d.T, dtype, d.int(0, 3, "regions"), 4))
	images := ir.NewTensor(ir.I64, rois.Shape[0])
	for i := range images.Len() {
		images.SetInt(i, int64(d.int(-2, 2, "image")))
	}
	return []*ir.Tensor{x, rois, images}
}

func (d draws) roiAlign() RoiAlign {
	return RoiAlign{
		Mode:   rapid.SampledFrom([]string{"avg", "max"}).Draw(d.T, "mode"),
		Height: d.int(1, 3, "height"), Width: d.int(1, 3, "width"),
		Sampling: d.int(0, 3, "sampling"),
		Scale:    rapid.SampledFrom([]float64{1, 0.5, 0.3}).Draw(d.T, "scale"), HalfPixel: rapid.Bool().Draw(d.T, "half"),
	}
}

// deform returns a DeformConv and its operands.
func (d draws) deform(dtype ir.DType) (DeformConv, []*ir.Tensor) {
	extents := d.ints(d.int(1, 3, "axes"), 1, 4, "extents")
	op := DeformConv{Window: drawWindow(d.T, extents), Group: d.int(1, 2, "group"), Offsets: d.int(1, 2, "offsets")}
	c, m := op.Group*op.Offsets*d.int(1, 2, "c"), op.Group*d.int(1, 2, "m")
	n := d.int(0, 2, "n")
	out, err := op.shape(ir.Dims(extents...))
	if err != nil {
		d.Fatal(err)
	}
	places, _ := ir.Ints(out)
	cells := lenOf(op.Kernel) * op.Offsets
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

func TestSamplingKernelsComputeWhatTheyEvaluate(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		d := draws{r}
		dtype := d.float()
		grid, in := d.grid(dtype, dtype)
		checkSpatial(r, grid, in...)
		checkSpatial(r, d.roiAlign(), d.regions(dtype)...)

		in = d.regions(dtype)
		rois := ir.NewTensor(dtype, in[1].Shape[0], 5)
		for i := range rois.Len() {
			if rois.SetFloat(i, float64(d.int(-1, 2, "image"))); i%5 > 0 {
				rois.SetFloat(i, in[1].Float(i/5*4+i%5-1))
			}
		}
		checkSpatial(r, MaxRoiPool{Height: 2, Width: 3, Scale: 0.5}, in[0], d.odd(rois))

		deform, in := d.deform(dtype)
		checkSpatial(r, deform.columns(), in[0], d.odd(in[2]), in[4])
	})
}

func TestDirectKernelsComputeWhatTheyEvaluate(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		d := draws{r}
		extents := d.ints(d.int(1, 3, "axes"), 1, 5, "extents")
		w := drawWindow(r, extents)
		group := d.int(1, 2, "group")
		x := drawTensor(r, ir.F64, append([]int{d.int(0, 2, "n"), group * d.int(1, 2, "c")}, extents...)...)
		weights := drawTensor(r, ir.F64, append([]int{group * d.int(1, 2, "m"), x.Shape[1] / group}, w.Kernel...)...)
		in := []*ir.Tensor{x, weights, drawTensor(r, ir.F64, weights.Shape[0])}
		checkSpatial(r, Conv{Window: w, Group: group}, in[:d.int(2, 3, "operands")]...)
		w.Ceil = w.Same == "" && rapid.Bool().Draw(r, "ceil")
		checkSpatial(r, MaxPool{Window: w}, d.odd(x))
		checkSpatial(r, AveragePool{Window: w, CountPad: rapid.Bool().Draw(r, "count")}, x)
	})
}

func TestFoldingKernelComputesWhatItEvaluates(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		d := draws{r}
		image := d.ints(d.int(1, 3, "axes"), 1, 5, "image")
		w := drawWindow(r, image)
		w.Same = ""
		out, err := w.shape(ir.Dims(image...))
		if err != nil {
			r.Fatal(err)
		}
		places, _ := ir.Ints(out)
		op := Col2Im{
			Image: ir.Dims(image...), Block: ir.Dims(w.Kernel...),
			Strides: w.Strides, Dilations: w.Dilations, Pads: w.Pads,
		}
		x := drawTensor(r, d.float(), d.int(0, 2, "n"), d.int(0, 2, "c")*lenOf(w.Kernel), lenOf(places))
		checkSpatial(r, op, x)
	})
	t.Run("refuses what does not fit", func(t *testing.T) {
		for name, err := range map[string]error{
			"rows":    cpu.Col2Im(make([]int8, 9), make([]int8, 12), 1, 3, 4, []int{3, 3}, []int{2, 2}, []int{1, 1}, []int{1, 1}, make([]int, 4)),
			"columns": cpu.Col2Im(make([]int8, 9), make([]int8, 12), 1, 4, 3, []int{3, 3}, []int{2, 2}, []int{1, 1}, []int{1, 1}, make([]int, 4)),
			"block":   cpu.Col2Im(make([]int8, 9), make([]int8, 12), 1, 4, 3, []int{3, 3}, []int{0, 2}, []int{1, 1}, []int{1, 1}, make([]int, 4)),
		} {
			if err == nil {
				t.Errorf("%s that do not fit are no error", name)
			}
		}
	})
}

func TestRegionsOfOtherImagesAreErrors(t *testing.T) {
	src, rois := make([]float32, 4), make([]float32, 5)
	err := cpu.RoiAlign(make([]float32, 1), src, rois[:4], []int32{1}, 1, 1, 2, 2, 1, 1, 0, 1, true, false)
	if e := new(cpu.IndexError); !errors.As(err, &e) {
		t.Errorf("image 1 of 1: %v", err)
	}
	for _, image := range []float32{1, -1, float32(math.NaN())} {
		rois[0] = image
		if err := cpu.MaxRoiPool(make([]float32, 1), src, rois, 1, 1, 2, 2, 1, 1, 1); err == nil {
			t.Errorf("image %v of 1 is no error", image)
		}
	}
}
