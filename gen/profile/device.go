package profile

import (
	"fmt"
	"strings"
	"time"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/profile/stopwatch"
	"github.com/burngen/burngen/gen/program"
	target "github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/plan"
	"github.com/burngen/burngen/runtime/gpu"
)

// Device has the properties of a device, and the measurements of a call on it.
type Device struct {
	Target    string `json:"target"`
	Precision string `json:"precision"` // of products
	Name      string `json:"name"`
	Driver    string `json:"driver"` // version
	// NoClock says why there are no times of the device, or is "".
	NoClock string `json:"no_clock,omitempty"`
	// Replays is the number of recorded calls that were measured, and Recorded the median time of their
	// work on the device, without copies of arguments and results. Both are 0 if the host takes part in
	// a call, or if the device has no clock.
	Replays  int           `json:"replays"`
	Recorded time.Duration `json:"recorded_ns"`
}

func (p *Profile) addDevice(m *gen.Model, d *stopwatch.Device, steps []program.Step, symbols map[string]int64) {
	t, precision := m.Device()
	p.Device = &Device{
		Target: t, Precision: precision, Name: d.Info.Name, Driver: d.Info.Driver, NoClock: d.NoClock,
		Replays: len(d.Replays), Recorded: stopwatch.Median(d.Replays),
	}
	p.Read = d.Copy
	w := deviceWork{symbols: symbols, launches: map[*ir.Node]int{}}
	for _, l := range d.Laps {
		if l.Work == gpu.Launched {
			w.launches[steps[l.Step].At()]++
		}
	}
	for _, l := range d.Laps {
		if l.Work == gpu.Hosted && len(target.LaunchesOf(steps[l.Step])) > 0 {
			continue // launches without blocks
		}
		p.Nodes = append(p.Nodes, w.describe(l, steps))
	}
}

type deviceWork struct {
	symbols  map[string]int64
	launches map[*ir.Node]int // the number of kernels of each node that ran
}

func (w *deviceWork) describe(l stopwatch.Lap, steps []program.Step) Node {
	switch l.Work {
	case gpu.Uploaded:
		return Node{Kernel: "(to device)", Name: "arguments, and results of the host", Time: l.Time, Bytes: int64(l.Bytes), Runs: int64(l.Runs)}
	case gpu.Downloaded:
		return Node{Kernel: "(to host)", Name: "results, and operands of the host", Time: l.Time, Bytes: int64(l.Bytes), Runs: int64(l.Runs)}
	case gpu.Hosted:
		n := describe(steps[l.Step].At(), l.Time, int64(l.Runs), w.symbols)
		n.Kernel = "(host)"
		return n
	case gpu.Copied:
		n := describe(steps[l.Step].At(), l.Time, int64(l.Runs), w.symbols)
		n.Kernel, n.Flops, n.Bytes = "(copy)", 0, 2*int64(l.Bytes)
		return n
	}
	step := steps[l.Step]
	runs, known := w.nodeRuns(step, l.Runs)
	n := describe(step.At(), l.Time, runs, w.symbols)
	n.Kernel, n.Runs = l.Kernel, int64(l.Runs)
	if w.launches[step.At()] > 1 || !known {
		n.Flops, n.Bytes = 0, w.operands(step)*int64(l.Runs)
	}
	return n
}

// nodeRuns returns how often the node of step is computed: launches / rounds. launches is the number of launches of
// the node's only kernel. rounds is the number of times that a computation of the node launches the kernel. known
// is false if the number of rounds is unknown or 0, or does not divide launches.
func (w *deviceWork) nodeRuns(step program.Step, launches int) (runs int64, known bool) {
	rounds, ok := step.(*target.Rounds)
	if !ok {
		return int64(launches), true
	}
	count := extent(rounds.Count, w.symbols)
	if count == 0 || int64(launches)%count != 0 {
		return 0, false
	}
	return int64(launches) / count, true
}

// operands returns the number of bytes of the operands and results of a step that is a single launch. It leaves out
// scratch memory, because a launch may use only a part of it. operands returns 0 for other steps, because each of
// their launches may use only a part of the operands and results.
func (w *deviceWork) operands(step program.Step) (bytes int64) {
	if _, ok := step.(*target.Launch); !ok {
		return 0
	}
	type use struct {
		value  *ir.Value
		access plan.Access
	}
	seen := map[use]bool{}
	for _, r := range step.Refs() {
		if u := (use{r.Value, r.Access}); r.Access != plan.Scratch && !seen[u] {
			seen[u] = true
			bytes += extent(r.Len.Mul(dim.Const(r.DType.Size())), w.symbols)
		}
	}
	return bytes
}

// deviceText is [Profile.Text] for a device.
func (p *Profile) deviceText(top int, each bool) string {
	var b strings.Builder
	d := p.Device
	fmt.Fprintf(&b, "%s: %s, %s, products in %s\n", d.Target, d.Name, d.Driver, d.Precision)
	fmt.Fprintf(&b, "%s  a call from slices to slices: median of %d, 90 %% within %s, least %s\n",
		milliseconds(p.Median), p.Calls, milliseconds(p.Most), milliseconds(p.Least))
	if d.NoClock != "" {
		fmt.Fprintf(&b, "times on the device are not known: %s\n", d.NoClock)
		return b.String()
	}
	launched := time.Duration(0)
	for _, n := range p.Nodes {
		if n.onDevice() {
			launched += n.Time
		}
	}
	if d.Replays > 0 {
		fmt.Fprintf(&b, "%s  the launches of a call on the device, recorded: median of %d\n", milliseconds(d.Recorded), d.Replays)
	} else {
		fmt.Fprintf(&b, "%s  the launches of a call on the device, one by one: the host takes part in a call\n", milliseconds(launched))
	}
	fmt.Fprintf(&b, "%.1f GB/s  a copy on the device, bytes read and written\n", p.Read)
	p.writeTable(&b, top, each)
	if d.Replays > 0 {
		fmt.Fprintf(&b, "rows are measured without the recording; readings of the clock between the launches add %s to a call\n",
			milliseconds(max(0, launched-d.Recorded)))
	}
	return b.String()
}

// onDevice reports whether the node is a launch of a kernel, or a copy within the memory of the device.
func (n Node) onDevice() bool { return !strings.HasPrefix(n.Kernel, "(") || n.Kernel == "(copy)" }
