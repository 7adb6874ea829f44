// Text trains a small transformer on a text, byte by byte, and lets it continue a prompt.
//
//	go run ./examples/text [-data FILE] [-steps 1000] [-rate 0.003] [-seed 42] [-prompt TEXT] [-length 200] [-target cpu]
//
// FILE may be any text, such as tiny-shakespeare. Without it the program makes a text of sums in
// words. It computes on the CPU. Built with -tags gpu, after go generate with the same flag, it also computes on
// GPUs: -target is then auto, cuda, vulkan or cpu.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"

	"github.com/burngen/burngen/examples/text/gpt"
	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/optim"
)

//go:generate go run ../../cmd/burngen ./model -train -o ./gpt

// plan holds the settings of a training run.
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
	m, err := p.train(os.Stdout, text)
	check(err)
	more, err := goOn(m, *prompt, *length, rand.New(rand.NewPCG(p.seed, 1)))
	check(err)
	fmt.Println(*prompt + more)
}

// train trains a transformer on nine of ten bytes of a text. At intervals it writes the loss since
// the last line, and the loss on the rest of the text.
func (p plan) train(w io.Writer, text string) (model, error) {
	m, err := newModel(p.seed, p.target)
	if err != nil {
		return nil, err
	}
	t, err := m.NewTrainer(gpt.TrainerOptions{Batch: p.batch, Seed: p.seed})
	if err != nil {
		return nil, err
	}
	opt, err := optim.NewAdamW(t.Params(), optim.AdamWConfig{})
	if err != nil {
		return nil, err
	}
	tokens := data.Bytes(text)
	cut := len(tokens) * 9 / 10
	copied := data.Pairs(data.Copy[gpt.Tokens, gpt.Tokens])
	random := data.Sampled(data.Windows[gpt.Tokens](tokens[:cut], 1), p.steps*p.batch, data.SampleOptions{Seed: p.seed})
	batches := data.Load(random, copied, data.LoaderOptions{Batch: p.batch})
	others := data.Windows[gpt.Tokens](tokens[cut:], len(gpt.Tokens{}))
	other := data.Load(data.Part(others, 0, min(p.batch, others.Len())), copied, data.LoaderOptions{Batch: p.batch}) // one batch
	rate := optim.Warmup(p.steps/10, optim.Cosine(p.rate, p.rate/10, p.steps))
	step, every, sum := 0, max(1, p.steps/10), float32(0)
	for b, err := range batches.Epoch(context.Background(), 0, 0) {
		if err != nil {
			return nil, err
		}
		loss, err := t.Step(b.X, b.Y)
		if err != nil {
			return nil, err
		}
		t.Params().ClipNorm(1)
		if err := opt.Step(rate(step)); err != nil {
			return nil, err
		}
		step, sum = step+1, sum+loss
		if step%every == 0 {
			for b, err := range other.Epoch(context.Background(), 0, 0) {
				if err != nil {
					return nil, err
				}
				rest, err := t.Loss(b.X, b.Y)
				if err != nil {
					return nil, err
				}
				fmt.Fprintf(w, "step %4d  loss %.3f, on other text %.3f\n", step, sum/float32(every), rest)
			}
			sum = 0
		}
	}
	return t.Model(), nil
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
