package learn

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/burngen/burngen/runtime/record"
	"github.com/burngen/burngen/runtime/rt"
)

// savedRun is the part of a state that describes the run.
type savedRun struct {
	Version  int
	Identity identity
	Position position
	// the marks of loggers, keyed by the loggers' names
	Marks map[string]string
}

const stateVersion = 1

const runPart = "run"

// parts returns the parts of a state other than the savedRun, keyed by name.
func (f *fit[B, O]) parts() map[string]rt.Stater {
	parts := map[string]rt.Stater{trainerPart: f.trainer}
	for i, opt := range f.o.Optimizers {
		parts["optimizer-"+strconv.Itoa(i)] = opt.Of
	}
	for i, r := range f.reducers() {
		parts["plateau-"+strconv.Itoa(i)] = r
	}
	for i, s := range stoppers(f.o.Stop) {
		if s, ok := s.(rt.Stater); ok {
			parts["stop-"+strconv.Itoa(i)] = s
		}
	}
	if f.o.Average != nil {
		parts[averagePart] = f.o.Average
	}
	for name, s := range f.o.State {
		parts["state-"+name] = s
	}
	f.counters.parts(parts)
	return parts
}

const (
	trainerPart = "trainer"
	averagePart = "average"
)

// checkpoint saves a checkpoint. ends says whether it is at the end of the epoch or within it.
// values are the values that were measured there, by keys such as "valid accuracy".
func (f *fit[B, O]) checkpoint(epoch int, ends bool, values map[string]float64) {
	if f.saver == nil {
		return
	}
	f.collect(true)
	p := &f.position
	c := Checkpoint{File: path.Join(checkpointFolder, placeName(epoch, p.Step, ends)+f.o.Record.Extension()), Epoch: epoch, Step: p.Step, Ends: ends}
	if values != nil {
		c.Values = map[string]Number{}
		for key, v := range values {
			c.Values[key] = Number(v)
		}
	}
	if n := len(p.Checkpoints); n > 0 && p.Checkpoints[n-1].File == c.File {
		p.Checkpoints = p.Checkpoints[:n-1]
	}
	p.Checkpoints = append(p.Checkpoints, c)
	unwanted := f.unwanted()
	f.save(saving{checkpoint: c.File, unwanted: unwanted, best: p.bestFile(), epoch: epoch})
}

// unwanted returns the files of the checkpoints that the keeper does not keep, and records these
// checkpoints as gone. If the keeper panics, all checkpoints stay.
func (f *fit[B, O]) unwanted() (files []string) {
	var err error
	func() {
		defer rt.Recover("keeper", &err)
		files = unwanted(f.o.keeper(), f.position.Checkpoints)
	}()
	if err != nil {
		f.journal.warn("%v: no checkpoint is deleted", err)
		return nil
	}
	return files
}

// save copies the state and begins to write it. If the state cannot be copied, it warns and returns
// the error.
func (f *fit[B, O]) save(what saving) error {
	f.collect(true)
	p := &f.position
	p.Elapsed = f.elapsed()
	run := savedRun{Version: stateVersion, Identity: f.identity, Position: *p}
	if f.frozen != nil {
		run.Position, run.Marks = f.frozen.position, f.frozen.marks
		run.Position.Elapsed = p.Elapsed
	} else {
		run.Marks = f.journal.marks()
	}
	parts := f.parts()
	parts[runPart] = record.Value(&run)
	what.step = p.Step
	f.kept = p.place()
	err := f.saver.begin(parts, what)
	if err != nil {
		f.unsaved(saved{saving: what, err: err})
	}
	return err
}

// collect emits the outcome of a save that has ended, and returns the error of the save. If wait is
// true, it first waits for the end of the save. If no save has ended, it returns nil.
func (f *fit[B, O]) collect(wait bool) error {
	if f.saver == nil {
		return nil
	}
	done, ok := f.saver.take(wait)
	switch {
	case !ok:
		return nil
	case done.err != nil:
		f.unsaved(done)
		return done.err
	}
	f.journal.emit(Saved{f.now(), done.epoch, done.step, done.file, done.bytes, done.took})
	for _, file := range done.deleted {
		f.journal.emit(Deleted{f.now(), file})
	}
	return nil
}

func (f *fit[B, O]) unsaved(s saved) {
	f.kept = place{epoch: -1}
	for i := range f.position.Checkpoints {
		c := &f.position.Checkpoints[i]
		for _, file := range s.unwanted {
			c.Gone = c.Gone && c.File != file
		}
		if c.File == s.checkpoint && !f.folder.has(c.File) {
			c.Gone = true
		}
	}
	f.journal.warn("the run could not be saved at step %d: %v", s.step, s.err)
}

// resume clears the run's folder or continues the run in it, as Options.Resume says. If it loads a
// saved state, it returns the positions of the loggers (see [Logger]) in that state.
func (f *fit[B, O]) resume() (marks map[string]string, err error) {
	found := f.folder.hasRun()
	switch {
	case !found:
		if f.o.Resume > 0 {
			return nil, fmt.Errorf("%v: there is no run in the folder", f.o.Resume)
		}
	case f.o.Resume == Refuse:
		return nil, errors.New("there is a run in the folder: set Resume to Continue, Fresh or From(epoch), or choose another folder")
	case f.o.Resume == Fresh:
		if err := f.folder.clear(); err != nil {
			return nil, err
		}
	default:
		file, err := f.stateToLoad()
		if err != nil {
			return nil, err
		}
		if file != "" {
			return f.load(file)
		}
	}
	return nil, f.describe()
}

// stateToLoad returns the file to continue from, or "" if the run ended before it saved a state.
func (f *fit[B, O]) stateToLoad() (string, error) {
	names, err := f.folder.list(checkpointFolder)
	if err != nil {
		return "", err
	}
	if f.o.Resume == Continue {
		if f.folder.has(stateFile) {
			return stateFile, nil
		}
		if len(names) > 0 {
			return "", fmt.Errorf("%s is missing, but there are checkpoints: set Resume to From(epoch) or Fresh", stateFile)
		}
		return "", nil
	}
	want := placeName(int(f.o.Resume)-1, 0, true) + "."
	var kept []string
	for _, name := range names {
		if strings.HasPrefix(name, want) {
			return path.Join(checkpointFolder, name), nil
		}
		kept = append(kept, name)
	}
	return "", fmt.Errorf("%v: there is no such checkpoint, but %s", f.o.Resume, strings.Join(append(kept, "nothing else"), ", "))
}

func (f *fit[B, O]) load(file string) (marks map[string]string, err error) {
	var run savedRun
	name := f.folder.path(file)
	if err := record.LoadState(name, map[string]rt.Stater{runPart: record.Value(&run)}); err != nil {
		return nil, err
	}
	if run.Version != stateVersion {
		return nil, fmt.Errorf("%s: version %d of the layout: %d is the one that is read", file, run.Version, stateVersion)
	}
	if err := f.identity.differences(&run.Identity); err != nil {
		return nil, fmt.Errorf("this is not the run that was saved: %w", err)
	}
	if err := record.LoadState(name, f.parts()); err != nil {
		return nil, err
	}
	f.position = run.Position
	if f.position.Best == nil {
		f.position.Best = map[string]bestValue{}
	}
	if f.position.Last == nil {
		f.position.Last = map[string]Number{}
	}
	if file == stateFile {
		f.kept = f.position.place()
		return run.Marks, f.tidy()
	}
	// The state is of a later place than the files will be from now on.
	if err := os.RemoveAll(f.folder.path(stateFile)); err != nil {
		return nil, err
	}
	f.kept, f.due = place{epoch: -1}, true
	return run.Marks, f.tidy()
}

// tidy makes the folder agree with the loaded state, in case the process was killed soon after
// saving it. It removes checkpoints that the state does not list or has marked as gone, and writes
// best.json.
func (f *fit[B, O]) tidy() error {
	names, err := f.folder.list(checkpointFolder)
	if err != nil {
		return err
	}
	keep := map[string]bool{}
	for i := range f.position.Checkpoints {
		c := &f.position.Checkpoints[i]
		keep[c.File] = !c.Gone
		c.Gone = c.Gone || !f.folder.has(c.File)
	}
	for _, name := range names {
		if file := path.Join(checkpointFolder, name); !keep[file] && strings.HasPrefix(name, "epoch-") {
			if err := os.Remove(f.folder.path(file)); err != nil {
				return err
			}
		}
	}
	if len(f.position.Best) == 0 {
		return nil
	}
	return f.folder.writeJSON(bestFile, f.position.bestFile())
}

func (f *fit[B, O]) describe() error {
	if err := f.folder.writeJSON(configFile, f.o.Config); err != nil {
		return err
	}
	return f.folder.writeJSON(environmentFile, environmentOf(f.now(), f.trainer.Params(), &f.identity))
}
