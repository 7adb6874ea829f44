//go:build ((linux && !android) || windows) && (amd64 || arm64)

package libcuda

import (
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Bind returns an API whose fields call C functions. `lookup` returns the address of a C function
// by its name. Bind returns an error if a function that is not optional is missing.
func Bind(lookup func(name string) (uintptr, error)) (*API, error) {
	a := new(API)
	address := map[string]uintptr{}
	fields := reflect.ValueOf(a).Elem()
	for i := range fields.NumField() {
		name, optional := strings.CutSuffix(fields.Type().Field(i).Tag.Get("c"), ",optional")
		f, err := lookup(name)
		switch {
		case err == nil && f != 0:
			purego.RegisterFunc(fields.Field(i).Addr().Interface(), f)
			address[name] = f
		case !optional:
			return nil, fmt.Errorf("the library has no function %s: the driver is older than CUDA %d", name, MinVersion/1000)
		}
	}
	a.bindHot(address)
	return a, nil
}

// bindHot replaces the functions of a that a model calls in every step. The new functions call C
// with SyscallN, which takes a third of the time of functions from RegisterFunc. address maps the
// names of C functions to their addresses.
func (a *API) bindHot(address map[string]uintptr) {
	setCurrent, query := address["cuCtxSetCurrent"], address["cuStreamQuery"]
	a.CtxSetCurrent = func(c Context) Result { return call(setCurrent, uintptr(c)) }
	a.StreamQuery = func(s Stream) Result { return call(query, uintptr(s)) }

	launchGraph, launchKernel := address["cuGraphLaunch"], address["cuLaunchKernel"]
	a.GraphLaunch = func(e Exec, s Stream) Result { return call(launchGraph, uintptr(e), uintptr(s)) }
	a.LaunchKernel = func(f Function, gridX, gridY, gridZ, blockX, blockY, blockZ, shared uint32, s Stream, params, extra *unsafe.Pointer) Result {
		return call(launchKernel, uintptr(f), uintptr(gridX), uintptr(gridY), uintptr(gridZ), uintptr(blockX), uintptr(blockY),
			uintptr(blockZ), uintptr(shared), uintptr(s), uintptr(unsafe.Pointer(params)), uintptr(unsafe.Pointer(extra)))
	}
}

//go:uintptrescapes
func call(f uintptr, args ...uintptr) Result {
	r, _, _ := purego.SyscallN(f, args...)
	return Result(int32(r))
}
