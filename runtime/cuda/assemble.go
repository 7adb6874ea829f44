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

// assemble compiles PTX with the driver's linker. It returns the device code and the compiler's
// log.
func (d *device) assemble(code []byte) (binary []byte, log string, err error) {
	if len(code) == 0 {
		return nil, "", errors.New("cuda: compiling: the code is empty")
	}
	logs := newLogs()
	defer logs.close()
	var link libcuda.Link
	if r := d.api.LinkCreate(uint32(len(logs.options)), &logs.options[0], &logs.values[0], &link); r != libcuda.Success {
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
	if r != libcuda.Success {
		return nil, "", d.notCompiled(r, logs)
	}
	return bytes.Clone(unsafe.Slice(compiled, size)), text(logs.info), nil
}

// loadText compiles and loads PTX without the linker. It returns the module and the compiler's log.
// It is for code with the instruction setmaxnreg. The linker ignores this instruction, because it
// compiles code so that other code may be linked to it. The driver itself caches code that it
// compiles without the linker.
func (d *device) loadText(code []byte) (m libcuda.Module, log string, err error) {
	logs := newLogs()
	defer logs.close()
	source := append(slices.Clip(code), 0)
	r := d.api.ModuleLoadDataEx(&m, &source[0], uint32(len(logs.options)), &logs.options[0], &logs.values[0])
	if r != libcuda.Success {
		return 0, "", d.notCompiled(r, logs)
	}
	return m, text(logs.info), nil
}

func (d *device) notCompiled(r libcuda.Result, logs *logs) error {
	switch r {
	case libcuda.UnsupportedPTX:
		return fmt.Errorf("cuda: compiling: %s: the driver (%s) is too old for this code", errorName(d.api, r), d.info.Driver)
	case libcuda.NoBinaryForGPU:
		return fmt.Errorf("cuda: compiling: %s: the code is not for capability %s", errorName(d.api, r), d.info.Capability)
	}
	if said := oneLine(text(logs.failure)); said != "" {
		return d.failed(r, "compiling: %s", said)
	}
	return d.failed(r, "compiling")
}

// logs holds the memory for the compiler's logs, and the options that pass this memory to the
// driver. The driver writes to this memory until the link is destroyed or the module is loaded.
type logs struct {
	info, failure []byte
	options       []libcuda.JITOption
	values        []uintptr
	pinner        runtime.Pinner
}

// newLogs returns logs in pinned memory. The method close unpins the memory.
func newLogs() *logs {
	l := &logs{info: make([]byte, 1<<20), failure: make([]byte, 1<<16)}
	l.options = []libcuda.JITOption{libcuda.InfoLog, libcuda.InfoLogSize, libcuda.ErrorLog, libcuda.ErrorLogSize, libcuda.LogVerbose}
	l.values = []uintptr{uintptr(unsafe.Pointer(&l.info[0])), uintptr(len(l.info)), uintptr(unsafe.Pointer(&l.failure[0])), uintptr(len(l.failure)), 1}
	l.pinner.Pin(&l.info[0])
	l.pinner.Pin(&l.failure[0])
	l.pinner.Pin(&l.options[0])
	l.pinner.Pin(&l.values[0])
	return l
}

func (l *logs) close() { l.pinner.Unpin() }

// oneLine returns the first three lines of a text as one line. It appends "…" if there are more
// lines.
func oneLine(s string) string {
	lines := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' })
	if len(lines) > 3 {
		lines = append(lines[:3], "…")
	}
	return strings.Join(lines, "; ")
}
