package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// MurmurHash3 is the 32-bit hash MurmurHash3 of each element (com.microsoft MurmurHash3). It hashes the
// little-endian bytes of integers and floats of 32 or 64 bits, and the bytes of strings. The result is u32, or i32
// with Signed.
type MurmurHash3 struct {
	Seed   int64 // a u32
	Signed bool
}

// Infer returns the operand's shape with the element type u32, or i32 with Signed.
func (op MurmurHash3) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	d := in[0].DType
	if d != ir.String && (!d.IsInt() && !d.IsFloat() || d.Bits() < 32) {
		return nil, fmt.Errorf("not defined for %s", d)
	}
	if op.Seed != int64(uint32(op.Seed)) {
		return nil, fmt.Errorf("seed %d is not a u32", op.Seed)
	}
	return []ir.Type{in[0].With(op.result())}, nil
}

func (op MurmurHash3) result() ir.DType {
	if op.Signed {
		return ir.I32
	}
	return ir.U32
}

// Eval returns the hash of each element.
func (op MurmurHash3) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	y := ir.NewTensor(op.result(), x.Shape...)
	element := ir.NewTensor(x.DType)
	for i := range y.Len() {
		var data []byte
		if x.DType == ir.String {
			data = []byte(x.Text(i))
		} else {
			element.Copy(0, x, i)
			data = element.Bytes()
		}
		y.SetInt(i, int64(murmur3(data, uint32(op.Seed))))
	}
	return []*ir.Tensor{y}, nil
}

// murmur3 returns the hash MurmurHash3_x86_32 of data.
func murmur3(data []byte, seed uint32) uint32 {
	turn := func(x uint32, by int) uint32 { return x<<by | x>>(32-by) }
	mix := func(word uint32) uint32 { return turn(word*0xcc9e2d51, 15) * 0x1b873593 }
	h, word := seed, uint32(0)
	for i, v := range data {
		word |= uint32(v) << (i % 4 * 8)
		if i%4 == 3 {
			h, word = turn(h^mix(word), 13)*5+0xe6546b64, 0
		}
	}
	h ^= mix(word) ^ uint32(len(data))
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

func importMurmurHash3(c ir.Importer) ([]*ir.Value, error) {
	op := MurmurHash3{Seed: int64(c.Int("seed", 0)), Signed: c.Int("positive", 1) == 0}
	return []*ir.Value{c.Builder().Node(op, c.Arg(0))}, nil
}
