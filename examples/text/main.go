// Text trains a small transformer on a text, byte by byte, and lets it continue a prompt.
//
//	go run ./examples/text [-data FILE] [-steps 1000] [-rate 0.003] [-seed 42] [-prompt TEXT] [-length 200] [-target cpu]
//
// FILE may be any text, such as tiny-shakespeare. Without -data the program makes a text of sums in words. The
// program computes on the CPU. If go generate and go build get -tags gpu, it also computes on GPUs: -target is then
// auto, cuda, vulkan or cpu.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"

	"github.com/burngen/burngen/examples/text/gpt"
	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/learn"
	"github.com/burngen/burngen/runtime/metric"
	"github.com/burngen/burngen/runtime/optim"
	"github.com/burngen/burngen/runtime/rt"
)

//go:generate go run ../../cmd/burngen ./model -train -o ./gpt

type plan struct {
	steps, batch int
	rate         float64
	seed         uint64
	target       string
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("text: ")
	path := flag.String("data", os.Getenv("TEXT"), "reads the text in `FILE`")
	p := plan{batch: 16}
	flag.IntVar(&p.steps, "steps", 1000, "trains on `N` batches")
	flag.Float64Var(&p.rate, "rate", 3e-3, "learns at this `RATE`, and at less and less")
	flag.Uint64Var(&p.seed, "seed", 42, "begins all random numbers with `SEED`")
	flag.StringVar(&p.target, "target", firstTarget, "computes on `TARGET`")
	prompt := flag.String("prompt", "\n", "goes on with `TEXT`")
	length := flag.Int("length", 200, "writes `N` bytes")
	flag.Parse()
	text := sums(20000)
	if *path != "" {
		file, err := os.ReadFile(*path)
		check(err)
		text = string(file)
	}
	ctx, stop := learn.Interruptible(context.Background())
	defer stop()
	m, run, err := p.train(ctx, learn.Lines(os.Stdout), text)
	check(err)
	fmt.Print(run)
	more, err := goOn(m, *prompt, *length, rand.New(rand.NewPCG(p.seed, 1)))
	check(err)
	fmt.Println(*prompt + more)
}

// train trains a transformer on nine tenths of a text. It validates ten times on a batch of the
// rest.
func (p plan) train(ctx context.Context, show learn.Renderer, text string) (model, *learn.Run, error) {
	m, err := newModel(p.seed, p.target)
	if err != nil {
		return nil, nil, err
	}
	t, err := m.NewTrainer(gpt.TrainerOptions{Batch: p.batch, Seed: p.seed})
	if err != nil {
		return nil, nil, err
	}
	adam, err := optim.NewAdamW(t.Params(), optim.AdamWConfig{})
	if err != nil {
		return nil, nil, err
	}
	tokens := data.Bytes(text)
	cut := len(tokens) * 9 / 10
	copied := data.Pairs(data.Copy[gpt.Tokens, gpt.Tokens])
	anywhere := data.Windows[gpt.Tokens](tokens[:cut], 1)
	batches := data.Load(anywhere, copied, data.LoaderOptions{Batch: p.batch, Shuffle: true, Seed: p.seed})
	others := data.Windows[gpt.Tokens](tokens[cut:], len(gpt.Tokens{}))
	other := data.Load(data.Part(others, 0, min(p.batch, others.Len())), copied, data.LoaderOptions{Batch: p.batch})
	task := learn.Pairs(t.Step, t.Loss, func(_, next []gpt.Tokens, loss float32) metric.Tokens {
		return metric.Tokens{Loss: loss, Targets: rt.Flat[int64](next)}
	})
	l, err := learn.New(t, task, learn.Options{
		Steps: p.steps, ValidEvery: max(1, p.steps/10), ClipNorm: 1, Show: show,
		Optimizers: []learn.Optimizer{{Of: adam, Rate: optim.Warmup(p.steps/10, optim.Cosine(p.rate, p.rate/10, p.steps))}},
	}, metric.Perplexity())
	if err != nil {
		return nil, nil, err
	}
	run, err := l.Fit(ctx, batches, other)
	return t.Model(), run, err
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
