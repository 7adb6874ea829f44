//go:build unix || windows

package dash

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/burngen/burngen/runtime/dash/internal/progress"
	"github.com/burngen/burngen/runtime/learn"
)

// recorded returns the events of a run of 4 epochs of 127 batches, up to a number of batches of training
// and, if there are more epochs than that, through validation.
func recorded(batches int) []learn.Event {
	const perEpoch, valid = 127, 20
	at := time.Date(2026, 1, 2, 14, 2, 11, 0, time.UTC)
	pass := func(d time.Duration) time.Time { at = at.Add(d); return at }
	r := rand.New(rand.NewPCG(1, 2))
	loss := func(step int) float64 {
		return 0.2 + 1.8*math.Exp(-float64(step)/90) + 0.05*r.Float64()
	}
	events := []learn.Event{learn.Started{Time: at, Run: "mnist", Epochs: 4, Batches: perEpoch, Items: 8128, Valid: valid, Parameters: 33_000,
		Metrics: []learn.Series{{Name: "loss", Better: -1, Curve: true}, {Name: "accuracy", Unit: "%", Better: 1, Curve: true},
			{Name: "top-3", Unit: "%", Better: 1, Curve: true}, {Name: "F1 macro", Unit: "%", Better: 1, Curve: true}},
		System: []learn.Series{{Name: "cpu", Unit: "%", Curve: true}, {Name: "memory", Unit: "MB", Curve: true}, {Name: "temperature", Unit: "°C"}}}}
	for step := range batches {
		epoch, batch := step/perEpoch, step%perEpoch
		l := loss(step)
		accuracy := 98 - 40*l
		events = append(events, learn.Stepped{Time: pass(30 * time.Millisecond), Split: learn.Train, Epoch: epoch, Batch: batch, Step: step + 1,
			Items: 64, Loss: learn.Number(l), Rate: 1e-4, GradNorm: learn.Number(1 + l), Waited: 600 * time.Microsecond, Took: 29 * time.Millisecond,
			Values: []learn.Value{{Name: "accuracy", Value: learn.Number(accuracy)}, {Name: "top-3", Value: learn.Number(accuracy + 1)}, {Name: "F1 macro", Value: learn.Number(accuracy - 0.2)}}})
		if step%40 == 0 {
			events = append(events, learn.Measured{Time: at, Split: learn.System, Epoch: epoch, Step: step + 1, Values: []learn.Value{
				{Name: "cpu", Value: 97}, {Name: "memory", Value: learn.Number(180 + step/10)}, {Name: "temperature", Value: 54}}})
		}
		if batch < perEpoch-1 {
			continue
		}
		mean := 0.2 + 1.6*math.Exp(-float64(step)/90)
		events = append(events, measured(pass(0), learn.Train, epoch, step+1, mean+0.05))
		for b := range valid {
			events = append(events, learn.Stepped{Time: pass(10 * time.Millisecond), Split: learn.Valid, Epoch: epoch, Batch: b, Step: step + 1,
				Items: 64, Loss: learn.Number(mean), Waited: time.Millisecond, Took: 9 * time.Millisecond})
		}
		events = append(events, measured(pass(0), learn.Valid, epoch, step+1, mean),
			learn.Improved{Time: at, Epoch: epoch, Step: step + 1, Key: "valid loss", Value: learn.Number(mean), Before: learn.Number(math.NaN())},
			learn.Saved{Time: pass(time.Second), Epoch: epoch, Step: step + 1, File: fmt.Sprintf("checkpoint/epoch-%d.safetensors", epoch+1), Bytes: 132_000, Took: 4 * time.Millisecond},
			learn.EpochEnded{Time: at, Epoch: epoch, Step: step + 1, Took: 5 * time.Second})
		if epoch > 0 {
			events = append(events, learn.Deleted{Time: at, File: fmt.Sprintf("checkpoint/epoch-%d.safetensors", epoch)})
		}
	}
	if batches == 4*perEpoch {
		events = append(events, stopped(pass(time.Second)))
	}
	return events
}

func measured(at time.Time, split learn.Split, epoch, step int, loss float64) learn.Measured {
	return learn.Measured{Time: at, Split: split, Epoch: epoch, Step: step, Items: 1280, Values: []learn.Value{{Name: "loss", Value: learn.Number(loss)},
		{Name: "accuracy", Value: learn.Number(98 - 40*loss)}, {Name: "top-3", Value: learn.Number(99 - 40*loss)}, {Name: "F1 macro", Value: learn.Number(97.8 - 40*loss)}}}
}

func stopped(at time.Time) learn.Stopped {
	return learn.Stopped{Time: at, Epoch: 3, Step: 508, Reason: "4 epochs are done", Done: true, Took: 21 * time.Second}
}

// runOf returns what is known after events.
func runOf(events ...learn.Event) *progress.Run {
	run := progress.New()
	for _, e := range events {
		run.Event(e)
	}
	return run
}
