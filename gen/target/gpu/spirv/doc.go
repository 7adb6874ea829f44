// Package spirv writes kernels as SPIR-V, the machine language of Vulkan, and checks modules. It does
// not know any device, driver or operator.
package spirv
