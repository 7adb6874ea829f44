package vulkan

import (
	"context"
	"fmt"
	"time"
	"unsafe"

	"github.com/burngen/burngen/runtime/gpu"
)

// stampsPerPool is the number of timestamp queries in a pool.
const stampsPerPool = 256

// clock holds the timestamp queries with which a queue reads the device's clock (Vulkan 1.2,
// "Timestamp Queries"). A reading is called a stamp.
type clock struct {
	// all created pools
	pools []handle
	// number of queries in use
	stamps int
}

// Stamp implements [gpu.Timed].
func (q *queue) Stamp() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.usable(); err != nil {
		return err
	}
	if q.device.adapter.clockBits == 0 {
		return fmt.Errorf("vulkan: %s: %w: timestampValidBits is 0", q.device.adapter.info.Name, gpu.ErrNoClock)
	}
	if err := q.ensureOpen(); err != nil {
		return err
	}
	c, vk := &q.clock, &q.device.vk
	pool, query := c.stamps/stampsPerPool, c.stamps%stampsPerPool
	if pool == len(c.pools) {
		made, err := q.device.newQueryPool()
		if err != nil {
			return fmt.Errorf("vulkan: measure time: %w", err)
		}
		c.pools = append(c.pools, made)
	}
	if query == 0 {
		vk.CmdResetQueryPool.call(q.open.handle, uintptr(c.pools[pool]), 0, stampsPerPool)
	}
	vk.CmdWriteTimestamp.call(q.open.handle, stageBottomOfPipe, uintptr(c.pools[pool]), uintptr(query))
	c.stamps++
	q.open.count++
	return q.flushFull()
}

func (d *device) newQueryPool() (pool handle, err error) {
	create := &queryPoolCreateInfo{sType: typeQueryPoolCreateInfo, kind: queryTimestamp, count: stampsPerPool}
	err = d.vk.CreateQueryPool.try(d.handle, uintptr(unsafe.Pointer(create)), 0, uintptr(unsafe.Pointer(&pool)))
	return pool, err
}

// Stamps implements [gpu.Timed].
func (q *queue) Stamps() ([]time.Duration, error) {
	if err := q.Wait(context.Background()); err != nil {
		return nil, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.usable(); err != nil {
		return nil, err
	}
	c, d := &q.clock, q.device
	ticks := make([]uint64, c.stamps)
	for first := 0; first < c.stamps; first += stampsPerPool {
		n := min(c.stamps-first, stampsPerPool)
		err := d.vk.GetQueryPoolResults.try(d.handle, uintptr(c.pools[first/stampsPerPool]), 0, uintptr(n),
			uintptr(8*n), uintptr(unsafe.Pointer(&ticks[first])), 8, queryResult64|queryResultWait)
		if err != nil {
			return nil, fmt.Errorf("vulkan: measure time: %w", err)
		}
	}
	c.stamps = 0
	return d.adapter.times(ticks), nil
}

// times converts timestamps to durations since the first timestamp. A timestamp has a.clockBits
// bits and may wrap around, at most once between two timestamps.
func (a *adapter) times(ticks []uint64) []time.Duration {
	readings := make([]time.Duration, len(ticks))
	mask := ^uint64(0) >> (64 - a.clockBits)
	var total uint64
	for i := 1; i < len(ticks); i++ {
		total += (ticks[i] - ticks[i-1]) & mask
		readings[i] = time.Duration(float64(total) * float64(a.properties.limits.timestampPeriod))
	}
	return readings
}

func (c *clock) close(d *device) {
	for _, pool := range c.pools {
		d.vk.DestroyQueryPool.call(d.handle, uintptr(pool), 0)
	}
	*c = clock{}
}
