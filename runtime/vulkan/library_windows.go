//go:build amd64 || arm64

package vulkan

import "golang.org/x/sys/windows"

// openLibrary opens Vulkan's loader and returns the address of vkGetInstanceProcAddr.
func openLibrary() (uintptr, error) {
	proc := windows.NewLazySystemDLL("vulkan-1.dll").NewProc("vkGetInstanceProcAddr")
	if err := proc.Find(); err != nil {
		return 0, err
	}
	return proc.Addr(), nil
}
