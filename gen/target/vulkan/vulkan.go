// Package vulkan is the target for GPUs with a driver of Vulkan. Generated packages have kernels in SPIR-V. It does
// not know how kernels are made.
package vulkan

import (
	"github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/gen/target/gpu/spirv"
)

// Target returns the target of GPUs with Vulkan, without a device.
func Target() gpu.Target {
	return gpu.Target{Language: gpu.Language{
		Name: "vulkan", Driver: "github.com/burngen/burngen/runtime/vulkan", File: "kernels.spv",
		Write: spirv.Portable,
	}}
}
