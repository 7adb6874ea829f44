// Classify trains the network in model/ to tell what a text is about. It also learns the tokens.
//
//	go run ./examples/classify [-epochs 6] [-rate 0.005] [-seed 42] [-run FOLDER] [TEXT…]
//
// The program makes up the texts. Nine of ten are used for training. When the training is over, the program prints
// what each TEXT is about.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"

	"github.com/burngen/burngen/examples/classify/classify"
	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/data/text"
	"github.com/burngen/burngen/runtime/learn"
	"github.com/burngen/burngen/runtime/metric"
	"github.com/burngen/burngen/runtime/optim"
	"github.com/burngen/burngen/runtime/rt"
)

//go:generate go run ../../cmd/burngen ./model -train -set Classes=4 -set Tokens=400 -set Length=32 -set Features=32 -o ./classify

type plan struct {
	epochs int
	rate   float64
	seed   uint64
	folder string // of the run; "" keeps nothing
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("classify: ")
	var p plan
	flag.IntVar(&p.epochs, "epochs", 6, "trains `N` times on everything")
	flag.Float64Var(&p.rate, "rate", 5e-3, "learns at this `RATE`")
	flag.Uint64Var(&p.seed, "seed", 42, "begins all random numbers with `SEED`")
	flag.StringVar(&p.folder, "run", "", "keeps the run in `FOLDER`, and continues it")
	flag.Parse()
	ctx, stop := learn.Interruptible(context.Background())
	defer stop()
	check(p.run(ctx, os.Stdout, flag.Args()))
}

// run trains, and prints the topics of texts.
func (p plan) run(ctx context.Context, w io.Writer, texts []string) error {
	notes := write(4000, p.seed)
	tokens, err := tokenizer(notes)
	if err != nil {
		return err
	}
	t, run, err := p.train(ctx, learn.Lines(w), notes, tokens)
	if err != nil {
		return err
	}
	fmt.Fprint(w, run)
	if len(texts) == 0 {
		return nil
	}
	ids := make([]classify.Text, len(texts))
	if err := tokens.Batch(texts, rt.Flat[int64](ids), nil, nil); err != nil {
		return err
	}
	logits, err := t.Model().Forward(ids)
	if err != nil {
		return err
	}
	for i, l := range logits {
		best := 0
		for k, score := range l {
			if score > l[best] {
				best = k
			}
		}
		fmt.Fprintf(w, "%s: %s\n", texts[i], topics[best].name)
	}
	return nil
}

// tokenizer learns tokens from notes. It truncates and pads texts to the length of the network's
// input.
func tokenizer(notes []note) (*text.Tokenizer, error) {
	const padding = "[PAD]" // token 0, which the network skips
	t, err := text.TrainBPE(func(yield func(string) bool) {
		for _, n := range notes {
			if !yield(n.text) {
				return
			}
		}
	}, text.BPEOptions{Size: 400, Special: []string{padding}, Prefix: true})
	if err != nil {
		return nil, err
	}
	length := len(classify.Text{})
	if t, err = t.WithTruncation(&text.Truncation{Length: length}); err != nil {
		return nil, err
	}
	return t.WithPadding(&text.Padding{Length: length, Token: padding})
}

// train trains a network on nine tenths of the notes and measures it on the rest.
func (p plan) train(ctx context.Context, show learn.Renderer, notes []note, tokens *text.Tokenizer) (*classify.Trainer, *learn.Run, error) {
	put := data.Pairs(func(n note, x *classify.Text, y *int64, _ *rand.Rand) error {
		*y = int64(n.topic)
		return tokens.Batch([]string{n.text}, x[:], nil, nil)
	})
	parts := data.Parts(data.Of(notes), 0.9, 0.1)
	t, err := classify.New(p.seed).NewTrainer(classify.TrainerOptions{Batch: 64, Seed: p.seed})
	if err != nil {
		return nil, nil, err
	}
	adam, err := optim.NewAdam(t.Params(), optim.AdamConfig{})
	if err != nil {
		return nil, nil, err
	}
	task := learn.Pairs(t.Step, t.Loss, func(_ []classify.Text, y []int64, r classify.LossResult) metric.Classes {
		return metric.Classes{Loss: r.Loss, Scores: rt.Flat[float32](r.Logits), Targets: y}
	})
	o := learn.Options{Dir: p.folder, Epochs: p.epochs, Show: show,
		Optimizers: []learn.Optimizer{{Of: adam, Rate: optim.Constant(p.rate)}}}
	if p.folder != "" {
		o.Resume = learn.Continue
	}
	l, err := learn.New(t, task, o, metric.Accuracy(), metric.F1(metric.Macro), metric.ConfusionMatrix())
	if err != nil {
		return nil, nil, err
	}
	run, err := l.Fit(ctx, data.Load(parts[0], put, data.LoaderOptions{Batch: 64, Shuffle: true, Seed: p.seed, Workers: 2}),
		data.Load(parts[1], put, data.LoaderOptions{Batch: 64}))
	return t, run, err
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
