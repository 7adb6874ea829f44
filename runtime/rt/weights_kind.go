package rt

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/burngen/burngen/runtime/rt/safetensors"
)

// Some types are unknown to the safetensors format, or to readers of its first version. They are
// stored as U8 with one extent, the number of bytes. A metadata entry "burngen.dtype:NAME" then has
// the real type and shape: "i4[3,5]". Elements narrower than a byte fill each byte from the low bits
// up. A string tensor is stored as the length of every element in 32 bits, followed by their text.
// The entry "burngen.digest" has the digest of the file, see [Weights.Sum].
const (
	notePrefix = "burngen.dtype:"
	digestKey  = "burngen.digest"
)

type kind struct {
	file safetensors.DType
	bits int // 0 for strings
}

var kinds = map[string]kind{
	"f64": {safetensors.F64, 64}, "f32": {safetensors.F32, 32},
	"f16": {safetensors.F16, 16}, "bf16": {safetensors.BF16, 16},
	"f8e4m3fn": {safetensors.F8E4M3, 8}, "f8e5m2": {safetensors.F8E5M2, 8},
	"f8e4m3fnuz": {safetensors.U8, 8}, "f8e5m2fnuz": {safetensors.U8, 8}, "f8e8m0": {safetensors.U8, 8},
	"i64": {safetensors.I64, 64}, "i32": {safetensors.I32, 32}, "i16": {safetensors.I16, 16}, "i8": {safetensors.I8, 8},
	"u64": {safetensors.U64, 64}, "u32": {safetensors.U32, 32}, "u16": {safetensors.U16, 16}, "u8": {safetensors.U8, 8},
	"bool": {safetensors.Bool, 8},
	"i4":   {safetensors.U8, 4}, "u4": {safetensors.U8, 4}, "f4e2m1": {safetensors.U8, 4},
	"i2": {safetensors.U8, 2}, "u2": {safetensors.U8, 2},
	"string": {safetensors.U8, 0},
	"c64":    {safetensors.Complex64, 64}, "f6e2m3": {safetensors.F6E2M3, 6}, "f6e3m2": {safetensors.F6E3M2, 6},
}

// noted reports whether elements of this type need a metadata entry in a file; see notePrefix.
func noted(dtype string) bool { return kinds[dtype].file == safetensors.U8 && dtype != "u8" }

var dtypeOf = func() map[safetensors.DType]string {
	m := map[safetensors.DType]string{
		safetensors.U8: "u8", safetensors.F4: "f4e2m1", safetensors.F8E8M0: "f8e8m0",
		safetensors.F8E4M3FNUZ: "f8e4m3fnuz", safetensors.F8E5M2FNUZ: "f8e5m2fnuz",
	}
	for name, k := range kinds {
		if k.file != safetensors.U8 {
			m[k.file] = name
		}
	}
	return m
}()

// check returns an error if the field Bytes does not agree with the type and shape. For strings it
// only checks that Bytes is large enough for the lengths.
func (i *Info) check() error {
	k, ok := kinds[i.DType]
	if !ok {
		return fmt.Errorf("%.100q: unknown element type %.100q", i.Name, i.DType)
	}
	n, err := Elems(i.Shape)
	if err != nil {
		return fmt.Errorf("%.100q: %w", i.Name, err)
	}
	if k.bits == 0 {
		if i.Bytes/4 < int64(n) {
			return fmt.Errorf("%.100q: %v does not fit %d bytes", i.Name, i, i.Bytes)
		}
		return nil
	}
	if int64(n) > math.MaxInt64/int64(k.bits) || (int64(n)*int64(k.bits)+7)/8 != i.Bytes {
		return fmt.Errorf("%.100q: %v is not %d bytes", i.Name, i, i.Bytes)
	}
	return nil
}

// note sets the type and shape of the tensor called name. text is its metadata entry, such as
// "i4[3,5]". note returns an error if the stored bytes do not fit the type and shape.
func (t *tensors) note(name, text string) error {
	bad := func(why string) error {
		return fmt.Errorf("%.100q: note %.100q: %s", name, text, why)
	}
	x := t.byName[name]
	if x == nil {
		return bad("no such tensor")
	}
	if x.DType != "u8" || len(x.Shape) != 1 {
		return bad("tensor is " + x.Info.String() + ", not bytes")
	}
	dtype, rest, ok := strings.Cut(text, "[")
	extents, ok2 := strings.CutSuffix(rest, "]")
	if !ok || !ok2 || !noted(dtype) {
		return bad("not a type that needs one")
	}
	info := Info{name, dtype, nil, x.Bytes}
	if extents != "" {
		for _, digits := range strings.Split(extents, ",") {
			n, err := strconv.ParseUint(digits, 10, strconv.IntSize-1)
			if err != nil {
				return bad("extent " + strconv.Quote(digits) + " is not a number that fits an int")
			}
			info.Shape = append(info.Shape, int(n))
		}
	}
	if err := info.check(); err != nil {
		return err
	}
	x.Info = info
	return nil
}

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// reverse copies src to dst with the bytes of each element reversed. width is the size of an
// element in bytes.
func reverse(dst, src []byte, width int) {
	for i := 0; i < len(src); i += width {
		for k := range width {
			dst[i+k] = src[i+width-1-k]
		}
	}
}

// pack packs codes, whose low `bits` bits count, into bytes. It fills each byte from the low bits
// up.
func pack(codes []byte, bits int) []byte {
	packed := make([]byte, (len(codes)*bits+7)/8)
	for i, c := range codes {
		packed[i*bits/8] |= c & (1<<bits - 1) << (i * bits % 8)
	}
	return packed
}

// unpack is the inverse of pack: it writes to codes the first len(codes) codes of `bits` bits in
// packed. If signed is true, it extends the sign of each code to 8 bits.
func unpack(codes, packed []byte, bits int, signed bool) {
	for i := range codes {
		c := packed[i*bits/8] >> (i * bits % 8) & (1<<bits - 1)
		if signed {
			c = byte(int8(c<<(8-bits)) >> (8 - bits))
		}
		codes[i] = c
	}
}

// joinStrings returns list in the storage format of a string tensor.
func joinStrings(list []string) ([]byte, error) {
	var raw []byte
	for _, s := range list {
		if uint64(len(s)) > math.MaxUint32 {
			return nil, fmt.Errorf("string of %d bytes: limit is 2^32", len(s))
		}
		raw = binary.LittleEndian.AppendUint32(raw, uint32(len(s)))
	}
	for _, s := range list {
		raw = append(raw, s...)
	}
	return raw, nil
}

// splitStrings is the inverse of joinStrings for n strings. The result does not share memory with
// raw.
func splitStrings(raw []byte, n int) ([]string, error) {
	if n > len(raw)/4 {
		return nil, fmt.Errorf("%d bytes do not hold %d lengths", len(raw), n)
	}
	list := make([]string, n)
	text := string(raw[4*n:])
	for i := range list {
		size := int64(binary.LittleEndian.Uint32(raw[4*i:]))
		if size > int64(len(text)) {
			return nil, fmt.Errorf("element %d has %d bytes: %d are left", i, size, len(text))
		}
		list[i], text = text[:size], text[size:]
	}
	if text != "" {
		return nil, fmt.Errorf("%d bytes after the last element", len(text))
	}
	return list, nil
}
