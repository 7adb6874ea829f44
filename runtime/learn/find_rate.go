package learn

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/rt"
)

// RateCurve is the loss at rising learning rates.
type RateCurve struct {
	Rates  []float64
	Losses []float64 // smoothed: means of the losses before, the last ones weigh most
	// Suggested is the rate at which the loss falls most steeply over the logarithm of the rate, before its
	// minimum. The first tenth of the steps does not count, because there are too few losses to smooth.
	// Suggested is 0 if the loss does not fall.
	Suggested float64
}

// These are the settings of FindRate: the range of rates that it tries, its number of steps, and the decay
// of its average of losses. It stops if the loss exceeds `diverged` times the smallest loss so far.
const (
	leastRate, mostRate = 1e-7, 10
	rateSteps           = 100
	smoothing           = 0.9
	diverged            = 4 // times the least loss
)

// FindRate takes at most 100 steps with rates that rise from 1e-7 to 10, and returns the smoothed losses.
// It ends early when the smoothed loss is not finite or exceeds four times its minimum. Afterwards the
// weights, the optimizers and Options.State are as they were before, bit for bit, and there are no
// gradients. All optimizers take the same rate. Options.Accumulate is ignored. (L. Smith, Cyclical learning
// rates for training neural networks, 2017.)
func (l *Learner[B, O]) FindRate(ctx context.Context, train *data.Loader[B]) (curve RateCurve, err error) {
	if ctx == nil {
		ctx = context.Background()
	}
	switch {
	case train == nil:
		return curve, errors.New("learn: find rate: no training data")
	case len(l.o.Optimizers) == 0:
		return curve, errors.New("learn: find rate: no optimizers")
	}
	parts := map[string]rt.Stater{trainerPart: l.trainer}
	for i, opt := range l.o.Optimizers {
		parts[fmt.Sprint("optimizer-", i)] = opt.Of
	}
	for name, s := range l.o.State {
		parts["state-"+name] = s
	}
	w, err := rt.CollectState(parts)
	if err == nil {
		w, err = new(copier).copyOf(w)
	}
	if err != nil {
		return curve, fmt.Errorf("learn: find rate: %w", err)
	}
	l.trainer.SetContext(ctx)
	err = l.sweep(ctx, train, &curve)
	l.trainer.SetContext(context.Background())
	l.trainer.Params().UseUp()
	if err := errors.Join(err, rt.RestoreState(w, parts)); err != nil {
		return curve, fmt.Errorf("learn: find rate: %w", err)
	}
	curve.suggest()
	return curve, nil
}

func (l *Learner[B, O]) sweep(ctx context.Context, train *data.Loader[B], curve *RateCurve) error {
	mean, least := 0.0, math.Inf(1)
	for epoch, step := 0, 0; step < rateSteps; epoch++ {
		before := step
		for b, err := range train.Epoch(ctx, epoch, 0) {
			if err != nil {
				return err
			}
			out, err := called(l.task.Step, b)
			if err != nil {
				return err
			}
			loss, items := out.Lost()
			if items == 0 {
				l.trainer.Params().UseUp()
				continue
			}
			mean = smoothing*mean + (1-smoothing)*loss
			smooth := mean / (1 - math.Pow(smoothing, float64(step+1)))
			if !isFinite(smooth) || smooth > diverged*least && smooth > 0 {
				return nil
			}
			least = min(least, smooth)
			rate := leastRate * math.Pow(mostRate/leastRate, float64(step)/(rateSteps-1))
			curve.Rates, curve.Losses = append(curve.Rates, rate), append(curve.Losses, smooth)
			for _, opt := range l.o.Optimizers {
				if err := opt.Of.Step(rate); err != nil {
					return err
				}
			}
			l.trainer.Params().UseUp()
			if step++; step == rateSteps {
				return nil
			}
		}
		if step == before {
			return errNothingMoves
		}
	}
	return nil
}

func (c *RateCurve) suggest() {
	first := rateSteps / 10
	least := first
	for i := first; i < len(c.Losses); i++ {
		if c.Losses[i] < c.Losses[least] {
			least = i
		}
	}
	steepest := 0.0
	for i := first + 1; i < least; i++ {
		slope := (c.Losses[i+1] - c.Losses[i-1]) / (math.Log(c.Rates[i+1]) - math.Log(c.Rates[i-1]))
		if slope < steepest {
			steepest, c.Suggested = slope, c.Rates[i]
		}
	}
}
