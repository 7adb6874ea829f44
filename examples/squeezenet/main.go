// Squeezenet trains SqueezeNet 1.1 on a folder of pictures, and prints what other pictures show.
//
//	go run ./examples/squeezenet [-data FOLDER] [-epochs 25] [-rate 0.0005] [-seed 42] [-run FOLDER] [PICTURE…]
//
// FOLDER has a folder for each of four classes. Without -data the program paints shapes. Eight of ten pictures are
// used for training, and the others for the accuracy. With -run the program keeps the run in a folder. If the folder
// already has a run, the program continues it.
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
	"github.com/burngen/burngen/examples/squeezenet/squeezenet"
	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/data/images"
	"github.com/burngen/burngen/runtime/learn"
	"github.com/burngen/burngen/runtime/metric"
	"github.com/burngen/burngen/runtime/optim"
	"github.com/burngen/burngen/runtime/rt"
)

//go:generate go run ../../cmd/burngen ./model -train -set Classes=4 -set Size=64 -o ./squeezenet

type plan struct {
	epochs int
	rate   float64
	seed   uint64
	run    string // folder of the run; "" keeps nothing
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("squeezenet: ")
	folder := flag.String("data", "", "reads pictures in `FOLDER`")
	var p plan
	flag.IntVar(&p.epochs, "epochs", 25, "trains `N` times on everything")
	flag.Float64Var(&p.rate, "rate", 5e-4, "learns at this `RATE`, and at less and less")
	flag.Uint64Var(&p.seed, "seed", 42, "begins all random numbers with `SEED`")
	flag.StringVar(&p.run, "run", "", "keeps the run in `FOLDER`, and continues it")
	flag.Parse()
	ctx, stop := learn.Interruptible(context.Background())
	defer stop()
	check(p.recognise(ctx, os.Stdout, *folder, flag.Args()))
}

// recognise trains on a folder of pictures, or on painted shapes if folder is "". It then prints
// the classes of other pictures.
func (p plan) recognise(ctx context.Context, w io.Writer, folder string, pictures []string) error {
	if folder == "" {
		painted, err := os.MkdirTemp("", "squeezenet")
		if err != nil {
			return err
		}
		defer os.RemoveAll(painted)
		if err := shapes.Paint(painted, 80, shapes.Plain); err != nil {
			return err
		}
		folder = painted
	}
	photos, err := images.Folder(folder)
	if err != nil {
		return err
	}
	t, run, err := p.train(ctx, learn.Lines(w), photos)
	if err != nil {
		return err
	}
	fmt.Fprint(w, run)
	for _, path := range pictures {
		class, err := classify(t.Model(), path)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: %s\n", path, photos.Classes()[class])
	}
	return nil
}

// size is the side of the network's input in pixels.
const size = len(squeezenet.Photo{}[0])

// augmented transforms pictures for training. plain transforms all other pictures.
var (
	augmented = images.NewPipeline(
		images.RandomResizedCrop{Width: size, Height: size, Scale: [2]float64{0.6, 1}},
		images.Flip{Horizontal: 0.5},
		images.ColorJitter{Brightness: 0.3, Contrast: 0.3, Saturation: 0.3, Hue: 0.1},
		images.Floats{},
		images.ImageNet(),
	)
	plain = images.NewPipeline(
		images.Resize{Shorter: size},
		images.CenterCrop{Width: size, Height: size},
		images.Floats{},
		images.ImageNet(),
	)
)

func batches(p *images.Pipeline) data.Collate[images.Picture, data.Set[squeezenet.Photo, int64]] {
	return data.Pairs(func(item images.Picture, x *squeezenet.Photo, y *int64, r *rand.Rand) error {
		*y = int64(item.Label)
		return p.Put(rt.FlatOf[float32](x), item.Sample(), r)
	})
}

// train trains a network on eight tenths of the pictures and measures it on the rest.
func (p plan) train(ctx context.Context, show learn.Renderer, photos *images.ClassFolder) (*squeezenet.Trainer, *learn.Run, error) {
	if got, want := len(photos.Classes()), len(squeezenet.Logits{}); got != want {
		return nil, nil, fmt.Errorf("%d classes of pictures: the network in squeezenet/ has %d", got, want)
	}
	const batch = 16
	parts := data.Parts(data.Shuffled(photos, p.seed), 0.8, 0.2)
	training := data.Load(parts[0], batches(augmented), data.LoaderOptions{Batch: batch, Shuffle: true, Seed: p.seed, Workers: 2})
	t, err := squeezenet.New(p.seed).NewTrainer(squeezenet.TrainerOptions{Batch: batch, Seed: p.seed})
	if err != nil {
		return nil, nil, err
	}
	adam, err := optim.NewAdam(t.Params(), optim.AdamConfig{})
	if err != nil {
		return nil, nil, err
	}
	task := learn.Pairs(t.Step, t.Loss, func(_ []squeezenet.Photo, y []int64, r squeezenet.LossResult) metric.Classes {
		return metric.Classes{Loss: r.Loss, Scores: rt.Flat[float32](r.Logits), Targets: y}
	})
	steps := p.epochs * training.Batches()
	o := learn.Options{Dir: p.run, Epochs: p.epochs, ClipNorm: 1, Show: show,
		Optimizers: []learn.Optimizer{{Of: adam, Rate: optim.Warmup(steps/10, optim.Cosine(p.rate, p.rate/100, steps))}}}
	if p.run != "" {
		o.Resume = learn.Continue
	}
	l, err := learn.New(t, task, o, metric.Accuracy())
	if err != nil {
		return nil, nil, err
	}
	run, err := l.Fit(ctx, training, data.Load(parts[1], batches(plain), data.LoaderOptions{Batch: batch}))
	return t, run, err
}

func classify(m *squeezenet.Model, path string) (int, error) {
	picture, err := images.Read(path)
	if err != nil {
		return 0, err
	}
	var photo [1]squeezenet.Photo
	if err := plain.Put(rt.Flat[float32](photo[:]), images.Sample{Image: picture}, rand.New(rand.NewPCG(0, 0))); err != nil {
		return 0, err
	}
	logits, err := m.Forward(photo[:])
	if err != nil {
		return 0, err
	}
	best := 0
	for class, score := range logits[0] {
		if score > logits[0][best] {
			best = class
		}
	}
	return best, nil
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
