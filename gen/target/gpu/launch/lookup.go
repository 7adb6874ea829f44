package launch

import (
	"errors"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

var lookup = []entry{
	computes(lookUp),
	computes(murmurHash3),
}

var errUnknownKeys = errors.New("unknown keys are errors")

// lookUp replaces each element by the value of its key in a table. There is a thread for each element. The thread
// searches the keys.
func lookUp(_ op.Lookup, n *ir.Node) ([]kernels.Launch, error) {
	x, keys, values, other, y := n.Args[0], n.Args[1], n.Args[2], n.Arg(3), n.Results[0]
	switch {
	case x.Type.DType == ir.String || y.Type.DType == ir.String:
		return nil, errText
	case other == nil:
		return nil, errUnknownKeys
	}
	return one(kernels.Map("lookup", x.Type.Shape, func(e *kernels.Emitter, _ []*kernel.Value, i *kernel.Value) {
		key, count := e.Read(x).Get(i), e.Dim(keys.Type.Shape[0])
		// order compares the key with entry k of the table. NaN equals itself and is less than every number.
		order := func(k *kernel.Value) (after, equal *kernel.Value) {
			entry := e.Read(keys).Get(k)
			after, equal = e.Gt(key, entry), e.Eq(key, entry)
			if key.Type.DType.IsFloat() {
				isNaN, entryNaN := e.Ne(key, key), e.Ne(entry, entry)
				after = e.Or(after, e.And(entryNaN, e.Not(isNaN)))
				equal = e.Or(equal, e.And(isNaN, entryNaN))
			}
			return after, equal
		}
		first := e.While([]*kernel.Value{e.Int(0), count}, func(b []*kernel.Value) *kernel.Value { return e.Lt(b[0], b[1]) }, func(b []*kernel.Value) []*kernel.Value {
			middle := e.Add(b[0], e.Div(e.Sub(b[1], b[0]), e.Int(2)))
			after, _ := order(middle)
			return []*kernel.Value{e.Select(after, e.Add(middle, e.Int(1)), b[0]), e.Select(after, b[1], middle)}
		})[0]
		v := e.If(e.Lt(first, count), func() []*kernel.Value {
			_, equal := order(first)
			return []*kernel.Value{e.Select(equal, e.Read(values).Raw(first), e.Read(other).Raw(e.Int(0)))}
		}, func() []*kernel.Value { return []*kernel.Value{e.Read(other).Raw(e.Int(0))} })
		e.Write(y).SetRaw(i, v[0])
	}))
}

func murmurHash3(o op.MurmurHash3, n *ir.Node) ([]kernels.Launch, error) {
	x, y := n.Args[0], n.Results[0]
	if x.Type.DType == ir.String {
		return nil, errText
	}
	return one(kernels.Map("murmur_hash3", x.Type.Shape, func(e *kernels.Emitter, _ []*kernel.Value, i *kernel.Value) {
		word := func(n int64) *kernel.Value { return e.Whole(ir.U32, n) }
		turned := func(x *kernel.Value, by int64) *kernel.Value {
			return e.Or(e.Binary(kernel.Shl, x, word(by)), e.Binary(kernel.Shr, x, word(32-by)))
		}
		xor := func(x, y *kernel.Value) *kernel.Value { return e.Binary(kernel.Xor, x, y) }
		mixed := func(x *kernel.Value) *kernel.Value {
			return e.Mul(turned(e.Mul(x, word(0xcc9e2d51)), 15), word(0x1b873593))
		}
		hash, v := word(o.Seed), e.Read(x).Get(i)
		var words []*kernel.Value
		if x.Type.DType.Bits() == 32 {
			words = []*kernel.Value{e.Bitcast(ir.U32, v)}
		} else {
			bits := e.Bitcast(ir.U64, v)
			words = []*kernel.Value{e.Convert(ir.U32, bits), e.Convert(ir.U32, e.Binary(kernel.Shr, bits, e.Whole(ir.U64, 32)))}
		}
		for _, w := range words {
			hash = e.Add(e.Mul(turned(xor(hash, mixed(w)), 13), word(5)), word(0xe6546b64))
		}
		hash = xor(hash, word(int64(4*len(words))))
		hash = e.Mul(xor(hash, e.Binary(kernel.Shr, hash, word(16))), word(0x85ebca6b))
		hash = e.Mul(xor(hash, e.Binary(kernel.Shr, hash, word(13))), word(0xc2b2ae35))
		hash = xor(hash, e.Binary(kernel.Shr, hash, word(16)))
		e.Write(y).Set(i, e.Bitcast(y.Type.DType, hash))
	}))
}
