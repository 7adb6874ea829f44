// Transfer trains a network on a few pictures. The network comes from an ONNX file and was trained on other pictures.
// Its last layer is new.
//
//	go run ./examples/transfer [-data FOLDER] [-rate 0.01] [-seed 42] [-o FILE]
//
// FOLDER has a folder for each of four classes. Without -data the program paints forty pictures of each of four
// shapes. Half of the pictures are used for training, and the others for the accuracy. The last layer is trained
// first. Then all layers are trained.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"

	"github.com/burngen/burngen/examples/images/shapes"
	"github.com/burngen/burngen/examples/transfer/transfer"
	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/data/images"
	"github.com/burngen/burngen/runtime/learn"
	"github.com/burngen/burngen/runtime/metric"
	"github.com/burngen/burngen/runtime/optim"
	"github.com/burngen/burngen/runtime/rt"
)

//go:generate go run ../../cmd/burngen ./model -train -o ./transfer

func main() {
	log.SetFlags(0)
	log.SetPrefix("transfer: ")
	folder := flag.String("data", "", "reads pictures in `FOLDER`")
	out := flag.String("o", "", "saves the weights in `FILE`")
	var p plan
	flag.Float64Var(&p.rate, "rate", 1e-2, "trains the last layer at this `RATE`, and then all at a third of it; both fall")
	flag.Uint64Var(&p.seed, "seed", 42, "begins all random numbers with `SEED`")
	flag.Parse()
	ctx, stop := learn.Interruptible(context.Background())
	defer stop()
	m, _, err := p.run(ctx, os.Stdout, *folder)
	check(err)
	if *out != "" {
		check(m.Save(*out))
	}
}

type plan struct {
	rate float64
	seed uint64
}

var stages = []struct {
	name   string
	freeze []string // parameters to freeze
	// multiplies the rate
	share  float64
	epochs int
}{
	{"the last layer", []string{"body"}, 1, 15},
	{"all layers", nil, 0.3, 25},
}

// run trains on a folder of pictures, or on painted shapes if folder is "". It returns the model,
// and the percentage of the held-out pictures that it classifies correctly.
func (p plan) run(ctx context.Context, w io.Writer, folder string) (*transfer.Model, float64, error) {
	if folder == "" {
		painted, err := os.MkdirTemp("", "transfer")
		if err != nil {
			return nil, 0, err
		}
		defer os.RemoveAll(painted)
		if err := shapes.Paint(painted, 40, shapes.Other); err != nil {
			return nil, 0, err
		}
		folder = painted
	}
	photos, err := images.Folder(folder)
	if err != nil {
		return nil, 0, err
	}
	if got, want := len(photos.Classes()), len(transfer.Logits{}); got != want {
		return nil, 0, fmt.Errorf("%s has %d classes: the network in transfer/ has %d", folder, got, want)
	}
	m, accuracy := transfer.New(p.seed), 0.0
	for i, s := range stages {
		t, err := m.NewTrainer(transfer.TrainerOptions{Batch: batch, Seed: p.seed, Freeze: s.freeze})
		if err != nil {
			return nil, 0, err
		}
		run, err := p.stage(ctx, t, photos, i)
		if err != nil {
			return nil, 0, err
		}
		m = t.Model()
		right, _ := run.Result("valid accuracy")
		accuracy = float64(right.Last)
		fmt.Fprintf(w, "%-14s  %5d parameters  %v", s.name, t.Params().Len(), run)
	}
	return m, accuracy, nil
}

const batch = 10

// stage trains stage i on half of the pictures and measures the network on the other half. Both halves have the same
// mix of classes.
func (p plan) stage(ctx context.Context, t *transfer.Trainer, photos *images.ClassFolder, i int) (*learn.Run, error) {
	halves, err := data.Stratified(data.Shuffled[images.Picture](photos, p.seed), func(p images.Picture) int { return p.Label }, 0.5, 0.5)
	if err != nil {
		return nil, err
	}
	adam, err := optim.NewAdam(t.Params(), optim.AdamConfig{})
	if err != nil {
		return nil, err
	}
	task := learn.Pairs(t.Step, t.Loss, func(_ []transfer.Photo, y []int64, r transfer.LossResult) metric.Classes {
		return metric.Classes{Loss: r.Loss, Scores: rt.Flat[float32](r.Logits), Targets: y}
	})
	training := data.Load(halves[0], batches(augmented), data.LoaderOptions{Batch: batch, Shuffle: true, Seed: p.seed + uint64(i), Workers: 2})
	rate := p.rate * stages[i].share
	l, err := learn.New(t, task, learn.Options{Epochs: stages[i].epochs,
		Optimizers: []learn.Optimizer{{Of: adam, Rate: optim.Cosine(rate, rate/100, stages[i].epochs*training.Batches())}}}, metric.Accuracy())
	if err != nil {
		return nil, err
	}
	return l.Fit(ctx, training, data.Load(halves[1], batches(plain), data.LoaderOptions{Batch: batch}))
}

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

func batches(p *images.Pipeline) data.Collate[images.Picture, data.Set[transfer.Photo, int64]] {
	return data.Pairs(func(item images.Picture, x *transfer.Photo, y *int64, r *rand.Rand) error {
		*y = int64(item.Label)
		return p.Put(rt.FlatOf[float32](x), item.Sample(), r)
	})
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
