package gpu_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/gen/target/gpu/gputest"
	"github.com/burngen/burngen/gen/target/gpu/ptx"
	"github.com/burngen/burngen/gen/target/gpu/spirv"
	"github.com/burngen/burngen/gen/target/targettest"
	"github.com/burngen/burngen/gen/value"
	reader "github.com/burngen/burngen/internal/ptx"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/kernel/narrow"
	"github.com/burngen/burngen/ir/op"
)

// writer is a device that interprets kernels. It also writes them in the machine languages, and checks what
// is written.
type writer struct{ gpu.Interpreter }

func (w writer) Launch(k *kernel.Kernel, grid [3]int, args []gpu.Arg) error {
	text, err := ptx.Write(k)
	if err != nil {
		return err
	}
	if err := reader.Check(text); err != nil {
		return err
	}
	if err := checkModule(spirv.Options{}, k); err != nil {
		return err
	}
	return w.Interpreter.Launch(k, grid, args)
}

// checkModule writes a kernel as SPIR-V and checks what is written.
func checkModule(o spirv.Options, k *kernel.Kernel) error {
	module, err := o.Write(k)
	if err != nil {
		return err
	}
	words := make([]uint32, len(module)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(module[4*i:])
	}
	return spirv.Check(words)
}

// narrowing is a device that interprets kernels without integers of 64 bits. It counts the kernels that have no such
// form, which it interprets as they are.
type narrowing struct {
	gpu.Interpreter
	narrowed, wide *int
}

func (n narrowing) Launch(k *kernel.Kernel, grid [3]int, args []gpu.Arg) error {
	short, err := narrow.Kernel(k)
	if err != nil {
		*n.wide++
		return n.Interpreter.Launch(k, grid, args)
	}
	if short != k {
		*n.narrowed++
	}
	if err := checkModule(spirv.Options{Words: true}, k); err != nil {
		return err
	}
	return n.Interpreter.Launch(short, grid, args)
}

// TestNarrowAgree is [TestAgree] without integers of 64 bits. Only kernels of random floats of 64 bits may keep them.
func TestNarrowAgree(t *testing.T) {
	device := narrowing{narrowed: new(int), wide: new(int)}
	targettest.Fewer(t, 5)
	targettest.Agree(t, gpu.Target{Language: interpreted.Language, Device: device})
	t.Logf("%d launches of narrow kernels, %d of kernels that have no narrow form", *device.narrowed, *device.wide)
	if *device.narrowed < 10 {
		t.Error("too few kernels were narrowed")
	}
}

// TestAgree compares interpreted kernels, and what the host computes, with the definitions. The
// kernels can be written in all machine languages.
func TestAgree(t *testing.T) {
	targettest.Agree(t, gpu.Target{Language: interpreted.Language, Device: writer{}})
}

// TestTiles compares kernels with the definitions on operands of several tiles, which are too large to
// draw many of.
func TestTiles(t *testing.T) {
	numbers := func(d ir.DType, below int, shape ...int) *ir.Tensor {
		random, x := rand.New(rand.NewPCG(1, uint64(below))), ir.NewTensor(d, shape...)
		for i := range x.Len() {
			if d.IsFloat() {
				x.SetFloat(i, random.Float64()*float64(below)-float64(below)/2)
			} else {
				x.SetInt(i, int64(random.IntN(below)))
			}
		}
		return x
	}
	steps := func(functions ...string) op.Steps {
		zeros := make([]float64, len(functions))
		return op.Steps{Activations: functions, Alphas: zeros, Betas: zeros}
	}
	const s, n, h = 3, 6, 70
	lens := numbers(ir.I32, s+1, n)
	order := numbers(ir.I32, 40, 700, 1)
	sorted, err := op.SortRows{}.Eval([]*ir.Tensor{order})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		op   ir.Op
		args []*ir.Tensor
	}{
		{op.RNNSteps{Steps: steps("tanh")}, []*ir.Tensor{numbers(ir.F32, 1, s, n, h), numbers(ir.F32, 1, h, h), lens, numbers(ir.F32, 1, n, h)}},
		{op.GRUSteps{Steps: steps("sigmoid", "tanh")}, []*ir.Tensor{numbers(ir.F32, 1, s, n, 3*h), numbers(ir.F32, 1, h, 2*h), numbers(ir.F32, 1, h, h)}},
		{op.LSTMSteps{Steps: steps("sigmoid", "tanh", "tanh")}, []*ir.Tensor{numbers(ir.F32, 1, s, n, 4*h), numbers(ir.F32, 1, h, 4*h), lens}},
		{op.Reduce{Kind: op.ReduceMean, Axes: []int{1}}, []*ir.Tensor{numbers(ir.U32, 1<<31-1, 3, 40)}},
		{op.Reduce{Kind: op.ReduceMean, Axes: []int{0}}, []*ir.Tensor{numbers(ir.I32, 1<<31-1, 40, 3)}},
		{op.NonZero{Count: "count"}, []*ir.Tensor{numbers(ir.I8, 2, 5, 1000)}},
		{op.SortRows{}, []*ir.Tensor{numbers(ir.I16, 3, 600, 4)}},
		{op.SortRows{}, []*ir.Tensor{numbers(ir.U8, 2, 100, 70)}},
		{op.Unique{Count: "count"}, []*ir.Tensor{order, sorted[0]}},
		{op.Multinomial{Samples: 50, DType: ir.I64, Seed: 3}, []*ir.Tensor{numbers(ir.F64, 4, 2, 5000)}},
		{op.SquaredDistances{}, []*ir.Tensor{numbers(ir.F64, 4, 70, 20), numbers(ir.F64, 4, 66, 20)}},
	} {
		want, err := c.op.Eval(c.args)
		if err != nil {
			t.Fatal(err)
		}
		types, data := make([]ir.Type, len(c.args)), make([]any, len(c.args))
		for i, a := range c.args {
			types[i], data[i] = a.Type(), value.ToGo(a)
		}
		got, err := run(t, interpreted, c.op, types, data...)
		if err != nil {
			t.Fatal(err)
		}
		for i, y := range want {
			x, err := value.FromGo(y.Type(), y.Shape, got[i])
			if err != nil {
				t.Fatal(err)
			}
			for k := range y.Len() {
				if d := x.Number(k) - y.Number(k); d > 1e-5 || d < -1e-5 {
					t.Fatalf("%s: element %d of result %d is %v, want %v", ir.OpName(c.op), k, i, x.Number(k), y.Number(k))
				}
			}
		}
	}
}

// TestPrecisions compares interpreted kernels with the definitions, with products in other precisions than
// f32.
func TestPrecisions(t *testing.T) {
	gputest.InPrecisions(t, gpu.Target{Language: interpreted.Language, Device: writer{}}, func(t *testing.T, target gpu.Target) {
		targettest.AgreeOn(t, target, targettest.Products...)
		t.Run("matrices", func(t *testing.T) {
			targettest.AgreeOn(t, multiplying(target.Precision, gpu.Interpreter{}), "mat_mul", "conv", "conv_weights")
		})
	})
}
