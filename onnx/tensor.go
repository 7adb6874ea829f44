package onnx

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx/internal/wire"
)

// dtypes maps the element types of ONNX to those of the IR.
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
	return ir.Invalid, fmt.Errorf("element type %s is not supported", d)
}

// tensorType returns the static type of a tensor, whose size fits an int.
func tensorType(t *wire.Tensor) (ir.Type, error) {
	d, err := dtypeOf(t.Type)
	if err != nil {
		return ir.Type{}, err
	}
	shape := make([]int, len(t.Dims))
	for i, n := range t.Dims {
		shape[i] = int(n)
		if int64(shape[i]) != n {
			return ir.Type{}, fmt.Errorf("dimension %d is %d", i, n)
		}
	}
	if _, err := ir.CheckedLen(shape); err != nil {
		return ir.Type{}, err
	}
	typ := ir.StaticTensor(d, shape...)
	return typ, typ.Check()
}

// maxOutside bounds the bytes of external data that one model reads.
const maxOutside = 64 << 30

// data returns a tensor's elements, little-endian, each in a whole number of
// bytes. They may alias the model file.
func (im *importer) data(t *wire.Tensor, typ ir.Type) ([]byte, error) {
	var packed []byte
	var err error
	if t.Outside {
		packed, err = im.outside(t)
	} else {
		packed, err = t.Bytes()
	}
	if err != nil || typ.DType.Bits() >= 8 {
		return packed, err
	}
	n, _ := typ.Elems().Int()
	return unpack(packed, n, typ.DType), nil
}

// unpack spreads elements narrower than a byte, the first in the lowest bits,
// to one in a byte; signed ones are sign-extended.
func unpack(packed []byte, n int, d ir.DType) []byte {
	bits := d.Bits()
	out := make([]byte, n)
	for i := range out {
		v := packed[i*bits/8] >> (i * bits % 8) << (8 - bits)
		if d.Class() == ir.Signed {
			out[i] = byte(int8(v) >> (8 - bits))
		} else {
			out[i] = v >> (8 - bits)
		}
	}
	return out
}

// outside reads the elements of a tensor from the file that holds them, in or
// below the model's folder.
func (im *importer) outside(t *wire.Tensor) ([]byte, error) {
	at, err := t.Location()
	if err != nil {
		return nil, err
	}
	if im.root == nil {
		return nil, fmt.Errorf("external data %q: the model has no folder", at.Path)
	}
	if im.read += at.Length; im.read > maxOutside || at.Length > int64(^uint(0)>>1) {
		return nil, fmt.Errorf("external data %q: more than %d bytes", at.Path, int64(maxOutside))
	}
	f := im.files[at.Path]
	if f == nil {
		name := filepath.FromSlash(at.Path)
		if !filepath.IsLocal(name) {
			return nil, fmt.Errorf("external data %q: not below the model's folder", at.Path)
		}
		info, err := im.root.Stat(name)
		if err != nil {
			return nil, fmt.Errorf("external data %q: %w", at.Path, cause(err))
		}
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("external data %q: not a regular file", at.Path)
		}
		if f, err = im.root.Open(name); err != nil {
			return nil, fmt.Errorf("external data %q: %w", at.Path, cause(err))
		}
		im.files[at.Path] = f
	}
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("external data %q: %w", at.Path, cause(err))
	}
	if at.Offset+at.Length > info.Size() {
		return nil, fmt.Errorf("external data %q: bytes %d to %d of a file of %d", at.Path, at.Offset, at.Offset+at.Length, info.Size())
	}
	data := make([]byte, at.Length)
	if _, err := f.ReadAt(data, at.Offset); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("external data %q: %w", at.Path, cause(err))
	}
	return data, nil
}

func (im *importer) close() {
	for _, f := range im.files {
		f.Close()
	}
}

// maxTensor bounds the elements of a tensor that is decoded for the importer to
// compute with: an attribute or a small initializer.
const maxTensor = 1 << 28

// tensor decodes a constant.
func (im *importer) tensor(t *wire.Tensor) (*ir.Tensor, error) {
	typ, err := tensorType(t)
	if err != nil {
		return nil, err
	}
	shape, _ := typ.Static()
	n, _ := typ.Elems().Int()
	if n > maxTensor {
		return nil, fmt.Errorf("%s: more than %d elements", typ, maxTensor)
	}
	if typ.DType == ir.String {
		texts, err := t.Strings()
		if err != nil {
			return nil, err
		}
		out := ir.NewTensor(ir.String, shape...)
		for i, s := range texts {
			out.SetText(i, s)
		}
		return out, nil
	}
	data, err := im.data(t, typ)
	if err != nil {
		return nil, err
	}
	return ir.DecodeTensor(typ.DType, shape, data)
}
