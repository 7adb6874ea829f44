// Renderer trains a perceptron on exclusive or, and shows the run with its own renderer. The renderer prints the loss
// of each epoch as a bar.
//
//	go run ./examples/renderer [-epochs 12]
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/burngen/burngen/examples/xor/xor"
	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/learn"
	"github.com/burngen/burngen/runtime/metric"
	"github.com/burngen/burngen/runtime/optim"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("renderer: ")
	epochs := flag.Int("epochs", 12, "trains `N` times on everything")
	flag.Parse()
	ctx, stop := learn.Interruptible(context.Background())
	defer stop()
	if err := train(ctx, bars{os.Stdout}, *epochs); err != nil {
		log.Fatal(err)
	}
}

// bars is a renderer that prints a bar for each epoch.
type bars struct{ to io.Writer }

// Event implements [learn.Renderer].
func (b bars) Event(e learn.Event) {
	switch e := e.(type) {
	case learn.Started:
		fmt.Fprintf(b.to, "%d parameters, %d batches an epoch\n", e.Parameters, e.Batches)
	case learn.Measured:
		for _, v := range e.Values {
			if e.Split == learn.Train && v.Name == "loss" {
				n := min(max(int(60*v.Value), 0), 60)
				fmt.Fprintf(b.to, "%3d %-60s %.4f\n", e.Epoch+1, strings.Repeat("█", n), v.Value)
			}
		}
	case learn.Stopped:
		fmt.Fprintln(b.to, e.Reason)
	}
}

// train trains on 200 copies of the four examples of exclusive or.
func train(ctx context.Context, show learn.Renderer, epochs int) error {
	bits, classes := []xor.Bits{{0, 0}, {0, 1}, {1, 0}, {1, 1}}, []int64{0, 1, 1, 0}
	batches := data.Load(data.Repeated(data.Zipped(data.Of(bits), data.Of(classes)), 200), data.Pairs(data.Copy[xor.Bits, int64]),
		data.LoaderOptions{Batch: 32, Shuffle: true, Seed: 42})
	t, err := xor.New(42).NewTrainer(xor.TrainerOptions{Batch: 32, Seed: 42})
	if err != nil {
		return err
	}
	adam, err := optim.NewAdam(t.Params(), optim.AdamConfig{})
	if err != nil {
		return err
	}
	task := learn.Pairs(t.Step, t.Loss, func(_ []xor.Bits, y []int64, loss float32) metric.Classes {
		return metric.Classes{Loss: loss, Targets: y}
	})
	l, err := learn.New(t, task, learn.Options{Epochs: epochs, Show: show,
		Optimizers: []learn.Optimizer{{Of: adam, Rate: optim.Constant(0.002)}}})
	if err != nil {
		return err
	}
	_, err = l.Fit(ctx, batches, nil)
	return err
}
