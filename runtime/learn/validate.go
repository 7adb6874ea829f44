package learn

import (
	"context"
	"fmt"

	"github.com/burngen/burngen/runtime/data"
)

// frozen holds the positions that a run and its loggers had before a validation, or before the measurements at the
// end of an epoch. If the run ends during the validation or the measurements, it later continues from these
// positions.
type frozen struct {
	position position
	marks    map[string]string
}

// freeze stores the current positions of the run and of its loggers in f.frozen.
func (f *fit[B, O]) freeze() { f.frozen = &frozen{f.position.clone(), f.journal.marks()} }

// thaw is the counterpart of freeze, and returns err. If err is nil, thaw drops the stored positions. Otherwise it
// sets the position of the run to the stored one, and keeps the stored positions for the method save.
func (f *fit[B, O]) thaw(err error) error {
	if err == nil {
		f.frozen = nil
	} else {
		f.position = f.frozen.position
	}
	return err
}

func (f *fit[B, O]) validate(values map[string]float64) error {
	c := newCounters(f.metrics, f.o.recent())
	p := &f.position
	err := f.evaluate(f.ctx, f.valid, c, func(e Stepped) error {
		if !f.journal.isSilent() {
			e.Time, e.Split, e.Epoch, e.Step = f.now(), Valid, p.Epoch, p.Step
			f.journal.emit(e)
		}
		if f.controls.interrupted() {
			return f.errInterrupted()
		}
		return nil
	})
	if err != nil {
		return err
	}
	measured, err := c.values()
	if err != nil {
		return fmt.Errorf("validation after step %d: %w", p.Step, err)
	}
	f.measure(Valid, c, measured, values, p.Batch == f.train.Batches())
	return nil
}

// evaluate adds the outputs for all batches of the loader `of` to the counters c. It uses averaged
// weights if there are any. It calls `done` after each batch.
func (l *Learner[B, O]) evaluate(ctx context.Context, of *data.Loader[B], c *counters[O], done func(Stepped) error) (err error) {
	if err := l.o.Average.swap(); err != nil {
		return err
	}
	defer func() {
		if back := l.o.Average.swap(); err == nil {
			err = back
		}
	}()
	batch, asked := 0, l.now()
	for b, err := range of.Epoch(ctx, 0, 0) {
		if err != nil {
			return l.named(ctx, err, batch)
		}
		begin := l.now()
		out, err := called(l.task.Eval, b)
		if err != nil {
			return l.named(ctx, err, batch)
		}
		loss, items := out.Lost()
		recent, err := c.add(out, items, batch == of.Batches()-1)
		if err != nil {
			return l.named(ctx, err, batch)
		}
		now := l.now()
		if err := done(Stepped{Batch: batch, Items: items, Loss: Number(loss), Values: recent, Waited: begin.Sub(asked), Took: now.Sub(begin)}); err != nil {
			return err
		}
		batch++
		asked = l.now()
	}
	return nil
}

// named prefixes err with the batch. If the context is done, it returns the cause instead.
func (l *Learner[B, O]) named(ctx context.Context, err error, batch int) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return fmt.Errorf("evaluation: batch %d: %w", batch+1, err)
}

// measure emits the measured values of a split and adds them to `values`. ends is true if they
// belong to a whole epoch.
func (f *fit[B, O]) measure(split Split, c *counters[O], measured []Value, values map[string]float64, ends bool) {
	p := &f.position
	if f.folder != nil {
		if err := savePictures(f.folder, c, measured, split, p.Epoch, p.Step, ends); err != nil {
			f.journal.warn("%v", err)
		}
	}
	f.journal.emit(Measured{f.now(), split, p.Epoch, p.Step, int(c.items), measured})
	for _, v := range measured {
		key := split.Key(v.Name)
		values[key] = float64(v.Value)
		p.Last[key] = v.Value
		f.improve(key, v.Value)
	}
}

// improve stores value if it is the best one of key.
func (f *fit[B, O]) improve(key string, value Number) {
	p := &f.position
	before := bestValue{Value: nan}
	if b, ok := p.Best[key]; ok {
		before = b
	}
	if f.better[key] == 0 || !isBetter(f.better[key], float64(value), float64(before.Value), 0) {
		return
	}
	p.Best[key] = bestValue{Value: value, Epoch: p.Epoch, Step: p.Step}
	f.journal.emit(Improved{f.now(), p.Epoch, p.Step, key, value, before.Value})
}
