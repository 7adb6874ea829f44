// Package gpu is what generated packages for GPUs call: devices, memory, kernels and sessions. It
// knows no driver: packages cuda and vulkan have one each. It does not know any model or operator.
package gpu
