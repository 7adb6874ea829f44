// Package vulkan computes on the GPUs that have a driver for Vulkan 1.2. It opens Vulkan's loader
// at run time and needs neither cgo nor headers. The package does not know any model or operator.
//
// # Kernels
//
// A kernel is an entry point of a SPIR-V module; both have the same name. It has one push constant:
// 8 bytes at offset 0, the device address of the arguments. The arguments are 64-bit words. Each
// word is an address, an integer, or the bits of a float in its low bytes. The execution mode
// LocalSize of the entry point is the block of the kernel. [gpu.Info.Features] lists what kernels
// may use beyond addresses: features of the device by their names in Vulkan, and the groups of
// subgroup operations ("subgroup arithmetic").
//
// Code consists of one or more modules, one after the other. Several modules may have a kernel of
// one name. The device then takes the first for which it has the features. So a kernel may have a
// second form, without a feature that not all devices have.
//
// A device may lack integers of 8, 16 or 64 bits, or storage of 8 or 16 bits. An allocation then
// has at most 8 GiB, because a kernel may access an array as 32-bit words with indices of 32 bits.
//
// # Queues
//
// A queue collects launches and copies, and submits them to the device when it has 64, at Replay
// and at Wait. Each launch or copy starts when all earlier ones have ended.
//
// # Environment
//
// BURNGEN_VULKAN_VALIDATION=1 checks all calls with the Khronos validation layer, which must be
// installed. A message of the layer becomes the error of a method that runs then or later.
// Pipelines are kept in the folder burngen of [os.UserCacheDir]. Its files can be deleted at any
// time.
package vulkan
