// Finetune trains the network of examples/digits, an ONNX file, to read arithmetic signs. The body
// of the network is kept and gets a new head.
//
//	go run ./examples/finetune [-n 10] [-seed 42] [-o FILE]
//
// The head is trained first, with the body frozen. Then all layers are trained at a lower rate.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"

	"github.com/burngen/burngen/examples/digits/fit"
	"github.com/burngen/burngen/examples/digits/hand"
	"github.com/burngen/burngen/examples/finetune/signs"
	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/optim"
)

//go:generate go run ../../cmd/burngen ./model -train -o ./signs

func main() {
	log.SetFlags(0)
	log.SetPrefix("finetune: ")
	n := flag.Int("n", 10, "trains on `N` pictures of each sign")
	seed := flag.Uint64("seed", 42, "begins all random numbers with `SEED`")
	out := flag.String("o", "", "saves the weights in `FILE`")
	flag.Parse()
	training, err := draw(*n, 1)
	check(err)
	rest, err := draw(40, 2)
	check(err)
	m, err := train(os.Stdout, *seed, training, rest)
	check(err)
	if *out != "" {
		check(m.Save(*out))
	}
}

var stages = []struct {
	name   string
	freeze []string // parameters to freeze
	rate   float64
	epochs int
}{
	{"the head", []string{"body"}, 1e-3, 4},
	{"all of it", nil, 1e-4, 4},
}

const batch = 16

// set holds images and their labels.
type set = data.Set[signs.Image, int64]

var copied = data.Pairs(data.Copy[signs.Image, int64])

// train trains a model in stages. It writes a line for each stage.
func train(w io.Writer, seed uint64, training, rest set) (*signs.Model, error) {
	m := signs.New(seed)
	batches := data.Load(data.Zipped(data.Of(training.X), data.Of(training.Y)), copied, data.LoaderOptions{Batch: batch, Shuffle: true, Seed: seed})
	epoch := 0
	for _, s := range stages {
		t, err := m.NewTrainer(signs.TrainerOptions{Batch: batch, Seed: seed, Freeze: s.freeze})
		if err != nil {
			return nil, err
		}
		opt, err := optim.NewAdam(t.Params(), optim.AdamConfig{})
		if err != nil {
			return nil, err
		}
		var loss float64
		for range s.epochs {
			loss = 0
			for b, err := range batches.Epoch(context.Background(), epoch, 0) {
				if err != nil {
					return nil, err
				}
				r, err := t.Step(b.X, b.Y)
				if err != nil {
					return nil, err
				}
				if err := opt.Step(s.rate); err != nil {
					return nil, err
				}
				loss += float64(r.Loss) * float64(len(b.X))
			}
			epoch++
		}
		m = t.Model() // the current weights
		right, err := accuracy(m, rest)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(w, "%-9s  %6d parameters  loss %.4f  accuracy %.1f %%\n", s.name, t.Params().Len(), loss/float64(len(training.X)), 100*right)
	}
	return m, nil
}

// accuracy returns the share of images that are classified correctly, from 0 to 1.
func accuracy(m *signs.Model, rest set) (float64, error) {
	logits, err := m.Forward(rest.X)
	if err != nil {
		return 0, err
	}
	right := 0
	for i, l := range logits {
		best := 0
		for k, v := range l {
			if v > l[best] {
				best = k
			}
		}
		if int64(best) == rest.Y[i] {
			right++
		}
	}
	return float64(right) / float64(len(logits)), nil
}

// draw returns n images of each sign.
func draw(n int, seed uint64) (set, error) {
	var s set
	for i := range n {
		for k, sign := range []rune("+−×÷=") {
			h := hand.New(rand.New(rand.NewPCG(seed, uint64(5*i+k))))
			h.Size = 40
			var image signs.Image
			if err := fit.Digit(&image[0], h.Draw(sign, i)); err != nil {
				return s, err
			}
			s.X, s.Y = append(s.X, image), append(s.Y, int64(k))
		}
	}
	return s, nil
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
