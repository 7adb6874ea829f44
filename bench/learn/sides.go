//go:build linux

package main

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/burngen/burngen/examples/mnist/cnn"
	"github.com/burngen/burngen/runtime/dash"
	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/learn"
	"github.com/burngen/burngen/runtime/metric"
	"github.com/burngen/burngen/runtime/optim"
	"github.com/burngen/burngen/runtime/rt"
)

const (
	batch  = 64
	images = 100 * batch
	rate   = 1e-4
)

func trainer() (*cnn.Trainer, *optim.Adam, []cnn.Image, []int64, error) {
	t, err := cnn.New(1).NewTrainer(cnn.TrainerOptions{Batch: batch, Seed: 1})
	if err != nil {
		return nil, nil, nil, nil, err
	}
	adam, err := optim.NewAdam(t.Params(), optim.AdamConfig{})
	if err != nil {
		return nil, nil, nil, nil, err
	}
	r := rand.New(rand.NewPCG(1, 2))
	x, y := make([]cnn.Image, images), make([]int64, images)
	for i := range x {
		for row := range x[i] {
			for column := range x[i][row] {
				x[i][row][column] = r.Float32()
			}
		}
		y[i] = r.Int64N(10)
	}
	return t, adam, x, y, nil
}

// byHand trains without package learn, in a loop that shuffles and copies images.
func byHand(steps int, _ string) error {
	t, adam, x, y, err := trainer()
	if err != nil {
		return err
	}
	bx, by := make([]cnn.Image, batch), make([]int64, batch)
	r := rand.New(rand.NewPCG(1, 2))
	var order []int
	m := meter{steps: steps}
	for range steps {
		if len(order) == 0 {
			order = r.Perm(len(x))
		}
		for k, i := range order[:batch] {
			bx[k], by[k] = x[i], y[i]
		}
		order = order[batch:]
		if _, err := t.Step(bx, by); err != nil {
			return err
		}
		if err := adam.Step(rate); err != nil {
			return err
		}
		if err := m.step(); err != nil {
			return err
		}
	}
	return nil
}

func learner(steps int, _ string) error { return fit(learn.Options{Steps: steps}) }

func withFolder(steps int, dir string) error { return fit(learn.Options{Steps: steps, Dir: dir}) }

func withDashboard(steps int, dir string) error {
	return fit(learn.Options{Steps: steps, Dir: dir, Show: dash.Terminal()})
}

// fit trains with a [learn.Learner]. The time of a step includes the checkpoints that o asks for.
func fit(o learn.Options) error {
	t, adam, x, y, err := trainer()
	if err != nil {
		return err
	}
	o.Optimizers = []learn.Optimizer{{Of: adam, Rate: optim.Constant(rate)}}
	m := meter{steps: o.Steps}
	step := func(x []cnn.Image, y []int64) (cnn.LossResult, error) {
		r, err := t.Step(x, y)
		return r, errors.Join(err, m.step())
	}
	task := learn.Pairs(step, t.Loss, func(_ []cnn.Image, y []int64, r cnn.LossResult) metric.Classes {
		return metric.Classes{Loss: r.Loss, Scores: rt.Flat[float32](r.Logits), Targets: y}
	})
	l, err := learn.New(t, task, o, metric.Accuracy())
	if err != nil {
		return err
	}
	set := data.Zipped(data.Of(x), data.Of(y))
	_, err = l.Fit(context.Background(), data.Load(set, data.Pairs(data.Copy[cnn.Image, int64]), data.LoaderOptions{Batch: batch, Shuffle: true}), nil)
	return err
}
