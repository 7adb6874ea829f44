package cuda

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/burngen/burngen/runtime/cuda/internal/libcuda"
	"github.com/burngen/burngen/runtime/gpu"
)

// mapBytes is the size of an encoded tensor map in bytes. The address of an encoded map must be a
// multiple of mapAlign.
const (
	mapBytes = unsafe.Sizeof(libcuda.TensorMap{})
	mapAlign = 64
)

// elementTypes maps the element types of [gpu.Map] to the element types of tensor maps.
var elementTypes = map[string]libcuda.ElementType{"f16": libcuda.Float16, "bf16": libcuda.BFloat16, "f32": libcuda.TFloat32}

func (k *kernel) isMap(arg int) bool {
	return slices.ContainsFunc(k.Maps, func(m gpu.Map) bool { return m.Arg == arg })
}

// setParams sets params, the array of pointers to arguments that a launch passes to the driver.
// params[i] points to args[i] or, if argument i is a tensor, to the tensor's encoded map. The
// driver copies what the pointers point to when the kernel is launched or added to a graph.
func (k *kernel) setParams(params []unsafe.Pointer, args []uint64) error {
	for i := range args {
		params[i] = unsafe.Pointer(&args[i])
	}
	for _, m := range k.Maps {
		encoded, err := k.encode(m, args[m.Arg])
		if err != nil {
			return err
		}
		params[m.Arg] = unsafe.Pointer(encoded)
	}
	return nil
}

// encode returns the encoded tensor map of a tensor. `at` is the device address of the tensor.
func (k *kernel) encode(m gpu.Map, at uint64) (*libcuda.TensorMap, error) {
	element, ok := elementTypes[m.Type]
	rank := len(m.Extents)
	if !ok || rank < 2 || len(m.Box) != rank {
		return nil, fmt.Errorf("cuda: kernel %s: argument %d is a map of %s with the extents %v and %v", k.Name, m.Arg, m.Type, m.Extents, m.Box)
	}
	extents, strides := make([]uint64, rank), make([]uint64, rank)
	box, steps := make([]uint32, rank), make([]uint32, rank)
	stride := uint64(4)
	if element != libcuda.TFloat32 {
		stride = 2
	}
	for i := range rank {
		extents[i], box[i], steps[i] = uint64(m.Extents[rank-1-i]), uint32(m.Box[rank-1-i]), 1
		stride *= extents[i]
		strides[i] = stride // of the next axis
	}
	room := make([]byte, mapBytes+mapAlign)
	first := uintptr(unsafe.Pointer(&room[0]))
	encoded := (*libcuda.TensorMap)(unsafe.Pointer(&room[-first%mapAlign]))
	r := k.module.device.api.TensorMapEncode(encoded, element, uint32(rank), libcuda.Address(at), &extents[0], &strides[0], &box[0], &steps[0],
		0, libcuda.Swizzle128, libcuda.Promotion128, 0)
	if r != libcuda.Success {
		return nil, k.module.device.failed(r, "kernel %s: the map of argument %d at %#x", k.Name, m.Arg, at)
	}
	return encoded, nil
}
