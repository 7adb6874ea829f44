// Package gpu has the devices, memory, kernels and sessions that generated packages for GPUs use. It
// does not contain a driver: packages cuda and vulkan have one each. It does not know any model or
// operator.
package gpu
