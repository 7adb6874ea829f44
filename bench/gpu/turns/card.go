package turns

import (
	"fmt"
	"slices"
	"time"

	target "github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/gen/target/gpu/ptx"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/runtime/gpu"
)

// Card is a device with a clock.
type Card struct {
	Device   gpu.Opened
	Queue    gpu.Timed
	operands map[string]operand
}

// Open opens the first device of a driver. It returns [gpu.ErrNoClock] if the device has no clock.
func Open(d gpu.Driver) (*Card, error) {
	device, err := d.Open(0)
	if err != nil {
		return nil, err
	}
	queue, err := device.Queue()
	if err != nil {
		device.Close()
		return nil, err
	}
	timed, ok := queue.(gpu.Timed)
	if !ok {
		device.Close()
		return nil, gpu.ErrNoClock
	}
	return &Card{device, timed, map[string]operand{}}, nil
}

// Close gives the device back.
func (c *Card) Close() { c.Device.Close() }

// Load loads the kernel k. `text` is its PTX. If label is not empty, Load prints label and the compiler's messages
// about the kernel.
func (c *Card) Load(k *kernel.Kernel, text, label string) (gpu.Module, gpu.Kernel, error) {
	start := time.Now()
	m, err := c.Device.Load([]byte(text))
	if err != nil {
		return nil, nil, err
	}
	if logged, ok := m.(interface{ Log() string }); ok && label != "" {
		fmt.Printf("%s, compiled in %v:\n%s\n", label, time.Since(start).Round(time.Millisecond), logged.Log())
	}
	info := gpu.KernelInfo{Name: k.Name, Block: k.Block, Args: len(k.Params), Shared: ptx.Dynamic(k), Early: k.Early, Maps: target.MapsOf(k)}
	loaded, err := m.Kernel(info)
	if err != nil {
		m.Close()
		return nil, nil, err
	}
	return m, loaded, nil
}

// Recording is recorded work.
type Recording struct {
	card  *Card
	graph gpu.Graph
	count int // of repetitions
}

// Record records, `count` times, the work that the function `fill` queues.
func (c *Card) Record(count int, fill func(q gpu.Queue) error) (*Recording, error) {
	graph, err := c.Queue.Record(func(q gpu.Queue) error {
		for range count {
			if err := fill(q); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &Recording{c, graph, count}, nil
}

// Close frees the recording.
func (r *Recording) Close() { r.graph.Close() }

// Lap returns the time in milliseconds of one of the repetitions in the recording. It is the median over `replays`
// replays of the recording. `warm` further replays are made before them and not measured.
func (r *Recording) Lap(warm, replays int) (float64, error) {
	q := r.card.Queue
	var laps []float64
	for range warm + replays {
		for _, do := range []func() error{q.Stamp, func() error { return q.Replay(r.graph) }, q.Stamp} {
			if err := do(); err != nil {
				return 0, err
			}
		}
		stamps, err := q.Stamps()
		if err != nil {
			return 0, err
		}
		laps = append(laps, stamps[1].Seconds()*1e3/float64(r.count))
	}
	return Median(laps[warm:]), nil
}

// Median returns the median of x, or 0 if x is empty. If x has an even number of elements, the median is the greater
// of the two middle ones.
func Median(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}
