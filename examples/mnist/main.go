// Mnist trains the convolutional network in model/ to read digits. The training loop is written by
// hand.
//
//	go run ./examples/mnist [-data FOLDER] [-epochs 10] [-rate 0.0001] [-seed 42] [-item 42] [-o FILE] [-target cpu]
//
// FOLDER has MNIST's files t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte, or both with .gz.
// Without it digits are drawn. Nine of ten images are used for training, and every tenth for the
// accuracy. It computes on the CPU. Built with -tags gpu, after go generate with the same flag, it also computes on
// GPUs: -target is then auto, cuda, vulkan or cpu.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/burngen/burngen/examples/mnist/cnn"
	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/optim"
)

//go:generate go run ../../cmd/burngen ./model -train -set Classes=10 -o ./cnn

// plan holds the settings of a training run.
type plan struct {
	epochs int
	rate   float64
	seed   uint64
	target string
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
	item := flag.Int("item", 42, "reads image `N` in the end")
	out := flag.String("o", "", "saves the weights in `FILE`")
	flag.Parse()
	images, labels, err := digits(*folder)
	check(err)
	t, err := p.train(os.Stdout, images, labels)
	check(err)
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

// batch is the number of images per step.
const batch = 64

// train trains a network on nine of ten images, and writes a line for each epoch.
func (p plan) train(w io.Writer, images []cnn.Image, labels []int64) (trainer, error) {
	training, rest := split(images, labels)
	m, err := newModel(p.seed, p.target)
	if err != nil {
		return nil, err
	}
	t, err := m.NewTrainer(cnn.TrainerOptions{Batch: batch, Seed: p.seed})
	if err != nil {
		return nil, err
	}
	opt, err := optim.NewAdam(t.Params(), optim.AdamConfig{})
	if err != nil {
		return nil, err
	}
	batches := data.Load(training, copied, data.LoaderOptions{Batch: batch, Shuffle: true, Seed: p.seed})
	for epoch := range p.epochs {
		var loss float64
		for b, err := range batches.Epoch(context.Background(), epoch, 0) {
			if err != nil {
				return nil, err
			}
			r, err := t.Step(b.X, b.Y) // forward, loss, backward: adds to the gradients
			if err != nil {
				return nil, err
			}
			if err := opt.Step(p.rate); err != nil { // changes the parameters and resets the gradients
				return nil, err
			}
			loss += float64(r.Loss) * float64(len(b.X))
		}
		right, err := accuracy(t, rest)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(w, "epoch %2d  loss %.4f  accuracy %.1f %%\n", epoch+1, loss/float64(training.Len()), 100*right)
	}
	return t, nil
}

// accuracy returns the share of images that are classified correctly.
func accuracy(t trainer, s data.Dataset[digit]) (float64, error) {
	right := 0
	for b, err := range data.Load(s, copied, data.LoaderOptions{Batch: batch}).Epoch(context.Background(), 0, 0) {
		if err != nil {
			return 0, err
		}
		logits, err := t.Forward(b.X) // the weights being trained, without dropout
		if err != nil {
			return 0, err
		}
		for i := range logits {
			if argmax(logits[i]) == b.Y[i] {
				right++
			}
		}
	}
	return float64(right) / float64(s.Len()), nil
}

// infer returns the digit that a model recognises.
func infer(m model, image cnn.Image) (int64, error) {
	logits, err := m.Forward([]cnn.Image{image})
	if err != nil {
		return 0, err
	}
	return argmax(logits[0]), nil
}

// argmax returns the most probable digit.
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
