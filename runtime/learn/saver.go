package learn

import (
	"fmt"
	"os"
	"time"

	"github.com/burngen/burngen/runtime/record"
	"github.com/burngen/burngen/runtime/rt"
)

// saver writes states on another goroutine, from copies. It writes one state at a time.
type saver struct {
	folder *folder
	// writes checkpoints
	recorder record.Recorder
	copier   copier
	write    func(path string, w *rt.Weights) error // writes the file from which the run continues
	// delivers the outcome; nil if no state is being written
	under chan saved
}

// saving is a state to be written.
type saving struct {
	weights    *rt.Weights
	checkpoint string // file that is written before the state, or ""
	best       any    // contents of best.json, or nil
	// checkpoints to delete once everything is written
	unwanted []string
	epoch    int
	step     int
}

type saved struct {
	saving
	// the complete file: the checkpoint or the state
	file  string
	bytes int64
	took  time.Duration
	// files of the checkpoints that were deleted
	deleted []string
	err     error
}

func newSaver(f *folder, r record.Recorder) *saver {
	return &saver{folder: f, recorder: r, write: func(path string, w *rt.Weights) error { return w.Save(path) }}
}

// begin copies the state of parts and starts a goroutine that writes the copy. It must not be
// called while isBusy returns true.
func (s *saver) begin(parts map[string]rt.Stater, what saving) error {
	w, err := rt.CollectState(parts)
	if err == nil {
		what.weights, err = s.copier.copyOf(w)
	}
	if err != nil {
		return err
	}
	under := make(chan saved, 1)
	s.under = under
	go func() { under <- s.save(what) }()
	return nil
}

// isBusy reports whether a state is being written, or take has not returned its outcome.
func (s *saver) isBusy() bool { return s.under != nil }

// take returns the outcome of the save that `begin` started. If wait is true, it waits for the
// outcome. ok is false if no save was started, or if it is not finished.
func (s *saver) take(wait bool) (done saved, ok bool) {
	if s.under == nil {
		return done, false
	}
	if wait {
		done = <-s.under
	} else {
		select {
		case done = <-s.under:
		default:
			return done, false
		}
	}
	s.under = nil
	return done, true
}

func (s *saver) save(what saving) (done saved) {
	begin := time.Now()
	done = saved{saving: what, file: stateFile}
	defer func() { done.took = time.Since(begin) }()
	defer rt.Recover("saving", &done.err)
	if done.err = s.files(what); done.err != nil {
		return done
	}
	if what.checkpoint != "" {
		done.file = what.checkpoint
	}
	if info, err := os.Stat(s.folder.path(done.file)); err == nil {
		done.bytes = info.Size()
	}
	for _, file := range what.unwanted {
		if err := os.Remove(s.folder.path(file)); err == nil {
			done.deleted = append(done.deleted, file)
		}
	}
	return done
}

// files writes three files in this order: the checkpoint; the state, which names the checkpoint;
// best.json.
func (s *saver) files(what saving) error {
	if what.checkpoint != "" {
		path := s.folder.path(what.checkpoint)
		if err := os.MkdirAll(s.folder.path(checkpointFolder), 0o777); err != nil {
			return err
		}
		var err error
		if s.recorder == (record.Recorder{}) {
			err = s.write(path, what.weights)
		} else {
			err = s.recorder.Save(path, what.weights)
		}
		if err == nil {
			err = syncFolder(s.folder.path(checkpointFolder))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", what.checkpoint, err)
		}
	}
	if err := s.state(what); err != nil {
		return fmt.Errorf("%s: %w", stateFile, err)
	}
	if what.best != nil {
		if err := s.folder.writeJSON(bestFile, what.best); err != nil {
			return err
		}
	}
	return syncFolder(s.folder.dir)
}

// state writes the file from which the run continues. If a checkpoint with the same state and
// format was written, the file becomes a hard link to the checkpoint. If the file system does
// not allow links, state writes the file.
func (s *saver) state(what saving) error {
	path := s.folder.path(stateFile)
	if what.checkpoint != "" && s.recorder == (record.Recorder{}) {
		second := fmt.Sprintf("%s.%d.partial", path, os.Getpid())
		if os.Link(s.folder.path(what.checkpoint), second) == nil {
			return os.Rename(second, path)
		}
	}
	return s.write(path, what.weights)
}
