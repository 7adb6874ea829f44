package vulkan

import (
	"context"
	"unsafe"

	"github.com/burngen/burngen/runtime/gpu"
)

// timeline is a timeline semaphore of Vulkan, a counter. It grows by 1 when a submission that was
// submitted with it ends.
type timeline struct {
	device *device
	handle handle
	// value once all submissions have ended
	last uint64
}

func (d *device) newTimeline() (timeline, error) {
	t := timeline{device: d}
	create := &semaphoreCreateInfo{sType: typeSemaphoreCreateInfo, next: &semaphoreTypeCreateInfo{sType: typeSemaphoreTypeCreateInfo, kind: semaphoreTimeline}}
	err := d.vk.CreateSemaphore.try(d.handle, uintptr(unsafe.Pointer(create)), 0, uintptr(unsafe.Pointer(&t.handle)))
	return t, err
}

func (t *timeline) count() (n uint64, err error) {
	vk := &t.device.vk
	err = vk.GetSemaphoreCounterValue.try(t.device.handle, uintptr(t.handle), uintptr(unsafe.Pointer(&n)))
	return n, err
}

// wait waits until the counter is at least n. It returns the cause of ctx if ctx is done first, and
// the driver's errors. It polls the counter, because vkWaitSemaphores would call the operating
// system.
func (t *timeline) wait(ctx context.Context, n uint64) error {
	return gpu.Poll(ctx, func() (bool, error) {
		now, err := t.count()
		return now >= n, err
	})
}

func (t *timeline) close() {
	t.device.vk.DestroySemaphore.call(t.device.handle, uintptr(t.handle), 0)
}

// submit submits a command buffer to a driver queue. Each of the timelines grows by 1 when the
// buffer has been executed.
func (d *device) submit(to *hardwareQueue, buffer uintptr, timelines ...*timeline) error {
	handles, values := make([]handle, len(timelines)), make([]uint64, len(timelines))
	for i, t := range timelines {
		handles[i], values[i] = t.handle, t.last+1
	}
	info := &submitInfo{
		sType:        typeSubmitInfo,
		next:         &timelineSemaphoreSubmitInfo{sType: typeTimelineSemaphoreSubmitInfo, signalCount: uint32(len(values)), signals: &values[0]},
		commandCount: 1,
		commands:     &buffer,
		signalCount:  uint32(len(handles)),
		signals:      &handles[0],
	}
	to.mu.Lock()
	defer to.mu.Unlock()
	if err := d.vk.QueueSubmit.try(to.handle, 1, uintptr(unsafe.Pointer(info)), 0); err != nil {
		return err
	}
	for _, t := range timelines {
		t.last++
	}
	return nil
}
