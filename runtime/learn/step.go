package learn

import (
	"errors"
	"fmt"
	"time"

	"github.com/burngen/burngen/runtime/rt"
)

// group counts the batches whose gradients are added for one step of the optimizers.
type group struct {
	batches int // so far
	// items in these batches
	items int
	// items in the last batch that had items
	last int
}

// batch trains on a batch. It takes a step if the batch is the last one of its group. asked is the
// time at which the batch was requested.
func (f *fit[B, O]) batch(b *B, asked time.Time) error {
	begin := f.now()
	p := &f.position
	e := Stepped{Split: Train, Epoch: p.Epoch, Batch: p.Batch, Waited: begin.Sub(asked)}
	last := p.Batch == f.train.Batches()-1
	items, err := f.prepare(b)
	if err != nil {
		return err
	}
	skips := f.o.weighs() && items == 0 // the mean over no items is not a number
	var lost float64
	if !skips {
		var out O
		if out, err = called(f.task.Step, b); err != nil {
			return err
		}
		var n int
		lost, n = out.Lost()
		if f.o.weighs() && n != items {
			return fmt.Errorf("the loss is of %d items, but the task's Items says %d", n, items)
		}
		items = n
		if items > 0 && !isFinite(lost) {
			return fmt.Errorf("loss is %v at step %d", lost, p.Step+1)
		}
		if e.Values, err = f.counters.add(out, items, last); err != nil {
			return err
		}
	}
	f.group.batches++
	f.group.items += items
	if items > 0 {
		f.group.last = items
	}
	e.Loss, e.Items = Number(lost), items
	if f.group.batches == f.o.accumulate() || last {
		if e.Rate, e.GradNorm, err = f.step(); err != nil {
			return err
		}
	}
	p.Batch++
	e.Step = p.Step
	if !f.journal.isSilent() {
		e.Time = f.now()
		e.Took = e.Time.Sub(begin)
		f.journal.emit(e)
	}
	return nil
}

func called[B, O any](f func(*B) (O, error), b *B) (out O, err error) {
	defer rt.Recover("task", &err)
	return f(b)
}

// prepare scales the sum of a group's gradients so far, before the gradient of the group's next
// batch, b, is added to it. The gradient of a batch is a mean over the items of this batch. The
// scaling makes all items of the group count equally. prepare returns the number of items of b, or
// 0 if batches are not weighted.
func (f *fit[B, O]) prepare(b *B) (items int, err error) {
	if !f.o.weighs() {
		return 0, nil
	}
	items = f.task.Items(b)
	if items < 0 {
		return 0, fmt.Errorf("the task's Items says %d items", items)
	}
	if f.group.items > 0 && items > 0 && items != f.group.last {
		f.trainer.Params().Scale(float64(f.group.last) / float64(items))
	}
	return items, nil
}

// step makes all optimizers step with the gradients of a group of batches. It returns the rate of
// the first optimizer, and the norm of the gradients if it was computed. If there are optimizers,
// a group without items does not step. If there are no optimizers, every group counts as a step.
func (f *fit[B, O]) step() (rate, norm Number, err error) {
	g := f.group
	f.group = group{}
	params := f.trainer.Params()
	if len(f.o.Optimizers) == 0 {
		f.position.Step++
		return 0, 0, f.o.Average.update()
	}
	defer params.UseUp() // also those of parameters without an optimizer
	if g.items == 0 {
		return 0, 0, nil
	}
	if f.o.weighs() && g.last != g.items {
		params.Scale(float64(g.last) / float64(g.items))
	}
	if f.o.ClipNorm > 0 {
		norm = Number(params.ClipNorm(f.o.ClipNorm))
	}
	if f.o.ClipValue > 0 {
		params.ClipValue(f.o.ClipValue)
	}
	if err := params.Err(); err != nil {
		return 0, 0, err
	}
	for i := range f.o.Optimizers {
		opt := &f.o.Optimizers[i]
		at := opt.Rate(f.position.Step) * opt.Factor.rate()
		if err := opt.Of.Step(at); err != nil {
			return 0, 0, err
		}
		if i == 0 {
			rate = Number(at)
		}
	}
	f.position.Step++
	return rate, norm, f.o.Average.update()
}

var errNothingMoves = errors.New("no batch of the epoch has items: nothing is learned")
