package learn

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/burngen/burngen/runtime/record"
	"github.com/burngen/burngen/runtime/rt"
)

// Run is the result of a run.
type Run struct {
	Dir     string
	Stopped Stopped  // why it ended, and after how many steps
	Results []Result // of training, validation or test data, for each metric

	checkpoints []Checkpoint
	trainer     Trainer
	average     *Average
}

// Result holds the values of a metric of a split.
type Result struct {
	Series
	Split Split
	Last  Number // NaN: no data
	Best  Number // NaN if neither direction is better
	Epoch int    // of the best value, from 1
}

// Key returns the name of the metric with its split, such as "valid accuracy".
func (r *Result) Key() string { return r.Split.Key(r.Name) }

func (f *fit[B, O]) run(stopped Stopped) *Run {
	r := &Run{Dir: f.o.Dir, Stopped: stopped, checkpoints: f.position.Checkpoints, trainer: f.trainer, average: f.o.Average}
	for _, split := range []Split{Train, Valid} {
		for _, s := range f.series {
			key := split.Key(s.Name)
			last, ok := f.position.Last[key]
			if !ok {
				continue
			}
			result := Result{Series: s, Split: split, Last: last, Best: nan}
			if b, ok := f.position.Best[key]; ok {
				result.Best, result.Epoch = b.Value, b.Epoch+1
			}
			r.Results = append(r.Results, result)
		}
	}
	return r
}

// Result returns the result of a metric, such as "valid accuracy", and whether it was measured.
func (r *Run) Result(key string) (Result, bool) {
	for _, x := range r.Results {
		if x.Key() == key {
			return x, true
		}
	}
	return Result{}, false
}

// LoadBest loads into the trainer the weights with the best value of a metric, such as "valid
// accuracy". They are the weights after an epoch or at a validation. If the run averaged weights,
// the trainer gets the saved averages. It returns an error if the run has no folder, if the metric
// was not measured or has no direction, or if the checkpoint was not kept. The keeper [Best] keeps
// this checkpoint.
func (r *Run) LoadBest(key string) error {
	result, ok := r.Result(key)
	switch {
	case r.Dir == "":
		return fmt.Errorf("load best %s: the run has no folder", key)
	case !ok || result.Better == 0:
		return fmt.Errorf("load best: there is no best %q", key)
	}
	i := bestOf(r.checkpoints, key, result.Better)
	if i < 0 || r.checkpoints[i].Gone || r.checkpoints[i].Values[key] != result.Best {
		return fmt.Errorf("load best %s: the checkpoint of epoch %d was not kept: Best(%q) in Options.Keep keeps it", key, result.Epoch, key)
	}
	parts := map[string]rt.Stater{trainerPart: r.trainer}
	if r.average != nil {
		parts[averagePart] = r.average
	}
	if err := record.LoadState(filepath.Join(r.Dir, filepath.FromSlash(r.checkpoints[i].File)), parts); err != nil {
		return fmt.Errorf("load best %s: %w", key, err)
	}
	return r.average.Use()
}

// String returns the summary of the run: why it ended, and a table of all metrics.
func (r *Run) String() string {
	var b strings.Builder
	if r.Dir != "" {
		fmt.Fprintf(&b, "%s: ", filepath.Base(r.Dir))
	}
	fmt.Fprintf(&b, "%s after %s and %v\n", r.Stopped.Reason, count(r.Stopped.Step, "step"), rounded(r.Stopped.Took))
	rows := [][4]string{{"", "last", "best", "epoch"}}
	for _, x := range r.Results {
		row := [4]string{x.Key(), format(x.Last, x.Unit)}
		if x.Better != 0 && x.Epoch > 0 {
			row[2], row[3] = format(x.Best, x.Unit), strconv.Itoa(x.Epoch)
		}
		rows = append(rows, row)
	}
	var width [4]int
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], len([]rune(cell)))
		}
	}
	for _, row := range rows {
		line := fmt.Sprintf("%-*s  %*s  %*s  %*s", width[0], row[0], width[1], row[1], width[2], row[2], width[3], row[3])
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// rounded rounds d to the second from 1 min on, to 10 ms from 1 s on, else to 10 µs.
func rounded(d time.Duration) time.Duration {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second)
	case d >= time.Second:
		return d.Round(10 * time.Millisecond)
	}
	return d.Round(10 * time.Microsecond)
}
