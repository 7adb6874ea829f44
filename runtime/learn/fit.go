package learn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/metric"
	"github.com/burngen/burngen/runtime/rt"
)

type fit[B any, O metric.Output] struct {
	*Learner[B, O]
	ctx          context.Context
	train, valid *data.Loader[B]
	position     position
	frozen       *frozen
	counters     *counters[O] // of the epoch of training
	group        group
	journal      *journal
	controls     *controls

	folder   *folder // nil without Dir
	saver    *saver
	identity identity
	due      bool  // a state has to be saved
	kept     place // of the last state that was saved

	resumed  time.Duration // time of training before
	began    time.Time
	machine  Machine
	measured time.Time // when the machine was measured last
}

// ending says why and how a run ends without an error.
type ending struct {
	reason string
	// there is nothing to continue
	done bool
	drop bool // training since the last checkpoint is dropped
}

func (e *ending) Error() string { return e.reason }

// errInterrupted returns the reason to end a run that a signal or the user interrupts.
func (f *fit[B, O]) errInterrupted() error {
	return &ending{reason: "interrupted", drop: f.controls.drops()}
}

// Fit trains on train and validates on valid, which may be nil. It returns when a limit of the
// options is reached, a stopper ends the run, or it is interrupted: see [Interruptible] and
// [Controls]. None of these is an error. The state of the run is then saved, unless the user asked
// to drop it or Options.Dir is empty.
//
// Fit also returns when ctx ends, with its cause, and when something fails: a step, a metric, an
// item of the data, or the last save. A loss that is not finite is also an error; the optimizers do
// not step then. After an error, the state that was saved before stays. The error of a batch names
// the step. If the run had begun, the Run is returned with the error.
//
// If a save during the run fails, there is a [Warned] event, and the run goes on to the next save.
//
// Use a learner for one run only, because stoppers, factors and averages keep what they have seen.
func (l *Learner[B, O]) Fit(ctx context.Context, train, valid *data.Loader[B]) (*Run, error) {
	f, err := l.begin(ctx, train, valid)
	if err != nil {
		return nil, fmt.Errorf("learn: %w", err)
	}
	run, err := f.end(f.loop())
	if err != nil {
		err = fmt.Errorf("learn: %w", err)
	}
	return run, err
}

func (l *Learner[B, O]) begin(ctx context.Context, train, valid *data.Loader[B]) (_ *fit[B, O], err error) {
	if ctx == nil {
		ctx = context.Background()
	}
	f := &fit[B, O]{Learner: l, ctx: ctx, train: train, valid: valid, position: newPosition(), controls: newControls(ctx), machine: l.o.System}
	f.counters = newCounters(l.metrics, l.o.recent())
	if err := f.checkData(); err != nil {
		return nil, err
	}
	var marks map[string]string
	changes := false
	if l.o.Dir != "" {
		if f.folder, err = openFolder(l.o.Dir); err != nil {
			return nil, err
		}
		defer func() {
			if err != nil {
				f.folder.close()
			}
		}()
		if f.identity, changes, err = identify(l, train); err != nil {
			return nil, err
		}
		if marks, err = f.resume(); err != nil {
			return nil, fmt.Errorf("%s: %w", l.o.Dir, err)
		}
		f.saver = newSaver(f.folder, l.o.Record)
	}
	f.began = l.now()
	f.resumed = f.position.Elapsed
	if f.journal, err = openJournal(l.o.Dir, &l.o, marks, l.now); err != nil {
		return nil, err
	}
	f.trainer.SetContext(ctx)
	f.journal.control(f.controls)
	f.journal.emit(f.started())
	if changes {
		f.journal.warn("the training data have other items when they are read again: a run that is continued is not the same bit for bit")
	}
	return f, nil
}

func (f *fit[B, O]) checkData() error {
	if f.train == nil {
		return errors.New("no training data")
	}
	if err := f.train.Err(); err != nil {
		return fmt.Errorf("training data: %w", err)
	}
	if f.valid == nil {
		return nil
	}
	if f.task.Eval == nil {
		return errors.New("validation data, but the task has no Eval")
	}
	if err := f.valid.Err(); err != nil {
		return fmt.Errorf("validation data: %w", err)
	}
	return nil
}

func (f *fit[B, O]) started() Started {
	e := Started{Time: f.now(), Epoch: f.position.Epoch, Batch: f.position.Batch, Step: f.position.Step, Epochs: f.o.Epochs, Steps: f.o.Steps,
		Batches: f.train.Batches(), Items: f.train.Items(), Parameters: int64(f.trainer.Params().Len()), Metrics: f.series}
	if f.o.Dir != "" {
		if path, err := filepath.Abs(f.o.Dir); err == nil {
			e.Run = filepath.Base(path)
		}
	}
	if f.valid != nil {
		e.Valid = f.valid.Batches()
	}
	if f.o.System != nil {
		e.System = f.o.System.Series()
	}
	return e
}

// elapsed returns the duration of the run, including the time before it was continued.
func (f *fit[B, O]) elapsed() time.Duration { return f.resumed + f.now().Sub(f.began) }

// reached returns the limit that the run has reached, as the reason to end it, or nil.
func (f *fit[B, O]) reached() error {
	p := &f.position
	switch {
	case p.Stopped != "" && f.o.Stop != nil:
		return &ending{reason: p.Stopped, done: true}
	case f.o.Steps > 0 && p.Step >= f.o.Steps:
		return &ending{reason: count(f.o.Steps, "step") + " done", done: true}
	case f.o.Epochs > 0 && p.Epoch >= f.o.Epochs:
		return &ending{reason: count(f.o.Epochs, "epoch") + " done", done: true}
	}
	return nil
}

// loop trains until something ends the run. It returns the reason.
func (f *fit[B, O]) loop() error {
	for {
		if f.position.Validate {
			if err := f.validateWithin(); err != nil {
				return err
			}
		}
		if f.position.Batch < f.train.Batches() {
			if err := f.reached(); err != nil {
				return err
			}
			if err := f.epoch(); err != nil {
				return err
			}
		}
		if err := f.endEpoch(); err != nil {
			return err
		}
	}
}

// epoch trains on the remaining batches of an epoch.
func (f *fit[B, O]) epoch() error {
	asked := f.now()
	for b, err := range f.train.Epoch(f.ctx, f.position.Epoch, f.position.Batch) {
		if err == nil {
			err = f.batch(b, asked)
		}
		if err != nil {
			return f.failed(err)
		}
		if f.group.batches == 0 {
			if err := f.between(); err != nil {
				return err
			}
		}
		asked = f.now()
	}
	return nil
}

// failed prefixes err with the epoch, batch and step. If the context is done, it returns the cause
// of the context instead.
func (f *fit[B, O]) failed(err error) error {
	if cause := context.Cause(f.ctx); cause != nil {
		return cause
	}
	return fmt.Errorf("epoch %d, batch %d, step %d: %w", f.position.Epoch+1, f.position.Batch+1, f.position.Step+1, err)
}

func (f *fit[B, O]) between() error {
	p := &f.position
	f.collect(false)
	f.measureMachine()
	within := p.Batch < f.train.Batches()
	if within && f.validates() {
		p.Validate = true
		if err := f.validateWithin(); err != nil {
			return err
		}
	}
	if within && f.o.Stop != nil {
		p.Stopped = f.o.Stop.Stop(Progress{Epoch: p.Epoch, Step: p.Step, Elapsed: f.elapsed()})
	}
	if f.o.SaveEvery > 0 && p.Step%f.o.SaveEvery == 0 {
		f.due = true
	}
	if f.due && f.saver != nil && !f.saver.isBusy() {
		f.due = false
		f.save(saving{epoch: p.Epoch})
	}
	for f.controls.wait(f.ctx) {
		f.checkpoint(p.Epoch, !within, nil)
	}
	if err := context.Cause(f.ctx); err != nil {
		return err
	}
	if f.controls.interrupted() {
		return f.errInterrupted()
	}
	if within {
		return f.reached()
	}
	return nil
}

// validates reports whether validation is due after the step that was just taken: if the number of
// steps is a multiple of ValidEvery, or equals Options.Steps. Without validation data it is never
// due.
func (f *fit[B, O]) validates() bool {
	step := f.position.Step
	return f.valid != nil && (f.o.ValidEvery > 0 && step%f.o.ValidEvery == 0 || f.o.Steps > 0 && step == f.o.Steps)
}

func (f *fit[B, O]) validateWithin() error {
	f.freeze()
	values := map[string]float64{}
	if err := f.validate(values); err != nil {
		return f.thaw(err)
	}
	f.position.Validate = false
	f.thaw(nil)
	return f.decide(values, f.position.Epoch, false)
}

// endEpoch emits the values that training has measured in the epoch, validates if that is due, begins
// the next epoch, and returns the result of [fit.decide]. It returns an error if the epoch had no
// items.
func (f *fit[B, O]) endEpoch() error {
	p := &f.position
	if f.counters.items == 0 {
		return f.failed(errNothingMoves)
	}
	f.freeze()
	values := map[string]float64{}
	measured, err := f.counters.values()
	if err != nil {
		return f.thaw(f.failed(err))
	}
	f.measure(Train, f.counters, measured, values, true)
	if f.valid != nil && (f.o.ValidEvery == 0 || f.validates()) {
		if err := f.validate(values); err != nil {
			return f.thaw(err)
		}
	}
	f.journal.emit(EpochEnded{f.now(), p.Epoch, p.Step, f.elapsed() - p.Began})
	epoch := p.Epoch
	p.Epoch, p.Batch, p.Began = p.Epoch+1, 0, f.elapsed()
	f.counters = newCounters(f.metrics, f.o.recent())
	f.thaw(nil)
	return f.decide(values, epoch, true)
}

// decide uses the values that were measured: it adapts the rates, asks the stopper and saves a
// checkpoint. ends says whether the epoch is complete. decide returns the reason to end the run, or
// nil to go on.
func (f *fit[B, O]) decide(values map[string]float64, epoch int, ends bool) error {
	p := &f.position
	for _, r := range f.reducers() {
		if r.see(values) {
			f.journal.warn("plateau of %s: the rate is multiplied by %.4g from step %d on", r.Key, r.rate(), p.Step+1)
		}
	}
	if f.o.Stop != nil {
		p.Stopped = f.o.Stop.Stop(Progress{Epoch: p.Epoch, Step: p.Step, Elapsed: f.elapsed(), Values: values})
	}
	f.checkpoint(epoch, ends, values)
	if err := f.reached(); err != nil {
		return err
	}
	if err := context.Cause(f.ctx); err != nil {
		return err
	}
	if f.controls.interrupted() {
		return f.errInterrupted()
	}
	return nil
}

// end ends a run for the reason `why`. It saves the state, unless the state is to be dropped.
func (f *fit[B, O]) end(why error) (*Run, error) {
	var e *ending
	err := why
	if errors.As(why, &e) {
		err = nil
	} else {
		e = &ending{reason: why.Error(), drop: true}
	}
	f.collect(true)
	if f.saver != nil && !e.drop && f.kept != f.position.place() {
		failed := f.save(saving{epoch: f.position.Epoch})
		if failed == nil {
			failed = f.collect(true)
		}
		if failed != nil {
			err = fmt.Errorf("the run could not be saved: %w", failed)
		}
	}
	stopped := Stopped{f.now(), f.position.Epoch, f.position.Step, e.reason, e.done, f.elapsed()}
	f.journal.emit(stopped)
	f.trainer.SetContext(context.Background())
	if closing := f.journal.closeLogs(); err == nil && closing != nil {
		err = closing
	}
	if f.folder != nil && f.o.Report != nil {
		if failed := f.report(); failed != nil {
			slog.Warn("the report of a run is missing", "dir", f.folder.dir, "error", failed) // Stopped was the last event
		}
	}
	if closing := f.journal.closeShow(); err == nil && closing != nil {
		err = closing
	}
	if f.folder != nil {
		f.folder.close()
	}
	return f.run(stopped), err
}

func (f *fit[B, O]) report() error {
	return guarded(func() error { return f.o.Report(f.folder.dir) })
}

// measureMachine measures the machine if systemEvery has passed since the last measurement.
func (f *fit[B, O]) measureMachine() {
	if f.machine == nil || f.journal.isSilent() || f.now().Sub(f.measured) < f.o.systemEvery() {
		return
	}
	f.measured = f.now()
	values, err := measured(f.machine)
	if err != nil {
		f.machine = nil
		f.journal.warn("the machine is not measured any more: %v", err)
		return
	}
	f.journal.emit(Measured{Time: f.measured, Split: System, Epoch: f.position.Epoch, Step: f.position.Step, Values: values})
}

func measured(m Machine) (values []Value, err error) {
	defer rt.Recover("system", &err)
	return m.Measure(), nil
}
