//go:build (linux && !android && !faketime && (amd64 || arm64 || loong64 || riscv64)) || (darwin && !ios && (amd64 || arm64))

package vulkan

import (
	"runtime"

	"github.com/ebitengine/purego"
)

// openLibrary opens Vulkan's loader and returns the address of vkGetInstanceProcAddr.
func openLibrary() (uintptr, error) {
	names := []string{"libvulkan.so.1"}
	if runtime.GOOS == "darwin" {
		names = []string{"libvulkan.1.dylib", "/opt/homebrew/lib/libvulkan.1.dylib", "libMoltenVK.dylib"}
	}
	var first error
	for _, name := range names {
		library, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err == nil {
			return purego.Dlsym(library, "vkGetInstanceProcAddr")
		}
		if first == nil {
			first = err
		}
	}
	return 0, first
}
