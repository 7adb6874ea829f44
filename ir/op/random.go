package op

import (
	"fmt"
	"hash/fnv"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/runtime/rt"
)

// RandomUniform is a tensor of floats from Low to High, without High, uniformly
// distributed: element i is Low + (High − Low)·[rt.UniformAt](Seed, i), in float64,
// rounded (ONNX RandomUniform). Equal seeds give equal tensors on every machine
// and at every run. An i64 operand of one axis, which may be absent, changes the seed
// as [rt.Keyed] says.
type RandomUniform struct {
	DType     ir.DType
	Shape     []ir.Dim
	Low, High float64
	Seed      int64
}

// RandomNormal is a tensor of floats of this mean and deviation, normally
// distributed: element i is Mean + Scale·[rt.NormalAt](Seed, i), in float64,
// rounded (ONNX RandomNormal). Equal seeds give equal tensors on every machine and
// at every run. An i64 operand of one axis, which may be absent, changes the seed as
// [rt.Keyed] says.
type RandomNormal struct {
	DType       ir.DType
	Shape       []ir.Dim
	Mean, Scale float64
	Seed        int64
}

// Infer gives the type.
func (op RandomUniform) Infer(in []ir.Type) ([]ir.Type, error) {
	return inferRandom(in, op.DType, op.Shape)
}

// Infer gives the type.
func (op RandomNormal) Infer(in []ir.Type) ([]ir.Type, error) {
	return inferRandom(in, op.DType, op.Shape)
}

func inferRandom(in []ir.Type, d ir.DType, shape []ir.Dim) ([]ir.Type, error) {
	if err := tensors(in, 0, 1); err != nil {
		return nil, err
	}
	if len(in) > 0 && (in[0].DType != ir.I64 || in[0].Rank() != 1) {
		return nil, fmt.Errorf("the key is %s, i64 of one axis expected", in[0])
	}
	out := []ir.Type{ir.TensorOf(d, shape...)}
	return out, checkDomain(out, floats{})
}

// Eval draws the numbers.
func (op RandomUniform) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	seed := keyed(op.Seed, in)
	return evalRandom(op.DType, op.Shape, func(i uint64) float64 {
		return op.Low + float64((op.High-op.Low)*rt.UniformAt(seed, i))
	})
}

// Eval draws the numbers.
func (op RandomNormal) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	seed := keyed(op.Seed, in)
	return evalRandom(op.DType, op.Shape, func(i uint64) float64 {
		return op.Mean + float64(op.Scale*rt.NormalAt(seed, i))
	})
}

// keyed returns the seed under the key that the operands are.
func keyed(seed int64, in []*ir.Tensor) uint64 {
	var keys []int64
	if len(in) > 0 && in[0] != nil {
		for i := range in[0].Len() {
			keys = append(keys, in[0].Int(i))
		}
	}
	return uint64(rt.Keyed(seed, keys))
}

func evalRandom(d ir.DType, dims []ir.Dim, number func(i uint64) float64) ([]*ir.Tensor, error) {
	shape, ok := ir.Ints(dims)
	if !ok {
		return nil, fmt.Errorf("shape %s has no value", shapeText(dims))
	}
	if _, err := ir.CheckedLen(shape); err != nil {
		return nil, err
	}
	y := ir.NewTensor(d, shape...)
	for i := range y.Len() {
		y.SetFloat(i, number(uint64(i)))
	}
	return []*ir.Tensor{y}, nil
}

// IsRandom marks that other implementations draw other numbers.
func (RandomUniform) IsRandom() {}

// IsRandom marks that other implementations draw other numbers.
func (RandomNormal) IsRandom() {}

// Train draws others in each step.
func (op RandomUniform) Train(b *ir.Builder, n *ir.Node, t ir.Training) []*ir.Value {
	return drawKeyed(b, op, n, t)
}

// Train draws others in each step.
func (op RandomNormal) Train(b *ir.Builder, n *ir.Node, t ir.Training) []*ir.Value {
	return drawKeyed(b, op, n, t)
}

// drawKeyed appends an operator's numbers by the key of a training step; nil where it has
// a key.
func drawKeyed(b *ir.Builder, op ir.Op, n *ir.Node, t ir.Training) []*ir.Value {
	if n.Arg(0) != nil {
		return nil
	}
	return []*ir.Value{b.Node(op, t.Key(b))}
}

// Lower draws narrow floats in f32.
func (op RandomUniform) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	d := op.DType
	op.DType = wide(d)
	return drawNarrow(b, op, d, n.Args...)
}

// Lower draws narrow floats in f32.
func (op RandomNormal) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	d := op.DType
	op.DType = wide(d)
	return drawNarrow(b, op, d, n.Args...)
}

// drawNarrow converts the numbers of an operator in a wider type; nil when d is no
// narrow one.
func drawNarrow(b *ir.Builder, op ir.Op, d ir.DType, args ...*ir.Value) []*ir.Value {
	if wide(d) == d {
		return nil
	}
	return []*ir.Value{convert(b, b.Node(op, args...), d)}
}

// Call is cpu.RandomUniform.
func (op RandomUniform) Call(*ir.Node) (ir.Call, error) {
	return ir.Call{Kernel: "RandomUniform", Args: []any{ir.Out(0), op.Low, op.High, ir.Number{DType: ir.I64, Int: op.Seed}, ir.In(0)}}, nil
}

// Call is cpu.RandomNormal.
func (op RandomNormal) Call(*ir.Node) (ir.Call, error) {
	return ir.Call{Kernel: "RandomNormal", Args: []any{ir.Out(0), op.Mean, op.Scale, ir.Number{DType: ir.I64, Int: op.Seed}, ir.In(0)}}, nil
}

// seed returns the seed of a node: that of its attribute, a float, or else one that
// depends on how many such nodes the model has before it.
func seed(c ir.Importer) int64 {
	if c.Has("seed") {
		return int64(math.Float32bits(float32(c.Float("seed", 0))))
	}
	return siteSeed(c.Builder())
}

// siteSeed returns a seed that no other node of the function has.
func siteSeed(b *ir.Builder) int64 {
	h := fnv.New64a()
	h.Write([]byte(b.Name("random")))
	return int64(h.Sum64())
}

// importRandom returns the import of a random operator whose parameters have these
// names and defaults. The shape is an attribute, or that of an operand, whose
// element type then is the result's unless that is given.
func importRandom(like bool, a string, aDefault float64, b string, bDefault float64, build func(d ir.DType, shape []ir.Dim, a, b float64, seed int64) ir.Op) func(ir.Importer) ([]*ir.Value, error) {
	return func(c ir.Importer) ([]*ir.Value, error) {
		d := ir.F32
		var shape []ir.Dim
		if like {
			x := c.Arg(0).Type
			shape = x.Shape
			if x.DType.IsFloat() {
				d = x.DType
			}
		} else {
			if !c.Has("shape") {
				return nil, fmt.Errorf("shape is absent")
			}
			shape = ir.Dims(c.Ints("shape", nil)...)
		}
		d = c.DType("dtype", d)
		return []*ir.Value{c.Builder().Node(build(d, shape, c.Float(a, aDefault), c.Float(b, bDefault), seed(c)))}, nil
	}
}

// importRandomUniform is importRandom of [RandomUniform].
func importRandomUniform(like bool) func(ir.Importer) ([]*ir.Value, error) {
	return importRandom(like, "low", 0, "high", 1, func(d ir.DType, shape []ir.Dim, low, high float64, seed int64) ir.Op {
		return RandomUniform{d, shape, low, high, seed}
	})
}

// importRandomNormal is importRandom of [RandomNormal].
func importRandomNormal(like bool) func(ir.Importer) ([]*ir.Value, error) {
	return importRandom(like, "mean", 0, "scale", 1, func(d ir.DType, shape []ir.Dim, mean, scale float64, seed int64) ir.Op {
		return RandomNormal{d, shape, mean, scale, seed}
	})
}

// importBernoulli reads Bernoulli: 1 with the probability that x gives, else 0.
func importBernoulli(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	if !x.Type.DType.IsFloat() {
		return nil, fmt.Errorf("probabilities of %s", x.Type.DType)
	}
	d := c.DType("dtype", x.Type.DType)
	p := convert(b, x, wide(x.Type.DType))
	u := b.Node(RandomUniform{DType: p.Type.DType, Shape: p.Type.Shape, High: 1, Seed: seed(c)})
	return []*ir.Value{convert(b, b.Node(Less{}, u, p), d)}, nil
}
