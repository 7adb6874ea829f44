// Images trains the convolutional network in model/ on a folder of pictures. It augments the pictures. The training
// loop is written by hand.
//
//	go run ./examples/images [-data FOLDER] [-epochs 15] [-rate 0.003] [-seed 42] [-o FILE]
//
// FOLDER has a folder for each of four classes. Without -data the program paints shapes. Eight of ten pictures are
// used for training, and the others for the accuracy. For another number of classes, change Classes in the directive
// (go:generate) below.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"

	"github.com/burngen/burngen/examples/images/cnn"
	"github.com/burngen/burngen/examples/images/shapes"
	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/data/images"
	"github.com/burngen/burngen/runtime/optim"
	"github.com/burngen/burngen/runtime/rt"
)

//go:generate go run ../../cmd/burngen ./model -train -set Classes=4 -set Channels=16,32,64 -o ./cnn

type plan struct {
	epochs int
	rate   float64
	seed   uint64
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("images: ")
	folder := flag.String("data", "", "reads pictures in `FOLDER`")
	out := flag.String("o", "", "saves the weights in `FILE`")
	var p plan
	flag.IntVar(&p.epochs, "epochs", 15, "trains `N` times on everything")
	flag.Float64Var(&p.rate, "rate", 3e-3, "learns at this `RATE`, and at less and less")
	flag.Uint64Var(&p.seed, "seed", 42, "begins all random numbers with `SEED`")
	flag.Parse()
	check(run(*folder, *out, p))
}

func run(folder, out string, p plan) error {
	if folder == "" {
		painted, err := os.MkdirTemp("", "images")
		if err != nil {
			return err
		}
		defer os.RemoveAll(painted)
		if err := shapes.Paint(painted, 100, shapes.Plain); err != nil {
			return err
		}
		folder = painted
	}
	t, _, err := p.train(os.Stdout, folder)
	if err != nil || out == "" {
		return err
	}
	return t.Model().Save(out)
}

const batch = 32

// augmented transforms pictures for training. plain transforms all other pictures.
var (
	augmented = images.NewPipeline(
		images.RandomResizedCrop{Width: 32, Height: 32, Scale: [2]float64{0.6, 1}},
		images.Flip{Horizontal: 0.5},
		images.ColorJitter{Brightness: 0.3, Contrast: 0.3, Saturation: 0.3, Hue: 0.1},
		images.Floats{},
		images.ImageNet(),
	)
	plain = images.NewPipeline(
		images.Resize{Shorter: 32},
		images.CenterCrop{Width: 32, Height: 32},
		images.Floats{},
		images.ImageNet(),
	)
)

func batches(p *images.Pipeline) data.Collate[images.Picture, data.Set[cnn.Photo, int64]] {
	return data.Pairs(func(item images.Picture, x *cnn.Photo, y *int64, r *rand.Rand) error {
		*y = int64(item.Label)
		return p.Put(rt.FlatOf[float32](x), item.Sample(), r)
	})
}

// train trains a network on eight tenths of the pictures in a folder. It writes a line for each
// epoch, and returns the accuracy on the rest, from 0 to 1.
func (p plan) train(w io.Writer, folder string) (*cnn.Trainer, float64, error) {
	photos, err := images.Folder(folder)
	if err != nil {
		return nil, 0, err
	}
	if got, want := len(photos.Classes()), len(cnn.Logits{}); got != want {
		return nil, 0, fmt.Errorf("%s has %d classes: the network in cnn/ has %d", folder, got, want)
	}
	parts := data.Parts(data.Shuffled(photos, p.seed), 0.8, 0.2)
	training := data.Load(parts[0], batches(augmented), data.LoaderOptions{Batch: batch, Shuffle: true, Seed: p.seed, Workers: 2})
	rest := data.Load(parts[1], batches(plain), data.LoaderOptions{Batch: batch})
	t, err := cnn.New(p.seed).NewTrainer(cnn.TrainerOptions{Batch: batch, Seed: p.seed})
	if err != nil {
		return nil, 0, err
	}
	opt, err := optim.NewAdam(t.Params(), optim.AdamConfig{})
	if err != nil {
		return nil, 0, err
	}
	rate := optim.Cosine(p.rate, p.rate/100, p.epochs*training.Batches())
	var right float64
	step := 0
	for epoch := range p.epochs {
		var loss float64
		for b, err := range training.Epoch(context.Background(), epoch, 0) {
			if err != nil {
				return nil, 0, err
			}
			r, err := t.Step(b.X, b.Y)
			if err != nil {
				return nil, 0, err
			}
			if err := opt.Step(rate(step)); err != nil {
				return nil, 0, err
			}
			step++
			loss += float64(r.Loss) * float64(len(b.X))
		}
		if right, err = accuracy(t, rest); err != nil {
			return nil, 0, err
		}
		fmt.Fprintf(w, "epoch %2d  loss %.4f  accuracy %.1f %%\n", epoch+1, loss/float64(training.Items()), 100*right)
	}
	return t, right, nil
}

// accuracy returns the share of pictures that are classified correctly, from 0 to 1.
func accuracy(t *cnn.Trainer, l *data.Loader[data.Set[cnn.Photo, int64]]) (float64, error) {
	right := 0
	for b, err := range l.Epoch(context.Background(), 0, 0) {
		if err != nil {
			return 0, err
		}
		logits, err := t.Forward(b.X)
		if err != nil {
			return 0, err
		}
		for i, scores := range logits {
			best := 0
			for k, v := range scores {
				if v > scores[best] {
					best = k
				}
			}
			if int64(best) == b.Y[i] {
				right++
			}
		}
	}
	return float64(right) / float64(l.Items()), nil
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
