// Metric trains a perceptron on exclusive or, and measures it with a metric of its own: the share of correct answers
// with a high probability.
//
//	go run ./examples/metric [-epochs 12]
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"

	"github.com/burngen/burngen/examples/xor/xor"
	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/learn"
	"github.com/burngen/burngen/runtime/metric"
	"github.com/burngen/burngen/runtime/optim"
	"github.com/burngen/burngen/runtime/rt"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("metric: ")
	epochs := flag.Int("epochs", 12, "trains `N` times on everything")
	flag.Parse()
	ctx, stop := learn.Interruptible(context.Background())
	defer stop()
	run, err := train(ctx, *epochs)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(run)
}

// sure returns a metric: the percentage of items whose right class has a probability above 0.9.
func sure() metric.Metric[metric.Classes] {
	return metric.Metric[metric.Classes]{Name: "sure", Unit: "%", Better: 1, Curve: true,
		New: func() metric.Counter[metric.Classes] { return &sureCounter{} }}
}

type sureCounter struct{ sure, items int64 }

// Add implements [metric.Counter].
func (c *sureCounter) Add(o metric.Classes) {
	for i, class := range o.Targets {
		scores, sum := o.Scores[2*i:][:2], 0.0
		for _, s := range scores {
			sum += math.Exp(float64(s - scores[class]))
		}
		c.items++
		if 1/sum > 0.9 {
			c.sure++
		}
	}
}

// Value implements [metric.Counter].
func (c *sureCounter) Value() float64 { return 100 * float64(c.sure) / float64(c.items) }

// State implements [metric.Counter]. Checkpoints save the counts, so that a resumed run continues with them.
func (c *sureCounter) State(s *rt.State) {
	rt.StateScalar(s, "sure", &c.sure)
	rt.StateScalar(s, "items", &c.items)
}

// train trains on 200 copies of the four examples of exclusive or. The metric needs the scores, but the package's
// Step returns only the loss. The task of this program therefore also computes the scores.
func train(ctx context.Context, epochs int) (*learn.Run, error) {
	bits, classes := []xor.Bits{{0, 0}, {0, 1}, {1, 0}, {1, 1}}, []int64{0, 1, 1, 0}
	batches := data.Load(data.Repeated(data.Zipped(data.Of(bits), data.Of(classes)), 200), data.Pairs(data.Copy[xor.Bits, int64]),
		data.LoaderOptions{Batch: 32, Shuffle: true, Seed: 42})
	t, err := xor.New(42).NewTrainer(xor.TrainerOptions{Batch: 32, Seed: 42})
	if err != nil {
		return nil, err
	}
	adam, err := optim.NewAdam(t.Params(), optim.AdamConfig{})
	if err != nil {
		return nil, err
	}
	task := learn.Task[data.Set[xor.Bits, int64], metric.Classes]{Step: func(b *data.Set[xor.Bits, int64]) (metric.Classes, error) {
		logits, err := t.Forward(b.X)
		if err != nil {
			return metric.Classes{}, err
		}
		loss, err := t.Step(b.X, b.Y)
		return metric.Classes{Loss: loss, Scores: rt.Flat[float32](logits), Targets: b.Y}, err
	}}
	l, err := learn.New(t, task, learn.Options{Epochs: epochs, Optimizers: []learn.Optimizer{{Of: adam, Rate: optim.Constant(0.002)}}},
		metric.Accuracy(), sure())
	if err != nil {
		return nil, err
	}
	return l.Fit(ctx, batches, nil)
}
