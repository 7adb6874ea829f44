package op

import (
	"fmt"
	"hash/fnv"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/runtime/rt"
)

// RandomUniform is a tensor of Shape with uniformly distributed floats of type DType in [Low, High) (ONNX
// RandomUniform). Element i is Low + (High − Low)·[rt.UniformAt](Seed, i), computed in float64 and then rounded to
// DType. Equal seeds give equal tensors on every machine. An optional i64 operand of rank 1 changes the seed, see
// [rt.Keyed].
type RandomUniform struct {
	DType     ir.DType
	Shape     []dim.Dim
	Low, High float64
	Seed      int64
}

// RandomNormal is a tensor of Shape with normally distributed floats of type DType (ONNX RandomNormal). Element i
// is Mean + Scale·[rt.NormalAt](Seed, i), computed in float64 and then rounded to DType. Equal seeds give equal
// tensors on every machine. An optional i64 operand of rank 1 changes the seed, see [rt.Keyed].
type RandomNormal struct {
	DType       ir.DType
	Shape       []dim.Dim
	Mean, Scale float64
	Seed        int64
}

// Infer returns a tensor type with the element type DType and the shape Shape.
func (op RandomUniform) Infer(in []ir.Type) ([]ir.Type, error) {
	return inferRandom(in, op.DType, op.Shape)
}

// Infer returns a tensor type with the element type DType and the shape Shape.
func (op RandomNormal) Infer(in []ir.Type) ([]ir.Type, error) {
	return inferRandom(in, op.DType, op.Shape)
}

func inferRandom(in []ir.Type, d ir.DType, shape []dim.Dim) ([]ir.Type, error) {
	if err := CheckTensors(in, 0, 1); err != nil {
		return nil, err
	}
	if len(in) > 0 && (in[0].DType != ir.I64 || in[0].Rank() != 1) {
		return nil, fmt.Errorf("the key is %s, i64 of one axis expected", in[0])
	}
	out := []ir.Type{ir.TensorOf(d, shape...)}
	return out, checkDomain(out, floats{})
}

// Eval returns the random numbers in Shape.
func (op RandomUniform) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	seed := keyed(op.Seed, in)
	return evalRandom(op.DType, op.Shape, func(i uint64) float64 {
		return op.Low + float64((op.High-op.Low)*rt.UniformAt(seed, i))
	})
}

// Eval returns the random numbers in Shape.
func (op RandomNormal) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	seed := keyed(op.Seed, in)
	return evalRandom(op.DType, op.Shape, func(i uint64) float64 {
		return op.Mean + float64(op.Scale*rt.NormalAt(seed, i))
	})
}

// keyed returns the seed. If operand 0 is present, it is a key, and keyed mixes it into the seed.
func keyed(seed int64, in []*ir.Tensor) uint64 {
	var keys []int64
	if len(in) > 0 && in[0] != nil {
		for i := range in[0].Len() {
			keys = append(keys, in[0].Int(i))
		}
	}
	return uint64(rt.Keyed(seed, keys))
}

func evalRandom(d ir.DType, dims []dim.Dim, number func(i uint64) float64) ([]*ir.Tensor, error) {
	shape, ok := dim.Ints(dims)
	if !ok {
		return nil, fmt.Errorf("shape %s has no value", ShapeText(dims))
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

// IsRandom marks the operator as random: other implementations draw other numbers.
func (RandomUniform) IsRandom() {}

// IsRandom marks the operator as random: other implementations draw other numbers.
func (RandomNormal) IsRandom() {}

// Train replaces the node by one that has the key of the training step as its operand. So each step draws other
// numbers.
func (op RandomUniform) Train(b *ir.Builder, n *ir.Node, t ir.Training) []*ir.Value {
	return drawKeyed(b, op, n, t)
}

// Train replaces the node by one that has the key of the training step as its operand. So each step draws other
// numbers.
func (op RandomNormal) Train(b *ir.Builder, n *ir.Node, t ir.Training) []*ir.Value {
	return drawKeyed(b, op, n, t)
}

// drawKeyed appends op with the key of the training step as its operand. op is the operator of n. drawKeyed returns
// nil if n already has a key.
func drawKeyed(b *ir.Builder, op ir.Op, n *ir.Node, t ir.Training) []*ir.Value {
	if n.Arg(0) != nil {
		return nil
	}
	return []*ir.Value{b.Node(op, t.Key(b))}
}

// Lower draws floats of at most 16 bits in f32, and converts them.
func (op RandomUniform) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	d := op.DType
	op.DType = wide(d)
	return drawNarrow(b, op, d, n.Args...)
}

// Lower draws floats of at most 16 bits in f32, and converts them.
func (op RandomNormal) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	d := op.DType
	op.DType = wide(d)
	return drawNarrow(b, op, d, n.Args...)
}

// drawNarrow appends op and a conversion to type d. op must draw numbers of type wide(d). drawNarrow returns nil if
// wide(d) is d.
func drawNarrow(b *ir.Builder, op ir.Op, d ir.DType, args ...*ir.Value) []*ir.Value {
	if wide(d) == d {
		return nil
	}
	return []*ir.Value{ConvertTo(b, b.Node(op, args...), d)}
}

// seed returns the seed of a node. It is the bits of the attribute seed, a float. If the attribute is absent, it is
// the seed that [siteSeed] returns.
func seed(c ir.Importer) int64 {
	if c.Has("seed") {
		return int64(math.Float32bits(float32(c.Float("seed", 0))))
	}
	return siteSeed(c.Builder())
}

// siteSeed returns a seed that no other node of the function uses. It is the hash of a new name.
func siteSeed(b *ir.Builder) int64 {
	h := fnv.New64a()
	h.Write([]byte(b.Name("random")))
	return int64(h.Sum64())
}

// importRandom returns the import function of a random operator. a and b are the names of the attributes with its
// two parameters, which are aDefault and bDefault if absent. build returns the operator. The shape is an attribute,
// or the shape of an operand if `like` is set. The attribute dtype is the element type of the result. If dtype is
// absent, the element type is that of the operand, or f32 if there is no operand or it is not of floats.
func importRandom(like bool, a string, aDefault float64, b string, bDefault float64, build func(d ir.DType, shape []dim.Dim, a, b float64, seed int64) ir.Op) func(ir.Importer) ([]*ir.Value, error) {
	return func(c ir.Importer) ([]*ir.Value, error) {
		d := ir.F32
		var shape []dim.Dim
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
			shape = dim.Consts(c.Ints("shape", nil)...)
		}
		d = c.DType("dtype", d)
		return []*ir.Value{c.Builder().Node(build(d, shape, c.Float(a, aDefault), c.Float(b, bDefault), seed(c)))}, nil
	}
}

func importRandomUniform(like bool) func(ir.Importer) ([]*ir.Value, error) {
	return importRandom(like, "low", 0, "high", 1, func(d ir.DType, shape []dim.Dim, low, high float64, seed int64) ir.Op {
		return RandomUniform{d, shape, low, high, seed}
	})
}

func importRandomNormal(like bool) func(ir.Importer) ([]*ir.Value, error) {
	return importRandom(like, "mean", 0, "scale", 1, func(d ir.DType, shape []dim.Dim, mean, scale float64, seed int64) ir.Op {
		return RandomNormal{d, shape, mean, scale, seed}
	})
}

func importBernoulli(c ir.Importer) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	if !x.Type.DType.IsFloat() {
		return nil, fmt.Errorf("probabilities of %s", x.Type.DType)
	}
	d := c.DType("dtype", x.Type.DType)
	p := ConvertTo(b, x, wide(x.Type.DType))
	u := b.Node(RandomUniform{DType: p.Type.DType, Shape: p.Type.Shape, High: 1, Seed: seed(c)})
	return []*ir.Value{ConvertTo(b, b.Node(Less{}, u, p), d)}, nil
}
