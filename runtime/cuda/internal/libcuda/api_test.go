//go:build ((linux && !android) || windows) && (amd64 || arm64)

package libcuda

import (
	"errors"
	"strings"
	"testing"
	"unsafe"
)

// TestLayout compares structs with what a C compiler makes of the driver's header on 64-bit machines.
func TestLayout(t *testing.T) {
	var k KernelNode
	var m MemcpyNode
	var p NodeParams
	for name, c := range map[string][2]uintptr{
		"KernelNode":         {unsafe.Sizeof(k), 72},
		"KernelNode.Shared":  {unsafe.Offsetof(k.Shared), 32},
		"KernelNode.Params":  {unsafe.Offsetof(k.Params), 40},
		"KernelNode.Context": {unsafe.Offsetof(k.Context), 64},
		"NodeParams":         {unsafe.Sizeof(p), 256},
		"NodeParams.Kernel":  {unsafe.Offsetof(p.Kernel), 16},
		"Edge":               {unsafe.Sizeof(Edge{}), 8},
		"MemcpyNode":         {unsafe.Sizeof(m), 200},
		"MemcpyEnd.Type":     {unsafe.Offsetof(m.From.Type), 32},
		"MemcpyEnd.Host":     {unsafe.Offsetof(m.From.Host), 40},
		"MemcpyEnd.Pitch":    {unsafe.Offsetof(m.From.Pitch), 72},
		"MemcpyNode.To":      {unsafe.Offsetof(m.To), 88},
		"MemcpyNode.Width":   {unsafe.Offsetof(m.Width), 176},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %d, want %d", name, c[0], c[1])
		}
	}
}

// TestBind asks for every function, and needs all but the optional ones.
func TestBind(t *testing.T) {
	asked := map[string]bool{}
	address := func(name string) (uintptr, error) {
		asked[name] = true
		return 4096, nil // is not called
	}
	api, err := Bind(address)
	if err != nil || api.FuncGetParamInfo == nil || api.LaunchKernel == nil {
		t.Fatal(err)
	}
	for missing := range asked {
		api, err := Bind(func(name string) (uintptr, error) {
			if name == missing {
				return 0, errors.New("undefined symbol")
			}
			return address(name)
		})
		if missing == "cuFuncGetParamInfo" || missing == "cuGraphAddNode_v2" {
			if err != nil || (api.FuncGetParamInfo == nil) == (api.GraphAddNode == nil) {
				t.Errorf("without %s: %v", missing, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), "no function "+missing+": the driver is older than CUDA 12") {
			t.Errorf("without %s: %v", missing, err)
		}
	}
}
