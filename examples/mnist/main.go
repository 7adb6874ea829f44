// Mnist trains the convolutional network in model/ to read digits, in a loop that is
// written by hand.
//
//	go run ./examples/mnist [-data FOLDER] [-epochs 10] [-rate 0.0001] [-seed 42] [-item 42] [-o FILE]
//
// The folder has t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte, MNIST's, or both with
// .gz; without it digits are drawn. Nine of ten are trained on, every tenth tells how much
// was learnt.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"

	"github.com/burngen/burngen/examples/mnist/cnn"
	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/optim"
)

//go:generate go run ../../cmd/burngen ./model -train -set Classes=10 -o ./cnn

// plan says how to train.
type plan struct {
	epochs int
	rate   float64
	seed   uint64
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("mnist: ")
	folder := flag.String("data", os.Getenv("MNIST"), "reads MNIST's test set in `FOLDER`")
	var p plan
	flag.IntVar(&p.epochs, "epochs", 10, "trains `N` times on everything")
	flag.Float64Var(&p.rate, "rate", 1e-4, "learns at this `RATE`")
	flag.Uint64Var(&p.seed, "seed", 42, "begins all random numbers with `SEED`")
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

// batch is how many images a step sees.
const batch = 64

// train trains a network on nine of ten images, and writes a line for each epoch.
func (p plan) train(w io.Writer, images []cnn.Image, labels []int64) (*cnn.Trainer, error) {
	training, rest := split(images, labels)
	t, err := cnn.New(p.seed).NewTrainer(cnn.TrainerOptions{Batch: batch, Seed: p.seed})
	if err != nil {
		return nil, err
	}
	opt, err := optim.NewAdam(t.Params(), optim.AdamConfig{})
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(p.seed, 0))
	for epoch := range p.epochs {
		var loss float64
		for x, y := range data.Batches(training.X, training.Y, batch, rng) {
			r, err := t.Step(x, y) // forward, loss, backward: adds to the gradients
			if err != nil {
				return nil, err
			}
			if err := opt.Step(p.rate); err != nil { // uses the gradients up
				return nil, err
			}
			loss += float64(r.Loss) * float64(len(x))
		}
		right, err := accuracy(t, rest)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(w, "epoch %2d  loss %.4f  accuracy %.1f %%\n", epoch+1, loss/float64(len(training.X)), 100*right)
	}
	return t, nil
}

// accuracy returns the share of images that are read as what they show.
func accuracy(t *cnn.Trainer, s set) (float64, error) {
	right := 0
	for x, y := range data.Batches(s.X, s.Y, batch, nil) {
		logits, err := t.Forward(x) // the weights being trained, without dropout
		if err != nil {
			return 0, err
		}
		for i := range logits {
			if argmax(logits[i]) == y[i] {
				right++
			}
		}
	}
	return float64(right) / float64(len(s.X)), nil
}

// infer returns the digit that a model reads.
func infer(m *cnn.Model, image cnn.Image) (int64, error) {
	logits, err := m.Forward([]cnn.Image{image})
	if err != nil {
		return 0, err
	}
	return argmax(logits[0]), nil
}

// argmax returns the digit that an image most likely shows.
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
