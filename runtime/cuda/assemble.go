package cuda

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"github.com/burngen/burngen/runtime/cuda/internal/libcuda"
)

// assemble compiles PTX for the device with the driver's linker. It returns the device code and the
// compiler's log.
func (d *device) assemble(code []byte) (binary []byte, log string, err error) {
	if len(code) == 0 {
		return nil, "", errors.New("cuda: compiling: the code is empty")
	}
	// The driver writes to the logs until the link is destroyed.
	info, failure := make([]byte, 1<<20), make([]byte, 1<<16)
	var pinner runtime.Pinner
	defer pinner.Unpin()
	pinner.Pin(&info[0])
	pinner.Pin(&failure[0])
	options := []libcuda.JITOption{libcuda.InfoLog, libcuda.InfoLogSize, libcuda.ErrorLog, libcuda.ErrorLogSize, libcuda.LogVerbose}
	values := []uintptr{uintptr(unsafe.Pointer(&info[0])), uintptr(len(info)), uintptr(unsafe.Pointer(&failure[0])), uintptr(len(failure)), 1}
	pinner.Pin(&options[0])
	pinner.Pin(&values[0])

	var link libcuda.Link
	if r := d.api.LinkCreate(uint32(len(options)), &options[0], &values[0], &link); r != libcuda.Success {
		return nil, "", d.failed(r, "starting the compiler")
	}
	defer d.api.LinkDestroy(link)
	name := []byte("kernels.ptx\x00")
	source := append(slices.Clip(code), 0)
	var compiled *byte
	var size uintptr
	r := d.api.LinkAddData(link, libcuda.InputPTX, &source[0], uintptr(len(source)), &name[0], 0, nil, nil)
	if r == libcuda.Success {
		r = d.api.LinkComplete(link, &compiled, &size)
	}
	switch r {
	case libcuda.Success:
		return bytes.Clone(unsafe.Slice(compiled, size)), text(info), nil
	case libcuda.UnsupportedPTX:
		return nil, "", fmt.Errorf("cuda: compiling: %s: the driver (%s) is too old for this code", errorName(d.api, r), d.info.Driver)
	case libcuda.NoBinaryForGPU:
		return nil, "", fmt.Errorf("cuda: compiling: %s: the code is not for capability %s", errorName(d.api, r), d.info.Capability)
	}
	if said := oneLine(text(failure)); said != "" {
		return nil, "", d.failed(r, "compiling: %s", said)
	}
	return nil, "", d.failed(r, "compiling")
}

// oneLine returns the first three lines of a text as one line, which ends in "…" if there are more.
func oneLine(s string) string {
	lines := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' })
	if len(lines) > 3 {
		lines = append(lines[:3], "…")
	}
	return strings.Join(lines, "; ")
}
