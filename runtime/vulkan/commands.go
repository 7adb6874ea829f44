package vulkan

import (
	"unsafe"
)

// commands is a command buffer that is being recorded. Each command waits for all earlier
// commands, also for those in earlier submissions.
type commands struct {
	device *device
	handle uintptr
	// number of commands so far
	count int
	// pipeline of the last launch
	bound handle
	// the host reads results of copies
	reads bool
}

// everything is a barrier that makes the writes of earlier commands visible to later ones.
var everything = &memoryBarrier{
	sType:       typeMemoryBarrier,
	source:      accessShaderWrite | accessTransferWrite,
	destination: accessShaderRead | accessShaderWrite | accessTransferRead | accessTransferWrite,
}

// toHost is a barrier that makes the writes of copies visible to the host.
var toHost = &memoryBarrier{sType: typeMemoryBarrier, source: accessTransferWrite, destination: accessHostRead}

// newCommandPool creates a command pool. Only one goroutine at a time may use the pool and its
// buffers.
func (d *device) newCommandPool() (pool handle, err error) {
	create := &commandPoolCreateInfo{sType: typeCommandPoolCreateInfo, flags: commandPoolResetCommandBuffer, family: d.adapter.family}
	err = d.vk.CreateCommandPool.try(d.handle, uintptr(unsafe.Pointer(create)), 0, uintptr(unsafe.Pointer(&pool)))
	return pool, err
}

func (d *device) newCommandBuffer(pool handle) (buffer uintptr, err error) {
	allocate := &commandBufferAllocateInfo{sType: typeCommandBufferAllocateInfo, pool: pool, count: 1}
	err = d.vk.AllocateCommandBuffers.try(d.handle, uintptr(unsafe.Pointer(allocate)), uintptr(unsafe.Pointer(&buffer)))
	return buffer, err
}

func (d *device) begin(buffer uintptr, flags uint32) (*commands, error) {
	info := &commandBufferBeginInfo{sType: typeCommandBufferBeginInfo, flags: flags}
	if err := d.vk.BeginCommandBuffer.try(buffer, uintptr(unsafe.Pointer(info))); err != nil {
		return nil, err
	}
	return &commands{device: d, handle: buffer}, nil
}

func (c *commands) barrier(from, to uintptr, b *memoryBarrier) {
	c.device.vk.CmdPipelineBarrier.call(c.handle, from, to, 0, 1, uintptr(unsafe.Pointer(b)), 0, 0, 0, 0)
}

// next records a barrier before a new command.
func (c *commands) next() {
	c.barrier(stageComputeShader|stageTransfer, stageComputeShader|stageTransfer, everything)
	c.count++
}

// launch records the launch of a kernel. arguments is the device address of the argument block.
func (c *commands) launch(k *kernel, grid [3]int, arguments uint64) {
	c.next()
	vk := &c.device.vk
	if c.bound != k.pipeline {
		vk.CmdBindPipeline.call(c.handle, bindPointCompute, uintptr(k.pipeline))
		c.bound = k.pipeline
	}
	vk.CmdPushConstants.call(c.handle, uintptr(c.device.layout), shaderStageCompute, 0, 8, uintptr(unsafe.Pointer(&arguments)))
	vk.CmdDispatch.call(c.handle, uintptr(grid[0]), uintptr(grid[1]), uintptr(grid[2]))
}

func (c *commands) copy(to, from place, n int) {
	c.next()
	region := &bufferCopy{from: uint64(from.offset), to: uint64(to.offset), size: uint64(n)}
	c.device.vk.CmdCopyBuffer.call(c.handle, uintptr(from.buffer), uintptr(to.buffer), 1, uintptr(unsafe.Pointer(region)))
}

func (c *commands) end() error {
	if c.reads {
		c.barrier(stageTransfer, stageHost, toHost)
	}
	return c.device.vk.EndCommandBuffer.try(c.handle)
}
