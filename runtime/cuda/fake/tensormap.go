package fake

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/burngen/burngen/runtime/cuda/internal/libcuda"
)

// mapMagic is the beginning of a tensor map of the fake. The rest of a map is an address, a type, a
// rank, the extents and the box. Extents and box are in order from the last axis to the first.
const mapMagic = "fakemaps"

// Map is a map of a tensor, see [MapOf].
type Map struct {
	Address      uint64
	Type         uint32 // CUtensorMapDataType
	Extents, Box []int  // from the last axis on
}

// MapOf returns the map in a parameter of a kernel. It returns an error if the parameter is not a map.
func MapOf(param []byte) (Map, error) {
	if len(param) != int(unsafe.Sizeof(libcuda.TensorMap{})) || string(param[:len(mapMagic)]) != mapMagic {
		return Map{}, fmt.Errorf("a parameter of %d bytes is not a map", len(param))
	}
	word := func(i int) int { return int(binary.LittleEndian.Uint32(param[16+4*i:])) }
	m := Map{Address: binary.LittleEndian.Uint64(param[8:]), Type: uint32(word(0))}
	for i := range word(1) {
		m.Extents, m.Box = append(m.Extents, word(2+2*i)), append(m.Box, word(3+2*i))
	}
	return m, nil
}

// tensorMapEncode encodes a tensor map. It accepts only tensors that are row-major, with boxes
// whose rows have at most 128 bytes. It rejects what the driver rejects.
func tensorMapEncode(out *libcuda.TensorMap, element libcuda.ElementType, rank uint32, at libcuda.Address, extents, strides *uint64, box, steps *uint32, interleave, swizzle, _, fill uint32) libcuda.Result {
	size := map[libcuda.ElementType]uint64{libcuda.Float16: 2, libcuda.BFloat16: 2, libcuda.TFloat32: 4}[element]
	if uintptr(unsafe.Pointer(out))%64 != 0 || size == 0 || rank < 1 || rank > 5 || at%16 != 0 || interleave != 0 || swizzle != libcuda.Swizzle128 || fill != 0 {
		return libcuda.InvalidValue
	}
	m := append(out[:0], mapMagic...)
	m = binary.LittleEndian.AppendUint64(m, uint64(at))
	m = binary.LittleEndian.AppendUint32(m, uint32(element))
	m = binary.LittleEndian.AppendUint32(m, rank)
	n, b, s, stride := unsafe.Slice(extents, rank), unsafe.Slice(box, rank), unsafe.Slice(steps, rank), unsafe.Slice(strides, rank-1)
	expected := size
	for i := range n {
		if n[i] < 1 || n[i] > 1<<31 || b[i] < 1 || b[i] > 256 || s[i] != 1 || i == 0 && uint64(b[0])*size > 128 {
			return libcuda.InvalidValue
		}
		if expected *= n[i]; i+1 < int(rank) && (stride[i] != expected || stride[i]%16 != 0) {
			return libcuda.InvalidValue
		}
		m = binary.LittleEndian.AppendUint32(m, uint32(n[i]))
		m = binary.LittleEndian.AppendUint32(m, b[i])
	}
	return libcuda.Success
}
