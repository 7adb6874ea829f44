package op

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/runtime/cpu"
)

// neuralKernels are the kernels on f32 that the operators for neural networks
// call, and neuralTypes the composite arguments they take.
var (
	neuralKernels = map[string]any{
		"AveragePool":       cpu.AveragePool,
		"Block":             cpu.Block,
		"Conv":              cpu.Conv,
		"DepthwiseConv":     cpu.DepthwiseConv,
		"GlobalAveragePool": cpu.GlobalAveragePool,
		"LRN":               cpu.LRN,
		"LayerNorm":         cpu.LayerNorm[float32],
		"MatMul":            cpu.MatMul,
		"MaxPool":           cpu.MaxPool,
		"PackConv":          cpu.PackConv,
		"PackPanels":        cpu.PackPanels,
		"PadBlocked":        cpu.PadBlocked,
		"RMSNorm":           cpu.RMSNorm[float32],
		"Unblock":           cpu.Unblock,
	}
	neuralTypes = map[string]reflect.Type{
		"ConvShape":   reflect.TypeFor[cpu.ConvShape](),
		"Epilogue":    reflect.TypeFor[cpu.Epilogue](),
		"MatMulShape": reflect.TypeFor[cpu.MatMulShape](),
		"PoolShape":   reflect.TypeFor[cpu.PoolShape](),
	}
)

// callKernel runs the kernel of a node without symbols.
func callKernel(t rapid.TB, n *ir.Node, in []*ir.Tensor) *ir.Tensor {
	t.Helper()
	call, err := n.Op.(ir.Caller).Call(n)
	if err != nil {
		t.Fatalf("%s: %v", n.Text(), err)
	}
	shape, _ := n.Results[0].Type.Static()
	y := ir.NewTensor(ir.F32, shape...)
	memory := make([]float32, y.Len())
	for i := range memory {
		memory[i] = float32(math.NaN())
	}
	k := reflect.ValueOf(neuralKernels[call.Kernel])
	if !k.IsValid() || k.Type().NumIn() != len(call.Args) {
		t.Fatalf("no kernel %s of %d arguments", call.Kernel, len(call.Args))
	}
	args := make([]reflect.Value, len(call.Args))
	for i, a := range call.Args {
		args[i] = kernelArg(t, a, k.Type().In(i), memory, in)
	}
	k.Call(args)
	for i, v := range memory {
		y.SetFloat(i, float64(v))
	}
	return y
}

// kernelArg returns an argument of a call as the kernel takes it.
func kernelArg(t rapid.TB, a any, want reflect.Type, out []float32, in []*ir.Tensor) reflect.Value {
	t.Helper()
	list := func(n int, item func(int) any) reflect.Value {
		v := reflect.New(want).Elem()
		for i := range n {
			v.Index(i).Set(kernelArg(t, item(i), want.Elem(), out, in))
		}
		return v
	}
	switch a := a.(type) {
	case ir.Out:
		return reflect.ValueOf(out)
	case ir.In:
		if int(a) >= len(in) || in[a] == nil {
			return reflect.Zero(want)
		}
		data := make([]float32, in[a].Len())
		for i := range data {
			data[i] = float32(in[a].Float(i))
		}
		return reflect.ValueOf(data)
	case ir.Dim:
		v, ok := a.Int()
		if !ok {
			t.Fatalf("%s is symbolic", a)
		}
		return reflect.ValueOf(v)
	case ir.Number:
		return reflect.ValueOf(float32(a.Float))
	case []ir.Dim:
		return list(len(a), func(i int) any { return a[i] })
	case []any:
		return list(len(a), func(i int) any { return a[i] })
	case ir.Chain: // each test has the same one
		return reflect.ValueOf(func(t []float32, at int, in *[2][]float32) { cpu.Mul(t, t, in[0][at:][:len(t)]) })
	case ir.Struct:
		v := reflect.New(neuralTypes[a.Type])
		for _, f := range a.Fields {
			field := v.Elem().FieldByName(f.Name)
			if !field.IsValid() {
				t.Fatalf("%s has no field %s", a.Type, f.Name)
			}
			field.Set(kernelArg(t, f.Value, field.Type(), out, in))
		}
		return v
	}
	return reflect.ValueOf(a)
}

// checkCall compares a node's kernel with its Eval.
func checkCall(t rapid.TB, op ir.Op, blocks []*ir.Block, in []*ir.Tensor) *ir.Tensor {
	t.Helper()
	n := &ir.Node{Op: op, Blocks: blocks}
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
	var want []*ir.Tensor
	if region, ok := op.(ir.RegionOp); ok {
		want, err = region.EvalBlocks(in, blocks, nil)
	} else {
		want, err = op.Eval(in)
	}
	if err != nil {
		t.Fatalf("%T%+v: %v", op, op, err)
	}
	if got := callKernel(t, n, in); !closeTo(got, want[0], 1e-4) {
		t.Fatalf("%T%+v of %v\nkernel %s\nEval   %s", op, op, n.ArgTypes(), got, want[0])
	}
	return want[0]
}

// drawEpilogue returns an epilogue, its operands and its region for a result.
func drawEpilogue(r *rapid.T, width int, y ir.Type) (e Epilogue, in []*ir.Tensor, blocks []*ir.Block) {
	shape, _ := y.Static()
	in = make([]*ir.Tensor, 2)
	if rapid.Bool().Draw(r, "bias") {
		in[0] = drawTensor(r, ir.F32, (width+15)/16*16)
		for i := width; i < in[0].Len(); i++ {
			in[0].SetFloat(i, 0)
		}
	}
	if rapid.Bool().Draw(r, "residual") {
		in[1] = drawTensor(r, ir.F32, shape...)
	}
	switch rapid.IntRange(0, 2).Draw(r, "bounds") {
	case 1:
		e = Epilogue{Clamp: true, Lo: 0, Hi: float32(math.Inf(1))}
	case 2:
		e = Epilogue{Clamp: true, Lo: 1, Hi: 2}
	}
	if rapid.Bool().Draw(r, "chain") {
		f := &ir.Func{}
		blocks = []*ir.Block{ir.NewBuilder(f).Block(func(b *ir.Builder) {
			b.Return(b.Node(Mul{}, b.Param("t", ir.StaticTensor(ir.F32)), b.Param("u", ir.StaticTensor(ir.F32))))
		})}
		in = append(in, drawTensor(r, ir.F32, shape...))
	}
	return e, in, blocks
}

func TestConvolutionKernelsComputeWhatTheyEvaluate(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		spatial := rapid.IntRange(1, 2).Draw(r, "spatial axes")
		list := func(name string, lo, hi int) []int {
			return rapid.SliceOfN(rapid.IntRange(lo, hi), spatial, spatial).Draw(r, name)
		}
		kernel, strides, dilations, out := list("kernel", 1, 3), list("strides", 1, 2), list("dilations", 1, 2), list("out", 1, 4)
		group := rapid.IntRange(1, 3).Draw(r, "group")
		inC, outC := group*rapid.IntRange(1, 20).Draw(r, "in"), group*rapid.IntRange(1, 20).Draw(r, "out channels")
		depthwise := rapid.Bool().Draw(r, "depthwise")
		if depthwise {
			outC = inC
		}
		shape := []int{2, inC}
		for i, o := range out {
			shape = append(shape, (o-1)*strides[i]+(kernel[i]-1)*dilations[i]+1)
		}
		x := drawTensor(r, ir.F32, shape...)
		y, _ := Blocked(ir.StaticTensor(ir.F32, append([]int{2, outC}, out...)...))
		e, more, blocks := drawEpilogue(r, outC, y)
		if depthwise {
			w := drawTensor(r, ir.F32, 1, inC, lenOf(kernel))
			blockedW := checkCall(r, Block{}, nil, []*ir.Tensor{w})
			kh := 1
			if spatial == 2 {
				kh = kernel[0]
			}
			blockedW = blockedW.Reshape(blockedW.Shape[1], kh, kernel[spatial-1], block)
			x = checkCall(r, Block{}, nil, []*ir.Tensor{x})
			checkCall(r, DepthwiseBlocked{strides, dilations, inC, e}, blocks, append([]*ir.Tensor{x, blockedW}, more...))
			return
		}
		inBlock := rapid.SampledFrom([]int{1, block}).Draw(r, "input block")
		if inBlock == block {
			x = checkCall(r, Block{}, nil, []*ir.Tensor{x})
		}
		w := drawTensor(r, ir.F32, append([]int{outC, inC / group}, kernel...)...)
		w = checkCall(r, PackConv{Group: group, InBlock: inBlock}, nil, []*ir.Tensor{w})
		checkCall(r, ConvBlocked{strides, dilations, inC, outC, group, e}, blocks, append([]*ir.Tensor{x, w}, more...))
	})
}

func TestProductKernelsComputeWhatTheyEvaluate(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m, n, k := rapid.IntRange(1, 20).Draw(r, "m"), rapid.IntRange(1, 40).Draw(r, "n"), rapid.IntRange(0, 20).Draw(r, "k")
		batch := rapid.SliceOfN(rapid.IntRange(1, 3), 0, 2).Draw(r, "batch")
		batchA, batchB := batch, batch
		switch rapid.IntRange(0, 2).Draw(r, "one matrix") {
		case 1:
			batchA = nil
		case 2:
			batchB = nil
		}
		trans := rapid.Bool().Draw(r, "transposed")
		matrix := []int{k, n}
		if trans {
			matrix = []int{n, k}
		}
		panels := checkCall(r, PackPanels{Trans: trans}, nil, []*ir.Tensor{drawTensor(r, ir.F32, slices.Concat(batchB, matrix)...)})
		a := drawTensor(r, ir.F32, slices.Concat(batchA, []int{m, k})...)
		e, more, blocks := drawEpilogue(r, n, ir.StaticTensor(ir.F32, slices.Concat(batch, []int{m, n})...))
		checkCall(r, MatMulPanels{ir.Const(n), e}, blocks, append([]*ir.Tensor{a, panels}, more...))
	})
}

func TestLayoutAndPoolKernelsComputeWhatTheyEvaluate(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		spatial := rapid.IntRange(1, 2).Draw(r, "spatial axes")
		c := rapid.IntRange(1, 40).Draw(r, "channels")
		shape := append([]int{2, c}, rapid.SliceOfN(rapid.IntRange(1, 6), spatial, spatial).Draw(r, "extents")...)
		pads := ir.Dims(rapid.SliceOfN(rapid.IntRange(0, 2), 2*spatial, 2*spatial).Draw(r, "pads")...)
		x := drawTensor(r, ir.F32, shape...)
		checkCall(r, Block{Pads: pads, Fill: -1}, nil, []*ir.Tensor{x})
		checkCall(r, PadBlocked{Pads: pads, Fill: 2, Block: 1}, nil, []*ir.Tensor{x})
		blocked := checkCall(r, Block{}, nil, []*ir.Tensor{x})
		checkCall(r, PadBlocked{Pads: pads, Fill: 2, Block: block}, nil, []*ir.Tensor{blocked})
		if back := checkCall(r, Unblock{C: c}, nil, []*ir.Tensor{blocked}); !back.Equal(x) {
			r.Fatalf("%s comes back as %s", x, back)
		}
		w := drawWindow(r, shape[2:])
		w.Ceil = w.Same == "" && rapid.Bool().Draw(r, "ceil")
		count := rapid.Bool().Draw(r, "count")
		for _, b := range []bool{false, true} {
			in := []*ir.Tensor{x}
			if b {
				in[0] = blocked
			}
			checkCall(r, MaxPool{w, b}, nil, in)
			checkCall(r, AveragePool{w, count, b}, nil, in)
			checkCall(r, GlobalAveragePool{b}, nil, in)
			checkCall(r, LRN{3, 0.5, 0.75, 2, b}, nil, in)
		}
		axis := rapid.IntRange(1, len(shape)-1).Draw(r, "axis")
		row := drawTensor(r, ir.F32, shape[axis:]...)
		checkCall(r, LayerNormalization{axis, 0.5}, nil, []*ir.Tensor{x, row, row})
		checkCall(r, RMSNormalization{axis, 0.5}, nil, []*ir.Tensor{x, nil})
	})
}

func TestPackedWeightsHaveTheLengthThatKernelsRead(t *testing.T) {
	for _, p := range []packing{{3, 64, 1, 1}, {64, 20, 1, 16}, {40, 20, 20, 16}, {48, 96, 3, 16}, {12, 12, 4, 1}} {
		t.Run(fmt.Sprint(p), func(t *testing.T) {
			n, _ := p.packed(3, 2).Elems().Int()
			s := cpu.ConvShape{InC: p.inC, OutC: p.outC, Group: p.group, InBlock: p.inBlock, KH: 3, KW: 2}
			if want := cpu.ConvWeightsLen(&s); n != want {
				t.Errorf("%d elements, the kernel reads %d", n, want)
			}
		})
	}
}
