// Package learn trains the models of generated packages: it runs epochs, measures metrics, saves
// the state, decides when to stop, and shows the progress.
//
// A [Task] says how to process a batch; [Pairs] and [One] make it from methods of a trainer. A
// [Learner] runs the task with [Options]:
//
//	task := learn.Pairs(t.Step, t.Loss, func(_ []cnn.Image, y []int64, r cnn.LossResult) metric.Classes {
//		return metric.Classes{Loss: r.Loss, Scores: rt.Flat[float32](r.Logits), Targets: y}
//	})
//	l, err := learn.New(t, task, learn.Options{
//		Dir: "runs/mnist", Resume: learn.Continue, Epochs: 10,
//		Optimizers: []learn.Optimizer{{Of: adam, Rate: optim.Constant(1e-4)}},
//		Keep:       []learn.Keeper{learn.Last(2), learn.Best("valid accuracy")},
//		Stop:       learn.NoBetter("valid loss", 3),
//	}, metric.Accuracy())
//	run, err := l.Fit(ctx, train, valid)
//	fmt.Print(run)
//	err = run.LoadBest("valid accuracy")
//
// The loss is always measured. Metrics of training measure the outputs of training steps, with
// dropout on. Metrics of validation measure the outputs of Eval. In an [Event], the first epoch and
// the first step have the number 0. In everything that people read, such as names of files, the first
// epoch has the number 1.
//
// # The folder of a run
//
//	config.json, environment.json    Options.Config; versions, machine, command, digests of model and data
//	experiment.log                   what happened, as text of package slog
//	events.jsonl                     every event, one a line
//	metrics.csv                      values of epochs and validations
//	train/epoch-1/Accuracy.log …     values of batches, in burn's layout; valid/ likewise
//	checkpoint/epoch-3.safetensors   states that keepers kept; best.json says which is best by which metric
//	pictures/                        pictures of metrics, such as confusion matrices
//	last.safetensors                 the state from which the run continues
//	lock                             held by the process that trains
//
// A state holds everything on which the rest of the run depends. A run that was interrupted, or
// killed at any moment, continues from the last saved state: its weights and files are then the same
// bytes as without the interruption, provided that reading an item of the data set always gives the
// same item. To that end, the run truncates files to their lengths at the time when the state was
// saved.
//
// # Events
//
// A run tells what happens by [Event]s. A [Renderer] and [Logger]s get the events in order, from the
// goroutine that trains. The folder of a run keeps the events in a file, so that pictures can be
// made later.
//
// The package knows trainers only as an interface. It does not know any model or target.
package learn
