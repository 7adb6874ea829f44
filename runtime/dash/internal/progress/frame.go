package progress

import (
	"math"
	"slices"
	"time"

	"github.com/burngen/burngen/runtime/learn"
)

// Tab selects the curves of a metric, of the optimizer, or of the machine. The dashboard shows the
// curves of one tab at a time.
type Tab struct {
	Of   learn.Split // Optimizer or learn.System; "" for a metric
	Name string
	Unit string
}

// splits returns the splits whose curves the tab shows.
func (t Tab) splits() []learn.Split {
	if t.Of == "" {
		return splits
	}
	return []learn.Split{t.Of}
}

// Curve is a curve of a tab.
type Curve struct {
	Split  learn.Split
	Full   []Point // the whole curve, thinned
	Recent []Point // its last values
}

// Row holds the last and best values of a metric.
type Row struct {
	Name, Unit string
	Values     map[learn.Split]float64 // last values
	Best       float64
	BestEpoch  int // counts from 0
	HasBest    bool
}

type reading struct {
	name, unit string
	value      float64
}

// Frame is the state of a run at one moment, in the form in which a dashboard shows it. It shares
// no memory with its Run.
type Frame struct {
	Generation int // grows when points are removed
	HasStarted bool
	Started    learn.Started
	Split      learn.Split // of the last batch
	Epoch      int         // counts from 0
	Batch      int         // batches of the split that are done in the epoch
	Batches    int         // batches of the split in an epoch; 0: not known
	Step       int
	Speed      float64       // items per second; 0: not known
	Waiting    float64       // share of the time for which training waits for data
	Left       time.Duration // time until the run ends; negative: not known
	Tabs       []Tab
	Tab        int // index in Tabs of the tab that Curves belong to; -1: there are no tabs
	Curves     []Curve
	Rows       []Row
	readings   []reading
	Log        []Line
	Stopped    *learn.Stopped
}

// Fraction returns f.Batch/f.Batches, the completed fraction of the epoch. If f.Batches is not
// known, it returns the completed fraction of the run's steps. It returns false if the run's number
// of steps is not known either.
func (f *Frame) Fraction() (float64, bool) {
	done, all := f.Batch, f.Batches
	if all <= 0 {
		done, all = f.Step, f.Started.Steps
	}
	if all <= 0 {
		return 0, false
	}
	return min(max(float64(done)/float64(all), 0), 1), true
}

// Frame returns the state of the run. It contains the curves of `tab`, or of the first tab if there
// is no such tab, and the last `lines` lines of the log.
func (r *Run) Frame(tab Tab, lines int) *Frame {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := &Frame{
		Generation: r.generation, HasStarted: r.hasStarted, Started: r.started, Split: r.now.Split, Epoch: r.now.Epoch,
		Batch: r.now.Batch + 1, Batches: r.batches(r.now.Split), Step: r.step, Left: r.left(), Tabs: r.tabs(), Tab: -1,
		Rows: r.rows(), Log: r.log.tail(lines), Stopped: r.stopped,
	}
	f.Started.Metrics, f.Started.System = nil, nil
	if p := r.paces[r.now.Split]; p != nil && p.seconds.value > 0 {
		f.Speed = p.items.value / p.seconds.value
	}
	if p := r.paces[learn.Train]; p != nil && p.seconds.value > 0 {
		f.Waiting = p.waited.value / p.seconds.value
	}
	for _, name := range []string{rateName, gradNormName} {
		if v, ok := r.values[key{Optimizer, name}]; ok {
			f.readings = append(f.readings, reading{name, "", v})
		}
	}
	for _, s := range r.system {
		if v, ok := r.values[key{learn.System, s.Name}]; ok {
			f.readings = append(f.readings, reading{s.Name, s.Unit, v})
		}
	}
	if len(f.Tabs) > 0 {
		f.Tab = max(0, slices.Index(f.Tabs, tab))
		for _, split := range f.Tabs[f.Tab].splits() {
			if c := r.curves[key{split, f.Tabs[f.Tab].Name}]; c != nil {
				f.Curves = append(f.Curves, Curve{split, slices.Clone(c.full), slices.Clone(c.last())})
			}
		}
	}
	return f
}

// tabs returns the tabs in order: the metrics, the values of the optimizer, and the values of the
// machine.
func (r *Run) tabs() (out []Tab) {
	for _, s := range r.metrics {
		if s.Curve || s.Name == "loss" {
			out = append(out, Tab{"", s.Name, s.Unit})
		}
	}
	for _, name := range []string{rateName, gradNormName} {
		if r.curves[key{Optimizer, name}] != nil {
			out = append(out, Tab{Optimizer, name, ""})
		}
	}
	for _, s := range r.system {
		if s.Curve {
			out = append(out, Tab{learn.System, s.Name, s.Unit})
		}
	}
	return out
}

func (r *Run) rows() (out []Row) {
	for _, s := range r.metrics {
		row := Row{Name: s.Name, Unit: s.Unit, Values: map[learn.Split]float64{}}
		for _, split := range splits {
			if v, ok := r.values[key{split, s.Name}]; ok {
				row.Values[split] = v
			}
		}
		if b, ok := r.bests[s.Name]; ok {
			row.Best, row.BestEpoch, row.HasBest = b.value, b.epoch, true
		}
		out = append(out, row)
	}
	return out
}

// batches returns the number of batches in an epoch of a split. It returns 0 if the number is not
// known.
func (r *Run) batches(s learn.Split) int {
	switch s {
	case learn.Train:
		return r.started.Batches
	case learn.Valid:
		return r.started.Valid
	}
	return 0
}

// left estimates the time until the run ends. It uses the number of remaining batches and the
// recent time per batch. The result is negative if the time is not known: if the run has no limit,
// has not trained yet, or has stopped.
func (r *Run) left() time.Duration {
	train, e := r.paces[learn.Train], r.started
	if train == nil || !r.hasStarted || r.stopped != nil {
		return -1
	}
	validating := r.now.Split == learn.Valid
	batches := math.Inf(1) // of training
	if e.Epochs > 0 && e.Batches > 0 {
		done := r.now.Batch + 1
		if validating {
			done = e.Batches
		}
		batches = float64(e.Epochs-r.now.Epoch)*float64(e.Batches) - float64(done)
	}
	if steps := r.step - e.Step; e.Steps > 0 && steps > 0 {
		batches = min(batches, float64(e.Steps-r.step)*float64(r.trained)/float64(steps))
	}
	if math.IsInf(batches, 0) {
		return -1
	}
	batches = max(batches, 0)
	s := batches * train.seconds.value
	if valid := r.paces[learn.Valid]; valid != nil && e.Valid > 0 {
		n := 0.0
		if e.Batches > 0 {
			n = math.Ceil(batches/float64(e.Batches)) * float64(e.Valid)
		}
		if validating {
			n += float64(e.Valid - r.now.Batch - 1)
		}
		s += max(n, 0) * valid.seconds.value
	}
	return time.Duration(min(s, maxSeconds) * float64(time.Second))
}

// Points are the values that were added to a curve since the last call of [Run.Since].
type Points struct {
	Tab    Tab
	Split  learn.Split
	Whole  bool // Points are the whole curve, and replace earlier points
	Points []Point
}

// Cursor records which points [Run.Since] has already returned. The zero value means that it has
// returned no points.
type Cursor struct {
	generation int
	counts     map[key]int
}

// Since returns the points that were added to each curve since the last call with the same cursor.
// It returns the whole curve instead if some of these points are no longer kept, if points were cut
// off, or if the run was reset.
func (r *Run) Since(c *Cursor) (all []Points) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.counts == nil || c.generation != r.generation {
		c.generation, c.counts = r.generation, map[key]int{}
	}
	for _, t := range r.tabs() {
		for _, split := range t.splits() {
			k := key{split, t.Name}
			v := r.curves[k]
			if v == nil || v.count == c.counts[k] {
				continue
			}
			p := Points{Tab: t, Split: split}
			if n := v.count - c.counts[k]; c.counts[k] > 0 && n <= len(v.recent) {
				p.Points = slices.Clone(v.recent[len(v.recent)-n:])
			} else {
				p.Whole, p.Points = true, slices.Clone(v.full)
			}
			c.counts[k] = v.count
			all = append(all, p)
		}
	}
	return all
}
