package profile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Row is a line of the table: a node, or all nodes with the same operator, shape and kernel. Time is the time of
// these nodes in a call. Flops is the number of their operations. Bytes is the size of their operands and results.
type Row struct {
	Name         string
	Kernel       string // on a device
	Kind         string
	Nodes        int
	Time         time.Duration
	Flops, Bytes int64
	Lost         // of several threads on the CPU
}

// Rows returns a row for each node if perNode is set. Otherwise it returns a row for each combination of operator,
// shape and kernel. The slowest row comes first.
func (p *Profile) Rows(perNode bool) []Row {
	var rows []Row
	at := map[[2]string]int{}
	for _, n := range p.Nodes {
		key := [2]string{n.Kernel, n.kind()}
		i, ok := at[key]
		if !ok || perNode {
			i = len(rows)
			at[key] = i
			rows = append(rows, Row{Name: n.Name, Kernel: n.Kernel, Kind: n.kind()})
		}
		r := &rows[i]
		r.Nodes += int(n.Runs)
		r.Time += n.Time
		r.Flops += n.Flops
		r.Bytes += n.Bytes
		r.Serial += n.Serial
		r.Uneven += n.Uneven
		r.Wait += n.Wait
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(b.Time, a.Time) })
	return rows
}

func (p *Profile) nodeTime() (sum time.Duration) {
	for _, n := range p.Nodes {
		sum += n.Time
	}
	return sum
}

func (p *Profile) flops() (sum int64) {
	for _, n := range p.Nodes {
		sum += n.Flops
	}
	return sum
}

// copyShare returns (bytes/d) / p.Read. p.Read is the rate of a copy on the device. ok is false if bytes, d or
// p.Read is 0.
func (p *Profile) copyShare(bytes int64, d time.Duration) (share float64, ok bool) {
	if p.Read == 0 || bytes == 0 || d <= 0 {
		return 0, false
	}
	return float64(bytes) / float64(d) / p.Read, true
}

// peakShare returns (flops/d) / p.Multiply. p.Multiply is the machine's peak of multiply-adds. ok is false if
// flops, d or p.Multiply is 0.
func (p *Profile) peakShare(flops int64, d time.Duration) (share float64, ok bool) {
	if p.Multiply == 0 || flops == 0 || d <= 0 {
		return 0, false
	}
	return float64(flops) / float64(d) / p.Multiply, true
}

// Text returns the profile as a table of at most top rows; see [Profile.Rows] for perNode. A top of
// 0 means all rows.
func (p *Profile) Text(top int, perNode bool) string {
	if p.Device != nil {
		return p.deviceText(top, perNode)
	}
	var b strings.Builder
	threads := "1 thread"
	if p.Threads > 1 {
		threads = fmt.Sprintf("%d threads", p.Threads)
	}
	fmt.Fprintf(&b, "%s  median of %d, least %s, %s, %s", milliseconds(p.Median), p.Calls, milliseconds(p.Least), threads, p.Level)
	if share, ok := p.peakShare(p.flops(), p.Median); ok {
		fmt.Fprintf(&b, ", %.0f %% of %.1f GFLOP/s", 100*share, p.Multiply)
	}
	fmt.Fprintf(&b, ", memory %.1f GB/s\n", p.Read)
	p.writeTable(&b, top, perNode)
	if p.Threads > 1 {
		fmt.Fprintln(&b, "serial: µs in which one thread computes; uneven: µs of the busiest thread beyond the average; wait: µs to start threads and to wait for them")
	}
	fmt.Fprintf(&b, "a share of the peak above 100 %% is an algorithm with fewer products than the definition; the clock adds %s to a call\n",
		milliseconds(max(0, p.nodeTime()-p.Median)))
	return b.String()
}

// writeTable prints the rows that [Profile.Text] describes. One column compares the speed of a row with a limit: the
// peak of multiply-adds or, on a device, the rate of a copy.
func (p *Profile) writeTable(b *strings.Builder, top int, each bool) {
	rows := p.Rows(each)
	total := p.nodeTime()
	limit, what := "peak", "node"
	if p.Device != nil {
		limit, what = "copy", "kernel: node"
	}
	threads := p.Device == nil && p.Threads > 1
	losses := ""
	if threads {
		losses = fmt.Sprintf(" %8s %8s %8s", "serial", "uneven", "wait")
	}
	fmt.Fprintf(b, "%10s %6s %6s %9s %7s%s  %s\n", "µs", "%", limit, "GFLOP/s", "GB/s", losses, what)
	for i, r := range rows {
		if top > 0 && i == top {
			fmt.Fprintf(b, "%*s%d more\n", 45, "", len(rows)-i)
			break
		}
		ns := max(float64(r.Time), 1)
		share, ok := p.peakShare(r.Flops, r.Time)
		if p.Device != nil {
			share, ok = p.copyShare(r.Bytes, r.Time)
		}
		of, flops, bytes := "", "", ""
		if ok {
			of = fmt.Sprintf("%.0f %%", 100*share)
		}
		if r.Flops > 0 {
			flops = fmt.Sprintf("%.1f", float64(r.Flops)/ns)
		}
		if r.Bytes > 0 || p.Device == nil {
			bytes = fmt.Sprintf("%.1f", float64(r.Bytes)/ns)
		}
		name := shortened(r.Name, 48)
		if r.Nodes > 1 {
			name += fmt.Sprintf(" ×%d", r.Nodes)
		}
		if r.Kernel != "" {
			name = r.Kernel + ": " + name
		}
		if r.Kind != "" {
			name += " (" + r.Kind + ")"
		}
		if threads {
			losses = fmt.Sprintf(" %8.1f %8.1f %8.1f", float64(r.Serial)/1e3, float64(r.Uneven)/1e3, float64(r.Wait)/1e3)
		}
		fmt.Fprintf(b, "%10.1f %6.1f %6s %9s %7s%s  %s\n", ns/1e3, 100*ns/max(float64(total), 1), of, flops, bytes, losses, name)
	}
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.4g ms", float64(d)/1e6)
}
