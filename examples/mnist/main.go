// Mnist trains the convolutional network in model/ to read digits.
//
//	go run ./examples/mnist [-data FOLDER] [-run FOLDER] [-epochs 10] [-rate 0.0001] [-seed 42] [-item 42] [-o FILE] [-target cpu]
//
// The folder of -data has MNIST's files t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte, or both with .gz. Without
// -data the program draws digits. Nine of ten images are used for training, and every tenth for the accuracy. The
// folder of -run keeps events, logs, checkpoints and a page about the run, report.html. A run that was interrupted
// continues from there. The program computes on the CPU. If go generate and go build get -tags gpu, it also computes
// on GPUs: -target is then auto, cuda, vulkan or cpu.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"

	"github.com/burngen/burngen/examples/mnist/cnn"
	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/learn"
	"github.com/burngen/burngen/runtime/learn/report"
	"github.com/burngen/burngen/runtime/metric"
	"github.com/burngen/burngen/runtime/optim"
	"github.com/burngen/burngen/runtime/rt"
)

//go:generate go run ../../cmd/burngen ./model -train -set Classes=10 -o ./cnn

type plan struct {
	epochs int
	rate   float64
	seed   uint64
	target string
	folder string // of the run; "" keeps nothing
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("mnist: ")
	folder := flag.String("data", os.Getenv("MNIST"), "reads MNIST's test set in `FOLDER`")
	var p plan
	flag.IntVar(&p.epochs, "epochs", 10, "trains `N` times on everything")
	flag.Float64Var(&p.rate, "rate", 1e-4, "learns at this `RATE`")
	flag.Uint64Var(&p.seed, "seed", 42, "begins all random numbers with `SEED`")
	flag.StringVar(&p.target, "target", firstTarget, "computes on `TARGET`")
	flag.StringVar(&p.folder, "run", "", "keeps the run in `FOLDER`, and continues it")
	item := flag.Int("item", 42, "reads image `N` in the end")
	out := flag.String("o", "", "saves the weights in `FILE`")
	flag.Parse()
	ctx, stop := learn.Interruptible(context.Background()) // the second Ctrl-C ends at once
	defer stop()
	images, labels, err := digits(*folder)
	check(err)
	t, run, err := p.train(ctx, learn.Lines(os.Stdout), images, labels)
	check(err)
	fmt.Print(run)
	m := t.Model() // prepared for inference
	if *out != "" {
		check(m.Save(*out))
	}
	if *item >= 0 && *item < len(images) {
		digit, err := infer(m, images[*item])
		check(err)
		fmt.Printf("image %d is read as %d and shows %d\n", *item, digit, labels[*item])
	}
}

const batch = 64

// train trains a network on nine tenths of the images and measures it on the rest.
func (p plan) train(ctx context.Context, show learn.Renderer, images []cnn.Image, labels []int64) (trainer, *learn.Run, error) {
	m, err := newModel(p.seed, p.target)
	if err != nil {
		return nil, nil, err
	}
	t, err := m.NewTrainer(cnn.TrainerOptions{Batch: batch, Seed: p.seed})
	if err != nil {
		return nil, nil, err
	}
	adam, err := optim.NewAdam(t.Params(), optim.AdamConfig{})
	if err != nil {
		return nil, nil, err
	}
	task := learn.Pairs(t.Step, t.Loss, func(_ []cnn.Image, y []int64, r cnn.LossResult) metric.Classes {
		return metric.Classes{Loss: r.Loss, Scores: rt.Flat[float32](r.Logits), Targets: y}
	})
	o := learn.Options{Dir: p.folder, Epochs: p.epochs, Show: show, Config: map[string]any{"rate": p.rate, "seed": p.seed},
		Optimizers: []learn.Optimizer{{Of: adam, Rate: optim.Constant(p.rate)}}}
	if p.folder != "" {
		o.Report = report.Write
		o.Resume, o.Keep = learn.Continue, []learn.Keeper{learn.Last(2), learn.Best("valid accuracy")}
	}
	l, err := learn.New(t, task, o, metric.Accuracy())
	if err != nil {
		return nil, nil, err
	}
	training, rest := split(images, labels)
	run, err := l.Fit(ctx, data.Load(training, copied, data.LoaderOptions{Batch: batch, Shuffle: true, Seed: p.seed}),
		data.Load(rest, copied, data.LoaderOptions{Batch: batch}))
	return t, run, err
}

func infer(m model, image cnn.Image) (int64, error) {
	logits, err := m.Forward([]cnn.Image{image})
	if err != nil {
		return 0, err
	}
	return argmax(logits[0]), nil
}

func argmax(logits cnn.Logits) int64 {
	best := 0
	for i, v := range logits {
		if v > logits[best] {
			best = i
		}
	}
	return int64(best)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
