package report

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"image/png"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/burngen/burngen/runtime/learn"
)

// Run holds the contents of a run's folder.
type Run struct {
	Name        string
	Started     learn.Started  // of the last continuation; Time is of the first start
	Stopped     *learn.Stopped // nil: the run goes on, or was killed
	Epochs      int            // that ended
	Steps       int            // that were taken
	Items       int64          // of training data
	Results     []Result       // in the order of splits and of Started.Metrics
	Times       Times
	Config      []Setting
	Environment []Setting
	Pictures    []Picture // the last ones of each metric
	Notes       []string  // the first warnings of the run and errors of reading it
	Log         []string  // the last lines of the log

	curves map[string]*curves
	root   *os.Root
}

// Result is a metric of a split.
type Result struct {
	Key    string // such as "valid accuracy"
	Series learn.Series
	Split  learn.Split
	Text   string  // of the last value, in words
	Last   float64 // NaN: there are no data
	Best   float64 // NaN: there are no data, or no value is better than another
	Epoch  int     // of Best, from 0
	Curve  *Curve  // of whole epochs or data sets
	Recent *Curve  // of batches

	picture string
}

type curves struct{ whole, recent Curve }

// Times divides the duration of a run by activities.
type Times struct {
	Trained   time.Duration // steps
	Waited    time.Duration // until batches were made
	Validated time.Duration
	Total     time.Duration // of the whole run; 0 if it has not stopped
}

// Rest returns the part of Total that the other fields do not count, at least 0.
func (t Times) Rest() time.Duration {
	return max(0, t.Total-t.Trained-t.Waited-t.Validated)
}

// Whole returns the larger of Total and the sum of the other fields. The sum is larger for a run
// that has not stopped.
func (t Times) Whole() time.Duration { return max(t.Total, t.Trained+t.Waited+t.Validated) }

// Picture is a picture of a metric, such as a confusion matrix.
type Picture struct {
	Key string
	PNG []byte
}

const (
	maxResults = 256
	maxName    = 80 // bytes of a metric's name
	maxNotes   = 50
	maxFile    = 1 << 20   // bytes of config.json and environment.json
	maxPicture = 128 << 10 // bytes
	maxLog     = 32 << 10  // bytes at the end of the log
	maxLines   = 100
)

// Read reads the folder of a run. It returns an error if dir is not the folder of a run. Lines and
// files that cannot be read are listed in the Notes of the run. Read does not follow links that
// leave the folder.
func Read(dir string) (*Run, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	events, err := root.Open("events.jsonl")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not the folder of a run: it has no events.jsonl", dir)
	} else if err != nil {
		return nil, err
	}
	defer events.Close()
	full, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	r := &Run{Name: filepath.Base(full), curves: map[string]*curves{}, root: root}
	for e, err := range learn.Events(events) {
		if err != nil {
			r.note("events.jsonl: " + err.Error())
			continue
		}
		r.add(e)
	}
	if r.Started.Time.IsZero() {
		return nil, fmt.Errorf("%s: events.jsonl does not say that a run started", dir)
	}
	r.order()
	r.Config = r.settings("config.json")
	r.Environment = r.settings("environment.json")
	r.readPictures()
	r.readLog()
	r.root = nil
	return r, nil
}

func (r *Run) note(text string) {
	if len(r.Notes) < maxNotes {
		r.Notes = append(r.Notes, text)
	}
}

func (r *Run) add(e learn.Event) {
	switch e := e.(type) {
	case learn.Started:
		if !r.Started.Time.IsZero() {
			r.cut(e.Step)
			e.Time = r.Started.Time
		}
		r.Started, r.Stopped = e, nil
		r.Epochs, r.Steps = e.Epoch, e.Step
	case learn.Stepped:
		if e.Split != learn.Train {
			r.Times.Validated += e.Took + e.Waited
			return
		}
		r.Times.Trained += e.Took
		r.Times.Waited += e.Waited
		r.Steps = e.Step
		r.Items += int64(e.Items)
		if c := r.curvesOf(learn.Train.Key("loss")); c != nil {
			c.recent.add(Point{e.Step, e.Epoch, float64(e.Loss)})
		}
		for _, v := range e.Values {
			if c := r.curvesOf(learn.Train.Key(clip(maxName, v.Name))); c != nil {
				c.recent.add(Point{e.Step, e.Epoch, float64(v.Value)})
			}
		}
	case learn.Measured:
		for _, v := range e.Values {
			r.measured(e, v)
		}
	case learn.EpochEnded:
		r.Epochs = e.Epoch + 1
	case learn.Warned:
		r.note(e.Message)
	case learn.Stopped:
		r.Stopped = &e
		r.Times.Total = e.Took
	}
}

// curvesOf returns the curves of key. If they do not exist, it creates them, or returns nil if the
// run has maxResults curves already.
func (r *Run) curvesOf(key string) *curves {
	c := r.curves[key]
	if c == nil && len(r.curves) < maxResults {
		c = &curves{}
		r.curves[key] = c
	}
	return c
}

func (r *Run) measured(e learn.Measured, v learn.Value) {
	v.Name = clip(maxName, v.Name)
	e.Split = learn.Split(clip(maxName, string(e.Split)))
	key := e.Split.Key(v.Name)
	c := r.curvesOf(key)
	if c == nil {
		return
	}
	c.whole.add(Point{e.Step, e.Epoch, float64(v.Value)})
	o := r.resultOf(e.Split, v.Name, c)
	o.Text = v.Text
	if v.Picture != "" {
		o.picture = v.Picture
	}
	o.take(Point{e.Step, e.Epoch, float64(v.Value)})
}

// resultOf returns the result of a metric in a split. If there is no such result, it creates one. c
// holds the metric's curves.
func (r *Run) resultOf(split learn.Split, name string, c *curves) *Result {
	key := split.Key(name)
	i := slices.IndexFunc(r.Results, func(o Result) bool { return o.Key == key })
	if i < 0 {
		i = len(r.Results)
		r.Results = append(r.Results, Result{Key: key, Split: split, Series: r.series(split, name),
			Last: math.NaN(), Best: math.NaN(), Curve: &c.whole, Recent: &c.recent})
	}
	return &r.Results[i]
}

// take sets the last value and, if p is better, the best one.
func (o *Result) take(p Point) {
	o.Last = p.Value
	if better(o.Series.Better, p.Value, o.Best) {
		o.Best, o.Epoch = p.Value, p.Epoch
	}
}

// better reports whether x is better than y. direction is 1 if larger values are better, -1 if
// smaller ones are, 0 if neither. Any number is better than NaN, unless direction is 0.
func better(direction int, x, y float64) bool {
	return direction != 0 && !math.IsNaN(x) && (math.IsNaN(y) || float64(direction)*(x-y) > 0)
}

// series returns the series of a metric. If the run does not list the metric, the series has only
// the name.
func (r *Run) series(split learn.Split, name string) learn.Series {
	of := r.Started.Metrics
	if split == learn.System {
		of = r.Started.System
	}
	for _, s := range of {
		if s.Name == name {
			return s
		}
	}
	return learn.Series{Name: name}
}

// cut removes the values after `step`, the step from which the run was continued. It then computes
// the last and the best values again.
func (r *Run) cut(step int) {
	for _, c := range r.curves {
		c.whole.cut(step)
		c.recent.cut(step)
	}
	for i := range r.Results {
		o := &r.Results[i]
		o.Last, o.Best = math.NaN(), math.NaN()
		for _, p := range o.Curve.Points {
			o.take(p)
		}
	}
}

// order sorts the results by split. Results of a split have the order in which the run lists the
// metrics. order first adds a result for each metric that has only values of batches.
func (r *Run) order() {
	for _, key := range slices.Sorted(maps.Keys(r.curves)) {
		split, name, _ := strings.Cut(key, " ")
		r.resultOf(learn.Split(split), name, r.curves[key])
	}
	place := map[string]int{}
	for i, s := range slices.Concat(r.Started.Metrics, r.Started.System) {
		place[s.Name] = i - len(r.Started.Metrics) - len(r.Started.System) // metrics that are not listed come last
	}
	splits := []learn.Split{learn.Train, learn.Valid, learn.Test, learn.System}
	slices.SortStableFunc(r.Results, func(a, b Result) int {
		return cmp.Or(cmp.Compare(slices.Index(splits, a.Split), slices.Index(splits, b.Split)), cmp.Compare(place[a.Series.Name], place[b.Series.Name]))
	})
}

// settings reads a file of settings. It returns nil if the file is missing, and notes other errors.
func (r *Run) settings(name string) []Setting {
	text, err := r.read(name, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var out []Setting
	if err == nil {
		out, err = settings(text)
	}
	if err != nil {
		r.note(name + ": " + err.Error())
	}
	return out
}

// read returns the content of a file. It returns an error if the file has more than limit bytes.
func (r *Run) read(name string, limit int64) ([]byte, error) {
	f, err := r.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("the file has more than %d bytes", limit)
	}
	return text, err
}

func (r *Run) readPictures() {
	for _, o := range r.Results {
		if o.picture == "" {
			continue
		}
		data, err := r.read(o.picture, maxPicture)
		if err == nil {
			_, err = png.DecodeConfig(bytes.NewReader(data))
		}
		if err != nil {
			r.note(fmt.Sprintf("picture %s: %v", o.picture, err))
			continue
		}
		r.Pictures = append(r.Pictures, Picture{o.Key, data})
	}
}

// readLog reads the last lines of the log.
func (r *Run) readLog() {
	f, err := r.root.Open("experiment.log")
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			r.note(err.Error())
		}
		return
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = f.Seek(max(0, size-maxLog), io.SeekStart)
	}
	var text []byte
	if err == nil {
		text, err = io.ReadAll(io.LimitReader(f, maxLog))
	}
	if err != nil {
		r.note("experiment.log: " + err.Error())
		return
	}
	lines := strings.Split(strings.TrimRight(strings.ToValidUTF8(string(text), "�"), "\n"), "\n")
	if size > maxLog {
		lines = lines[1:] // a part of a line
	}
	r.Log = lines[max(0, len(lines)-maxLines):]
}
