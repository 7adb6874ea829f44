package launch

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

// random are the operators that draw numbers.
var random = []entry{
	computes(randomUniform),
}

// randomUniform computes rt.UniformAt in each thread. All steps are exact or rounded once.
func randomUniform(o op.RandomUniform, n *ir.Node) ([]kernels.Launch, error) {
	key, y := n.Arg(0), n.Results[0]
	if d := y.Type.DType; d != ir.F32 && d != ir.F64 {
		return nil, errNarrow
	}
	return one(kernels.Map("random_uniform", y.Type.Shape, func(e *kernels.Emitter, _ []*kernel.Value, i *kernel.Value) {
		seed := e.Whole(ir.U64, o.Seed)
		if key != nil {
			seed = e.Times(e.Dim(key.Type.Elems()), []*kernel.Value{seed}, func(k *kernel.Value, s []*kernel.Value) []*kernel.Value {
				return []*kernel.Value{philox(e, s[0], e.Convert(ir.U64, e.Read(key).Get(k)))}
			})[0]
		}
		bits := philox(e, seed, e.Convert(ir.U64, i))
		fraction := e.Mul(e.Convert(ir.F64, e.Binary(kernel.Shr, bits, e.Whole(ir.U64, 11))), e.Float(ir.F64, 0x1p-53))
		v := e.Add(e.Float(ir.F64, o.Low), e.Mul(e.Float(ir.F64, o.High-o.Low), fraction))
		e.Write(y).Set(i, v)
	}))
}

// philox returns the first half of rt.Philox, of u64.
func philox(e *kernels.Emitter, seed, i *kernel.Value) *kernel.Value {
	word := e.Whole(ir.U64, 32)
	low := func(v *kernel.Value) *kernel.Value { return e.Convert(ir.U32, v) }
	high := func(v *kernel.Value) *kernel.Value { return low(e.Binary(kernel.Shr, v, word)) }
	xor := func(x, y, z *kernel.Value) *kernel.Value {
		return e.Binary(kernel.Xor, e.Binary(kernel.Xor, x, y), z)
	}
	product := func(m int64, x *kernel.Value) *kernel.Value {
		return e.Mul(e.Whole(ir.U64, m), e.Convert(ir.U64, x))
	}
	k0, k1 := low(seed), high(seed)
	x := [4]*kernel.Value{low(i), high(i), e.Whole(ir.U32, 0), e.Whole(ir.U32, 0)}
	for range 10 {
		p, q := product(0xd2511f53, x[0]), product(0xcd9e8d57, x[2])
		x = [4]*kernel.Value{xor(high(q), x[1], k0), low(q), xor(high(p), x[3], k1), low(p)}
		k0, k1 = e.Add(k0, e.Whole(ir.U32, 0x9e3779b9)), e.Add(k1, e.Whole(ir.U32, 0xbb67ae85))
	}
	return e.Or(e.Binary(kernel.Shl, e.Convert(ir.U64, x[1]), word), e.Convert(ir.U64, x[0]))
}
