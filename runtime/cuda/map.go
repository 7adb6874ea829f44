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
		encoded, err := k.encode(m, args)
		if err != nil {
			return err
		}
		params[m.Arg] = unsafe.Pointer(encoded)
	}
	return nil
}

// encode returns the tensor map m of a launch with these arguments.
func (k *kernel) encode(m gpu.Map, args []uint64) (*libcuda.TensorMap, error) {
	element, ok := elementTypes[m.Type]
	rank, spatial := len(m.Extents), len(m.First)
	boxes := rank
	if spatial > 0 {
		boxes = 2
	}
	if !ok || rank < 2 || len(m.Box) != boxes || spatial > 0 && (spatial != rank-2 || len(m.Last) != spatial || len(m.Step) != spatial) {
		return nil, fmt.Errorf("cuda: kernel %s: argument %d is a map of %s with the extents %v and %v", k.Name, m.Arg, m.Type, m.Extents, m.Box)
	}
	all := slices.Clone(m.Extents)
	if all[0] == 0 {
		all[0] = int(int32(args[m.Outer]))
	}
	extents, strides, steps := make([]uint64, rank), make([]uint64, rank), make([]uint32, rank)
	stride := uint64(4)
	if element != libcuda.TFloat32 {
		stride = 2
	}
	for i := range rank {
		extents[i], steps[i] = uint64(all[rank-1-i]), 1
		stride *= extents[i]
		strides[i] = stride // of the next axis
	}
	room := make([]byte, mapBytes+mapAlign)
	first := uintptr(unsafe.Pointer(&room[0]))
	encoded, at := (*libcuda.TensorMap)(unsafe.Pointer(&room[-first%mapAlign])), libcuda.Address(args[m.Arg])
	api := k.module.device.api
	var r libcuda.Result
	if spatial == 0 {
		box := make([]uint32, rank)
		for i := range rank {
			box[i] = uint32(m.Box[rank-1-i])
		}
		r = api.TensorMapEncode(encoded, element, uint32(rank), at, &extents[0], &strides[0], &box[0], &steps[0],
			0, libcuda.Swizzle128, libcuda.Promotion128, 0)
	} else {
		lower, upper := make([]int32, spatial), make([]int32, spatial)
		for i := range spatial {
			from := spatial - 1 - i
			lower[i], upper[i], steps[1+i] = int32(m.First[from]), int32(m.Last[from]-(m.Extents[1+from]-1)), uint32(m.Step[from])
		}
		r = api.TensorMapEncodeIm2col(encoded, element, uint32(rank), at, &extents[0], &strides[0], &lower[0], &upper[0], uint32(m.Box[1]), uint32(m.Box[0]), &steps[0],
			0, libcuda.Swizzle128, libcuda.Promotion128, 0)
	}
	if r != libcuda.Success {
		return nil, k.module.device.failed(r, "kernel %s: the map of argument %d at %#x", k.Name, m.Arg, at)
	}
	return encoded, nil
}
