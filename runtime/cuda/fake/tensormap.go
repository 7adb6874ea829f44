package fake

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/burngen/burngen/runtime/cuda/internal/libcuda"
)

// mapMagic is the beginning of a tensor map of the fake. These values follow:
//
//   - the address, type, rank and extents of the tensor
//   - the number of windows of a box, or 0 if boxes do not consist of windows
//   - the extents of the box if there are no windows
//   - otherwise the number of channels, and lower, upper and step of each spatial axis
//
// All axes are in order from the last one to the first.
const mapMagic = "fakemaps"

// Map is a map of a tensor, see [MapOf].
type Map struct {
	Address      uint64
	Type         uint32 // CUtensorMapDataType
	Extents, Box []int  // from the last axis on; Box has channels and windows if there are windows
	// Lower, Upper and Step describe windows, from the last spatial axis on. They are nil if there are no windows.
	Lower, Upper, Step []int
}

// MapOf returns the map in a parameter of a kernel. It returns an error if the parameter is not a map.
func MapOf(param []byte) (Map, error) {
	if len(param) != int(unsafe.Sizeof(libcuda.TensorMap{})) || string(param[:len(mapMagic)]) != mapMagic {
		return Map{}, fmt.Errorf("a parameter of %d bytes is not a map", len(param))
	}
	next := 16
	word := func() int { next += 4; return int(int32(binary.LittleEndian.Uint32(param[next-4:]))) }
	m := Map{Address: binary.LittleEndian.Uint64(param[8:]), Type: uint32(word())}
	rank := word()
	for range rank {
		m.Extents = append(m.Extents, word())
	}
	windows := word()
	if windows == 0 {
		for range rank {
			m.Box = append(m.Box, word())
		}
		return m, nil
	}
	m.Box = []int{word(), windows}
	for range rank - 2 {
		m.Lower, m.Upper, m.Step = append(m.Lower, word()), append(m.Upper, word()), append(m.Step, word())
	}
	return m, nil
}

// beginMap writes the beginning of a map to out, and returns it. size is the size of an element in bytes. ok is false
// unless the tensor is row-major and the driver accepts it.
func beginMap(out *libcuda.TensorMap, element libcuda.ElementType, rank uint32, at libcuda.Address, extents, strides *uint64, interleave, swizzle, fill uint32) (m []byte, size uint64, ok bool) {
	size = map[libcuda.ElementType]uint64{libcuda.Float16: 2, libcuda.BFloat16: 2, libcuda.TFloat32: 4}[element]
	if uintptr(unsafe.Pointer(out))%64 != 0 || size == 0 || rank < 1 || rank > 5 || at%16 != 0 || interleave != 0 || swizzle != libcuda.Swizzle128 || fill != 0 {
		return nil, 0, false
	}
	m = append(out[:0], mapMagic...)
	m = binary.LittleEndian.AppendUint64(m, uint64(at))
	m = word(word(m, uint64(element)), uint64(rank))
	n, stride := unsafe.Slice(extents, rank), unsafe.Slice(strides, rank-1)
	expected := size
	for i := range n {
		if n[i] < 1 || n[i] > 1<<31 {
			return nil, 0, false
		}
		if expected *= n[i]; i+1 < int(rank) && (stride[i] != expected || stride[i]%16 != 0) {
			return nil, 0, false
		}
		m = word(m, n[i])
	}
	return m, size, true
}

func word[T uint32 | uint64 | int32](m []byte, x T) []byte {
	return binary.LittleEndian.AppendUint32(m, uint32(x))
}

// tensorMapEncode accepts the tensors that the driver accepts, if they are row-major and have boxes
// with rows of at most 128 bytes.
func tensorMapEncode(out *libcuda.TensorMap, element libcuda.ElementType, rank uint32, at libcuda.Address, extents, strides *uint64, box, steps *uint32, interleave, swizzle, _, fill uint32) libcuda.Result {
	m, size, ok := beginMap(out, element, rank, at, extents, strides, interleave, swizzle, fill)
	if !ok {
		return libcuda.InvalidValue
	}
	m = word(m, uint32(0))
	b, s := unsafe.Slice(box, rank), unsafe.Slice(steps, rank)
	for i := range b {
		if b[i] < 1 || b[i] > 256 || s[i] != 1 || i == 0 && uint64(b[0])*size > 128 {
			return libcuda.InvalidValue
		}
		m = word(m, b[i])
	}
	return libcuda.Success
}

// tensorMapEncodeIm2col is [tensorMapEncode] for windows.
func tensorMapEncodeIm2col(out *libcuda.TensorMap, element libcuda.ElementType, rank uint32, at libcuda.Address, extents, strides *uint64, lower, upper *int32, channels, pixels uint32, steps *uint32, interleave, swizzle, _, fill uint32) libcuda.Result {
	m, size, ok := beginMap(out, element, rank, at, extents, strides, interleave, swizzle, fill)
	if !ok || rank < 3 || channels < 1 || uint64(channels)*size > 128 || pixels < 1 || pixels > 1024 {
		return libcuda.InvalidValue
	}
	m = word(word(m, pixels), channels)
	limit := int32(1) << ([]int{15, 7, 4}[rank-3])
	low, up, s := unsafe.Slice(lower, rank-2), unsafe.Slice(upper, rank-2), unsafe.Slice(steps, rank)
	for i := range low {
		if low[i] < -limit || low[i] >= limit || up[i] < -limit || up[i] >= limit || s[1+i] < 1 || s[1+i] > 8 {
			return libcuda.InvalidValue
		}
		m = word(word(word(m, low[i]), up[i]), s[1+i])
	}
	return libcuda.Success
}
