package onnx

import (
	"errors"
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/onnx/internal/wire"
)

var dtypes = map[wire.DataType]ir.DType{
	wire.Float:          ir.F32,
	wire.Double:         ir.F64,
	wire.Float16:        ir.F16,
	wire.BFloat16:       ir.BF16,
	wire.Float8E4M3FN:   ir.F8E4M3FN,
	wire.Float8E4M3FNUZ: ir.F8E4M3FNUZ,
	wire.Float8E5M2:     ir.F8E5M2,
	wire.Float8E5M2FNUZ: ir.F8E5M2FNUZ,
	wire.Float8E8M0:     ir.F8E8M0,
	wire.Float4E2M1:     ir.F4E2M1,
	wire.Int64:          ir.I64,
	wire.Int32:          ir.I32,
	wire.Int16:          ir.I16,
	wire.Int8:           ir.I8,
	wire.Int4:           ir.I4,
	wire.Int2:           ir.I2,
	wire.Uint64:         ir.U64,
	wire.Uint32:         ir.U32,
	wire.Uint16:         ir.U16,
	wire.Uint8:          ir.U8,
	wire.Uint4:          ir.U4,
	wire.Uint2:          ir.U2,
	wire.Bool:           ir.Bool,
	wire.String:         ir.String,
}

func dtypeOf(d wire.DataType) (ir.DType, error) {
	if t, ok := dtypes[d]; ok {
		return t, nil
	}
	if d.Valid() {
		return ir.Invalid, fmt.Errorf("element type %s is not supported", d)
	}
	return ir.Invalid, fmt.Errorf("unknown element type %d", int32(d))
}

// tensorType returns the type of t, whose extents are constants. It returns an error if the rank is
// above [ir.MaxRank] or the size does not fit an int.
func tensorType(t *wire.Tensor) (ir.Type, error) {
	d, err := dtypeOf(t.Type)
	if err != nil {
		return ir.Type{}, err
	}
	if len(t.Dims) > ir.MaxRank {
		return ir.Type{}, fmt.Errorf("rank %d is above %d", len(t.Dims), ir.MaxRank)
	}
	dims := make([]dim.Dim, len(t.Dims))
	for i, n := range t.Dims {
		dims[i] = dim.Const64(n)
	}
	typ := ir.TensorOf(d, dims...)
	if err := typ.Check(); err != nil {
		return ir.Type{}, err
	}
	shape, ok := typ.Static()
	if _, err := ir.CheckedLen(append(shape, max(d.Size(), 1))); err != nil || !ok {
		return ir.Type{}, fmt.Errorf("%s is too large for this machine", typ)
	}
	return typ, nil
}

// decoded returns the elements of a tensor that is stored in the model's file. The elements are
// little-endian, and each takes a whole number of bytes. The result may share memory with the file.
func decoded(t *wire.Tensor, typ ir.Type) ([]byte, error) {
	packed, err := t.Bytes()
	if err != nil {
		return nil, errors.Unwrap(err) // without the tensor's name
	}
	return spread(packed, typ), nil
}

// spread unpacks elements that are narrower than a byte, lowest bits first, so that each element
// takes one byte. Signed elements are sign-extended. Wider elements are returned unchanged.
func spread(packed []byte, typ ir.Type) []byte {
	bits := typ.DType.Bits()
	if bits >= 8 {
		return packed
	}
	n, _ := typ.Elems().Int()
	out := make([]byte, n)
	for i := range out {
		v := packed[i/(8/bits)] >> (i % (8 / bits) * bits) << (8 - bits)
		if typ.DType.Class() == ir.Signed {
			out[i] = byte(int8(v) >> (8 - bits))
		} else {
			out[i] = v >> (8 - bits)
		}
	}
	return out
}

// maxTensor is the maximum number of elements of a tensor that an import function reads: an
// attribute or a small initializer. A larger tensor is an error.
const maxTensor = 1 << 24

func (im *importer) tensor(t *wire.Tensor) (*ir.Tensor, error) {
	typ, err := tensorType(t)
	if err != nil {
		return nil, err
	}
	n, _ := typ.Elems().Int()
	if n > maxTensor {
		return nil, fmt.Errorf("%s: more than %d elements", typ, maxTensor)
	}
	if err := im.look(n); err != nil {
		return nil, err
	}
	if !t.Outside {
		return tensorOf(t)
	}
	packed, err := im.outside.read(t)
	if err != nil {
		return nil, err
	}
	shape, _ := typ.Static()
	return ir.DecodeTensor(typ.DType, shape, spread(packed, typ))
}

func tensorOf(t *wire.Tensor) (*ir.Tensor, error) {
	typ, err := tensorType(t)
	if err != nil {
		return nil, err
	}
	shape, _ := typ.Static()
	if typ.DType == ir.String {
		texts, err := t.Strings()
		if err != nil {
			return nil, errors.Unwrap(err)
		}
		out := ir.NewTensor(ir.String, shape...)
		for i, s := range texts {
			out.SetText(i, s)
		}
		return out, nil
	}
	data, err := decoded(t, typ)
	if err != nil {
		return nil, err
	}
	return ir.DecodeTensor(typ.DType, shape, data)
}
